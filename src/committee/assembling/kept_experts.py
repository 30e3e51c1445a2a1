"""What a mixture of experts has learnt, for a file and back."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.utils.validation import check_is_fitted

from committee.assembling.gating import Branches
from committee.assembling.softmax import LinearModel, SoftmaxModel
from committee.learners.voting import Tabular
from committee.members.encoding import TableEncoder
from committee.saving import Fields
from committee.saving.deciding import Decider
from committee.task import Classification, Regression

MOST_BRANCHES = 2**31 - 1
# Sums of numbers of a matrix times such are finite.
LARGEST_COEFFICIENT = 1e100


class KeptExperts(Tabular):
    """A fitted mixture: the encoder of the table, gates, experts, and how EM went."""

    _encoder: TableEncoder
    _branches: Branches
    # What the numbers of experts are multiplied by, and what is then added.
    _spread: float
    _center: float
    gates_: list[Any]
    estimators_: list[Any]
    noise_deviations_: np.ndarray
    log_likelihoods_: np.ndarray
    restart_log_likelihoods_: np.ndarray
    converged_: bool

    @property
    def n_iter_(self) -> int:
        """How many iterations the best restart took."""
        check_is_fitted(self)
        return len(self.log_likelihoods_)

    def _decider(self) -> Decider:
        raise ValueError("A gate looks at the rows, so there is no predictor. Use the mixture.")

    def _has_learnt(self) -> bool:
        return "_encoder" in self.__dict__

    def _learnt(self) -> dict[str, Any]:
        learnt = {
            "encoder": self._encoder,
            "n_branches": self._branches.n_branches,
            "gates": [described(gate) for gate in self.gates_],
            "experts": [described(expert) for expert in self.estimators_],
            "log_likelihoods": self.log_likelihoods_,
            "restart_log_likelihoods": self.restart_log_likelihoods_,
            "converged": self.converged_,
        }
        if isinstance(self._task, Regression):
            learnt |= {
                "center": self._center,
                "spread": self._spread,
                "noise_deviations": self.noise_deviations_,
            }
        return super()._learnt() | learnt

    def _take_learnt(self, fields: Fields) -> None:
        super()._take_learnt(fields)
        self._encoder = fields.take("encoder", TableEncoder)
        is_same = self._encoder._has_learnt() and self._encoder.schema_ == self.schema_
        fields.require(is_same, "the table is encoded with other columns")
        gates, experts = fields.take("gates", list), fields.take("experts", list)
        n_branches = fields.integer("n_branches", 1, MOST_BRANCHES)
        fields.require(experts, "there are no experts")
        is_tree = n_branches == len(experts) or 1 < n_branches < len(experts)
        fields.require(is_tree, "gates do not lead to the experts")
        self._branches = Branches(len(experts), n_branches)
        leads = n_branches**self._branches.depth == len(experts) and self._branches.n_gates == len(gates)
        fields.require(leads, "gates do not lead to the experts")
        branches = np.arange(n_branches)
        self.gates_ = [self._take_model(gate, branches, fields) for gate in gates]
        are_whole = all(
            np.array_equal(gate.classes_, branches) for gate in self.gates_ if isinstance(gate, SoftmaxModel)
        )
        fields.require(are_whole, "a gate leaves out a branch")
        classes = self._task.classes if isinstance(self._task, Classification) else None
        self.estimators_ = [self._take_model(expert, classes, fields) for expert in experts]
        self._center, self._spread = 0.0, 1.0
        if classes is None:
            self._center, self._spread = fields.take("center", float), fields.positive("spread")
            fields.require(np.isfinite(self._center), "the center is not finite")
            self.noise_deviations_ = fields.array("noise_deviations", np.float64, (len(experts),))
            fields.require((self.noise_deviations_ >= 0).all(), "a deviation is negative")
        self.log_likelihoods_ = fields.array("log_likelihoods", np.float64, (None,))
        self.restart_log_likelihoods_ = fields.array("restart_log_likelihoods", np.float64, (None,))
        self.converged_ = fields.take("converged", bool)

    def _take_model(self, model: Any, classes: np.ndarray | None, fields: Fields) -> Any:
        """A gate or an expert, which gives probabilities of some classes, or numbers."""
        n_features = n_features_of(self._encoder)
        if isinstance(model, dict):
            inner = Fields(model)
            found = inner.optional_array("classes", None if classes is None else classes.dtype, (None,))
            fields.require((found is None) == (classes is None), "a model is for another task")
            n_outputs = 1 if found is None else len(found)
            coefficients = inner.array("coefficients", np.float64, (n_features + 1, n_outputs))
            inner.finish()
            fields.require(np.abs(coefficients).max() <= LARGEST_COEFFICIENT, "a coefficient is too large")
            if found is None:
                return LinearModel(coefficients)
            model = SoftmaxModel(found, coefficients)
        else:
            asked = "predict" if classes is None else "predict_proba"
            fields.require(hasattr(model, asked), "what decides is no fitted estimator")
            fits = getattr(model, "n_features_in_", n_features) == n_features
            fields.require(fits, "a model decides on other columns")
        if classes is not None:
            known = np.asarray(getattr(model, "classes_", []))
            is_known = known.dtype.kind == classes.dtype.kind and np.isin(known, classes).all()
            is_sound = is_known and 0 < len(known) == len(np.unique(known))
            fields.require(is_sound, "a model decides on other classes")
        return model

    def _check_learnt(self) -> None:
        """The fields are checked as they are taken."""


def described(model: Any) -> Any:
    """A model of our own as its arrays, any other as it is."""
    if not isinstance(model, SoftmaxModel | LinearModel):
        return model
    return {"classes": getattr(model, "classes_", None), "coefficients": model.coefficients}


def n_features_of(encoder: TableEncoder) -> int:
    """The number of columns of the matrix that an encoder makes."""
    sizes = zip(encoder.schema_.is_category, encoder.kept_, strict=True)
    return max(1, sum(len(codes) if is_category else 1 for is_category, codes in sizes))
