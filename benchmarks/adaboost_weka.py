"""Compare AdaBoostM1Classifier with Weka's AdaBoostM1 on tables of two classes: ten stumps, vote by vote.

Weka's stumps try every threshold and separate one category from the others. So our stumps get indicators of
categories, and as many bins as there are values. Needs Debian's `weka` package, and runs Java once per table.
"""

import re

import numpy as np

import weka
from committee import AdaBoostM1Classifier
from logitboost_weka import indicators

TABLES = ("breast-cancer", "credit-g", "diabetes", "ionosphere", "labor", "vote")
LEARNER = "weka.classifiers.meta.AdaBoostM1"
PRINTED = 0.0051  # Weka prints votes with two decimals


def main():
    for name in weka.requested_tables(TABLES):
        arff = weka.read_arff(name)
        (output,) = weka.run(arff, LEARNER, ("-no-cv",))
        print(compare(name, arff, output), flush=True)


def compare(name, arff, output):
    """Describe the number of equal votes, from the first one, and of right predictions of training rows."""
    theirs = np.array([float(vote) for vote in re.findall(r"^Weight: ([\d.]+)", output, re.MULTILINE)])
    X = indicators(arff.X)
    booster = AdaBoostM1Classifier(n_estimators=len(theirs), max_bins=65_535).fit(X, arff.y)
    ours = booster.estimator_weights_
    n_both = min(len(ours), len(theirs))
    n_same = int(np.cumprod(np.abs(ours[:n_both] - theirs[:n_both]) < PRINTED).sum())
    right = int(re.search(r"Correctly Classified Instances\s+(\d+)", output)[1])
    n_right = int((booster.predict(X) == arff.y).sum())
    votes = f"{n_same} of {len(theirs)} votes equal"
    return f"{name:14} {votes}, right on {n_right} / {right} of {len(arff.y)} rows"


if __name__ == "__main__":
    main()
