"""Decide for the class with the lowest expected cost.

In: the decisions of another rule, and the cost of each error. Out: shifted probabilities, of which the class
with the lowest expected cost has the highest. So `predict` is the class of the highest probability as always.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import ClassVar

import numpy as np

from committee.combining.adjusted_rule import WrappingRule
from committee.combining.fixed_rules import Function
from committee.combining.rule import Rule, unfitted
from committee.combining.rule_registry import as_rule
from committee.parameters import Constraint, declared, parameter
from committee.saving.format import attributes
from committee.table.input_types import ArrayLike, TableLike
from committee.votes.honest_votes import HonestVotes
from committee.votes.vote_arrays import rescaled


@declared
class CostRule(WrappingRule):
    r"""Shift the probabilities of another rule so that the class of the lowest expected cost is predicted.

    Let :math:`C_{ij}` be the cost of predicting class j for a row of class i. The expected cost of class j is
    :math:`\sum_i p_i C_{ij}`, where :math:`p` are the probabilities of the rule. Each :math:`p_i` is
    multiplied by the mean extra cost of errors on class i and rescaled (Elkan 2001). For two classes, and for
    costs that depend on the true class only, the cheapest class then has the highest probability. Otherwise
    the probabilities of the highest and of the cheapest class are exchanged where they differ. The
    probabilities of the members and their honest scores are those before the shift.

    Attributes
    ----------
    rule_ : Rule
        The fitted rule.

    References
    ----------
    C. Elkan (2001). The foundations of cost-sensitive learning. IJCAI.

    Examples
    --------
    An error on the second class costs nine times as much, so it is predicted from a probability of 0.1 on:

    >>> rule = CostRule("mean", costs=[[0, 1], [9, 0]]).fit([[[0.8, 0.2], [0.95, 0.05]]], [0, 1])
    >>> rule.combine([[[0.8, 0.2], [0.95, 0.05]]]).round(2)
    array([[0.31, 0.69],
           [0.68, 0.32]])
    """

    rule: str | Function | Rule = parameter(
        "mean",
        Constraint("the name of a rule, a function of votes or a rule"),
        "The rule whose probabilities are shifted.",
        kw_only=False,
    )
    costs: ArrayLike | None = parameter(
        None,
        Constraint("an array-like of shape (n_classes, n_classes), or None"),
        "The cost of each predicted class (column) for each true class (row). An error must cost more than "
        "the right class. None is 1 for every error.",
    )

    tasks: ClassVar[tuple[str, ...]] = ("classification",)
    kept: ClassVar[Mapping[str, attributes.Kind]] = {"rule_": attributes.anything}

    def _check_kind(self, n_members: int, n_outputs: int, is_weighted: bool) -> None:
        super()._check_kind(n_members, n_outputs, is_weighted)
        check_costs(self.costs, n_outputs)

    def _learn(self, honest: HonestVotes) -> None:
        self.rule_ = unfitted(as_rule(self.rule))
        honest.fit_rule(self.rule_)

    def _combine(self, votes: np.ndarray, X: TableLike | None) -> np.ndarray:
        return self.shift(self.rule_.combine(votes, X if self.rule_._looks_at_X() else None))

    def shift(self, decision: np.ndarray) -> np.ndarray:
        """Shift the probabilities of the inner rule."""
        return shifted(decision, check_costs(self.costs, decision.shape[1]))


def check_costs(costs: ArrayLike | None, n_classes: int) -> np.ndarray:
    """Return costs as a matrix.

    Examples
    --------
    >>> check_costs([[0, 1], [0, 0]], 2)
    Traceback (most recent call last):
    ValueError: An error must cost more than the right class. Got the cost 0 for class 0 instead of class 1.
    """
    if costs is None:
        return 1.0 - np.eye(n_classes)
    matrix = np.asarray(costs, dtype=np.float64)
    if matrix.shape != (n_classes, n_classes) or not np.isfinite(matrix).all():
        raise ValueError(
            f"costs must be finite numbers of shape {(n_classes, n_classes)}: a row for each true class, a "
            f"column for each predicted class. Got the shape {matrix.shape}."
        )
    is_cheap = (matrix <= matrix.diagonal()[:, None]) & ~np.eye(n_classes, dtype=bool)
    if is_cheap.any():
        true, predicted = np.argwhere(is_cheap)[0].tolist()
        raise ValueError(
            "An error must cost more than the right class. Got the cost "
            f"{matrix[true, predicted]:g} for class {predicted} instead of class {true}."
        )
    return matrix


def costs_by_label(costs: object, threshold: float | None, classes: np.ndarray) -> np.ndarray | None:
    """Return the matrix of costs that a committee's parameters specify, or None if they specify none.

    Parameters
    ----------
    costs : mapping from (true, predicted) to number, array-like of shape (n_classes, n_classes), or None
        A mapping has labels, or their text. Other errors cost 1.
    threshold : float or None
        The probability from which on the second of two classes is predicted.
    classes : ndarray of shape (n_classes,)

    Examples
    --------
    >>> costs_by_label({("sick", "well"): 5}, None, np.array(["sick", "well"]))
    array([[0., 5.],
           [1., 0.]])
    """
    if threshold is not None:
        if costs is not None:
            raise ValueError("costs and threshold exclude each other. Pass one of them.")
        if len(classes) != 2:
            raise ValueError(f"threshold is for two classes. Got {len(classes)}: pass costs instead.")
        return np.array([[0.0, threshold], [1.0 - threshold, 0.0]])
    if costs is None:
        return None
    if not isinstance(costs, Mapping):
        return check_costs(costs, len(classes))  # type: ignore[arg-type]
    places = {str(label): place for place, label in enumerate(classes.tolist())}
    matrix = 1.0 - np.eye(len(classes))
    for pair, cost in costs.items():
        for label in pair:
            if str(label) not in places:
                raise ValueError(
                    f"costs has {str(label)!r}, which is not a class. There are {', '.join(places)}."
                )
        true, predicted = (places[str(label)] for label in pair)
        matrix[true, predicted] = cost
    return check_costs(matrix, len(classes))


def shifted(decision: np.ndarray, costs: np.ndarray) -> np.ndarray:
    """Shift probabilities so that the class of the lowest expected cost has the highest."""
    n_classes = len(costs)
    extra = (costs - costs.diagonal()[:, None]).sum(axis=1) / max(1, n_classes - 1)
    result = rescaled(decision * extra)
    rows = np.arange(len(result))
    cheapest, highest = (decision @ costs).argmin(axis=1), result.argmax(axis=1)
    # Of equally cheap classes, the one of the highest probability stays.
    expected = decision @ costs
    is_tie = np.isclose(expected[rows, highest], expected[rows, cheapest], rtol=1e-12, atol=0)
    cheapest = np.where(is_tie, highest, cheapest)
    result[rows, cheapest], result[rows, highest] = result[rows, highest], result[rows, cheapest]
    return result
