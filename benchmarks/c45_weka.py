"""Is C45Classifier the J48 of Weka? The same tables, the same folds, tree by tree.

Weka chooses the folds: it cross-validates a copy of the table with a number for each row, hidden from J48,
and tells which row it predicted when. C45Classifier is then fitted on the same folds. Needs Debian's `weka`
package, for the program and for the example tables; two runs of Java per table, half a minute in all.
"""

import importlib.metadata
import re
import shutil
import statistics
import subprocess
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pandas as pd

import results
from committee.learners.c45 import C45Classifier

JAR = Path("/usr/share/java/weka.jar")
EXAMPLES = Path("/usr/share/doc/weka/examples")
TABLES = (
    "breast-cancer", "contact-lenses", "credit-g", "diabetes", "glass", "ionosphere",
    "iris", "labor", "segment-challenge", "soybean", "vote", "weather.numeric",
)  # fmt: skip
N_FOLDS = 10
VALUE = re.compile(r"""\s*('(?:[^'\\]|\\.)*'|"[^"]*"|[^,]+?)\s*(?:,|$)""")
ATTRIBUTE = re.compile(r"""@attribute\s+('[^']*'|"[^"]*"|\S+)\s+(.*)""", re.IGNORECASE)


@dataclass(frozen=True)
class Arff:
    """A table in Weka's format, the class last. `header` and `lines` are its text without comments."""

    header: list[str]
    lines: list[str]
    X: pd.DataFrame
    y: np.ndarray  # the position of the class among the declared ones


@dataclass(frozen=True)
class Tree:
    """What the two are compared by."""

    leaves: int
    size: int
    accuracies: list[float]  # one per fold
    right: np.ndarray  # per row, whether it was predicted well when it was tested


def main():
    if shutil.which("java") is None or not JAR.exists():
        sys.exit(f"This comparison needs Java and {JAR}. On Debian: apt-get install weka")
    unknown = [name for name in sys.argv[1:] if name not in TABLES]
    if unknown:
        sys.exit(f"There is no table {unknown[0]!r}. Choose among {', '.join(TABLES)}.")
    names = sys.argv[1:] or TABLES
    trees = {}
    for name in names:
        arff = read_arff(EXAMPLES / f"{name}.arff")
        weka, folds = run_weka(arff)
        trees[name] = run_committee(arff, folds), weka, len(arff.y)
        print(describe(name, *trees[name]), flush=True)
    result = make_result(trees)
    print(results.markdown(*results.verdict_table(result)))
    print(results.write(result, complete=len(names) == len(TABLES)))


def read_arff(path):
    """The part of the format that the example tables use: numbers, categories, quotes, missing values."""
    text = [line.strip() for line in path.read_text(encoding="latin-1").splitlines()]
    text = [line for line in text if line and not line.startswith("%")]
    start = next(i for i, line in enumerate(text) if line.lower().startswith("@data"))
    header = [line for line in text[:start] if line.lower().startswith("@attribute")]
    lines = text[start + 1 :]
    rows = [split_values(line) for line in lines]
    columns = {}
    for j, line in enumerate(header):
        name, kind = ATTRIBUTE.match(line).groups()
        values = [None if row[j] == "?" else row[j] for row in rows]
        if kind.startswith("{"):
            declared = split_values(kind[1 : kind.rindex("}")])
            columns[name.strip("'\"")] = pd.Categorical(values, categories=declared)
        else:
            columns[name.strip("'\"")] = [np.nan if value is None else float(value) for value in values]
    table = pd.DataFrame(columns)
    target = table.columns[-1]
    return Arff(header, lines, table.drop(columns=target), table[target].cat.codes.to_numpy())


def split_values(line):
    return [value.strip("'\"") for value in VALUE.findall(line)]


def run_weka(arff):
    """J48's tree on the whole table, its accuracy by fold, and the folds: the rows that each tests."""
    with tempfile.TemporaryDirectory() as folder:
        numbered = Path(folder) / "numbered.arff"
        header = ["@relation numbered", "@attribute row numeric", *arff.header, "@data"]
        lines = [f"{i},{line}" for i, line in enumerate(arff.lines)]
        numbered.write_text("\n".join([*header, *lines]) + "\n", encoding="latin-1")
        hidden = ["-F", "weka.filters.unsupervised.attribute.Remove -R 1", "-W", "weka.classifiers.trees.J48"]
        grown = run_java(numbered, "-no-cv", "-v", *hidden)
        tested = run_java(numbered, "-x", str(N_FOLDS), "-s", "1", "-p", "1", *hidden)
    leaves = int(re.search(r"Number of Leaves\s*:\s*(\d+)", grown)[1])
    size = int(re.search(r"Size of the tree\s*:\s*(\d+)", grown)[1])
    folds = []
    right = np.zeros(len(arff.y), dtype=bool)
    # A line ends with a plus if the prediction is wrong, its probability, and the row. Folds count from 1.
    for line in re.findall(r"^ +\d+ .*\(\d+\)$", tested, re.MULTILINE):
        words = line.split()
        if words[0] == "1":
            folds.append([])
        row = int(words[-1].strip("()"))
        folds[-1].append(row)
        right[row] = words[-3] != "+"
    assert sorted(row for fold in folds for row in fold) == list(range(len(arff.y))), (
        "Every row is tested once."
    )
    return Tree(leaves, size, [float(right[fold].mean()) for fold in folds], right), folds


