"""Implement gradient tree boosting (Friedman 2001) with regularised Newton steps (Chen and Guestrin 2016)."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Any, Self

import numpy as np

from committee import _engine
from committee.boosting.gradient.additive_trees import StagedClasses, Steps
from committee.boosting.gradient.objectives import (
    CLASS_LOSS,
    HUBER_QUANTILE,
    NUMBER_LOSS,
    Loss,
    check_numbers,
)
from committee.boosting.gradient.rounds import Rounds
from committee.boosting.gradient.training_rows import TrainingRows
from committee.learners.training_data import Training
from committee.learners.tree_parameters import CLASS_WEIGHT, directions_of
from committee.learners.voter import Regresses
from committee.parameters import (
    Constraint,
    boolean,
    declared,
    either,
    integer,
    number,
    one_of,
    optional,
    parameter,
)
from committee.running import Work, n_threads
from committee.running.deadline import half_of_the_time
from committee.table.binning import MAX_BINS
from committee.votes.folds import N_FOLDS, spare_folds

# The rate that learning_rate="auto" starts from.
USUAL_RATE = 0.1
# multi_strategy="auto" uses multi-output trees from this number of classes on.
MANY_CLASSES = 6
# subsample="auto" uses this share of the rows of tables with at most this number of rows. Subsampling makes
# trees more diverse, which improves models of small tables.
SMALL_SHARE, MOST_DRAWN = 0.6, 20_000

# The constants below are for n_estimators="auto".
# As many folds are used as are needed to validate this number of rows; small tables use all folds.
ENOUGH_ROWS = 1000
# A round of more than two classes is one tree per class, so fewer folds are used unless there are few rows.
FOLDS_OF_MANY_CLASSES, FEW_ROWS = 3, 150
# With fewer rows than this, validation is not reliable.
FEWEST_ROWS = 10
# The number of rounds if it cannot be found by validation. It is the default of other libraries.
USUAL_ROUNDS = 100
# In the search, the learning rate is up to this factor larger, and the number of rounds is smaller.
STRIDE = 4.0
# Each multi-output tree fits another combination of the classes, for which large steps are inaccurate.
MULTI_OUTPUT_STRIDE = 2.0
LARGEST_RATE = 0.4
# Small steps overfit later than the large steps of the search, so the number of rounds is multiplied by the
# first factor, or by the second one for many rows. benchmarks/boosting_defaults.py measures the factors.
EXTRA_ROUNDS, EXTRA_ROUNDS_OF_MANY_ROWS, MANY_ROWS = 1.2, 1.5, 20_000
# The loss falls fast if the last quarter of the rounds reduces it to less than this share.
LEFT_BY_QUARTER = 0.9
# If fewer than FEW_ROUNDS are best, more and smaller steps are used, down to LEAST_SHARE of the rate. If more
# than MOST_ROUNDS are best, fewer and larger steps are used.
FEW_ROUNDS, LEAST_SHARE = 100, 0.25
MOST_ROUNDS = 200
# The limit of the search if the loss falls fast.
MOST_FALLING = 400
# The factor of the number of rounds if a round is one tree for all classes, which reduces the loss less.
MULTI_OUTPUT_ROUNDS = 4
# The parameters of the plain algorithm.
TEXTBOOK: dict[str, Any] = {
    "learning_rate": 0.1,
    "second_order": False,
    "max_depth": 3,
    "max_leaf_nodes": None,
    "max_bins": MAX_BINS,
    "min_child_weight": 0.0,
    "reg_lambda": 0.0,
    "subsample": 1.0,
    "colsample_bynode": 1.0,
}


@declared
class GradientBoosting(Rounds):
    """Base class of gradient boosting for classification and regression. Subclasses declare `loss`."""

    n_estimators: int | str = parameter(
        "auto",
        either(integer(1), one_of("auto")),
        'The number of rounds. Early stopping may reduce it. "auto" chooses it by cross-validation on up to '
        "five folds, with fewer and larger steps in the folds: at most 200 rounds, or 400 if the loss still "
        'falls fast after 200 (with `learning_rate="auto"`, 200 rounds of twice the rate), and four times as '
        "many if a round is one tree for all classes. It is 100 if there are too few rows for validation, or "
        "if `loss` is a callable, because callables do not return the loss.",
        kw_only=False,
    )
    learning_rate: float | str = parameter(
        "auto",
        either(number(0, closed="neither"), one_of("auto")),
        'The factor by which the values of the leaves are multiplied. "auto" is 0.1. If n_estimators="auto" '
        "finds that fewer than 100 rounds are best, it uses more rounds with a lower rate, down to 0.025. "
        "If 200 rounds are not enough, it uses a higher rate, up to 0.2. A warm start keeps the rate of the "
        "previous fit.",
    )
    grow_policy: str = parameter(
        "lossguide",
        one_of("lossguide", "depthwise"),
        'The order of splits: "lossguide" splits the leaf that reduces the loss most, "depthwise" splits '
        "level by level.",
    )
    second_order: bool = parameter(
        True,
        boolean,
        "Whether splits use the second derivatives of the loss. False fits each tree to the negative "
        "gradient by least squares, as in Friedman (2001). A leaf then gets the step that minimises the loss "
        "of its rows or, for losses without a closed form, one Newton step. See `textbook`.",
    )
    min_child_weight: float = parameter(
        0.1,
        number(0),
        "The smallest sum of second derivatives in a leaf. For squared_error this is the weight of its rows, "
        "for log_loss the sum of p (1 - p).",
    )
    min_split_gain: float = parameter(
        0.0,
        number(0),
        "The smallest increase of the sum of G² / (H + reg_lambda) over the leaves that a split must give, "
        "where G and H are sums of gradients and hessians. This is twice the reduction of the regularised "
        "loss and equals XGBoost's `gamma`.",
    )
    reg_lambda: float = parameter(
        2.0, number(0), "The weight of the squares of the leaves' values in the loss: L2 regularisation."
    )
    reg_alpha: float = parameter(
        0.0, number(0), "The weight of the absolute values of the leaves in the loss: L1 regularisation."
    )
    subsample: float | str = parameter(
        "auto",
        either(number(0, 1, closed="right"), one_of("auto")),
        'The share of the rows that is drawn for each tree. "auto" is 0.6, or 1 for more than 20,000 rows.',
    )
    colsample_bytree: float = parameter(
        1.0,
        number(0, 1, closed="right"),
        "The share of the columns that is drawn for each tree.",
    )
    colsample_bynode: float = parameter(
        0.6,
        number(0, 1, closed="right"),
        "The share of the tree's columns that is drawn as candidates for each split.",
    )
    splitter: str = parameter(
        "best",
        one_of("best", "random"),
        "The threshold that is tried for each column at a node: the best one, or a random one with enough "
        "rows on both sides, as in extremely randomised trees (Geurts et al. 2006). For more than four "
        "categories, a random cut of their order is tried. Random thresholds give more diverse trees, but "
        "need more of them.",
    )
    cat_smooth: float = parameter(
        10.0,
        number(0),
        "The smoothing that is added to the second derivatives of a category before categories are sorted. "
        "It moves categories with few rows towards the middle. If a node has more than four categories, "
        "including missing values, they are sorted by the ratio of their first to their second derivatives, "
        "and the best cut of that order defines the split. With four or fewer, one category is split from "
        "the others.",
    )
    monotonic_cst: Any = parameter(
        None,
        Constraint("None, a value of -1, 0 or 1 for each column, or a dict of names to such values"),
        "1: the score (of the second of two classes) must not decrease when the column increases. -1: it "
        "must not increase. 0, or a column that is not in the dict: no constraint.",
    )

    @classmethod
    def textbook(cls, n_estimators: int = 100, **parameters: Any) -> Self:
        """Return an estimator for the algorithm of Friedman (2001), with scikit-learn's defaults.

        Trees of depth 3 fit the negative gradient by least squares on all rows, columns and thresholds,
        without regularisation. `GradientBoostingClassifier` and `GradientBoostingRegressor` of scikit-learn
        grow the same trees if each column has at most 65,535 distinct values.

        Parameters
        ----------
        n_estimators : int, default=100
        **parameters : dict
            Other parameters, such as loss="huber".

        Returns
        -------
        estimator
            It is not fitted.

        References
        ----------
        J. H. Friedman, "Greedy function approximation: a gradient boosting machine". Annals of Statistics
        29(5), 2001.

        Examples
        --------
        >>> from committee import GradientBoostingRegressor
        >>> booster = GradientBoostingRegressor.textbook(1, learning_rate=1.0, max_depth=1)
        >>> booster.fit([[1], [2], [3], [4]], [0.0, 0.0, 4.0, 8.0]).predict([[3], [4]])
        array([6., 6.])
        """
        return cls(n_estimators, **(TEXTBOOK | parameters))

    def _share_of_rows(self, n_rows: int) -> float:
        if self.subsample == "auto":
            return SMALL_SHARE if n_rows <= MOST_DRAWN else 1.0
        return float(self.subsample)

    def _is_multi_output(self, training: Training) -> bool:
        """Return whether a round is one tree for all classes."""
        return False

    def _round_factor(self, training: Training) -> int:
        return MULTI_OUTPUT_ROUNDS if self._is_multi_output(training) else 1

    def _find_steps(
        self, training: Training, rows: TrainingRows, validation: TrainingRows | None, seed: int
    ) -> Steps:
        rate = self._usual_rate()
        if self.n_estimators != "auto":
            return Steps(int(self.n_estimators), rate)
        if validation is not None and self.early_stopping:
            return Steps(MOST_ROUNDS * self._round_factor(training), rate)
        if callable(self.loss):
            return Steps(USUAL_ROUNDS, rate)
        steps = Steps(self._search_rounds(training, rows, rate, seed), rate)
        return rescaled_steps(steps, self._round_factor(training)) if self.learning_rate == "auto" else steps

    def _usual_rate(self) -> float:
        if self.learning_rate != "auto":
            return float(self.learning_rate)
        resumes = self.warm_start and hasattr(self, "_boosted")
        return self._boosted.learning_rate if resumes else USUAL_RATE

    def _search_rounds(self, training: Training, rows: TrainingRows, rate: float, seed: int) -> int:
        """Find the best number of rounds by cross-validation with larger steps."""
        factor = self._round_factor(training)
        stride = stride_of(rate, STRIDE if factor == 1 else MULTI_OUTPUT_STRIDE)
        threads = n_threads(self.n_jobs)
        binned = rows.binned(threads, self._most_bins(len(rows.y)))
        if not self._replaced_columns(rows.table, None):
            # The folds share the bins of all rows. Target statistics must not use held-out rows.
            rows = replace(rows, table=binned)
        order, copies = rows.by_content(binned, threads)
        rows = rows.take(order)

        def losses_of(rest: TrainingRows, held_out: TrainingRows, most: int) -> np.ndarray:
            steps = Steps(round(most / stride), rate * stride)
            work = Work("rounds", name, steps.n_rounds, is_limit=True)
            result, boosted = self._boost(training, rest, held_out, steps, seed, None, work, stops_early=True)
            if result.interruption is not None:
                raise result.interruption
            return -boosted.validation_score

        losses: list[np.ndarray] = []
        weights: list[float] = []
        most, name = MOST_ROUNDS * factor, type(self).__name__
        with half_of_the_time(), Work("folds", name, N_FOLDS, is_limit=True, verbose=self.verbose) as work:
            for rest, held_out in fold_rows(rows, copies, training.n_classes, seed):
                found = losses_of(rest, held_out, most)
                if most == MOST_ROUNDS * factor and still_falls(found, round(most / stride)):
                    most = MOST_FALLING * factor
                    found = losses_of(rest, held_out, most)
                losses.append(found)
                weights.append(float(len(held_out.y) if held_out.weights is None else held_out.weights.sum()))
                lowest = float(found.min())
                work.report(len(losses), -lowest, shown=("loss", lowest))
        if not losses:
            return USUAL_ROUNDS
        increase = stride * extra_rounds(len(rows.y))
        return min(max(1, round(best_rounds(losses, weights) * increase)), most)

    def _boost_parameters(self, training: Training) -> _engine.BoostParameters:
        parameters = super()._boost_parameters(training)
        parameters.objective.loss = "custom" if callable(self.loss) else self.loss
        parameters.objective.second_order = bool(self.second_order)
        parameters.is_multi_output = self._is_multi_output(training)
        parameters.subsample = self._share_of_rows(training.table.n_rows)
        tree = parameters.tree
        tree.is_depthwise = self.grow_policy == "depthwise"
        tree.min_child_weight = float(self.min_child_weight)
        tree.min_split_gain = float(self.min_split_gain)
        tree.reg_lambda, tree.reg_alpha = float(self.reg_lambda), float(self.reg_alpha)
        tree.colsample_bytree = float(self.colsample_bytree)
        tree.colsample_bynode = float(self.colsample_bynode)
        tree.random_thresholds = self.splitter == "random"
        tree.cat_smooth = float(self.cat_smooth)
        tree.monotonic = directions_of(self.monotonic_cst, training)
        return parameters


@declared
class GradientBoostingClassifier(StagedClasses, GradientBoosting):
    """Gradient boosting for classification.

    Trees are fitted round by round to the derivatives of the loss at the current scores. The scores become
    probabilities by the logistic function, or by softmax for more than two classes. A round of more than two
    classes is one tree per class or one tree for all classes (`multi_strategy`). The same seed gives the same
    model for any number of threads.

    For more than two classes, the second derivative of the log loss is p (1 - p), and XGBoost uses twice this
    value. XGBoost grows the same trees if `learning_rate`, `reg_lambda` and `min_child_weight` are doubled
    and `min_split_gain` is halved.

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> from sklearn.model_selection import train_test_split
    >>> train_X, test_X, train_y, test_y = train_test_split(
    ...     *load_breast_cancer(return_X_y=True), random_state=0
    ... )
    >>> booster = GradientBoostingClassifier(500).fit(train_X, train_y, X_val=test_X, y_val=test_y)
    >>> booster.score(test_X, test_y) > 0.95, booster.n_iter_ < 500
    (True, True)
    """

    loss: str | Loss = parameter("log_loss", *CLASS_LOSS)
    class_weight: Any = parameter(None, *CLASS_WEIGHT)
    multi_strategy: str = parameter(
        "auto",
        one_of("auto", "one_output_per_tree", "multi_output_tree"),
        "The trees of a round for more than two classes: one tree per class, or one tree whose leaves "
        "contain a value for each class. The splits of a multi-output tree fit a random combination of the "
        "classes (SketchBoost, Iosipoi and Vakhrushev 2022), so a round takes little more time than one "
        'tree, but more rounds are needed. "auto" uses "multi_output_tree" for six or more classes if '
        'n_estimators="auto", because it is faster and more accurate on most such tables.',
    )

    def _is_multi_output(self, training: Training) -> bool:
        if self.multi_strategy == "multi_output_tree" and not self.second_order:
            raise ValueError(
                'second_order=False fits one tree per class, and multi_strategy="multi_output_tree" one tree '
                'for all. Set multi_strategy="one_output_per_tree", or second_order=True.'
            )
        if not self.second_order:
            return False
        if training.n_classes == 2 or self.multi_strategy != "auto":
            return self.multi_strategy == "multi_output_tree" and training.n_classes > 2
        if self.warm_start and hasattr(self, "_boosted"):
            return self._forest.n_trees == self._boosted.n_rounds
        finds_rounds = self.n_estimators == "auto" and not callable(self.loss)
        return finds_rounds and training.n_classes >= MANY_CLASSES

    def _check_target(self, y: np.ndarray, training: Training, name: str = "y") -> None:
        if self.loss == "exponential" and training.n_classes > 2:
            raise ValueError(
                f'loss="exponential" needs two classes, and y has {training.n_classes}. Use "log_loss".'
            )


@declared
class GradientBoostingRegressor(Regresses, GradientBoosting):
    """Gradient boosting for regression.

    Trees are fitted round by round to the derivatives of the loss at the current predictions. For the losses
    absolute_error, quantile and huber, the value of a leaf is found by line search on its rows; `reg_lambda`
    and `reg_alpha` then only affect the choice of splits. The same seed gives the same model for any number
    of threads.

    Attributes
    ----------
    train_score_, validation_score_ : ndarray of shape (n_rounds + 1,)
        The negative mean loss before the first round and after each round: the squared or absolute error, the
        pinball loss, or the deviance, as in `sklearn.metrics`; the Huber loss uses the same delta in all
        rounds, computed from the residuals from the median of y; NaN if the loss is a callable.
        `validation_score_` is empty without validation rows.

    Examples
    --------
    >>> from sklearn.datasets import load_diabetes
    >>> X, y = load_diabetes(return_X_y=True)
    >>> middle = GradientBoostingRegressor(50).fit(X[:300], y[:300])
    >>> high = GradientBoostingRegressor(50, loss="quantile", quantile=0.9).fit(X[:300], y[:300])
    >>> float((middle.predict(X) < high.predict(X)).mean()) > 0.9
    True
    """

    loss: str | Loss = parameter("squared_error", *NUMBER_LOSS)
    quantile: float | None = parameter(
        None,
        optional(number(0, 1, closed="neither")),
        'For loss="quantile", the quantile to predict; None is the median. For loss="huber", the quantile '
        "of the absolute residuals above which the loss is linear; None is 0.9.",
    )

    def _boost_parameters(self, training: Training) -> _engine.BoostParameters:
        parameters = super()._boost_parameters(training)
        usual = HUBER_QUANTILE if self.loss == "huber" else 0.5
        parameters.objective.quantile = usual if self.quantile is None else float(self.quantile)
        return parameters

    def _check_target(self, y: np.ndarray, training: Training, name: str = "y") -> None:
        check_numbers(self.loss, y, name)


def fold_rows(
    rows: TrainingRows, copies: np.ndarray, n_classes: int, seed: int
) -> Iterator[tuple[TrainingRows, TrainingRows]]:
    """Yield training and validation rows for as many of five folds as are needed.

    Folds are stratified by class, and all copies of a row are in the same fold. One random row of each class
    is never held out.
    """
    n_rows = len(rows.y)
    first = np.flatnonzero(np.diff(copies, prepend=-1))
    folds = spare_folds(rows.y[first] if n_classes else np.zeros(len(first), dtype=np.int32), seed)
    n_spare = int(np.count_nonzero(folds >= 0))
    if n_spare < FEWEST_ROWS:
        return
    folds = folds[copies]
    n_needed = int(np.ceil(ENOUGH_ROWS * N_FOLDS / n_spare))
    most = FOLDS_OF_MANY_CLASSES if n_classes > 2 and n_rows > FEW_ROWS else N_FOLDS
    for fold in range(min(n_needed, most)):
        yield rows.divided(folds == fold)


def stride_of(learning_rate: float, most: float = STRIDE) -> float:
    """Return the factor by which the learning rate of the search is larger.

    Examples
    --------
    >>> stride_of(0.05), stride_of(0.2), stride_of(1.0)
    (4.0, 2.0, 1.0)
    """
    return max(1.0, min(most, LARGEST_RATE / learning_rate))


def still_falls(losses: np.ndarray, n_rounds: int) -> bool:
    """Return whether early stopping did not occur and the loss falls fast in the last rounds.

    Examples
    --------
    >>> still_falls(np.geomspace(1, 0.1, 9), 8), still_falls(np.array([1, 0.2, 0.11, 0.1, 0.1]), 4)
    (True, False)
    """
    return len(losses) == n_rounds + 1 and bool(losses[-1] < LEFT_BY_QUARTER * losses[-1 - n_rounds // 4])


def rescaled_steps(steps: Steps, factor: int = 1) -> Steps:
    """Use more and smaller steps if there are few rounds, and fewer and larger steps if there are many.

    The limits for few and many rounds are multiplied by `factor`.

    Examples
    --------
    >>> rescaled_steps(Steps(50, 0.1)), rescaled_steps(Steps(150, 0.1))
    (Steps(n_rounds=100, learning_rate=0.05), Steps(n_rounds=150, learning_rate=0.1))
    >>> rescaled_steps(Steps(400, 0.1))
    Steps(n_rounds=200, learning_rate=0.2)
    """
    n_rounds, rate = steps
    share = max(min(1.0, n_rounds / (factor * FEW_ROUNDS)), LEAST_SHARE, n_rounds / (factor * MOST_ROUNDS))
    return Steps(round(n_rounds / share), rate * share)


def extra_rounds(n_rows: int) -> float:
    """Return the factor of the number of rounds because small steps overfit later than large steps."""
    return EXTRA_ROUNDS if n_rows <= MANY_ROWS else EXTRA_ROUNDS_OF_MANY_ROWS


def best_rounds(losses: list[np.ndarray], weights: list[float]) -> int:
    """Return the number of rounds with the lowest mean loss over the folds.

    Parameters
    ----------
    losses : list of ndarray of shape (n_rounds + 1,)
        The loss of each fold before the first round and after each round. If a fold was stopped early, its
        last loss is repeated.
    weights : list of float
        The weight of the rows of each fold.

    Examples
    --------
    >>> best_rounds([np.array([0.7, 0.5, 0.6]), np.array([0.7, 0.6, 0.4, 0.3])], [1.0, 1.0])
    3
    """
    length = max(map(len, losses))
    padded = [np.pad(each, (0, length - len(each)), mode="edge") for each in losses]
    return int(np.argmin(np.average(padded, axis=0, weights=weights)))
