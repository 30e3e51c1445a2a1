"""Stacking (Wolpert 1992): fit a meta-learner on honest votes.

In: votes. They become the columns of a level-one table, one member after the other. Out: the decision of a
classifier or regressor of scikit-learn on that table, or a weighted mean. The weights
minimise squared errors or the log loss. These problems are convex and are solved by non-negative least
squares or in closed form, so the results are deterministic.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any, ClassVar

import numpy as np

from committee.combining.fixed_rules import one_hot
from committee.combining.rule import Rule, differ
from committee.combining.selection.feature_space import as_matrix
from committee.metrics.row_losses import votes_for
from committee.parameters import Constraint, boolean, declared, one_of, parameter
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
# The largest distance of the log loss from its minimum.
TOLERANCE = 1e-10
N_STEPS = 200
SMALLEST = 1e-15
# Added to the squares, relative to them, so that members with equal votes have a solution.
RIDGE = 1e-12
# Members with smaller squared differences, relative to their squares, have equal votes.
SAME = 1e-24
# Penalties of shrunken weights, in units of the mean squared difference of members.
PENALTIES = np.logspace(-3, 3, 13)


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

    def _reads_labels(self) -> bool:
        return self.votes == "labels"

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


def triangle_of(tables: Iterable[np.ndarray]) -> np.ndarray:
    """Return a small matrix T in place of a long table A, such that T w and A w have the same norm for any w.

    It is the triangular matrix of a QR decomposition, which is computed block by block.

    Parameters
    ----------
    tables : iterable of ndarray of shape (n_rows, n_columns)

    Examples
    --------
    >>> np.abs(triangle_of([np.array([[3.0]]), np.array([[4.0]])]))
    array([[5.]])
    """
    triangle: np.ndarray | None = None
    for table in tables:
        stacked = table if triangle is None else np.vstack([triangle, table])
        triangle = np.asarray(np.linalg.qr(stacked, mode="r"))
    assert triangle is not None
    return triangle


def nonnegative_weights(triangle: np.ndarray) -> np.ndarray:
    r"""Minimise :math:`\sum_i s_i (y_i - \sum_m w_m v_{im})^2` over :math:`w \ge 0` (Breiman 1996).

    Parameters
    ----------
    triangle : ndarray of shape (n_rows, n_members + 1)
        A column for each member and one for y, each row times the square root of its weight, or the triangle
        of this table.

    Returns
    -------
    ndarray of shape (n_members,)

    Examples
    --------
    >>> nonnegative_weights(np.array([[1.0, 1.0, 0.5], [2.0, 0.0, 1.0]])).round(6)
    array([0.5, 0. ])
    """
    return solved(triangle[:, :-1], triangle[:, -1])


def convex_weights(triangle: np.ndarray) -> np.ndarray:
    r"""Minimise the same error over weights that are not negative and sum to one.

    With :math:`r_{im} = v_{im} - y_i`, the error of convex weights is :math:`\|R w\|^2`. Its minimum has the
    direction of the minimum of :math:`\|R u\|^2 + (1 - \sum u)^2` over :math:`u \ge 0`, because for
    :math:`u = t w` and the best t, this is an increasing function of :math:`\|R w\|^2`.

    Examples
    --------
    >>> convex_weights(np.array([[0.0, 1.0, 0.25], [0.0, 1.0, 0.25]])).round(6)
    array([0.75, 0.25])
    """
    residuals = triangle[:, :-1] - triangle[:, -1:]
    # The unit is the error of the worst member, so that both terms have a similar size.
    unit = np.sqrt(np.square(residuals).sum(axis=0).max()) or 1.0
    system = np.vstack([residuals / unit, np.ones(residuals.shape[1])])
    return shares(solved(system, np.append(np.zeros(len(residuals)), 1.0)))


def shrunken_weights(triangle: np.ndarray, n_rows: int) -> np.ndarray:
    r"""Fit weights that sum to one by least squares, shrunk towards convex weights; some may be negative.

    Let :math:`d` be the decision of convex weights. Ridge regression predicts :math:`y - d` from the
    :math:`v_m - d`, with the penalty of the lowest error in generalised cross-validation (Golub, Heath and
    Wahba 1979). If this brings no improvement, the weights are nearly convex.

    Parameters
    ----------
    triangle : ndarray of shape (n_rows, n_members + 1)
    n_rows : int
        The number of rows of the table whose triangle is passed.

    Examples
    --------
    The second member is always twice as far off as the first, in the same direction:

    >>> votes = np.array([[1.0, 2.0], [3.0, 6.0], [2.0, 4.0], [5.0, 10.0]])
    >>> shrunken_weights(np.column_stack([votes, [0.1, 0.0, 0.1, 0.0]]), n_rows=4).round(1)
    array([ 2., -1.])
    """
    convex = convex_weights(triangle)
    decided = triangle[:, :-1] @ convex
    table, target = triangle[:, :-1] - decided[:, None], triangle[:, -1] - decided
    left, sizes, right = np.linalg.svd(table, full_matrices=False)
    unit = float(np.square(sizes).mean())
    if unit <= SAME * float(np.square(triangle).mean()):
        return convex
    along = left.T @ target
    left_over = float(target @ target) - float(along @ along)
    penalties = PENALTIES * unit
    kept = np.square(sizes) / (np.square(sizes) + penalties[:, None])
    squares = left_over + np.square((1 - kept) * along).sum(axis=1)
    errors = squares / np.square(np.maximum(1 - kept.sum(axis=1) / n_rows, SMALLEST))
    penalty = penalties[::-1][np.argmin(errors[::-1])]
    steps = right.T @ (sizes / (np.square(sizes) + penalty) * along)
    return np.asarray(convex * (1 - steps.sum()) + steps)


def likely_weights(votes: np.ndarray, weights: np.ndarray) -> np.ndarray:
    r"""Minimise the log loss :math:`-\sum_i s_i \log \sum_m w_m p_{im}` over weights that sum to one.

    This is Newton's method. With :math:`q = P w`, the second-order model of the loss and of the sum of the
    weights is the least-squares problem :math:`\|A w - 2 \sqrt s\|^2 / 2 + n \sum w`, :math:`A =
    \mathrm{diag}(\sqrt s / q) P`, over :math:`w \ge 0`. A step that does not lower the loss is replaced by a
    step of expectation maximisation, which always lowers it. The loss is within :math:`\max_m \sum_i s_i
    p_{im} / q_i / n - 1` of the minimum.

    Parameters
    ----------
    votes : ndarray of shape (n_rows, n_members)
        The votes of each member for the true class of each row.
    weights : ndarray of shape (n_rows,)

    Examples
    --------
    The first member is correct on two of three rows, and the second on the other one:

    >>> likely_weights(np.array([[0.9, 0.1], [0.9, 0.1], [0.1, 0.9]]), np.ones(3)).round(3)
    array([0.708, 0.292])
    """
    votes = np.maximum(votes, SMALLEST)
    total = weights.sum()
    found = np.full(votes.shape[1], 1 / votes.shape[1])
    for _ in range(N_STEPS):
        mixed = votes @ found
        pull = (weights / mixed) @ votes / total
        if pull.max() - 1 <= TOLERANCE:
            break
        loss = -(weights @ np.log(mixed)) / total
        newton = newton_step(votes, weights, mixed)
        between = (found + newton) / 2
        tried = [step for step in (newton, between) if -(weights @ np.log(votes @ step)) / total < loss]
        found = tried[0] if tried else shares(found * pull)
    return found


def newton_step(votes: np.ndarray, weights: np.ndarray, mixed: np.ndarray) -> np.ndarray:
    """Return the weights that minimise the second-order model around a mixture of votes."""
    root = np.sqrt(weights)
    scaled = votes * (root / mixed)[:, None]
    squares = scaled.T @ scaled
    squares[np.diag_indices_from(squares)] *= 1 + RIDGE
    squares[np.diag_indices_from(squares)] += RIDGE * squares.max()
    linear = 2 * (scaled.T @ root) - weights.sum()
    triangle = np.linalg.cholesky(squares).T
    return shares(solved(triangle, np.linalg.solve(triangle.T, linear)))


def solved(matrix: np.ndarray, target: np.ndarray) -> np.ndarray:
    """Solve non-negative least squares."""
    from scipy.optimize import nnls

    return np.asarray(nnls(matrix, target, maxiter=max(100, 30 * matrix.shape[1]))[0])


def shares(weights: np.ndarray) -> np.ndarray:
    """Rescale weights to sum to one. Return equal weights if all are 0."""
    total = weights.sum()
    return weights / total if total > 0 else np.full(len(weights), 1 / len(weights))
