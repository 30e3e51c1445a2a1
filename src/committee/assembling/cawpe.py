"""CAWPE: probabilities weighted by cross-validated accuracy to a power (Large, Lines and Bagnall 2019)."""

from __future__ import annotations

from committee.assembling.committee import Committee
from committee.combining.rule import Rule
from committee.learners.voting import Classifies
from committee.parameters import declared, number, parameter
from committee.saving import saved


@saved
@declared
class CAWPEClassifier(Classifies, Committee):
    """Weigh the members' probabilities by their cross-validated accuracy to the power alpha.

    By default the members are of the paper's five kinds, with the settings of scikit-learn and of
    `C45Classifier` and not those of Weka, in ten folds: eleven fits of each.

    References
    ----------
    J. Large, J. Lines, A. Bagnall, "A probabilistic classifier ensemble weighting scheme based on
    cross-validated accuracy estimates". Data Mining and Knowledge Discovery 33, 2019.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from sklearn.naive_bayes import GaussianNB
    >>> from committee import CAWPEClassifier, DecisionTreeClassifier
    >>> X, y = load_iris(return_X_y=True)
    >>> members = [("bayes", GaussianNB()), ("stump", DecisionTreeClassifier(max_depth=1))]
    >>> CAWPEClassifier(members).fit(X, y).weights_.round(2)
    array([0.81, 0.19])
    """

    cv: object = 10
    # The paper weighs probabilities, and its support vector machine has none of its own.
    calibrate: str | None = "sigmoid"

    alpha: float = parameter(
        4,
        "a number >= 0",
        number(0),
        "The exponent. 0 is the mean of the members, 1 weighs by accuracy, large ones leave only the best.",
    )

    def _new_rule(self) -> Rule:
        return self._rule_with("cawpe", "alpha")
