"""Is AdaBoostM1Classifier the AdaBoostM1 of Weka? The same tables of two classes, ten stumps, vote by vote.

Weka's stumps try every threshold and split a category from the rest, so ours see indicators of categories and
as many bins as there are values. Needs Debian's `weka` package; one run of Java per table.
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
    for name in weka.asked_tables(TABLES):
        arff = weka.read_arff(name)
        (told,) = weka.run(arff, LEARNER, ("-no-cv",))
        print(compare(name, arff, told), flush=True)


def compare(name, arff, told):
    """How many votes are the same from the first on, and how many training rows are right."""
    theirs = np.array([float(vote) for vote in re.findall(r"^Weight: ([\d.]+)", told, re.MULTILINE)])
    X = indicators(arff.X)
    booster = AdaBoostM1Classifier(n_estimators=len(theirs), max_bins=65_535).fit(X, arff.y)
    ours = booster.estimator_weights_
    n_both = min(len(ours), len(theirs))
    n_same = int(np.cumprod(np.abs(ours[:n_both] - theirs[:n_both]) < PRINTED).sum())
    right = int(re.search(r"Correctly Classified Instances\s+(\d+)", told)[1])
    n_right = int((booster.predict(X) == arff.y).sum())
    votes = f"{n_same} of {len(theirs)} votes the same"
    return f"{name:14} {votes}, right on {n_right} / {right} of {len(arff.y)} rows"


if __name__ == "__main__":
    main()
