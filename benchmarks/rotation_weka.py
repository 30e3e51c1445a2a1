"""Is RotationForestClassifier as accurate as the RotationForest of Weka? The same tables, folds and trees.

Weka chooses the folds, as `weka.py` tells. The draws of the two are not the same, so ours is the mean of some
seeds, beside the deviation between them. Needs Debian's `weka` package; two runs of Java per table.
"""

import numpy as np

import weka
from committee import RotationForestClassifier

TABLES = ("credit-g", "diabetes", "glass", "ionosphere", "iris", "segment-challenge", "soybean", "vote")
LEARNER = "weka.classifiers.meta.RotationForest"
# As many as Weka grows unless it is told otherwise.
N_TREES = 10
N_SEEDS = 5


def main():
    found = []
    for name in weka.asked_tables(TABLES):
        arff = weka.read_arff(name)
        _, tested = weka.run(arff, LEARNER, ("-no-cv", "-v"), weka.CROSS_VALIDATE)
        folds, right = weka.read_folds(tested, len(arff.y))
        ours = [accuracy(arff, folds, seed) for seed in range(N_SEEDS)]
        found.append((right.mean(), np.mean(ours)))
        print(f"{name:18} Weka {right.mean():.4f}, ours {np.mean(ours):.4f} ± {np.std(ours):.4f}", flush=True)
    theirs, ours = np.mean(found, axis=0)
    print(f"{'mean':18} Weka {theirs:.4f}, ours {ours:.4f}")


def accuracy(arff, folds, seed):
    """Of ours, on the rows of all folds."""

    def new_forest():
        return RotationForestClassifier(N_TREES, random_state=seed)

    return weka.right_on_folds(new_forest, arff.X, arff.y, folds).mean()


if __name__ == "__main__":
    main()
