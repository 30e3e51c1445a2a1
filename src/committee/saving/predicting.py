"""A model prepared to answer rows at once, from an estimator or a file. It needs numpy and the engine."""

from __future__ import annotations

import os
from typing import Any

import numpy as np

from committee import _engine
from committee.saving.codec import Decoder
from committee.saving.deciding import C45Decider, Decider, MedianDecider, TreesDecider
from committee.saving.errors import DamagedFile, require
from committee.saving.fields import Fields
from committee.saving.file import read_description
from committee.saving.models import check_c45_tree, check_forest, check_statistics
from committee.saving.registry import Described
from committee.saving.rows import read_rows
from committee.table.schema import Kind, Schema, Table
from committee.table.statistics import TargetStatistics
from committee.task import Classification, Regression

PLAIN = (Kind.NUMBER, Kind.BOOLEAN)
RULES = ("mean", "majority")


class Predictor:
    """Decides on matrices of float64 without any check, and on rows as mappings by column name.

    Parameters
    ----------
    decider : Decider
    schema : Schema
        The columns of the rows.
    task : Classification or Regression
    """

    __slots__ = ("_decide_matrix", "_decider", "_schema", "_task")

    def __init__(self, decider: Decider, schema: Schema, task: Classification | Regression) -> None:
        self.__setstate__((decider, schema, task))

    def __getstate__(self) -> tuple[Any, ...]:
        return self._decider, self._schema, self._task

    def __setstate__(self, state: tuple[Any, ...]) -> None:
        self._decider, self._schema, self._task = state
        is_plain = all(column.kind in PLAIN for column in self._schema.columns)
        self._decide_matrix = (self._decider.prepare() if is_plain else None) or self._decide_columns

    @property
    def feature_names(self) -> tuple[str, ...]:
        """The names of the columns, in the order of a matrix; x0, x1, ... if the fit saw none."""
        return self._schema.names

    def predict(self, X: Any) -> np.ndarray:
        """The class or the number for each row.

        Parameters
        ----------
        X : ndarray of float64 of shape (n_rows, n_columns), mapping, or sequence of mappings
            A mapping is one row: the value of each column by its name. None and a category that was not seen
            in the fit are missing.

        Returns
        -------
        ndarray of shape (n_rows,)
        """
        return self._task.decode(self._decide(X))

    def _decide(self, X: Any) -> np.ndarray:
        try:
            return self._decide_matrix(X)
        except TypeError:
            return self._decider.decide(read_rows(X, self._schema), 1)

    def _decide_columns(self, X: Any) -> np.ndarray:
        """The way of a matrix for models that take columns only."""
        if not isinstance(X, np.ndarray):
            raise TypeError
        others = [column.name for column in self._schema.columns if column.kind not in PLAIN]
        if others:
            raise ValueError(
                f"A matrix holds numbers only, and {others} are not. Pass rows as mappings by column name."
            )
        if X.ndim != 2 or X.shape[1] != self._schema.n_columns:
            raise ValueError(f"The matrix must have {self._schema.n_columns} columns.")
        if len(X) == 0:
            raise ValueError("There are no rows. Pass at least one.")
        return self._decider.decide(Table(self._schema, tuple(X.T), len(X)), 1)


class ClassPredictor(Predictor):
    """A predictor of classes."""

    __slots__ = ()

    @property
    def classes(self) -> np.ndarray:
        """The labels, in the order of the probabilities."""
        return self._task.classes

    def predict_proba(self, X: Any) -> np.ndarray:
        """The probabilities of the classes for each row.

        Parameters
        ----------
        X : ndarray of float64 of shape (n_rows, n_columns), mapping, or sequence of mappings
            As `predict` takes it.

        Returns
        -------
        ndarray of shape (n_rows, n_classes)
            In the order of `classes`.
        """
        return self._decide(X)


def prepare(decider: Decider, schema: Schema, task: Classification | Regression) -> Predictor:
    """Make the predictor of a fitted model."""
    kind = ClassPredictor if isinstance(task, Classification) else Predictor
    return kind(decider, schema, task)


