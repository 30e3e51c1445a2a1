"""Which members the engine grows itself, all of them in one call, and what it is told of them."""

from __future__ import annotations

from typing import Any

from committee import _engine
from committee.learners import (
    C45Classifier,
    DecisionStumpClassifier,
    DecisionStumpRegressor,
    DecisionTreeClassifier,
    DecisionTreeRegressor,
    RandomTreeClassifier,
    RandomTreeRegressor,
)
from committee.learners.training import Training

STUMPS: tuple[type[Any], ...] = (DecisionStumpClassifier, DecisionStumpRegressor)
CARTS: tuple[type[Any], ...] = (DecisionTreeClassifier, DecisionTreeRegressor)
RANDOM: tuple[type[Any], ...] = (RandomTreeClassifier, RandomTreeRegressor)


def grows_in_engine(member: Any) -> bool:
    """Whether the engine grows such members itself.

    Examples
    --------
    >>> from sklearn.tree import DecisionTreeClassifier as Another
    >>> grows_in_engine(C45Classifier()), grows_in_engine(Another())
    (True, False)
    """
    return type(member) in (*STUMPS, *CARTS, *RANDOM, C45Classifier)


def takes_codes(member: Any) -> bool:
    """Whether the engine grows members from the codes of a table alone; C4.5 looks at its values."""
    return grows_in_engine(member) and type(member) is not C45Classifier


def are_trees_of(member: Any, members: Any) -> bool:
    """Whether what a file holds can be members of a kind that the engine grows."""
    if isinstance(members, list):
        # The first files have these one by one.
        return type(member) in (*RANDOM, C45Classifier)
    return isinstance(members, _engine.Forest if takes_codes(member) else _engine.C45Forest)


def stump_criterion(member: Any) -> str:
    """By what a stump is split."""
    return str(getattr(member, "criterion", "squared_error"))


def tree_options(member: Any, training: Training) -> dict[str, Any]:
    """What the engine is told of a tree that is grown from codes, and is no stump."""
    options: dict[str, Any] = member._options(training) | {"keep_records": False}
    if type(member) in RANDOM:
        return options | {"needs_gain": True}
    alpha = float(member.ccp_alpha)
    return options | {
        "random_thresholds": member.splitter == "random",
        "ccp_alpha": alpha,
        "keep_records": alpha > 0,
    }
