"""Run Debian's Weka on its example tables, and read its folds and predictions.

Weka draws the folds. It cross-validates a copy of the table with a row number, which is hidden from the
learner, and reports the row numbers of each fold. Our estimators are then fitted on the same folds.
"""

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

JAR = Path("/usr/share/java/weka.jar")
EXAMPLES = Path("/usr/share/doc/weka/examples")
N_FOLDS = 10
VALUE = re.compile(r"""\s*('(?:[^'\\]|\\.)*'|"[^"]*"|[^,]+?)\s*(?:,|$)""")
ATTRIBUTE = re.compile(r"""@attribute\s+('[^']*'|"[^"]*"|\S+)\s+(.*)""", re.IGNORECASE)


@dataclass(frozen=True)
class Arff:
    """A table in Weka's format, with the class last. `header` and `lines` are its text without comments."""

    header: list[str]
    lines: list[str]
    X: pd.DataFrame
    y: np.ndarray  # the position of the class among the declared ones
    n_declared: int  # the number of declared classes


def requested_tables(tables):
    """Return the tables named in the command line, or all. Exit if Weka is not installed."""
    if shutil.which("java") is None or not JAR.exists():
        sys.exit(f"This comparison needs Java and {JAR}. On Debian: apt-get install weka")
    unknown = [name for name in sys.argv[1:] if name not in tables]
    if unknown:
        sys.exit(f"There is no table {unknown[0]!r}. Choose among {', '.join(tables)}.")
    return sys.argv[1:] or tables


def read_arff(name):
    """Read the features of the format that the example tables use.

    These are numbers, categories, quotes and missing values.
    """
    path = EXAMPLES / f"{name}.arff"
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
    classes = table[target].cat
    return Arff(header, lines, table.drop(columns=target), classes.codes.to_numpy(), len(classes.categories))


def split_values(line):
    return [value.strip("'\"") for value in VALUE.findall(line)]


def run(arff, learner, *commands, options=()):
    """Run Weka once for each list of arguments, with options of the learner, and return its outputs."""
    with tempfile.TemporaryDirectory() as folder:
        numbered = Path(folder) / "numbered.arff"
        header = ["@relation numbered", "@attribute row numeric", *arff.header, "@data"]
        lines = [f"{i},{line}" for i, line in enumerate(arff.lines)]
        numbered.write_text("\n".join([*header, *lines]) + "\n", encoding="latin-1")
        hidden = ["-F", "weka.filters.unsupervised.attribute.Remove -R 1", "-W", learner, *options]
        return [run_java(numbered, *command, *hidden) for command in commands]


def cross_validate(seed):
    """Return the arguments for a cross-validation whose folds are drawn with a seed."""
    return ("-x", str(N_FOLDS), "-s", str(seed), "-p", "1")


CROSS_VALIDATE = cross_validate(1)


def read_folds(tested, n_rows):
    """Read the rows of each fold, and whether each row was predicted right, from a cross-validation."""
    folds = []
    right = np.zeros(n_rows, dtype=bool)
    # The last words of a line are a plus if the prediction is wrong, its probability, and the row. The first
    # word counts the rows of a fold from 1.
    for line in re.findall(r"^ +\d+ .*\(\d+\)$", tested, re.MULTILINE):
        words = line.split()
        if words[0] == "1":
            folds.append([])
        row = int(words[-1].strip("()"))
        folds[-1].append(row)
        right[row] = words[-3] != "+"
    assert sorted(row for fold in folds for row in fold) == list(range(n_rows)), "Every row is tested once."
    return folds, right


def run_java(path, *arguments):
    classifier = "weka.classifiers.meta.FilteredClassifier"
    command = ["java", "-cp", str(JAR), classifier, "-t", str(path), *arguments]
    done = subprocess.run(command, capture_output=True, text=True, encoding="latin-1")
    if done.returncode != 0 or not done.stdout.strip():
        sys.exit(f"Weka failed: {done.stderr.strip()}")
    return done.stdout


def right_on_folds(make, X, y, folds):
    """Return whether each row is predicted right by an estimator that was fitted on the other folds."""
    right = np.zeros(len(y), dtype=bool)
    for fold in folds:
        rest = np.setdiff1d(np.arange(len(y)), fold)
        right[fold] = make().fit(X.iloc[rest], y[rest]).predict(X.iloc[fold]) == y[fold]
    return right


def version():
    """Return the version in the name of the jar file."""
    found = re.search(r"(\d+(?:\.\d+)+)", JAR.resolve().name)
    return found[1] if found else "unknown"


def standard_error(accuracies):
    """Return the standard error of the mean of accuracies, which is positive even if all are equal."""
    return max(statistics.stdev(accuracies) / len(accuracies) ** 0.5, 1e-9)
