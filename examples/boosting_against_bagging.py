"""Boosting against bagging, with wrong labels
===========================================

Compare boosting with bagging, with right labels and with 10 and 25 % wrong ones.

Boosting is better than bagging on average. But it concentrates on rows that are misclassified, and wrong
labels are among them. So wrong labels hurt it more, and bagging becomes the better of the two.
"""

from sklearn.datasets import load_breast_cancer, load_digits, load_iris, load_wine, make_classification

from committee import AdaBoostM1Classifier, BaggingClassifier, C45Classifier
from committee.evaluating import label_noise_study

TABLES = {
    "iris": load_iris(return_X_y=True),
    "wine": load_wine(return_X_y=True),
    "breast_cancer": load_breast_cancer(return_X_y=True),
    "digits": tuple(each[:900] for each in load_digits(return_X_y=True)),
    "generated": make_classification(600, 20, n_informative=8, flip_y=0, random_state=0),
    "generated, 5 classes": make_classification(
        900, 20, n_informative=10, n_classes=5, flip_y=0, random_state=0
    ),
}
LEARNERS = {
    "boosting": AdaBoostM1Classifier(C45Classifier(), n_estimators=100),
    "bagging": BaggingClassifier(C45Classifier(), n_estimators=100),
}
SHARES = (0.0, 0.1, 0.25)


def main():
    study = label_noise_study(LEARNERS, TABLES, SHARES, resamples=10, cv=None).run(runner="processes")
    compared = study.compare("accuracy")
    errors = {name: 1 - compared.scores[:, place] for place, name in enumerate(compared.learners)}
    print(f"{'wrong labels':<14}{'boosting':>10}{'bagging':>10}   tables on which boosting is better")
    for share in SHARES:
        boosting, bagging = (
            errors[name if not share else f"{name}, {share:.0%} wrong labels"] for name in LEARNERS
        )
        better = f"{(boosting < bagging).sum()} of {len(TABLES)}"
        print(f"{share:<14.0%}{boosting.mean():>10.3f}{bagging.mean():>10.3f}   {better}")


if __name__ == "__main__":
    main()
