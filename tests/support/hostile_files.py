"""Mutate saved models into damaged and hostile files, and load these in a child process, which may crash.

`make fuzz` runs 2000 files, and `tests/saving/format/test_hostile_files.py` a few hundred. A file passes if
`load` or the first prediction raises ValueError, or if the predictions are as finite as those of the original
model. A crash, a hang, another exception or a number that is not finite is a failure. The number of a file
and the seed reproduce it: `--seed 3 --number 1234 --keep folder`.
"""

import argparse
import collections
import contextlib
import copy
import importlib
import json
import os
import pickle
import random
import resource
import struct
import subprocess
import sys
import tempfile
import threading
import time
import warnings
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import safetensors.numpy
import scikit_learn_cases
from every_estimator import COMMITTEES, ESTIMATORS, EXPERTS, make
from sklearn.base import clone, is_classifier
from sklearn.linear_model import LogisticRegression

import committee
from committee.rules import rule_named, rule_names
from committee.saving.format.codec import FOREIGN
from committee.saving.format.container import digest

ONE_THREAD = {"OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1", "MALLOC_ARENA_MAX": "2"}
MOST_SECONDS = 1.0
TIMEOUT_SECONDS = 120.0
MOST_MEMORY = 6 * 2**30
NUMBERS = [
    0,
    1,
    -1,
    2,
    255,
    65536,
    2**31 - 1,
    2**31,
    -(2**31),
    2**53,
    2**63,
    10**30,
    0.5,
    -2.5,
    1e308,
    1e-308,
]
VALUES = [
    None,
    True,
    False,
    "",
    "nan",
    "x" * 300,
    [],
    {},
    [[]],
    {"tuple": []},
    {"float": "nan"},
    {"dict": []},
]
# A changed coefficient is valid, but the exponential of a finite number can be infinite.
EXPONENTIAL = "TransformedTargetRegressor"
METHODS = ("predict", "predict_proba", "decision_function", "transform")


@dataclass(frozen=True)
class Model:
    """A saved model and the rows to predict. For a rule, these are votes and rows."""

    name: str
    content: bytes
    rows: object


def models():
    """Return small saved models of committee and of scikit-learn, with all kinds of content."""
    fitted = []
    for estimator in (*ESTIMATORS, *EXPERTS, *COMMITTEES, *own_committees()):
        for rows in (scikit_learn_cases.NUMBERS, scikit_learn_cases.MIXED):
            fitted.append((clone(estimator).fit(rows, target_of(estimator)), rows))
    fitted += [fitted_rule(name) for name in rule_names()]
    member = LogisticRegression(C=0.01)
    booster = make(committee.AdaBoostClassifier, estimator=member)
    fitted.append(
        (booster.fit(scikit_learn_cases.NUMBERS, scikit_learn_cases.THREE), scikit_learn_cases.NUMBERS)
    )
    sparse = [
        case for case in scikit_learn_cases.CASES if case[1] == "sparse" and "SV" in type(case[0]).__name__
    ]
    for case in (*scikit_learn_cases.FIRST, *sparse):
        fitted.append(scikit_learn_cases.fitted(*case, named=case[0].__class__.__name__ == "SVC"))
    return [Model(f"{i} {type(each).__name__}", saved(each), rows) for i, (each, rows) in enumerate(fitted)]


def target_of(estimator):
    """Return the target for one of committee's estimators."""
    return scikit_learn_cases.THREE if is_classifier(estimator) else scikit_learn_cases.TARGET


def own_committees():
    """Return committees whose members are all from committee, so they have predictors."""
    classes = [("forest", make(committee.RandomForestClassifier)), ("rules", committee.C45Classifier())]
    numbers = [
        ("forest", make(committee.RandomForestRegressor)),
        ("boosted", make(committee.AdaBoostRegressor)),
    ]
    boosters = (committee.AdaBoostM2Classifier, committee.AdaBoostClassifier)
    return [
        make(committee.VotingClassifier, estimators=classes, rule="naive_bayes", cv=2, refit=False),
        make(committee.StackingClassifier, estimators=classes, cv=2),
        make(committee.StackingRegressor, estimators=numbers, cv=2),
        make(committee.VotingRegressor, estimators=numbers, rule="median"),
        *(make(each, estimator=committee.C45Classifier(), n_estimators=2) for each in boosters),
    ]


