"""Implement AdaBoost (Freund and Schapire 1997): M1, M2, SAMME as in scikit-learn, and R2 for regression."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
from sklearn.utils.validation import check_is_fitted

from committee.boosting.adaboost.adaboost import AdaBoost
from committee.boosting.adaboost.weights import Scheme, error_bounds, weighed
from committee.boosting.gradient.additive_trees import StagedClasses
from committee.learners.voter import Regresses
from committee.parameters import Declaration, boolean, declared, number, one_of, parameter
from committee.saving.predictors.deciders import MedianDecider
from committee.saving.predictors.probabilities import shares_of, softmax
from committee.table.binning import MAX_BINS
from committee.task import check_lengths, weighted_median
from committee.votes.vote_arrays import margins_of

LEARNING_RATE: Declaration = (
    number(0, closed="neither"),
    "The factor by which the members' votes are multiplied. Smaller values need more members.",
)


@declared
class AdaBoostOfClasses(StagedClasses, AdaBoost):
    """Base class of the AdaBoost classifiers.

    Attributes
    ----------
    error_bounds_ : ndarray of shape (n_members,)
        The upper bound on the training error after each member.
    """

    @property
    def error_bounds_(self) -> np.ndarray:
        """The upper bound on the training error after each member: the mean exponential loss of the rows.

        It is the product over the members of (1 - error) exp(-vote / 2) + error exp(vote / 2). A factor is
        2 sqrt(error (1 - error)) if the vote is log((1 - error) / error).
        """
        check_is_fitted(self)
        n_mislabels = self._scheme(self._task).n_mislabels or 1
        return error_bounds(self.estimator_errors_, self.estimator_weights_, n_mislabels)

    def margins(self, X: Any, y: Any) -> np.ndarray:
        """Compute margins: the share of votes for the true class minus the largest share of another class.

        Parameters
        ----------
        X : table of shape (n_rows, n_columns)
        y : array-like of shape (n_rows,)
            The true classes. Pass the training rows for training margins (Schapire et al. 1998).

        Returns
        -------
        ndarray of shape (n_rows,)
            Between -1 and 1; positive if the decision is right.
        """
        shares = shares_of(self._scores(X))
        codes = self._task.encode(y)
        check_lengths(len(shares), codes)
        return margins_of(shares, codes)

    def _decide(self, X: Any) -> np.ndarray:
        return super()._decide(X) if "_forest" in self.__dict__ else self._probabilities(self._scores(X))

    def _scores(self, X: Any) -> np.ndarray:
        """Sum the weighted votes into an array of shape (n_rows, n_classes)."""
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
            sums = sums + weighed(votes, vote)
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


@declared
class AdaBoostM1Classifier(AdaBoostOfClasses):
    """AdaBoost.M1 exactly as published by Freund and Schapire (1997).

    A member's error is the weight of the rows that it misclassifies. If the error exceeds 1/2, boosting ends
    and keeps only the previous members; a first member is kept with a vote of 1 and a warning. Otherwise, the
    weights of correctly classified rows are multiplied by beta = error / (1 - error), and the weight of the
    member's vote is log(1 / beta). A member without error ends boosting. Its vote would be infinite and is
    set to log(2 n_rows + 1), as if half of one additional row were wrong. Probabilities are shares of the
    votes. Errors must be at most 1/2 even if there are many classes; `AdaBoostM2Classifier` and
    `AdaBoostClassifier` need less accurate members.

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> booster = AdaBoostM1Classifier().fit(X, y)
    >>> round(booster.score(X, y), 2), booster.estimator_errors_[:2].round(2)
    (1.0, array([0.08, 0.15]))
    """

    _scheme_name = "m1"

    # The published algorithm tries every threshold.
    max_bins: int = MAX_BINS


@declared
class AdaBoostClassifier(AdaBoostOfClasses):
    """AdaBoost with scikit-learn's parameters: SAMME of Zhu, Zou, Rosset and Hastie (2009).

    A member only has to be better than a random guess: boosting ends if its error is not below
    1 - 1 / n_classes. The weight of its vote is `learning_rate` times
    log((1 - error) / error) + log(n_classes - 1). A member without error ends boosting with a vote of 1, as
    in scikit-learn. If the first member is no better than chance, it becomes the only one, with a vote of 1
    and a warning.

    With `negative_votes=True`, a member that is worse than chance gets the negative vote of the same formula,
    and the rows that it gets right get more weight. For two classes and a learning rate of 1 this is the
    AdaBoost of Bishop (2006, section 14.3). Probabilities count a negative vote for the other classes.

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
    negative_votes: bool = parameter(
        False,
        boolean,
        "Whether a member that is worse than chance gets a negative vote. By default it ends boosting. A "
        "member whose error is exactly that of chance always does, and one that gets every row wrong ends "
        "boosting with a vote of -1.",
    )

    def _weighing(self, scheme: Scheme) -> tuple[bool, str, float] | None:
        return True, "softmax_of_shares", samme_scale(scheme.n_classes)

    def _probabilities(self, sums: np.ndarray) -> np.ndarray:
        return softmax(samme_scale(self.n_classes_) * shares_of(sums))

    def _as_decision(self, sums: np.ndarray) -> np.ndarray:
        if sums.shape[1] == 2:
            return 2 * super()._as_decision(sums)
        return (sums.shape[1] * shares_of(sums) - 1) / (sums.shape[1] - 1)


