"""Measure the size of saved models, and the times to load them and to predict the first row.

python benchmarks/saving.py [--quick] [--cases ...] [--peers ...] [--repeats 5]
"""

import functools
import importlib.metadata
import json
import os
import re
import subprocess
import sys
import tempfile
from pathlib import Path

import tables
from harness import Case, Question, main
from measure import MEGABYTE, seconds
from peers import THREADS, Peer
from verdicts import at_most, nothing_failed, ratio

JOBLIB, COMPRESSED = "joblib", "joblib, compressed"
FOREST = "forest, 100,000 x 28"
IMPORT, HELP, INSTALL = "import", "committee --help", "base install"
PREDICTOR, FUZZ = "predictor of a file", "hostile files"
N_LOADS = 5
# scikit-learn and its dependencies.
NOT_OURS = {"numpy", "scipy", "scikit-learn", "joblib", "threadpoolctl"}
MUTATIONS = Path(__file__).parent.parent / "tests" / "support" / "hostile_files.py"

IMPORTING = """
import json, time
import sklearn.ensemble, sklearn.tree
start = time.perf_counter()
from committee import *
print(json.dumps(time.perf_counter() - start))
"""
PREDICTING = """
import json, statistics, sys, time
start = time.perf_counter()
import numpy as np
import committee
predictor = committee.predictor(sys.argv[1])
rows = np.load(sys.argv[2])
predictor.predict(rows[:1])
first = time.perf_counter() - start
times = []
for i in range(len(rows)):
    row = rows[i : i + 1]
    before = time.perf_counter_ns()
    predictor.predict(row)
    times.append(time.perf_counter_ns() - before)
assert "sklearn" not in sys.modules
print(json.dumps([first, statistics.median(times) / 1000]))
"""


def forest(split, trees, seed, module):
    """Return a fitted forest of one of two libraries."""
    return module.RandomForestClassifier(trees, max_features="sqrt", n_jobs=THREADS, random_state=seed).fit(
        split.X_train, split.y_train
    )


def measure_forest(peer, *, seed, quick):
    """Save the forest of a library, and load it several times."""
    import joblib
    import sklearn.ensemble

    import committee

    split = tables.two_classes(n_rows=4000, n_test=100) if quick else tables.two_classes(n_test=100)
    trees = 20 if quick else 100
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "model")
        if peer.name == "committee":
            model = forest(split, trees, seed, committee)
            save, load = model.save, committee.load
        else:
            model = forest(split, trees, seed, sklearn.ensemble)
            compress = 3 if peer.name == COMPRESSED else 0
            save, load = (lambda path: joblib.dump(model, path, compress=compress)), joblib.load
        saving = seconds(save, path)
        loading = min(seconds(load, path) for _ in range(N_LOADS))
        same = (load(path).predict_proba(split.X_test) == model.predict_proba(split.X_test)).all()
        if not same:
            raise RuntimeError("The predictions of the loaded forest differ from those of the saved one.")
        return {"save": saving, "load": loading, "file": path.stat().st_size / MEGABYTE}


def measure_import(peer, *, seed, quick):
    """Import every public name in a process that has imported scikit-learn."""
    return {"time": in_fresh_process(IMPORTING)}


def measure_help(peer, *, seed, quick):
    """Time `committee --help` from start to end."""
    command = [sys.executable, "-c", "from committee.cli import main; main()", "--help"]
    run = functools.partial(subprocess.run, command, check=True, capture_output=True, env=with_bytecode())
    return {"time": min(seconds(run) for _ in range(N_LOADS))}


def measure_install(peer, *, seed, quick):
    """Measure the size of committee and its dependencies, without scikit-learn and its dependencies."""
    return {"size": (package_bytes() + sum(map(distribution_bytes, needed("committee")))) / MEGABYTE}


def measure_predictor(peer, *, seed, quick):
    """Import committee, open a file and predict one row, then many rows one by one."""
    import numpy as np

    import committee

    split = tables.two_classes(n_rows=4000, n_test=100) if quick else tables.two_classes(n_test=2000)
    with tempfile.TemporaryDirectory() as folder:
        forest(split, 20 if quick else 100, seed, committee).save(Path(folder, "model"))
        np.save(Path(folder, "rows.npy"), split.X_test)
        first, row = in_fresh_process(PREDICTING, str(Path(folder, "model")), str(Path(folder, "rows.npy")))
    return {"first": first, "prepared_row": row}