def fitted_rule(name):
    """Return a fitted rule, and the votes and rows to combine."""
    rng = np.random.default_rng(0)
    votes, X = rng.dirichlet([1, 1, 1], size=(3, 48)), scikit_learn_cases.NUMBERS
    rule = rule_named(name)
    if "random_state" in rule.get_params():
        rule.set_params(random_state=0)
    return rule.fit(votes, scikit_learn_cases.THREE, X), (votes, X)


def saved(estimator):
    """Return the bytes of the file of an estimator."""
    with tempfile.TemporaryDirectory() as folder:
        committee.save(estimator, Path(folder, "model"))
        return Path(folder, "model").read_bytes()


def in_order(content):
    """Return a file with a sorted header, because safetensors writes its entries in any order."""
    (length,) = struct.unpack("<Q", content[:8])
    header = json.dumps(json.loads(content[8 : 8 + length]), sort_keys=True).encode()
    return struct.pack("<Q", len(header)) + header + content[8 + length :]


def mutated(content, rng):
    """Return a mutation of a file: the name of the change, and the bytes."""
    if rng.random() < 0.5:
        kind = rng.choice([flip_bits, cut_off, edit_header])
        return kind.__name__, kind(content, rng)
    kind = rng.choice([edit_value, edit_value, edit_tree, edit_integers, edit_floats, flip_array])
    header, arrays = opened(content)
    description = json.loads(header["description"])
    part = description if rng.random() < 0.2 else description["model"]
    for _ in range(rng.choice([1, 1, 1, 2, 5])):
        kind(part, arrays, rng)
    return f"{kind.__name__} and repair", closed(header, description, arrays)


def opened(content):
    """Return the metadata and the arrays of a file."""
    (length,) = struct.unpack("<Q", content[:8])
    header = json.loads(content[8 : 8 + length])["__metadata__"]
    return header, {name: array.copy() for name, array in sorted(safetensors.numpy.load(content).items())}


def closed(header, description, arrays):
    """Return a file with a valid checksum."""
    text = json.dumps(description)
    metadata = {**header, "description": text, "sha256": digest(text, arrays)}
    return in_order(safetensors.numpy.save(arrays, metadata=metadata))


def flip_bits(content, rng):
    changed = bytearray(content)
    for _ in range(rng.choice([1, 2, 8])):
        # Half of the flips are in the header, because it is small.
        last = len(changed) if rng.random() < 0.5 else min(len(changed), 4096)
        changed[rng.randrange(last)] ^= 1 << rng.randrange(8)
    return bytes(changed)


def cut_off(content, rng):
    n = rng.choice([0, 1, 7, 8, 9, rng.randrange(len(content)), len(content) - 1])
    return content[:n] if rng.random() < 0.8 else content + b"\0" * n


def edit_header(content, rng):
    (length,) = struct.unpack("<Q", content[:8])
    if rng.random() < 0.2:
        return struct.pack("<Q", rng.choice([0, 1, length - 1, length + 1, 2**31, 2**63])) + content[8:]
    header = json.loads(content[8 : 8 + length])
    (edit_value if rng.random() < 0.7 else edit_tree)(header, {}, rng)
    text = json.dumps(header).encode()
    return struct.pack("<Q", len(text)) + text + content[8 + length :]


def places(value):
    """Return every container in JSON with each of its keys."""
    found, waiting = [], [value]
    while waiting:
        each = waiting.pop()
        keys = list(each) if isinstance(each, dict) else range(len(each)) if isinstance(each, list) else ()
        found += [(each, key) for key in keys]
        waiting += [each[key] for key in keys]
    return found


def edit_value(description, arrays, rng):
    """Replace a value by another one."""
    all_places = places(description)
    if not all_places:
        return
    container, key = rng.choice(all_places)
    old = container[key]
    if isinstance(old, int | float) and not isinstance(old, bool) and rng.random() < 0.7:
        container[key] = rng.choice([*NUMBERS, old + 1, old - 1, -old])
    elif isinstance(old, str) and rng.random() < 0.5:
        container[key] = rng.choice([old[::-1], old + "_", old.upper(), rng.choice(list(arrays) or ["x"])])
    else:
        container[key] = copy.deepcopy(rng.choice([*NUMBERS, *VALUES]))


