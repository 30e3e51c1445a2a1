"""Turn a table into votes: the base classes of all estimators.

A fitted `Voter` contains the engine's forest (one tree or more), the schema of the training table and the
task. The engine takes a matrix of float64 directly if the schema allows it. Other tables are read by the
schema first.
"""

from __future__ import annotations

from typing import Any, Self

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin, RegressorMixin
from sklearn.utils.validation import check_is_fitted

from committee import _engine
from committee.extensions import explain, extension
from committee.parameters import check_parameters
from committee.running import n_threads
from committee.saving import Fields, Saveable
from committee.saving.plain_models.plain_model import description_of
from committee.saving.plain_models.plain_predictor import plain_predictor
from committee.saving.predictors.deciders import name_of_sum, sums_votes
from committee.saving.predictors.predictor import Predictor
from committee.saving.states.state import KeptRule, State
from committee.saving.states.tree_states import BoostedState, TreesState
from committee.table import Kind, Schema, Table, keep_schema, predict_table, takes_any_table
from committee.table.matrix_encoding import MatrixEncoding
from committee.task import Classification, Regression

FLOAT64 = np.dtype(np.float64)
# The engine uses one thread for fewer rows.
ROWS_OF_A_THREAD = 64


class FittedModels:
    """The predictors of fitted members and rules, for `Tabular.predictor`."""

    def predictor(self, model: Any, role: str, *, as_scores: bool = False) -> Predictor:
        """Return the predictor of a member. Raise if the member needs another library."""
        if isinstance(model, Tabular):
            return model.predictor()
        described = description_of(model)
        found = None if described is None else plain_predictor(described, role, self, as_scores=as_scores)
        if found is None:
            raise ValueError(
                f"The {role} is a {type(model).__name__}, which has no predictor because it needs the "
                "library that fitted it. Use the ensemble itself."
            )
        return found

    def encoding(self, encoder: Any) -> MatrixEncoding | None:
        """Return the encoding of a `TableEncoder`, None for other values."""
        found = getattr(encoder, "_encoding", None)
        return found if isinstance(found, MatrixEncoding) else None

    def summed(self, kept: KeptRule) -> str | None:
        """Return the name of a rule that only sums votes, or None for other rules."""
        return name_of_sum(kept.rule) if kept.rule is not None and sums_votes(kept.rule) else None

    def rule(self, kept: KeptRule) -> Any:
        """Return the rule."""
        return kept.rule


class Tabular(Saveable, BaseEstimator):
    """An estimator that reads tables of any kind and stores their schema and its task.

    Attributes
    ----------
    n_features_in_ : int
    feature_names_in_ : ndarray of shape (n_columns,)
        Only if all column names are text.
    n_outputs_ : int
        The number of columns of y, which is 1.
    schema_ : Schema
        The columns of the training table.
    """

    schema_: Schema
    n_features_in_: int
    _task: Classification | Regression
    _task_type: Any

    explain = extension(explain)

    @property
    def n_outputs_(self) -> int:
        """The number of columns of y, which is 1."""
        check_is_fitted(self)
        return 1

    def __sklearn_tags__(self) -> Any:
        return takes_any_table(super().__sklearn_tags__())

    def _keep_task(self, schema: Schema, task: Classification | Regression) -> None:
        keep_schema(self, schema)
        self._keep_classes(task)

    def _keep_classes(self, task: Classification | Regression) -> None:
        self._task = task
        if isinstance(task, Classification):
            self.classes_ = task.classes
            self.n_classes_ = task.n_outputs

    def predictor(self) -> Predictor:
        """Return an object that predicts few rows quickly, because it skips most checks.

        Returns
        -------
        Predictor
            With `predict` and, for classes, `predict_proba`. They take matrices of float64, and rows as
            mappings by column name. `committee.predictor` returns one for a saved file.

        Examples
        --------
        >>> from committee import RandomForestClassifier
        >>> forest = RandomForestClassifier(random_state=0).fit([[1], [2], [8], [9]] * 5, [0, 0, 1, 1] * 5)
        >>> forest.predictor().predict(np.array([[1.5]]))
        array([0])
        """
        check_is_fitted(self)
        return self._state().predictor(FittedModels(), self.get_params(deep=False))

    def _state(self) -> State:
        """Return the part of the estimator that predicts, for a predictor and for a file."""
        raise NotImplementedError

    def _read(self, X: Any) -> Table:
        if not self._has_learnt():
            check_is_fitted(self)
        return predict_table(self, X)

    def _check_parameters(self) -> None:
        check_parameters(self)

    def _has_learnt(self) -> bool:
        return "_task" in self.__dict__

    def _learnt(self) -> dict[str, Any]:
        return self._state().learnt()


