"""Compare the accuracy of RotationForestClassifier with Weka's RotationForest on the same tables and folds.

Weka draws the folds, as `weka.py` describes. The two forests have different random draws, so the output shows
our mean and standard deviation over several seeds. Needs Debian's `weka` package, and runs Java twice per
table.
"""

import numpy as np

import weka
from committee import RotationForestClassifier

TABLES = ("credit-g", "diabetes", "glass", "ionosphere", "iris", "segment-challenge", "soybean", "vote")
LEARNER = "weka.classifiers.meta.RotationForest"
# The default of Weka.
N_TREES = 10
N_SEEDS = 5


def main():
    found = []
    for name in weka.requested_tables(TABLES):
        arff = weka.read_arff(name)
        _, tested = weka.run(arff, LEARNER, ("-no-cv", "-v"), weka.CROSS_VALIDATE)
        folds, right = weka.read_folds(tested, len(arff.y))
        ours = [accuracy(arff, folds, seed) for seed in range(N_SEEDS)]
        found.append((right.mean(), np.mean(ours)))
        print(f"{name:18} Weka {right.mean():.4f}, ours {np.mean(ours):.4f} ± {np.std(ours):.4f}", flush=True)
    theirs, ours = np.mean(found, axis=0)
    print(f"{'mean':18} Weka {theirs:.4f}, ours {ours:.4f}")


def accuracy(arff, folds, seed):
    """Return the accuracy of our forest on the rows of all folds."""

    def new_forest():
        return RotationForestClassifier(N_TREES, random_state=seed)

    return weka.right_on_folds(new_forest, arff.X, arff.y, folds).mean()


if __name__ == "__main__":
    main()
