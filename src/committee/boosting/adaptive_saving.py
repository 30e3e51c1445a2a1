"""What an AdaBoost has learnt, for a file and back: its members, their votes, and how to go on with them."""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np
from sklearn.base import is_classifier, is_regressor
from sklearn.utils.validation import check_is_fitted

from committee import _engine
from committee.boosting.adaptive_parameters import Adaptive
from committee.boosting.engine_rounds import Trees, are_members_of
from committee.boosting.weighting import Distribution, Scheme
from committee.learners.voting import Tabular
from committee.members.kinds import is_member
from committee.saving import DamagedFile, Fields
from committee.saving.errors import require
from committee.saving.models import TREES, check_forest
from committee.saving.predicting import Predictor, prepare
from committee.saving.together import BoostedDecider
from committee.table import Schema
from committee.task import Classification, Regression


class SavedMembers(Adaptive):
    """Members of the engine, which are one forest, or of other kinds, which are a list of estimators."""

    _scheme_name: ClassVar[str]
    _members: Any
    _importances: np.ndarray | None
    _seed: int
    _is_over: bool
    _distribution: Distribution
    estimator_: Any
    estimator_weights_: np.ndarray
    estimator_errors_: np.ndarray
    row_weights_: np.ndarray | None
    validation_errors_: np.ndarray | None

    def _is_engine(self) -> bool:
        check_is_fitted(self)
        return isinstance(self._members, TREES)

    def predictor(self) -> Predictor:
        """Prepare an object that decides without checks, for rows in a hurry. Members must be ours.

        Returns
        -------
        Predictor
            With `predict` and, for classes, `predict_proba`. They take matrices of float64, and rows as
            mappings by column name.
        """
        if self._is_engine():
            return super().predictor()
        if not all(isinstance(member, Tabular) for member in self._members):
            raise ValueError(
                f"The members are {type(self.estimator_).__name__}, and only models of our own can be "
                "prepared. Use the booster itself."
            )
        predictors = tuple(member.predictor() for member in self._members)
        weighing = self._weighing(self._scheme(self._task))
        decider = BoostedDecider(predictors, self.estimator_weights_, weighing, self._task)
        return prepare(decider, predictors[0].schema, self._task)

    def _scheme(self, task: Classification | Regression) -> Scheme:
        n_classes = task.n_outputs if isinstance(task, Classification) else 0
        rate, loss = getattr(self, "learning_rate", 1.0), getattr(self, "loss", "linear")
        return Scheme(self._scheme_name, n_classes, float(rate), loss)

    def _weighing(self, scheme: Scheme) -> tuple[bool, str, float] | None:
        """How the engine weighs votes: whether they are crisp, the link and its scale. None takes medians."""
        return None

    def _weighed(self, members: Any, votes: np.ndarray, scheme: Scheme) -> Any:
        """The members as the model that decides."""
        weighing = self._weighing(scheme)
        return members if weighing is None else _engine.weigh_votes(members, votes, *weighing)

    def _learnt(self) -> dict[str, Any]:
        learnt: dict[str, Any] = {
            "task": self._task,
            "members": self._members,
            "seed": self._seed,
            "is_over": self._is_over,
            "estimator": self.estimator_,
            "estimator_weights": self.estimator_weights_,
            "estimator_errors": self.estimator_errors_,
            "row_weights": self.row_weights_,
            "validation_errors": self.validation_errors_,
            "distribution": vars(self._distribution) if "_distribution" in self.__dict__ else None,
        }
        if self._is_engine():
            own = {
                "schema": self.schema_,
                "has_missing": self._has_missing,
                "importances": self._importances,
                "weighing": self._weighing(self._scheme(self._task)),
            }
        else:
            names = getattr(self, "feature_names_in_", None)
            weighing = self._weighing(self._scheme(self._task))
            own = {"n_features": self.n_features_in_, "feature_names": names, "weighing": weighing}
        return learnt | own

    def _take_learnt(self, fields: Fields) -> None:
        members: Any = fields.take("members", object)
        is_engine = isinstance(members, TREES)
        fields.require(is_engine or isinstance(members, list), "the members are neither trees nor a list")
        n_members = members.n_trees if is_engine else len(members)
        fields.require(n_members > 0, "there are no members")
        self._members, self._task = members, fields.take("task", self._task_type)
        self._seed = fields.integer("seed", 0, 2**64 - 1)
        self._is_over = fields.take("is_over", bool)
        self.estimator_ = fields.take("estimator", object)
        fields.require(is_member(self.estimator_), "the estimator is none")
        is_kind = is_classifier if isinstance(self._task, Classification) else is_regressor
        fields.require(is_kind(self.estimator_), "the estimator is for another task")
        fields.require(are_members_of(self.estimator_, members), "the members are not of the estimator")
        self.estimator_weights_ = fields.array("estimator_weights", np.float64, (n_members,))
        self.estimator_errors_ = fields.array("estimator_errors", np.float64, (n_members,))
        self.row_weights_ = fields.optional_array("row_weights", np.float64, (n_members, None))
        self.validation_errors_ = fields.optional_array("validation_errors", np.float64, (None,))
        self._take_distribution(fields)
        if is_engine:
            self._take_trees(members, fields)
        else:
            self._take_others(fields)

    def _take_distribution(self, fields: Fields) -> None:
        found = fields.optional_fields("distribution")
        if found is None:
            return
        counts = found.array("counts", np.uint32, (None,))
        n_mislabels = self._scheme(self._task).n_mislabels
        shape = (len(counts),) if n_mislabels is None else (len(counts), n_mislabels)
        units = found.array("units", np.float64, shape)
        found.require((units >= 0).all() and counts.any(), "the weights of the rows are no distribution")
        found.finish()
        self._distribution = Distribution(counts, units)

    def _take_trees(self, members: Trees, fields: Fields) -> None:
        schema = fields.take("schema", Schema)
        check_forest(members, schema, self._task)
        fields.require(members.is_mean, "the members do not vote")
        has_missing = fields.array("has_missing", bool, (schema.n_columns,))
        self._importances = fields.array("importances", np.float64, (members.n_trees, schema.n_columns))
        fields.require((self.estimator_weights_ >= 0).all(), "a vote is negative")
        weighing = self._weighing(self._scheme(self._task))
        fields.require(fields.take("weighing", object) == weighing, "votes are weighed in another way")
        try:
            forest = self._weighed(members, self.estimator_weights_, self._scheme(self._task))
        except ValueError as error:
            raise DamagedFile(str(error)) from error
        self._keep(forest, schema, self._task, has_missing)

    def _take_others(self, fields: Fields) -> None:
        self.n_features_in_ = fields.integer("n_features", 1, 2**31 - 1)
        names = fields.optional_array("feature_names", object, (self.n_features_in_,))
        if names is not None:
            fields.require(all(isinstance(name, str) for name in names), "the names of columns are not text")
            self.feature_names_in_ = names
        if "weighing" in fields:  # the first files have none
            weighing = self._weighing(self._scheme(self._task))
            fields.require(fields.take("weighing", object) == weighing, "votes are weighed in another way")
        self._matrix_width, self._importances = -1, None
        if isinstance(self._task, Classification):
            self.classes_, self.n_classes_ = self._task.classes, self._task.n_outputs

    def _check_learnt(self) -> None:
        if self._is_engine():
            check_forest(self._forest, self.schema_, self._task)
            return
        for member in self._members:
            n_columns = getattr(member, "n_features_in_", self.n_features_in_)
            require(
                hasattr(member, "predict") and n_columns == self.n_features_in_,
                "A member decides on other columns",
            )
            if isinstance(self._task, Classification) and hasattr(member, "classes_"):
                are_known = np.isin(member.classes_, self._task.classes).all()
                require(are_known, "A member decides on other classes")

    def _known_scores(self) -> dict[str, float]:
        errors = self.validation_errors_
        if errors is None or len(errors) < len(self.estimator_weights_):
            return {}
        return {"validation_error": float(errors[len(self.estimator_weights_) - 1])}