@declared
class AdaBoostM2Classifier(AdaBoostOfClasses):
    """AdaBoost.M2 of Freund and Schapire (1997), whose members estimate the plausibility of each class.

    The distribution is over pairs of a row and a wrong label. A member's pseudo-loss is the mean of
    (1 - h(x, label) + h(x, wrong label)) / 2, where h is the member's probability of a class, or 0 or 1 if it
    predicts only labels. The weight of a row for a member is the sum over its wrong labels. Weights of
    pairs are multiplied by beta^((1 + h(x, label) - h(x, wrong label)) / 2), where beta is
    pseudo-loss / (1 - pseudo-loss), and the weight of the member's vote is log(1 / beta). Boosting ends if
    the pseudo-loss exceeds 1/2. It also ends after a member without pseudo-loss, whose vote is
    log(2 n_rows + 1). Probabilities are shares of the weighted plausibilities.

    Attributes
    ----------
    estimator_weights_, estimator_errors_ : ndarray of shape (n_members,)
        The weights of the members' votes, and their pseudo-losses.
    row_weights_ : ndarray of shape (n_members, n_rows) or None
        The weights of the rows in each round, summed over their wrong labels, with `store_weights`.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> X, y = load_iris(return_X_y=True)
    >>> booster = AdaBoostM2Classifier().fit(X, y)
    >>> booster.predict(X[:2]), bool((booster.estimator_errors_ < 0.5).all())
    (array([0, 0]), True)
    """

    _scheme_name = "m2"


@declared
class AdaBoostRegressor(Regresses, AdaBoost):
    """AdaBoost.R2 of Drucker (1997), with scikit-learn's parameters.

    A row's loss is its error divided by the largest error. The weights of rows are multiplied by
    beta^(1 - loss), where beta is mean loss / (1 - mean loss). The prediction is the median of the members'
    predictions, weighted by log(1 / beta). Boosting ends if the mean loss is not below 1/2; a first member is
    kept with a vote of 1 and a warning. By default, the rows of each member are resampled, as in the paper.

    Attributes
    ----------
    estimator_weights_, estimator_errors_ : ndarray of shape (n_members,)
        The weights of the members' votes, and their mean losses.
    validation_errors_ : ndarray or None
        The mean absolute errors after each member on `X_val`, on the held-out rows or out of fold.

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
        "The loss of a row, where s is its error divided by the largest error: s, its square or 1 - exp(-s).",
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
    """Return the factor of shares of votes in the softmax of SAMME.

    A member scores its class with 1 and others with -1 / (n_classes - 1), and the softmax is applied to mean
    scores / (n_classes - 1). Terms that do not depend on the class cancel.
    """
    return n_classes / (n_classes - 1) ** 2
