"""Gradient boosting of trees (Friedman 2001), second order and regularised (Chen and Guestrin 2016)."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

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
from committee.parameters import Constraint, declared, either, integer, number, one_of, optional, parameter
from committee.running import Work, n_threads
from committee.running.deadline import half_of_the_time
from committee.saving import saved
from committee.votes.folds import N_FOLDS, spare_folds

# Of learning_rate="auto".
USUAL_RATE = 0.1
# Of multi_strategy="auto".
MANY_CLASSES = 6
# Of subsample="auto". Trees of other rows err in other ways, which helps where each has few rows.
SMALL_SHARE, MOST_DRAWN = 0.6, 20_000

# Of n_estimators="auto".
# So many validated rows tell well enough when to stop; small tables validate all folds to come close.
ENOUGH_ROWS = 1000
# More than two classes take a tree each in every round: some of the folds must do, unless rows are few.
FOLDS_OF_MANY_CLASSES, FEW_ROWS = 3, 150
# Fewer rows than this tell nothing.
FEWEST_ROWS = 10
# Where nothing can be told: the rounds of other libraries.
USUAL_ROUNDS = 100
# The search takes steps up to so many times as large as the fit, and as many times fewer.
STRIDE = 4.0
# Trees for all classes each go in a direction of their own, and large steps would go astray.
MULTI_OUTPUT_STRIDE = 2.0
LARGEST_RATE = 0.4
# Large steps overfit sooner than small ones, which may go on for so many times as long, and for longer where
# rows are many. Measured by benchmarks/boosting_defaults.py.
ENDURANCE, ENDURANCE_OF_MANY, MANY_ROWS = 1.2, 1.5, 20_000
# The loss falls fast if the last quarter of the rounds left no more than this share of it.
LEFT_BY_QUARTER = 0.9
# Fewer rounds than the first become more and smaller ones, down to a share of what they were; more rounds
# than the second become fewer and larger ones.
FEW_ROUNDS, LEAST_SHARE = 100, 0.25
MOST_ROUNDS = 200
# The search goes further if the loss falls fast.
MOST_FALLING = 400
# A round of one tree for all classes does less than one of a tree for each: so many times as many are tried.
MULTI_OUTPUT_ROUNDS = 4


@declared
class GradientBoosting(Rounds):
    """What gradient boosting of classes and of numbers share. Subclasses declare `loss`."""

    n_estimators: int | str = parameter(
        "auto",
        either(integer(1), one_of("auto")),
        'The number of rounds. Early stopping may end them before. "auto" does as many as do best on rows '
        "that were not learned from, those of up to five folds, and at most 200; folds are learned in fewer "
        "and larger steps, then all rows as usual. If the loss goes on to fall fast, it does up to 400, or "
        "200 of twice the rate if `learning_rate` is not told. All these are four times as many if a round "
        "is one tree for all classes. It does 100 if there are too few rows to tell, or if `loss` is a "
        "callable, which does not tell the loss.",
        kw_only=False,
    )
    learning_rate: float | str = parameter(
        "auto",
        either(number(0, closed="neither"), one_of("auto")),
        'What the values of the leaves are multiplied by. "auto" is 0.1. Where n_estimators="auto" finds '
        "that fewer than 100 rounds do best, it takes more and smaller steps, down to 0.025, and larger "
        "ones, up to 0.2, where 200 are not enough. A warm start goes on with the rate of the previous fit.",
    )
    grow_policy: str = parameter(
        "lossguide",
        one_of("lossguide", "depthwise"),
        'Which leaf is split next: "lossguide" splits the one that lowers the loss most, "depthwise" level '
        "by level.",
    )
    min_child_weight: float = parameter(
        0.1,
        number(0),
        "How large the sum of the second derivatives in a leaf must be. With squared_error that is the "
        "weight of its rows, with log_loss the sum of p (1 - p).",
    )
    min_split_gain: float = parameter(
        0.0,
        number(0),
        "By how much a split must raise the sum of G² / (H + reg_lambda) over the leaves, where G and H are "
        "their gradients and hessians: twice what it lowers the regularised loss by. XGBoost's `gamma`.",
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
        "The share of the rows, drawn anew for each tree, that it learns from. "
        '"auto" is 0.6, and 1 for more than 20,000 rows.',
    )
    colsample_bytree: float = parameter(
        1.0,
        number(0, 1, closed="right"),
        "The share of the columns, drawn anew for each tree, that its splits ask about.",
    )
    colsample_bynode: float = parameter(
        0.6,
        number(0, 1, closed="right"),
        "The share of the columns of the tree, drawn anew at every node, that are tried for a split.",
    )
    splitter: str = parameter(
        "best",
        one_of("best", "random"),
        "Which threshold a column is tried with at a node: the best, or one drawn among those that leave "
        "enough rows on both sides, as in extremely randomised trees (Geurts et al. 2006). Of more than four "
        "categories, the cut of their order is drawn. Such trees err in other ways than those of the best "
        "thresholds; there must be more of them.",
    )
    cat_smooth: float = parameter(
        10.0,
        number(0),
        "What is added to the second derivatives of a category before categories are put in order. It moves "
        "categories of few rows towards the middle. More than four categories of a node, of which missing is "
        "one, are put in the order of their derivatives, and the best cut of that order makes the two sets. "
        "Of four or fewer, one is split from the rest.",
    )
    monotonic_cst: Any = parameter(
        None,
        Constraint("None, a value of -1, 0 or 1 for each column, or a dict of names to such values"),
        "1: the score (of the second of two classes) may only rise with the column. -1: it may only fall. "
        "0, and columns that a dict leaves out: no constraint.",
    )

    def _share_of_rows(self, n_rows: int) -> float:
        if self.subsample == "auto":
            return SMALL_SHARE if n_rows <= MOST_DRAWN else 1.0
        return float(self.subsample)

    def _is_multi_output(self, training: Training) -> bool:
        """Whether a round is one tree for all classes."""
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
        return paced(steps, self._round_factor(training)) if self.learning_rate == "auto" else steps

    def _usual_rate(self) -> float:
        if self.learning_rate != "auto":
            return float(self.learning_rate)
        resumes = self.warm_start and hasattr(self, "_boosted")
        return self._boosted.learning_rate if resumes else USUAL_RATE

    def _search_rounds(self, training: Training, rows: TrainingRows, rate: float, seed: int) -> int:
        """The number of rounds that does best out of fold, found in larger steps."""
        factor = self._round_factor(training)
        stride = stride_of(rate, STRIDE if factor == 1 else MULTI_OUTPUT_STRIDE)
        threads = n_threads(self.n_jobs)
        binned = rows.binned(threads, self._most_bins(len(rows.y)))
        if not self._replaced_columns(rows.table, None):
            # The folds share the bins of all rows, but target statistics must not know of rows held out.
            rows = replace(rows, table=binned)
        order, copies = rows.by_content(binned, threads)
        rows = rows.take(order)

        def losses_of(rest: TrainingRows, held_out: TrainingRows, most: int) -> np.ndarray:
            steps = Steps(round(most / stride), rate * stride)
            work = Work("rounds", name, steps.n_rounds, is_limit=True)
            answer, boosted = self._boost(training, rest, held_out, steps, seed, None, work, stops_early=True)
            if answer.interruption is not None:
                raise answer.interruption
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
        further = stride * endurance_of(len(rows.y))
        return min(max(1, round(best_rounds(losses, weights) * further)), most)

    def _boost_parameters(self, training: Training) -> _engine.BoostParameters:
        parameters = super()._boost_parameters(training)
        parameters.objective.loss = "custom" if callable(self.loss) else self.loss
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


@saved
@declared
class GradientBoostingClassifier(StagedClasses, GradientBoosting):
    """Gradient boosting for classes: trees that are fitted, round by round, to the errors of the sum so far.

    The scores of the sum become probabilities by the logistic function, or by softmax for more than two
    classes, which take one tree for each class in every round, or one for all (`multi_strategy`). The same
    seed gives the same bits on any number of threads.

    The second derivative of the log loss is p (1 - p) for each of many classes, and XGBoost takes twice that:
    it grows the same trees with `learning_rate`, `reg_lambda` and `min_child_weight` twice as large, and half
    of `min_split_gain`.

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
        "What a round is for more than two classes: a tree for each class, or one tree whose leaves hold a "
        "value for each class. The splits of the latter fit one combination of the classes, drawn anew for "
        "every tree (SketchBoost, Iosipoi and Vakhrushev 2022), so a round costs little more than a tree, "
        'and there must be more rounds. "auto" is "multi_output_tree" for six classes or more if '
        'n_estimators="auto" finds how many rounds to do: on 18 such tables that took 19 % less time, with a '
        "log loss that was 4 % lower, on average, and lower on 11. On 14 tables of three to five classes "
        "nothing was gained.",
    )

    def _is_multi_output(self, training: Training) -> bool:
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


