"""No free lunch
=============

Show that no learner is the best: over all target functions, and over real tables.

On a small space of inputs every learner misclassifies one half of the unseen rows, averaged over all target
functions. Real tables are not all functions: there, learners differ, and each wins somewhere.
"""

import numpy as np
from sklearn.datasets import load_breast_cancer, load_digits, load_iris, load_wine, make_moons
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsClassifier

from committee import DecisionTreeClassifier, RandomForestClassifier, Study
from committee.evaluating import no_free_lunch
from committee.printing import aligned

LEARNERS = {
    "tree": DecisionTreeClassifier(random_state=0),
    "forest": RandomForestClassifier(25, random_state=0),
    "nearest neighbour": KNeighborsClassifier(1),
    "naive Bayes": GaussianNB(),
}


def steps(n_rows, random_state):
    """Draw rows whose class depends on one column in three steps, next to columns of noise."""
    X = np.random.default_rng(random_state).random((n_rows, 6))
    return X, (np.floor(4 * X[:, 0]) % 2).astype(int)


TABLES = {
    "iris": load_iris(return_X_y=True),
    "wine": load_wine(return_X_y=True),
    "breast_cancer": load_breast_cancer(return_X_y=True),
    "digits": tuple(each[:600] for each in load_digits(return_X_y=True)),
    "moons": make_moons(300, noise=0.15, random_state=0),
    "steps": steps(300, random_state=0),
}


def main():
    found = no_free_lunch(LEARNERS, n_columns=3, n_training_rows=5, random_state=0)
    print(f"{found.targets.shape[0]} target functions, {found.is_training.sum()} of {len(found.X)} rows seen")
    rows = [
        [name, f"{error:.3f}", f"{errors.min():.2f} to {errors.max():.2f}"]
        for name, error, errors in zip(found.learners, found.mean_errors, found.errors, strict=True)
    ]
    print(aligned(["learner", "mean error", "by function"], rows, right=[1]))

    learners = {**LEARNERS, "linear discriminant": LinearDiscriminantAnalysis()}
    compared = Study(learners, TABLES, resamples=5, cv=None).run().compare("accuracy")
    rows = [
        [table, *(f"{1 - score:.3f}" for score in scores), compared.learners[scores.argmax()]]
        for table, scores in zip(compared.tables, compared.scores, strict=True)
    ]
    print()
    print(aligned(["error on", *compared.learners, "best"], rows, right=range(1, len(learners) + 1)))


if __name__ == "__main__":
    main()
