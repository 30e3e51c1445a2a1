"""AdaBoost (Freund and Schapire 1997): M1 and M2, the SAMME of scikit-learn, and Drucker's R2 for numbers."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
from sklearn.utils.validation import check_is_fitted

from committee.boosting.adaboost.adaboost import AdaBoost
from committee.boosting.adaboost.weights import Scheme, error_bounds, margins_of
from committee.boosting.gradient.additive_trees import StagedClasses
from committee.learners.voter import Regresses
from committee.parameters import Declaration, declared, number, one_of, parameter
from committee.saving import saved
from committee.saving.predictors.deciders import MedianDecider, shares_of, softmax
from committee.task import Classification, check_lengths, weighted_median

LEARNING_RATE: Declaration = (
    number(0, closed="neither"),
    "By what the votes of the members are multiplied. Smaller ones learn more slowly and need more members.",
)


@declared
class AdaBoostOfClasses(StagedClasses, AdaBoost):
    """What the AdaBoosts for classes share.

    Attributes
    ----------
    error_bounds_ : ndarray of shape (n_members,)
        The bound on the training error after each member.
    """

    @property
    def error_bounds_(self) -> np.ndarray:
        """The bound on the training error after each member: the mean exponential loss of the rows.

        It is the product over the members of (1 - error) exp(-vote / 2) + error exp(vote / 2), and of
        2 sqrt(error (1 - error)) where the vote is log((1 - error) / error).
        """
        check_is_fitted(self)
        n_mislabels = self._scheme(self._task).n_mislabels or 1
        return error_bounds(self.estimator_errors_, self.estimator_weights_, n_mislabels)

    def margins(self, X: Any, y: Any) -> np.ndarray:
        """The margin of each row: the share of the votes for its class less the most for another.

        Parameters
        ----------
        X : table of shape (n_rows, n_columns)
        y : array-like of shape (n_rows,)
            Of the training rows, for the distribution of training margins (Schapire et al. 1998).

        Returns
        -------
        ndarray of shape (n_rows,)
            Between -1 and 1; positive where the decision is right.
        """
        shares = shares_of(self._scores(X))
        task, codes = Classification.of(y)
        check_lengths(len(shares), codes)
        unseen = [label for label in task.classes.tolist() if label not in set(self.classes_.tolist())]
        if unseen:
            raise ValueError(f"y has the classes {unseen}, which the fit did not see. Drop those rows.")
        return margins_of(shares, np.searchsorted(self.classes_, task.classes)[codes])

    def _decide(self, X: Any) -> np.ndarray:
        return super()._decide(X) if "_forest" in self.__dict__ else self._probabilities(self._scores(X))

    def _scores(self, X: Any) -> np.ndarray:
        """Sum the weighted votes; the sums have the shape (n_rows, n_classes)."""
        if self._is_engine():
            return super()._scores(X)
        *_, sums = self._staged_scores(X)
        return sums

    def _staged_scores(self, X: Any) -> Iterator[np.ndarray]:
        if self._is_engine():
            yield from super()._staged_scores(X)
            return
        sums: Any = 0.0
        for vote, votes in zip(self.estimator_weights_, self._each_vote(X), strict=True):
            sums = sums + vote * votes
            yield sums

    def _staged_decisions(self, X: Any) -> Iterator[np.ndarray]:
        for scores in self._staged_scores(X):
            yield self._forest.link(scores) if self._is_engine() else self._probabilities(scores)

    def _probabilities(self, sums: np.ndarray) -> np.ndarray:
        return shares_of(sums)

    def _as_decision(self, sums: np.ndarray) -> np.ndarray:
        shares = shares_of(sums)
        return shares[:, 1] - shares[:, 0] if shares.shape[1] == 2 else shares

    def _weighing(self, scheme: Scheme) -> tuple[bool, str, float] | None:
        return scheme.is_crisp, "share", 1.0


@saved
@declared
class AdaBoostM1Classifier(AdaBoostOfClasses):
    """AdaBoost.M1 of Freund and Schapire, to the letter.

    A member's error is the weight of the rows that it misclassifies. If it exceeds 1/2, boosting ends and
    keeps the members before; if it is the first, it is kept alone, with a vote of 1 and a warning. Else rows
    that are classified well are multiplied by beta = error / (1 - error), and the member's vote weighs
    log(1 / beta). A member without error, whose vote would be infinite, ends the run with the vote of half an
    error in one row more than there are, log(2 n_rows + 1). Probabilities are shares of the votes. With more
    than two classes, members must be right more often than not; where they are not, `AdaBoostM2Classifier`
    and `AdaBoostClassifier` ask less.

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> booster = AdaBoostM1Classifier().fit(X, y)
    >>> round(booster.score(X, y), 2), booster.estimator_errors_[:2].round(2)
    (1.0, array([0.08, 0.15]))
    """

    _scheme_name = "m1"


@saved
@declared
class AdaBoostClassifier(AdaBoostOfClasses):
    """AdaBoost with scikit-learn's parameters: SAMME of Zhu, Zou, Rosset and Hastie (2009).

    A member only has to be better than a guess among all classes: boosting ends where its error is not below
    1 - 1 / n_classes. Its vote weighs log((1 - error) / error) + log(n_classes - 1), times `learning_rate`.
    A member without error ends the run with a vote of 1, as in scikit-learn. A first member that is no better
    than chance is kept alone, with a vote of 1 and a warning.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> X, y = load_iris(return_X_y=True)
    >>> booster = AdaBoostClassifier(learning_rate=0.5, random_state=0).fit(X, y)
    >>> booster.estimator_.max_depth, booster.predict(X[:2])
    (3, array([0, 0]))
    """

    _scheme_name = "samme"

    learning_rate: float = parameter(1.0, *LEARNING_RATE)

    def _weighing(self, scheme: Scheme) -> tuple[bool, str, float] | None:
        return True, "softmax_of_shares", samme_scale(scheme.n_classes)

    def _probabilities(self, sums: np.ndarray) -> np.ndarray:
        return softmax(samme_scale(self.n_classes_) * shares_of(sums))

    def _as_decision(self, sums: np.ndarray) -> np.ndarray:
        if sums.shape[1] == 2:
            return 2 * super()._as_decision(sums)
        return (sums.shape[1] * shares_of(sums) - 1) / (sums.shape[1] - 1)


@saved
@declared
class AdaBoostM2Classifier(AdaBoostOfClasses):
    """AdaBoost.M2 of Freund and Schapire: members say how plausible each class is.

    The distribution is over pairs of a row and a wrong label. A member's pseudo-loss is the mean of
    (1 - h(x, label) + h(x, wrong label)) / 2, where h, between 0 and 1, is the probability that the member
    gives to a class (or 0 and 1, if it gives none). Members learn from the weights of the rows, summed over
    their wrong labels. Pairs are multiplied by beta^((1 + h(x, label) - h(x, wrong label)) / 2), where beta
    is pseudo-loss / (1 - pseudo-loss), and the member's plausibilities weigh log(1 / beta). Boosting ends
    where the pseudo-loss exceeds 1/2, and with a member without any, whose vote is log(2 n_rows + 1).
    Probabilities are shares of the weighted plausibilities.

    Attributes
    ----------
    estimator_weights_, estimator_errors_ : ndarray of shape (n_members,)
        The votes of the members, and their pseudo-losses.
    row_weights_ : ndarray of shape (n_members, n_rows) or None
        The weights of the rows, summed over their wrong labels, in each round, with `store_weights`.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> X, y = load_iris(return_X_y=True)
    >>> booster = AdaBoostM2Classifier().fit(X, y)
    >>> booster.predict(X[:2]), bool((booster.estimator_errors_ < 0.5).all())
    (array([0, 0]), True)
    """

    _scheme_name = "m2"


@saved
@declared
class AdaBoostRegressor(Regresses, AdaBoost):
    """AdaBoost.R2 of Drucker (1997), with scikit-learn's parameters.

    A row's loss is its error as a share of the largest. Rows are multiplied by beta^(1 - loss), where beta is
    mean loss / (1 - mean loss), and the prediction is the median of the members', weighted by log(1 / beta).
    Boosting ends where the mean loss is not below 1/2; if the first member's is not, it is kept alone, with a
    vote of 1 and a warning. Drucker draws the rows of each member, which is the default here too.

    Attributes
    ----------
    estimator_weights_, estimator_errors_ : ndarray of shape (n_members,)
        The votes of the members, and their mean losses.
    validation_errors_ : ndarray or None
        The mean absolute errors on `X_val`, on the held-out rows or out of fold after each member.

    Examples
    --------
    >>> X, y = [[1], [2], [8], [9]] * 5, [1.0, 2.0, 5.0, 6.0] * 5
    >>> booster = AdaBoostRegressor(loss="square", random_state=0).fit(X, y)
    >>> booster.predict([[0], [10]])
    array([1., 6.])
    """

    _scheme_name = "r2"

    weighting: str = "resample"
    learning_rate: float = parameter(1.0, *LEARNING_RATE)
    loss: str = parameter(
        "linear",
        one_of("linear", "square", "exponential"),
        "How wrong a number is, by its share s of the largest error: s, its square or 1 - exp(-s).",
    )

    def _decide(self, X: Any) -> np.ndarray:
        if not self._is_engine():
            return weighted_median(self.votes(X)[:, :, 0], self.estimator_weights_)[:, np.newaxis]
        table = self._read(X)
        decider = MedianDecider(self._members, self.estimator_weights_)
        return decider.decide(table, self._threads(table.n_rows))

    def _staged_decisions(self, X: Any) -> Iterator[np.ndarray]:
        votes = self.votes(X)[:, :, 0]
        for n_members in range(1, len(votes) + 1):
            median = weighted_median(votes[:n_members], self.estimator_weights_[:n_members])
            yield median[:, np.newaxis]


def samme_scale(n_classes: int) -> float:
    """By what SAMME multiplies shares of votes before it takes the softmax.

    The scores are 1 for the class of a member and -1 / (n_classes - 1) for the others, in the mean of the
    votes, and the softmax takes scores / (n_classes - 1). What does not depend on the class falls out of it.
    """
    return n_classes / (n_classes - 1) ** 2
