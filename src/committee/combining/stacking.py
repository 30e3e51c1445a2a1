"""Stacking (Wolpert 1992): fit a meta-learner on honest votes.

In: votes. They become the columns of a level-one table, one member after the other. Out: the decision of a
classifier or regressor of scikit-learn on that table, or a weighted mean from `meta_learners`.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, ClassVar

import numpy as np

from committee.combining.fixed_rules import one_hot
from committee.combining.meta_learners import (
    convex_weights,
    likely_weights,
    nonnegative_weights,
    shares,
    shrunken_weights,
    triangle_of,
)
from committee.combining.rule import Rule, differ
from committee.combining.selection.feature_space import as_matrix
from committee.metrics.row_losses import votes_for
from committee.parameters import Constraint, boolean, declared, one_of, parameter
from committee.saving import saved
from committee.saving.format import attributes
from committee.saving.format.file_errors import require
from committee.saving.plain_models.plain_model import as_plain_model
from committee.table.column_summaries import mean_and_deviation
from committee.table.input_types import ArrayLike, TableLike
from committee.votes.honest_votes import HonestVotes
from committee.votes.vote_arrays import (
    are_classes,
    blocks_of,
    check_votes,
    in_blocks,
    labels_of,
    rescaled,
    weighted_sum,
)

# Meta-learners that weigh members and do not use the level-one table.
WEIGHING = ("nnls", "convex", "mlr", "shrunken")
# The names of meta-learners that are linear models of scikit-learn.
ESTIMATORS = {"logistic": "LogisticRegression", "ridge": "RidgeCV", "linear": "LinearRegression"}
FOR_CLASSES = ("logistic", "nnls", "convex", "mlr")
FOR_NUMBERS = ("ridge", "linear", "nnls", "convex", "shrunken")
# Probabilities are clipped to this distance from 0 and 1 before they are converted to log-odds.
MARGIN = 1e-6


@saved
@declared
class StackingRule(Rule):
    r"""Combine the votes by a meta-learner that is fitted on honest votes.

    The named meta-learners are

    ============ =======================================================================================
    "logistic"   logistic regression, for classes
    "ridge"      ridge regression in units of y's standard deviation, for regression; leave-one-out
                 cross-validation chooses the penalty
    "linear"     least squares, for regression
    "nnls"       least squares over weights >= 0, one for each member (Breiman 1996); for classes, all
                 classes share these weights, and they sum to one
    "convex"     weights >= 0 that sum to one and minimise the log loss, or the squared error in regression
                 (van der Laan et al. 2007)
    "mlr"        multi-response linear regression, for classes: for each class, least squares of its 0/1
                 indicator on the members' votes for it, over weights >= 0 (Ting and Witten 1999)
    "shrunken"   for regression: least squares over weights that sum to one and may be negative, shrunk
                 towards those of "convex" by generalised cross-validation
    ============ =======================================================================================

    The decision of a classifier without `predict_proba` is its predicted class. Weights of rows are passed to
    the meta-learner, which must accept them. Rows of weight 0 are ignored. Groups are passed to meta-learners
    that accept them, such as committees, or searches with folds of groups. Pipelines and searches pass both
    to the estimators inside them. If all rows are of one class, this class is always predicted.

    Attributes
    ----------
    final_estimator_ : estimator or None
        The fitted meta-learner, or None if it weighs members.
    weights_ : ndarray of shape (n_members,) or (n_members, n_classes), or None
        The weights of the members for "nnls", "convex" and "shrunken", and for each class for "mlr".

    References
    ----------
    D. H. Wolpert (1992). Stacked generalization. Neural Networks 5. L. Breiman (1996). Stacked regressions.
    Machine Learning 24. K. M. Ting, I. H. Witten (1999). Issues in stacked generalization. Journal of
    Artificial Intelligence Research 10. M. J. van der Laan, E. C. Polley, A. E. Hubbard (2007). Super
    learner. Statistical Applications in Genetics and Molecular Biology 6.

    Examples
    --------
    >>> votes = [[[0.9, 0.1], [0.8, 0.2], [0.3, 0.7]], [[0.6, 0.4], [0.4, 0.6], [0.6, 0.4]]]
    >>> StackingRule("convex").fit(votes, [0, 0, 1]).weights_
    array([1., 0.])
    >>> StackingRule().level_one(votes)
    array([[0.1, 0.4],
           [0.2, 0.6],
           [0.7, 0.4]])
    """

    tasks: ClassVar[tuple[str, ...]] = ("classification", "regression")

    final_estimator: Any = parameter(
        None,
        Constraint("the name of a meta-learner, a classifier or regressor, or None"),
        "The meta-learner. None is logistic for classes and ridge for regression.",
        kw_only=False,
    )
    votes: str = parameter(
        "probabilities",
        one_of("probabilities", "log_odds", "labels"),
        "The form of votes for classes in the table: probabilities p, log(p / (1 - p)), or crisp votes.",
    )
    passthrough: bool = parameter(
        False, boolean, "Whether the columns of X are added to the table, after the votes."
    )
    drop_redundant: bool = parameter(
        True,
        boolean,
        "Whether to drop the votes for the first class from the table. They follow from the others.",
    )

    kept: ClassVar[Mapping[str, attributes.Kind]] = {
        "final_estimator_": attributes.anything,
        "weights_": attributes.optional(
            attributes.either(attributes.floats("members"), attributes.floats("members", "outputs", low=0))
        ),
    }

    def level_one(self, votes: ArrayLike, X: TableLike | None = None) -> np.ndarray:
        """Return the table for the meta-learner. The rule need not be fitted.

        Parameters
        ----------
        votes : array-like of shape (n_members, n_rows, n_outputs)
        X : matrix of shape (n_rows, n_columns), default=None
            For `passthrough`.

        Returns
        -------
        ndarray of shape (n_rows, n_features)
            The votes of the first member, those of the second and so on, then the columns of X.
        """
        checked = check_votes(votes)
        self._check_X(X, checked.shape[1])
        n_features = columns_of(checked[:, :0], self.votes, self.drop_redundant).shape[1]
        table = np.empty((checked.shape[1], n_features))
        for rows, block in blocks_of(checked):
            table[rows] = columns_of(block, self.votes, self.drop_redundant)
        if not self.passthrough:
            return table
        return np.column_stack([table, as_matrix(X, "the meta-learner uses its columns")])

    def _check_kind(self, n_members: int, n_outputs: int, is_weighted: bool) -> None:
        from committee.combining.metadata_routing import reaches

        learner = self._learner(n_outputs > 1)
        if is_weighted and not isinstance(learner, str) and not reaches(learner, "sample_weight"):
            raise ValueError(
                f"{type(learner).__name__} takes no sample_weight. Fit without weights, or use another "
                "final_estimator."
            )

    def _learn(self, honest: HonestVotes) -> None:
        from sklearn.dummy import DummyClassifier, DummyRegressor
        from sklearn.linear_model import RidgeCV

        from committee.combining.metadata_routing import arguments

        learner = self._learner(honest.are_classes)
        self.final_estimator_: Any = None
        self.weights_: np.ndarray | None = None
        if isinstance(learner, str):
            self.weights_ = self._member_weights(learner, honest)
            return
        counts = honest.weights > 0
        y = honest.y[counts]
        table = self.level_one(honest.votes, honest.X)[counts]
        if (y == y[0]).all():
            learner = DummyClassifier(strategy="most_frequent") if honest.are_classes else DummyRegressor()
        weights = honest.weights if differ(honest.weights) else None
        given: dict[str, np.ndarray] = {}
        for what, values in (("sample_weight", weights), ("groups", honest.groups)):
            given |= arguments(learner, what, None if values is None else values[counts])
        if isinstance(learner, RidgeCV) and isinstance(self.final_estimator, str | None):
            fit_in_units_of_y(learner, table, y, honest.n_members, given)
        else:
            learner.fit(table, y, **given)
        self.final_estimator_ = learner

    def _learner(self, are_classes: bool) -> Any:
        """Return an unfitted estimator, or the name of a meta-learner that weighs members."""
        from sklearn import linear_model
        from sklearn.base import clone, is_classifier, is_regressor

        from committee.combining.metadata_routing import request

        ready = FOR_CLASSES if are_classes else FOR_NUMBERS
        learner = ready[0] if self.final_estimator is None else self.final_estimator
        if isinstance(learner, str):
            if learner not in ready:
                task = "classes" if are_classes else "regression"
                raise ValueError(
                    f"final_estimator for {task} must be one of {', '.join(ready)}. Got {learner!r}."
                )
            if learner in WEIGHING:
                if self.passthrough or self.votes == "log_odds":
                    setting = "passthrough=True" if self.passthrough else "votes='log_odds'"
                    raise ValueError(f"{learner!r} weighs votes and cannot use {setting}. Use an estimator.")
                return learner
            made = getattr(linear_model, ESTIMATORS[learner])()
        else:
            is_such = is_classifier if are_classes else is_regressor
            is_estimator = hasattr(learner, "__sklearn_tags__") and not isinstance(learner, type)
            if not (is_estimator and is_such(learner)):
                kind = "classifier" if are_classes else "regressor"
                raise ValueError(
                    f"final_estimator must be a {kind} or one of {', '.join(ready)}. Got {learner!r}."
                )
            made = clone(learner)
        request(made, "sample_weight", "groups")
        return made

    def _member_weights(self, name: str, honest: HonestVotes) -> np.ndarray:
        if honest.are_classes and name == "convex":
            parts = [votes_for(self._seen(votes), y).T for votes, y, _ in honest.blocks()]
            return likely_weights(np.concatenate(parts), honest.weights)
        if name == "mlr":
            one_class = (slice(code, code + 1) for code in range(honest.n_outputs))
            triangles = (triangle_of(self._tables(honest, outputs)) for outputs in one_class)
            return np.array([nonnegative_weights(triangle) for triangle in triangles]).T
        triangle = triangle_of(self._tables(honest, slice(None)))
        if name == "nnls":
            weights = nonnegative_weights(triangle)
            return shares(weights) if honest.are_classes else weights
        if name == "shrunken":
            return shrunken_weights(triangle, int(honest.repeats.sum()))
        return convex_weights(triangle)

    def _tables(self, honest: HonestVotes, outputs: slice) -> Iterator[np.ndarray]:
        """Yield blocks of a table with a column of votes for each member, and y as the last column."""
        for votes, y, weights in honest.blocks():
            answer = one_hot(y, honest.n_outputs) if honest.are_classes else y[:, None]
            both = np.concatenate([self._seen(votes), answer[None]])[:, :, outputs]
            yield (both * np.sqrt(weights)[None, :, None]).reshape(len(both), -1).T

    def _seen(self, votes: np.ndarray) -> np.ndarray:
        is_crisp = self.votes == "labels" and are_classes(votes)
        return one_hot(labels_of(votes), votes.shape[2]) if is_crisp else votes

    def _combine(self, votes: np.ndarray, X: TableLike | None) -> np.ndarray:
        if self.weights_ is not None:
            weights = self.weights_
            return in_blocks(lambda block: weighted_sum(self._seen(block), weights), votes)
        if votes.shape[1] == 0:
            return np.empty(votes.shape[1:])
        table, learner = self.level_one(votes, X), as_plain_model(self.final_estimator_)
        if not are_classes(votes):
            return np.asarray(learner.predict(table), dtype=np.float64).reshape(-1, 1)
        codes = np.asarray(learner.classes_)
        if hasattr(learner, "predict_proba"):
            known = learner.predict_proba(table)
        else:
            known = learner.predict(table)[:, None] == codes
        decision = np.zeros(votes.shape[1:])
        decision[:, codes] = known
        return rescaled(decision)

    def _looks_at_X(self) -> bool:
        return self.passthrough

    def _check_learnt(self) -> None:
        learner, weights = self.final_estimator_, self.weights_
        require((learner is None) != (weights is None), "There must be either an estimator or weights")
        if weights is not None:
            require(
                self.n_outputs_ == 1 or (weights >= 0).all(), "A weight of a vote for classes is negative"
            )
            return
        # A fitted classifier has classes, and a fitted regressor does not.
        is_such = hasattr(learner, "predict") and hasattr(learner, "classes_") == (self.n_outputs_ > 1)
        require(is_such and hasattr(learner, "n_features_in_"), "The meta-learner is not a fitted estimator")
        n_columns = columns_of(
            np.empty((self.n_members_, 0, self.n_outputs_)), self.votes, self.drop_redundant
        ).shape[1]
        fits = learner.n_features_in_ > n_columns if self.passthrough else learner.n_features_in_ == n_columns
        require(fits, "The meta-learner was fitted on other columns")
        if self.n_outputs_ > 1:
            codes = learner.classes_
            are_codes = codes.dtype.kind in "iu" and codes.min() >= 0 and codes.max() < self.n_outputs_
            require(are_codes, "The meta-learner was fitted on other classes")


def fit_in_units_of_y(
    ridge: Any, table: np.ndarray, y: np.ndarray, n_votes: int, given: Mapping[str, np.ndarray]
) -> None:
    """Fit a ridge regression in units of y's standard deviation, so that its penalties are in this unit.

    The first columns are votes, which have the unit of y too. Afterwards, the coefficients are converted to
    the original units.

    Examples
    --------
    >>> from sklearn.linear_model import Ridge
    >>> votes, y = np.array([[1.0], [2.0], [4.0]]), np.array([1.0, 3.0, 4.0])
    >>> small, large = Ridge(), Ridge()
    >>> fit_in_units_of_y(small, votes, y, 1, {})
    >>> fit_in_units_of_y(large, 1000 * votes, 1000 * y, 1, {})
    >>> small.predict([[2.0]]).round(6), large.predict([[2000.0]]).round(3)
    (array([2.434524]), array([2434.524]))
    """
    deviation = mean_and_deviation(y, given.get("sample_weight", np.ones(len(y))))[1]
    units = np.where(np.arange(table.shape[1]) < n_votes, deviation, 1.0)
    ridge.fit(table / units, y / deviation, **given)
    ridge.coef_ *= deviation / units
    ridge.intercept_ *= deviation


def columns_of(votes: np.ndarray, kind: str, drop_redundant: bool) -> np.ndarray:
    """Return votes as columns, of shape (n_rows, n_features).

    Examples
    --------
    >>> columns_of(np.array([[[0.2, 0.8]], [[0.7, 0.3]]]), "probabilities", drop_redundant=False)
    array([[0.2, 0.8, 0.7, 0.3]])
    """
    if are_classes(votes):
        if kind == "log_odds":
            kept = np.clip(votes, MARGIN, 1 - MARGIN)
            votes = np.log(kept / (1 - kept))
        elif kind == "labels":
            votes = one_hot(labels_of(votes), votes.shape[2])
        votes = votes[:, :, 1:] if drop_redundant else votes
    return votes.transpose(1, 0, 2).reshape(votes.shape[1], votes.shape[0] * votes.shape[2])