def measure_fuzz(peer, *, seed, quick):
    """Open mutated files, which differ between seeds."""
    n_files = 100 if quick else 2000
    command = [sys.executable, str(MUTATIONS), "--files", str(n_files), "--seed", str(seed)]
    done = subprocess.run(command, capture_output=True, text=True)
    found = json.loads(done.stdout.splitlines()[0])
    return {"files": found["files"], "failures": found.get("FAILED", 0)}


def in_fresh_process(program, *arguments):
    """Run a program twice and return the JSON that the second run prints. The first run fills the disk cache.

    Bytecode is stored, as in an installed package.
    """
    command = [sys.executable, "-c", program, *arguments]
    runs = [
        subprocess.run(command, check=True, capture_output=True, text=True, env=with_bytecode())
        for _ in range(2)
    ]
    return json.loads(runs[-1].stdout)


def with_bytecode():
    """Return the environment of a process that stores compiled Python files."""
    return {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}


def needed(name, seen=None):
    """Return the names of the dependencies of a distribution, without extras."""
    seen = set() if seen is None else seen
    for line in importlib.metadata.requires(name) or []:
        required = re.match(r"[\w.-]+", line).group().lower()
        if "extra ==" not in line and required not in NOT_OURS | seen:
            seen.add(required)
            needed(required, seen)
    return seen


def distribution_bytes(name):
    """Return the size of the files of an installed distribution, without compiled Python files."""
    files = importlib.metadata.files(name) or []
    return sum(
        file.locate().stat().st_size for file in files if file.suffix != ".pyc" and file.locate().exists()
    )


def package_bytes():
    """Return the size of committee's own files."""
    from committee import _engine

    source = Path(__file__).parent.parent / "src" / "committee"
    return Path(_engine.__file__).stat().st_size + sum(path.stat().st_size for path in source.rglob("*.py"))


def check_targets(readings):
    """Compare the readings with the targets."""
    return [
        ratio(readings, f"file: {FOREST}", FOREST, "file", peer=JOBLIB, times=4),
        ratio(readings, f"file: {FOREST}", FOREST, "file", peer=COMPRESSED, times=1),
        *(
            ratio(readings, f"load: {FOREST}", FOREST, "load", peer=each, times=5)
            for each in (JOBLIB, COMPRESSED)
        ),
        at_most(readings, "import, beyond scikit-learn's", IMPORT, "time", limit=0.3, unit="s"),
        at_most(readings, "committee --help", HELP, "time", limit=0.5, unit="s"),
        at_most(readings, "base install, beyond scikit-learn's", INSTALL, "size", limit=15, unit="MB"),
        at_most(readings, "predictor: import to first row", PREDICTOR, "first", limit=0.2, unit="s"),
        at_most(readings, "predictor: each row after", PREDICTOR, "prepared_row", limit=10, unit="us"),
        nothing_failed(readings, "mutated files", FUZZ, count="files", failures="failures"),
    ]


OURS = ("committee",)
REGISTRY = {
    peer.name: peer
    for peer in (
        Peer("committee", "committee", "`save` and `load`", (), None),
        Peer(JOBLIB, "joblib", "`dump` and `load` of scikit-learn's forest, compress=0", (), None),
        Peer(COMPRESSED, "joblib", "the same with compress=3", (), None),
    )
}
QUESTION = Question(
    name="saving",
    title="How small is a saved model, and how fast does it load and predict?",
    about=(
        "100 full trees on two overlapping classes, fitted by each library on two threads. *load* is the "
        "fastest of five in a process that has imported everything; *file* is its size on the disk. *time* "
        "is `from committee import *` in a process that has imported `sklearn.ensemble`, or the process of "
        "`committee --help` from start to end, the fastest of five; *base install* is the size of "
        "committee, narwhals and safetensors without the bytecode that pip compiles (about 6.5 MB). *first "
        "row* is the time from before `import numpy` to the result of "
        "`committee.predictor(path).predict(row)`, in a fresh process that never imports scikit-learn. "
        "*hostile files* are mutations of our and scikit-learn's saved models (`make fuzz`), different "
        "ones in every repetition; a failure is a crash, a hang, an unclear error or a number that is not "
        "finite."
    ),
    cases=(
        Case(FOREST, "", (*OURS, JOBLIB, COMPRESSED), measure_forest),
        Case(IMPORT, "", OURS, measure_import),
        Case(HELP, "", OURS, measure_help),
        Case(INSTALL, "", OURS, measure_install),
        Case(PREDICTOR, "100 trees on 100,000 x 28.", OURS, measure_predictor),
        Case(FUZZ, "", OURS, measure_fuzz),
    ),
    check_targets=check_targets,
    registry=REGISTRY,
)

if __name__ == "__main__":
    main(QUESTION)