@saved
@declared
class GradientBoostingRegressor(Regresses, GradientBoosting):
    """Gradient boosting for numbers: trees that are fitted, round by round, to the errors of the sum so far.

    With the losses absolute_error, quantile and huber, the value of a leaf is found by line search among its
    rows; `reg_lambda` and `reg_alpha` then count in the choice of splits only. The same seed gives the same
    bits on any number of threads.

    Attributes
    ----------
    train_score_, validation_score_ : ndarray of shape (n_rounds + 1,)
        Minus the mean loss before the first round and after each: the squared or absolute error, the pinball
        loss, or the deviance, as in `sklearn.metrics`; the Huber loss with the delta of the residuals from
        the median of y, the same in all rounds; NaN if the loss is a callable. `validation_score_` is empty
        if there were no rows to validate by.

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
        "of the absolute residuals from which on they are large; None is 0.9.",
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
    """TrainingRows to learn from and rows to validate by, for as many of five folds as are needed.

    Every fold has its share of every class, and all copies of its rows. The first row of each class, by
    chance, is never held out.
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
    """How many times larger the steps of the search are.

    Examples
    --------
    >>> stride_of(0.05), stride_of(0.2), stride_of(1.0)
    (4.0, 2.0, 1.0)
    """
    return max(1.0, min(most, LARGEST_RATE / learning_rate))