class Voter(Tabular):
    """An estimator that predicts with a forest of the engine.

    Attributes
    ----------
    nbytes : int
        The size of the trees in memory.
    """

    _forest: _engine.Forest
    _has_missing: np.ndarray
    _matrix_width: int
    _rule: str = "mean"

    @property
    def nbytes(self) -> int:
        """The size of the trees in memory, in bytes."""
        check_is_fitted(self)
        return self._forest.nbytes

    def _keep(
        self,
        forest: _engine.Forest,
        schema: Schema,
        task: Classification | Regression,
        has_missing: np.ndarray,
    ) -> Self:
        """Store the fitted state. It is the last step of a fit, so a fit that fails changes nothing."""
        self._keep_task(schema, task)
        self._forest = forest
        self._has_missing = has_missing
        self._matrix_width = schema.n_columns if is_plain(schema) else -1
        return self

    def _decide(self, X: Any) -> np.ndarray:
        """Return the decision for each row, of shape (n_rows, n_outputs)."""
        if (
            type(X) is np.ndarray
            and X.ndim == 2
            and X.dtype == FLOAT64
            and X.shape[1] == self.__dict__.get("_matrix_width")
            and len(X) > 0
        ):
            return self._forest.predict_matrix(X, self._rule, self._threads(len(X)))
        return self._decide_table(X)

    def _decide_table(self, X: Any) -> np.ndarray:
        """Return the decision for each row of a table that must be read."""
        table = self._read(X)
        threads = self._threads(table.n_rows)
        return self._forest.predict(list(table.columns), table.n_rows, self._rule, threads)

    def _state(self) -> State:
        return TreesState(self.schema_, self._task, self._forest)

    def _learnt(self) -> dict[str, Any]:
        return super()._learnt() | {"has_missing": self._has_missing}

    def _take_learnt(self, fields: Fields) -> None:
        self._take_trees(TreesState.take(fields, self._task_type), fields)

    def _take_trees(self, state: TreesState | BoostedState, fields: Fields) -> None:
        has_missing = fields.array("has_missing", bool, (state.schema.n_columns,))
        self._keep(state.forest, state.schema, state.task, has_missing)

    def _threads(self, n_rows: int) -> int:
        return 1 if n_rows <= ROWS_OF_A_THREAD else n_threads(getattr(self, "n_jobs", None))


class Classifies(ClassifierMixin):
    """The prediction methods of classifiers: votes are probabilities of classes.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
        The labels, sorted.
    n_classes_ : int
    """

    _task_type = Classification
    classes_: np.ndarray
    n_classes_: int

    def predict_proba(self: Any, X: Any) -> np.ndarray:
        """Return the probabilities of the classes.

        Parameters
        ----------
        X : table of shape (n_rows, n_columns)

        Returns
        -------
        ndarray of shape (n_rows, n_classes)
            In the order of `classes_`.
        """
        return self._decide(X)

    def predict_log_proba(self: Any, X: Any) -> np.ndarray:
        """Return the logarithms of the probabilities of the classes.

        Parameters
        ----------
        X : table of shape (n_rows, n_columns)

        Returns
        -------
        ndarray of shape (n_rows, n_classes)
        """
        with np.errstate(divide="ignore"):
            return np.log(self._decide(X))

    def predict(self: Any, X: Any) -> np.ndarray:
        """Return the class with the highest probability, the first one if there is a tie.

        Parameters
        ----------
        X : table of shape (n_rows, n_columns)

        Returns
        -------
        ndarray of shape (n_rows,)
        """
        # `_decide` raises NotFittedError if there is no `_task` yet.
        votes = self._decide(X)
        return self._task.decode(votes)


class Regresses(RegressorMixin):
    """The prediction method of regressors: votes are numbers."""

    _task_type = Regression

    def predict(self: Any, X: Any) -> np.ndarray:
        """Return a number for each row.

        Parameters
        ----------
        X : table of shape (n_rows, n_columns)

        Returns
        -------
        ndarray of shape (n_rows,)
        """
        # `_decide` raises NotFittedError if there is no `_task` yet.
        votes = self._decide(X)
        return self._task.decode(votes)


def is_plain(schema: Schema) -> bool:
    """Return whether the engine can take a matrix directly: all columns are numbers without names."""
    return not schema.named and all(column.kind is Kind.NUMBER for column in schema.columns)


def attribute_of_part(part: str, name: str, meaning: str) -> property:
    """Return a property that reads an attribute of a part of a fitted estimator."""

    def read(estimator: Any) -> Any:
        check_is_fitted(estimator)
        return getattr(getattr(estimator, part), name)

    read.__doc__ = meaning
    return property(read)
