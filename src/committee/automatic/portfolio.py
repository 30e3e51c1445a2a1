"""The portfolio: who may sit in an automatic committee, in the order in which they are fitted.

In: the size of a table and a preset. Out: members. Each next one adds the most to those before it, for the
time that it takes, over many tables: `benchmarks/portfolio.py` measures that, and finds the order.
"""

from __future__ import annotations

import warnings
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

from sklearn.exceptions import ConvergenceWarning

from committee.assembling.members import Member, check_kind, check_pairs
from committee.automatic.candidates import ASKED_FOR, CANDIDATES, Size
from committee.automatic.parameters import PRESETS
from committee.parameters import unknown_name

AUTO = "auto"
# As `benchmarks/results/portfolio.json` has them. After the first dozen, members add less than can be told.
ORDERS = {
    "classification": (
        "booster",
        "logitboost",
        "linear",
        "booster_wide",
        "extra_trees_all",
        "linear_weak",
        "booster_random_slow",
        "discriminant",
        "network_wide",
        "booster_long",
        "network",
        "network_plain",
        "booster_long_wide",
        "rotation_forest",
        "forest",
        "booster_slow",
        "booster_deep",
        "booster_patient",
        "booster_shallow",
        "machine",
        "forest_full",
        "booster_random",
        "extra_trees",
        "booster_statistics",
        "bayes",
        "booster_columns",
        "booster_auto",
        "booster_pairs",
        "neighbours",
        "adaboost",
        "c45",
    ),
    "regression": (
        "booster",
        "booster_shallow",
        "booster_long",
        "booster_statistics",
        "neighbours",
        "booster_long_wide",
        "linear",
        "booster_random_slow",
        "machine",
        "forest",
        "booster_patient",
        "network",
        "booster_auto",
        "booster_columns",
        "network_plain",
        "booster_poisson",
        "network_wide",
        "forest_full",
        "booster_random",
        "booster_slow",
        "extra_trees",
        "booster_deep",
        "booster_wide",
        "booster_pairs",
    ),
}


@contextmanager
def as_many_steps_as_told() -> Iterator[None]:
    """Say nothing of members that have not converged: they take as many steps as they are told.

    Nor of many classes, which scikit-learn takes for numbers: what is to be learnt is known here. It holds
    for the threads of a runner too, so it is for the thread that submits their tasks.
    """
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", category=ConvergenceWarning)
        warnings.filterwarnings("ignore", "The number of unique classes", UserWarning)
        yield


def portfolio(size: Size, preset: str, has_limit: bool = False) -> list[Member]:
    """The members for a table; with a limit of time, all but those of "fast", for as long as it lasts.

    Examples
    --------
    >>> [member.name for member in portfolio(Size("regression", 10**6, 100, 1), "fast")]
    ['booster', 'booster_shallow', 'booster_long', 'booster_statistics', 'booster_long_wide']
    """
    n_most, _ = PRESETS[preset]
    suited = [CANDIDATES[name] for name in ORDERS[size.task] if CANDIDATES[name].suits(size)]
    taken = suited if has_limit and preset != "fast" else suited[:n_most]
    return [Member(candidate.name, candidate.make(size)) for candidate in taken]


def named(names: list[str], size: Size) -> list[Member]:
    """Members of the portfolio by their names, for any size of table.

    Examples
    --------
    >>> named(["forrest"], Size("regression", 100, 3, 1))
    Traceback (most recent call last):
    ValueError: There is no member 'forrest' for regression. Did you mean 'forest'?
    """
    known = [*ORDERS[size.task], *ASKED_FOR]
    unknown = [name for name in names if name not in known]
    if unknown:
        raise unknown_name("member", unknown[0], known, where=f" for {size.task}")
    every = CANDIDATES | ASKED_FOR
    return [Member(name, every[name].make(size)) for name in names]


def members_of(given: Any, size: Size, usual: list[Member]) -> list[Member]:
    """The members that a user names or gives; "auto" among them is all usual ones that are not named too."""
    if isinstance(given, str) and given == AUTO:
        return usual
    expected = 'members must be "auto", or a list of names of the portfolio and of (name, estimator) pairs.'
    if isinstance(given, str) or not isinstance(given, Sequence) or len(given) == 0:
        raise ValueError(f"{expected} Got {given!r}.")
    names = named_in(given)
    if AUTO in names:
        taken = [*names, *(each[0] for each in given if isinstance(each, tuple | list) and each)]
        place = next(place for place, each in enumerate(given) if isinstance(each, str) and each == AUTO)
        more = [(each.name, each.estimator) for each in usual if each.name not in taken]
        given = [*given[:place], *more, *given[place + 1 :]]
    known = {each.name: each for each in named(named_in(given), size)}
    pairs = check_pairs([(each, known[each].estimator) if isinstance(each, str) else each for each in given])
    for name, estimator in pairs:
        check_kind(name, estimator, size.are_classes)
    return [Member(name, estimator) for name, estimator in pairs]


def named_in(members: Any) -> list[str]:
    """The names among members, of which some may be given as pairs.

    Examples
    --------
    >>> named_in("auto"), named_in(["auto", ("mine", None)])
    (['auto'], ['auto'])
    """
    if isinstance(members, str):
        return [members]
    return [each for each in members if isinstance(each, str)] if isinstance(members, Sequence) else []