def still_falls(losses: np.ndarray, n_rounds: int) -> bool:
    """Whether a loss was not stopped, and went on to fall fast.

    Examples
    --------
    >>> still_falls(np.geomspace(1, 0.1, 9), 8), still_falls(np.array([1, 0.2, 0.11, 0.1, 0.1]), 4)
    (True, False)
    """
    return len(losses) == n_rounds + 1 and bool(losses[-1] < LEFT_BY_QUARTER * losses[-1 - n_rounds // 4])


def paced(steps: Steps, factor: int = 1) -> Steps:
    """Go as far in smaller steps if there are few, and in larger ones if there are many.

    What is few and what is many is multiplied by a factor.

    Examples
    --------
    >>> paced(Steps(50, 0.1)), paced(Steps(150, 0.1))
    (Steps(n_rounds=100, learning_rate=0.05), Steps(n_rounds=150, learning_rate=0.1))
    >>> paced(Steps(400, 0.1))
    Steps(n_rounds=200, learning_rate=0.2)
    """
    n_rounds, rate = steps
    share = max(min(1.0, n_rounds / (factor * FEW_ROUNDS)), LEAST_SHARE, n_rounds / (factor * MOST_ROUNDS))
    return Steps(round(n_rounds / share), rate * share)


def endurance_of(n_rows: int) -> float:
    """How many times as long small steps go on as large ones."""
    return ENDURANCE if n_rows <= MANY_ROWS else ENDURANCE_OF_MANY


def best_rounds(losses: list[np.ndarray], weights: list[float]) -> int:
    """The number of rounds at which the mean loss of the folds is lowest.

    Parameters
    ----------
    losses : list of ndarray of shape (n_rounds + 1,)
        The loss of each fold before the first round and after each. One that was stopped stays as it was.
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
