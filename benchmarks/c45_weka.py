"""Compare C45Classifier with Weka's J48 on the same tables and folds, tree by tree.

Weka draws the folds, as `weka.py` describes. Needs Debian's `weka` package, which contains the program and
the example tables. Java runs twice per table, for half a minute in total.
"""

import importlib.metadata
import re
from dataclasses import dataclass

import numpy as np

import results
import weka
from committee.learners.c45 import C45Classifier

TABLES = (
    "breast-cancer", "contact-lenses", "credit-g", "diabetes", "glass", "ionosphere",
    "iris", "labor", "segment-challenge", "soybean", "vote", "weather.numeric",
)  # fmt: skip


@dataclass(frozen=True)
class Tree:
    """The measurements by which the two trees are compared."""

    leaves: int
    size: int
    accuracies: list[float]  # one per fold
    right: np.ndarray  # per row, whether its prediction was right when its fold was tested


def main():
    names = weka.requested_tables(TABLES)
    trees = {}
    for name in names:
        arff = weka.read_arff(name)
        theirs, folds = run_weka(arff)
        trees[name] = run_committee(arff, folds), theirs, len(arff.y)
        print(describe(name, *trees[name]), flush=True)
    result = make_result(trees)
    print(results.markdown(*results.verdict_table(result)))
    print(results.write(result, complete=len(names) == len(TABLES)))


def run_weka(arff):
    """Return J48's tree on the whole table with its accuracy by fold, and the folds."""
    grown, tested = weka.run(arff, "weka.classifiers.trees.J48", ("-no-cv", "-v"), weka.CROSS_VALIDATE)
    leaves = int(re.search(r"Number of Leaves\s*:\s*(\d+)", grown)[1])
    size = int(re.search(r"Size of the tree\s*:\s*(\d+)", grown)[1])
    folds, right = weka.read_folds(tested, len(arff.y))
    return Tree(leaves, size, [float(right[fold].mean()) for fold in folds], right), folds


def run_committee(arff, folds):
    tree = C45Classifier().fit(arff.X, arff.y)
    right = weka.right_on_folds(C45Classifier, arff.X, arff.y, folds)
    # Weka counts the leaves of empty branches as nodes.
    n_empty = int((tree.tree_.arrays()["branch"] < 0).sum())
    accuracies = [float(right[fold].mean()) for fold in folds]
    return Tree(tree.get_n_leaves(), tree.tree_.n_nodes + n_empty, accuracies, right)


def describe(name, ours, theirs, n_rows):
    same = int((ours.right == theirs.right).sum())
    return (
        f"{name:18} leaves {ours.leaves:3} / {theirs.leaves:3}  size {ours.size:3} / {theirs.size:3}  "
        f"accuracy {ours.right.mean():.4f} / {theirs.right.mean():.4f}  agreement on {same} of {n_rows} rows"
    )


def make_result(trees):
    measurements = []
    for name, (ours, theirs, _) in trees.items():
        for peer, tree in ("committee", ours), ("weka", theirs):
            readings = {"leaves": [tree.leaves], "size": [tree.size], "accuracy": [float(tree.right.mean())]}
            measurements += [
                {"case": name, "peer": peer, "metric": metric, "values": values}
                for metric, values in readings.items()
            ]
    return {
        "name": "c45_weka",
        "title": "Does C45Classifier agree with Weka's J48?",
        "about": (
            "Both with their defaults on example tables of Weka: the tree of the whole table, and the "
            "accuracy of 10-fold cross-validation on the folds that Weka draws with seed 1. The class "
            "labels have the order of Weka's declarations, because the first class wins a tie. Weka also "
            "counts declared classes without rows (glass has one). C45Classifier ignores them."
        ),
        "rerun": "python benchmarks/c45_weka.py",
        "quick": False,
        "date": results.today(),
        "machine": results.machine(),
        "peers": {
            "committee": {"version": importlib.metadata.version("committee"), "settings": "C45Classifier()"},
            "weka": {"version": weka.version(), "settings": "J48 -C 0.25 -M 2"},
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
        "targets": check_targets(trees),
        "plots": [],
        "failures": [],
    }


def check_targets(trees):
    """Require sizes within 5 %, and accuracies within one standard error of Weka's."""
    size_gaps = {
        name: max(abs(ours.size / theirs.size - 1), abs(ours.leaves / theirs.leaves - 1))
        for name, (ours, theirs, _) in trees.items()
    }
    errors = {
        name: abs(float(ours.right.mean() - theirs.right.mean())) / weka.standard_error(theirs.accuracies)
        for name, (ours, theirs, _) in trees.items()
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


if __name__ == "__main__":
    main()
