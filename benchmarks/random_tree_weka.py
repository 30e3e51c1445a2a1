"""Compare RandomTreeClassifier with Weka's RandomTree if all columns are tried, so that nothing is random.

    python benchmarks/random_tree_weka.py [TABLE ...]

Weka draws the folds, as `weka.py` describes. Needs Debian's `weka` package. Printed are the leaves with rows
of the tree of the whole table, the accuracy of 10-fold cross-validation, and the rows on which both are
equally right. Weka divides rows with missing values among all branches, and ours gives them a branch. The
tables have none.
"""

import re

import weka
from committee import RandomTreeClassifier

TABLES = (
    "contact-lenses", "credit-g", "diabetes", "glass", "ionosphere", "iris", "segment-challenge",
    "weather.nominal", "weather.numeric",
)  # fmt: skip
# A leaf of the printed tree, with the weight of its rows.
LEAF = re.compile(r" : .+ \((\d+(?:\.\d+)?)/")


def main():
    for name in weka.requested_tables(TABLES):
        arff = weka.read_arff(name)
        # -K 0 would try log2 of the columns; -M 1 and -V 0.001 are the defaults.
        options = ("--", "-K", str(arff.X.shape[1]), "-M", "1.0", "-S", "1")
        grown, tested = weka.run(
            arff,
            "weka.classifiers.trees.RandomTree",
            ("-no-cv", "-v"),
            weka.CROSS_VALIDATE,
            options=options,
        )
        leaves = sum(float(weight) > 0 for weight in LEAF.findall(grown))
        folds, theirs = weka.read_folds(tested, len(arff.y))
        ours = weka.right_on_folds(new_tree, arff.X, arff.y, folds)
        own_leaves = new_tree().fit(arff.X, arff.y).get_n_leaves()
        print(
            f"{name:18} leaves {own_leaves:4} / {leaves:4}  "
            f"accuracy {ours.mean():.4f} / {theirs.mean():.4f}  "
            f"agreement on {(ours == theirs).sum()} of {len(ours)} rows",
            flush=True,
        )


def new_tree():
    return RandomTreeClassifier(max_features=None, random_state=0)


if __name__ == "__main__":
    main()