def run_java(path, *arguments):
    classifier = "weka.classifiers.meta.FilteredClassifier"
    command = ["java", "-cp", str(JAR), classifier, "-t", str(path), *arguments]
    done = subprocess.run(command, capture_output=True, text=True, encoding="latin-1")
    if done.returncode != 0 or not done.stdout.strip():
        sys.exit(f"Weka failed: {done.stderr.strip()}")
    return done.stdout


def run_committee(arff, folds):
    tree = C45Classifier().fit(arff.X, arff.y)
    right = np.zeros(len(arff.y), dtype=bool)
    for fold in folds:
        rest = np.setdiff1d(np.arange(len(arff.y)), fold)
        member = C45Classifier().fit(arff.X.iloc[rest], arff.y[rest])
        right[fold] = member.predict(arff.X.iloc[fold]) == arff.y[fold]
    # Weka counts the leaves of empty branches as nodes.
    n_empty = int((tree.tree_.arrays()["branch"] < 0).sum())
    accuracies = [float(right[fold].mean()) for fold in folds]
    return Tree(tree.get_n_leaves(), tree.tree_.n_nodes + n_empty, accuracies, right)


def describe(name, ours, weka, n_rows):
    same = int((ours.right == weka.right).sum())
    return (
        f"{name:18} leaves {ours.leaves:3} / {weka.leaves:3}  size {ours.size:3} / {weka.size:3}  "
        f"accuracy {ours.right.mean():.4f} / {weka.right.mean():.4f}  same verdict on {same} of {n_rows} rows"
    )


def make_result(trees):
    measurements = []
    for name, (ours, weka, _) in trees.items():
        for peer, tree in ("committee", ours), ("weka", weka):
            readings = {"leaves": [tree.leaves], "size": [tree.size], "accuracy": [float(tree.right.mean())]}
            measurements += [
                {"case": name, "peer": peer, "metric": metric, "values": values}
                for metric, values in readings.items()
            ]
    return {
        "name": "c45_weka",
        "title": "Is C45Classifier the J48 of Weka?",
        "about": (
            "Both at their defaults on example tables of Weka: the tree on the whole table, and the accuracy "
            "of 10-fold cross-validation on the folds that Weka draws with seed 1. The class labels are "
            "numbered as Weka declares them, because ties go to the first. Weka also counts declared classes "
            "without rows (glass has one), C45Classifier does not know them."
        ),
        "rerun": "python benchmarks/c45_weka.py",
        "quick": False,
        "date": results.today(),
        "machine": results.machine(),
        "peers": {
            "committee": {"version": importlib.metadata.version("committee"), "settings": "C45Classifier()"},
            "weka": {"version": weka_version(), "settings": "J48 -C 0.25 -M 2"},
        },
        "metrics": {
            "leaves": {"label": "leaves", "unit": "leaves", "ratio": False},
            "size": {"label": "size", "unit": "nodes", "ratio": False},
            "accuracy": {"label": "accuracy", "unit": "", "ratio": False},
        },
        "cases": [
            {"name": name, "about": f"{n_rows} rows", "axis": None, "at": None}
            for name, (_, _, n_rows) in trees.items()
        ],
        "measurements": measurements,
        "targets": judge(trees),
        "plots": [],
        "failures": [],
    }


def weka_version():
    """From the name of the jar, which Debian's link points to."""
    found = re.search(r"(\d+(?:\.\d+)+)", JAR.resolve().name)
    return found[1] if found else "unknown"


def judge(trees):
    """Sizes within 5 %, accuracies within one standard error of Weka's."""
    size_gaps = {
        name: max(abs(ours.size / weka.size - 1), abs(ours.leaves / weka.leaves - 1))
        for name, (ours, weka, _) in trees.items()
    }
    errors = {
        name: abs(float(ours.right.mean() - weka.right.mean())) / standard_error(weka.accuracies)
        for name, (ours, weka, _) in trees.items()
    }
    widest, furthest = max(size_gaps, key=size_gaps.get), max(errors, key=errors.get)
    return [
        {
            "what": f"leaves and size of {len(trees)} trees",
            "target": "within 5 % of J48",
            "measured": f"at most {size_gaps[widest]:.1%} apart ({widest})",
            "met": size_gaps[widest] <= 0.05,
        },
        {
            "what": "10-fold accuracy",
            "target": "within one standard error of J48",
            "measured": f"at most {errors[furthest]:.2f} standard errors apart ({furthest})",
            "met": errors[furthest] <= 1,
        },
    ]


def standard_error(accuracies):
    """Of their mean. A table on which all folds agree has none to divide by."""
    return max(statistics.stdev(accuracies) / len(accuracies) ** 0.5, 1e-9)


if __name__ == "__main__":
    main()