def edit_tree(description, arrays, rng):
    """Drop, duplicate, copy or rename a part."""
    all_places = places(description)
    if not all_places:
        return
    container, key = rng.choice(all_places)
    action = rng.choice(["drop", "double", "move", "rename"])
    if action == "drop":
        del container[key]
    elif action == "double" and isinstance(container, list):
        container.insert(key, copy.deepcopy(container[key]))
    elif action == "rename" and isinstance(container, dict):
        container[rng.choice(["estimator", "array", "tuple", "coef_", "n_features_in_"])] = container.pop(key)
    else:
        other, other_key = rng.choice(all_places)
        container[key] = copy.deepcopy(other[other_key])


def edit_integers(description, arrays, rng):
    """Put an invalid integer into an array of integers."""
    names = [name for name, array in arrays.items() if array.dtype.kind in "iu" and array.size]
    if names:
        array = arrays[rng.choice(names)]
        limits = np.iinfo(array.dtype)
        old = int(array.flat[rng.randrange(array.size)])
        new = rng.choice([0, 1, -1, limits.min, limits.max, old + 1, old - 1, array.size, limits.max // 2])
        array.flat[rng.randrange(array.size)] = np.array(new % 2**64, dtype=np.uint64).astype(array.dtype)


def edit_floats(description, arrays, rng):
    """Put an invalid number into an array of floats."""
    names = [name for name, array in arrays.items() if array.dtype.kind == "f" and array.size]
    if names:
        array = arrays[rng.choice(names)]
        position = rng.randrange(array.size)
        old = float(array.flat[position])
        with np.errstate(over="ignore"):
            array.flat[position] = rng.choice([np.nan, np.inf, -np.inf, 1e308, -1e308, 1e-320, 0.0, -old])


def flip_array(description, arrays, rng):
    """Flip a bit of an array, or change its shape or dtype."""
    names = [name for name, array in arrays.items() if array.size]
    if not names:
        return
    name = rng.choice(names)
    if rng.random() < 0.25:
        with np.errstate(all="ignore"):
            single = arrays[name].astype(np.float32)
        arrays[name] = rng.choice([arrays[name][:-1], arrays[name][None], single])
        return
    flat = arrays[name].reshape(-1).view(np.uint8)
    flat[rng.randrange(flat.size)] ^= 1 << rng.randrange(8)
    return description


def try_file(path, rows, is_finite):
    """Verify and load a file, predict with it, and return the verdict."""
    start = time.process_time()
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            verdict = verdict_of(path, rows, is_finite)
    except ValueError:
        verdict = "refused"
    except MemoryError as error:
        verdict = f"FAILED: {error!r}"
    except Exception as error:
        verdict = f"FAILED: {type(error).__name__}: {error}"
    seconds = time.process_time() - start
    return verdict if seconds < MOST_SECONDS else f"FAILED: {seconds:.1f} s"


def verdict_of(path, rows, is_finite):
    """Return the verdict on a file. Errors are raised."""
    with contextlib.suppress(ValueError):
        committee.verify(path)
    with contextlib.suppress(ValueError):
        prepared = committee.predictor(path)
        if is_finite["predict"] and not finite(prepared.predict(as_mappings(rows))):
            return "FAILED: the prediction of the predictor is not finite"
    model = committee.load(path)
    if isinstance(rows, tuple):
        return "answered" if finite(model.combine(*rows)) else "FAILED: the decision is not finite"
    for method in METHODS:
        if hasattr(model, method):
            votes = finite(getattr(model, method)(rows))
            if method != "transform" and is_finite[method] and not votes:
                return f"FAILED: {method} is not finite"
    return "answered"


def as_mappings(rows):
    """Return the rows of a frame as mappings, and other rows unchanged."""
    if not hasattr(rows, "to_dict"):
        return rows
    return [
        {name: None if value != value else value for name, value in row.items()}
        for row in rows.to_dict("records")
    ]


def finite(votes):
    """Return whether all numbers of a prediction are finite."""
    votes = np.asarray(votes if not isinstance(votes, list) else np.concatenate(votes, axis=-1))
    return votes.dtype.kind not in "f" or bool(np.isfinite(votes).all())


def child():
    """Print a verdict on each file of a batch."""
    resource.setrlimit(resource.RLIMIT_AS, (MOST_MEMORY, MOST_MEMORY))
    # A valid file can start many threads, and their stacks count as memory even while they are empty.
    threading.stack_size(2**20)
    batch = pickle.load(sys.stdin.buffer)
    # Imports must not count as time of a file.
    for module in (FOREIGN, "scipy.sparse", "committee.saving.scikit_learn", "skops.io"):
        importlib.import_module(module)
    known = {}
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "model")
        for name, content, original, rows in batch:
            if name not in known:
                path.write_bytes(original)
                model = committee.load(path)
                with warnings.catch_warnings():
                    warnings.simplefilter("ignore")
                    known[name] = {
                        each: finite(getattr(model, each)(rows)) and not name.endswith(EXPONENTIAL)
                        for each in METHODS
                        if hasattr(model, each) and each != "transform"
                    }
            path.write_bytes(content)
            print("start", flush=True)
            print(
                try_file(path, rows, collections.defaultdict(bool, known[name])).replace("\n", " "),
                flush=True,
            )


def try_files(batch):
    """Return the verdicts of child processes on a batch. Start a new process after a crash."""
    verdicts = []
    while len(verdicts) < len(batch):
        rest = batch[len(verdicts) :]
        try:
            done = subprocess.run(
                [sys.executable, __file__, "--child"],
                input=pickle.dumps(rest),
                env=os.environ | ONE_THREAD,
                capture_output=True,
                timeout=TIMEOUT_SECONDS + len(rest),
            )
            output, reason = done.stdout, f"exit code {done.returncode}: {done.stderr.decode()[-300:]}"
        except subprocess.TimeoutExpired as error:
            output, reason = error.stdout or b"", "no answer"
        lines = output.decode().splitlines()
        verdicts += [line for line in lines if line != "start"]
        if len(verdicts) < len(batch):
            verdicts.append(f"FAILED: crash, {reason}")
    return verdicts


@dataclass(frozen=True)
class Tried:
    """A mutated file and the verdict on it."""

    number: int
    model: str
    mutation: str
    content: bytes
    verdict: str

    def __str__(self):
        return f"file {self.number}, {self.model}, {self.mutation}: {self.verdict}"


def fuzz(originals, numbers, seed, batch_size=200):
    """Try the mutations with some numbers. Each depends only on its number and the seed."""
    files = []
    for number in numbers:
        model = originals[number % len(originals)]
        files.append((number, model, *mutated(model.content, random.Random(f"{seed} {number}"))))
    found = []
    for first in range(0, len(files), batch_size):
        part = files[first : first + batch_size]
        batch = [(model.name, content, model.content, model.rows) for _, model, _, content in part]
        for (number, model, kind, content), verdict in zip(part, try_files(batch), strict=True):
            found.append(Tried(number, model.name, kind, content, verdict))
    return found


def main():
    """Try many files and print the verdicts."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--files", type=int, default=2000)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--number", type=int, help="try only this file")
    parser.add_argument(
        "--keep", type=Path, help="a folder for the files that failed, named by their numbers"
    )
    parser.add_argument("--child", action="store_true", help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.child:
        return child()
    numbers = range(arguments.files) if arguments.number is None else [arguments.number]
    found = fuzz(models(), numbers, arguments.seed)
    counts = collections.Counter(each.verdict.partition(":")[0] for each in found)
    print(json.dumps({"files": len(found), **counts}))
    failed = [each for each in found if each.verdict.startswith("FAILED")]
    for each in failed:
        print(each)
    if arguments.keep:
        for each in failed if arguments.number is None else found:
            (arguments.keep / f"{arguments.seed}_{each.number}").write_bytes(each.content)
    return sys.exit(1 if failed else 0)


if __name__ == "__main__":
    main()