def predictor(path: str | os.PathLike[str]) -> Predictor:
    """Prepare the model of a file to answer rows at once, without scikit-learn.

    Parameters
    ----------
    path : str or path
        Of a fitted model of ours whose members the engine has grown: trees, forests, C4.5, boosters, and
        AdaBoost of our trees and stumps.

    Returns
    -------
    Predictor
        With `predict` and, for classes, `predict_proba`. They take matrices of float64, and rows as mappings
        by column name, as JSON has them.

    Raises
    ------
    DamagedFile
        As `load` does.
    ValueError
        If the model is not fitted, or has members that the engine has not grown.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> import pandas as pd
    >>> from committee import DecisionTreeClassifier
    >>> X = pd.DataFrame({"age": [31, 54], "city": ["Oslo", "Bonn"]})
    >>> tree = DecisionTreeClassifier(random_state=0).fit(X, ["young", "old"])
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     tree.save(Path(folder, "tree.committee"))
    ...     prepared = predictor(Path(folder, "tree.committee"))
    >>> prepared.predict({"age": 29, "city": "Oslo"})
    array(['young'], dtype='<U5')
    """
    description, arrays = read_description(path)
    described = Decoder(arrays, builds=False).value(description["model"], "")
    if not isinstance(described, Described) or not described.name.startswith("committee."):
        raise ValueError(f"{path} holds no model of committee's own. Use committee.load.")
    if described.fitted is None:
        raise ValueError(f"The {described.name} of {path} is not fitted.")
    fields = Fields(described.fitted)
    if isinstance(fields.values.get("members"), list):
        raise ValueError(
            f"The {described.name} of {path} has members that the engine has not grown, which a predictor "
            "cannot ask. Use committee.load."
        )
    schema, task = fields.take("schema", Schema), take_task(fields)
    return prepare(take_decider(fields, schema, task, described.parameters.get("rule", "mean")), schema, task)


def take_task(fields: Fields) -> Classification | Regression:
    """What the model decides on."""
    task = fields.take("task", object)
    if isinstance(task, Classification | Regression):
        return task
    raise DamagedFile("task is no task.")


def take_decider(fields: Fields, schema: Schema, task: Classification | Regression, rule: Any) -> Decider:
    """How the model decides: by a C4.5 tree, by members that vote, or by a sum of trees."""
    if "tree" in fields:
        tree = fields.take("tree", _engine.C45Tree)
        check_c45_tree(tree, schema, task)
        return C45Decider(tree)
    if "members" in fields:
        return take_members(fields, schema, task)
    forest, statistics = fields.take("forest", _engine.Forest), None
    if "statistics" in fields:
        statistics = fields.optional("statistics", TargetStatistics)
    if statistics is not None:
        check_statistics(statistics, schema)
    check_forest(forest, schema if statistics is None else statistics.schema(schema), task)
    require(isinstance(rule, str) and rule in RULES, f"there is no rule {rule!r}")
    require(rule == "mean" or forest.is_mean, "The trees do not vote")
    return TreesDecider(forest, rule, statistics)


def take_members(fields: Fields, schema: Schema, task: Classification | Regression) -> Decider:
    """Members of the engine and what their votes weigh."""
    members = fields.take("members", _engine.Forest)
    check_forest(members, schema, task)
    fields.require(members.is_mean, "the members do not vote")
    votes = fields.array("estimator_weights", np.float64, (members.n_trees,))
    fields.require((votes >= 0).all(), "a vote is negative")
    weighing = fields.optional("weighing", tuple)
    if weighing is None:
        fields.require(isinstance(task, Regression), "only numbers have medians")
        return MedianDecider(members, votes)
    types = tuple(map(type, weighing))
    fields.require(types == (bool, str, float), "how votes are weighed is not said")
    try:
        forest = _engine.weigh_votes(members, votes, *weighing)
    except ValueError as error:
        raise DamagedFile(str(error)) from error
    check_forest(forest, schema, task)
    return TreesDecider(forest)
