"""The parameters of all committees: their members, what these see, where they are fitted, what is kept."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Self

import numpy as np
from sklearn.base import BaseEstimator

from committee import running
from committee.assembling.calibrating import METHODS
from committee.learners.tree_parameters import N_JOBS
from committee.parameters import (
    Declaration,
    anything,
    declared,
    either,
    integer,
    is_boolean,
    is_integer,
    one_of,
    parameter,
)
from committee.table.typing import RandomState

RUNNER: Declaration = (
    '"serial", "threads", "processes" or a Runner',
    either(one_of("serial", "threads", "processes"), lambda value: isinstance(value, running.Runner)),
    "Where fits run. It changes nothing but the time.",
)
FITS_AT_ONCE: Declaration = (
    N_JOBS[0],
    N_JOBS[1],
    "How many fits run at the same time, which changes nothing but the time. None and -1 are as many as "
    "there are cores (None is one in scikit-learn), -2 is one fewer.",
)
VERBOSE: Declaration = (
    "an integer >= 0 or a boolean",
    either(integer(0), is_boolean),
    "Whether to show how many fits are done.",
)


def is_cv(value: object) -> bool:
    """Return whether a value can say which rows are held out."""
    if isinstance(value, str):
        return value == "prefit"
    if is_integer(value):
        return integer(2)(value)
    return value is None or hasattr(value, "split") or np.iterable(value)


@declared
class CommitteeParameters(BaseEstimator):
    """The parameters of a committee, members among them, as in `set_params(tree__max_depth=3)`."""

    estimators: list[tuple[str, BaseEstimator]] | None = parameter(
        None,
        "a list of (name, estimator) pairs, or None",
        anything,
        "The members. None is a linear model, a tree (C4.5 for classes), a linear support vector machine, "
        "nearest neighbours and a perceptron, which see categories and missing values as `TableEncoder` "
        "makes them numbers: the five kinds of the CAWPE paper. A classifier that refuses the labels of y "
        "sees them as the numbers 0, 1, 2 and so on (`NumberedLabels`). Where the rows of a fit are of one "
        "class, scikit-learn's `DummyClassifier` votes for it, unless the member is from committee itself.",
        kw_only=False,
    )
    cv: object = parameter(
        5,
        'an integer >= 2, a splitter, an iterable of (train, test) rows, "prefit" or None',
        is_cv,
        "Which rows are held out together, for honest votes. An integer makes so many folds, stratified for "
        "classes and no more than the largest of them has rows, and keeps `groups` together; repeated folds "
        "are averaged; rows that no fold holds out, as the first ones in time order, are left out of the fit "
        'of the rule; a class that a fold lacks gets no votes there. "prefit": the estimators are fitted, '
        "and vote on the rows that they are given with: these votes are honest only if the members have not "
        "learnt from these rows; a committee that is cloned needs them in `FrozenEstimator`. None: no honest "
        "votes, unless the rule learns from them; then 5 folds.",
    )
    refit: bool = parameter(
        True,
        "True or False",
        is_boolean,
        "Whether members are fitted on all rows after the folds. If not, the models of the folds stay, and a "
        "member's vote is the mean of theirs.",
    )
    out_of_bag: bool = parameter(
        True,
        "True or False",
        is_boolean,
        "Whether forests and bagging of ours with `bootstrap=True` vote out of bag, in their one fit, "
        "instead of being cross-validated. That is so where `cv` is an integer and there are no groups; "
        "bagging must have the rule mean or majority.",
    )
    columns: Mapping[str, Sequence[str | int]] | None = parameter(
        None,
        "a dict from names of members to lists of columns, or None",
        anything,
        "Which columns members see, by name or position. Members that are not named see all.",
    )
    calibrate: str | None = parameter(
        None,
        '"isotonic", "sigmoid", "temperature" or None',
        one_of(None, *METHODS),
        "How a member that has a `decision_function` and no `predict_proba` gets probabilities: by a curve "
        "that is fitted on its honest scores, so `cv` must ask for honest votes. These themselves are "
        "calibrated by curves of the other folds, so that none of them knows the answer. Scores of pairs of "
        'classes, as those of SVC(decision_function_shape="ovo"), are left aside: the class that is '
        "predicted has the score 1, the others 0. With None it casts crisp votes, as members with neither "
        "do; the machine among the members of `estimators=None` is calibrated by a sigmoid wherever there "
        "are honest votes.",
    )
    on_error: str = parameter(
        "raise",
        '"raise" or "drop"',
        one_of("raise", "drop"),
        'What happens when the fit of a member fails or, with "prefit", its vote: an error, or the member is '
        "dropped with a warning, and with it its weight or prior. Both name the member and the fold.",
    )
    runner: str | running.Runner = parameter("threads", *RUNNER)
    n_jobs: int | None = parameter(None, *FITS_AT_ONCE)
    random_state: RandomState = parameter(
        None,
        "an integer, a RandomState or None",
        anything,
        "Draws every `random_state` of members, rule and the splitter `cv` that is None. An integer makes "
        "fits repeatable.",
    )
    verbose: int = parameter(0, *VERBOSE)

    def get_params(self, deep: bool = True) -> dict[str, object]:
        """Return the parameters, and those of the members by name.

        Parameters
        ----------
        deep : bool, default=True
            Whether to look into the members.

        Returns
        -------
        dict of str to object
        """
        found = super().get_params(deep=False)
        if deep:
            for name, value in list(found.items()):
                if hasattr(value, "get_params") and not isinstance(value, type):
                    found |= {f"{name}__{key}": each for key, each in value.get_params().items()}
            for name, estimator in self._pairs():
                found[name] = estimator
                if hasattr(estimator, "get_params"):
                    found |= {f"{name}__{key}": each for key, each in estimator.get_params().items()}
        return found

    def set_params(self, **params: Any) -> Self:
        """Set parameters, members by their names, and parameters of members.

        Parameters
        ----------
        **params : dict
            `cv=10`, `tree=DecisionTreeClassifier()` or `tree__max_depth=3`.

        Returns
        -------
        self
        """
        if "estimators" in params:
            self.estimators = params.pop("estimators")
        pairs = self._pairs()
        names = [name for name, _ in pairs]
        replaced = {name: params.pop(name) for name in names if name in params}
        if replaced:
            self.estimators = [(name, replaced.get(name, estimator)) for name, estimator in pairs]
        super().set_params(**params)
        return self

    def _check_names(self) -> None:
        """Raise for a member that is named like a parameter, and so could not be set by its name."""
        own = self._own_names()
        for name, _ in self._named():
            if name in own:
                raise ValueError(
                    f"A member is named {name!r}, and so is a parameter of {type(self).__name__}. Give "
                    "the member another name."
                )

    def _pairs(self) -> list[tuple[str, BaseEstimator]]:
        """Return the members that can be set by name."""
        own = self._own_names()
        return [pair for pair in self._named() if pair[0] not in own]

    def _named(self) -> list[tuple[str, BaseEstimator]]:
        """Return the pairs of `estimators` that begin with a name."""
        given = self.estimators if isinstance(self.estimators, list | tuple) else []
        return [
            (pair[0], pair[1])
            for pair in given
            if isinstance(pair, tuple | list) and len(pair) == 2 and isinstance(pair[0], str)
        ]

    def _own_names(self) -> set[str]:
        return {field.name for field, _ in self._declarations}
