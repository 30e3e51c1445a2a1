"""Define the state of mixtures of experts: an encoding of the table, gates and experts."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from committee.saving.format.fields import Fields
from committee.saving.format.file_errors import require
from committee.saving.plain_models.mixture_models import (
    Branches,
    LinearModel,
    SoftmaxModel,
    in_units_of_y,
    log_shares,
    mixed,
    model_from,
    shares_of_experts,
)
from committee.saving.predictors.deciders import EncodedDecider, aligned, check_member
from committee.saving.predictors.predictor import Decide, Predictor, Task, prepare
from committee.saving.states.state import Models, state_of, take_table
from committee.table.schema import Schema
from committee.task import Classification, codes_in

MOST_BRANCHES = 2**31 - 1
GATINGS = ("soft", "hard")


@dataclass(frozen=True, eq=False)
class MixtureDecider:
    """The gates and experts of a mixture, which decide on the matrix of an encoding.

    Parameters
    ----------
    tree : Branches
    gates, experts : tuple of (SoftmaxModel, LinearModel or Predictor)
    task : Classification or Regression
    is_hard : bool
        Whether the most probable expert decides alone.
    center, spread : float
        The mean and the standard deviation of y, which experts predict scaled.
    """

    tree: Branches
    gates: tuple[Any, ...]
    experts: tuple[Any, ...]
    task: Task
    is_hard: bool
    center: float
    spread: float

    def bind(self, schema: Schema) -> Decide:
        """Return the function from a matrix to the decision for each row."""
        return self.decide

    def decide(self, matrix: Any) -> np.ndarray:
        """Return the decision for each row of a matrix."""
        branches = Classification(np.arange(self.tree.n_branches))
        logs = [
            gate.predict_log_proba(matrix)
            if isinstance(gate, SoftmaxModel)
            else log_shares(votes_of(gate, matrix, branches))
            for gate in self.gates
        ]
        shares = shares_of_experts(self.tree.join(logs))
        votes = np.array([votes_of(expert, matrix, self.task) for expert in self.experts])
        decision = mixed(shares, votes, self.is_hard)
        if isinstance(self.task, Classification):
            return decision / decision.sum(axis=1, keepdims=True)
        return in_units_of_y(decision, self.center, self.spread)


def votes_of(model: Any, matrix: Any, task: Task) -> np.ndarray:
    """Return the votes of a gate or an expert, of shape (n_rows, n_outputs)."""
    if isinstance(model, LinearModel):
        return model.predict(matrix)[:, np.newaxis]
    if isinstance(model, Predictor):
        return aligned(model.decide(matrix), model, task, 0.0)
    votes = np.zeros((len(matrix), task.n_outputs))
    votes[:, codes_in(model.classes_, task.classes)] = model.predict_proba(matrix)  # type: ignore[arg-type]
    return votes


@state_of("MixtureOfExpertsClassifier", "MixtureOfExpertsRegressor")
@dataclass(frozen=True, eq=False)
class MixtureState:
    """The encoder, the gates and the experts of a mixture.

    Parameters
    ----------
    schema : Schema
    task : Classification or Regression
    encoder : TableEncoder or its description in a file
    n_branches : int
        The number of branches of every gate.
    gates, experts : list
        Estimators, their descriptions in a file, or the arrays of our own linear models.
    center, spread : float
        The mean and the standard deviation of y, which experts predict scaled; 0 and 1 for classes.
    """

    schema: Schema
    task: Task
    encoder: Any
    n_branches: int
    gates: list[Any]
    experts: list[Any]
    center: float = 0.0
    spread: float = 1.0

    @classmethod
    def take(cls, fields: Fields, task_type: type[Task]) -> MixtureState:
        """Take gates and experts from the fields of a file. The gates must lead to the experts."""
        schema, task = take_table(fields, task_type)
        encoder, n_branches = fields.take("encoder", object), fields.integer("n_branches", 1, MOST_BRANCHES)
        gates, experts = fields.take("gates", list), fields.take("experts", list)
        fields.require(experts, "there are no experts")
        is_tree = n_branches == len(experts) or 1 < n_branches < len(experts)
        fields.require(is_tree, "gates do not lead to the experts")
        tree = Branches(len(experts), n_branches)
        leads = n_branches**tree.depth == len(experts) and tree.n_gates == len(gates)
        fields.require(leads, "gates do not lead to the experts")
        if isinstance(task, Classification):
            return cls(schema, task, encoder, n_branches, gates, experts)
        center, spread = fields.take("center", float), fields.positive("spread")
        fields.require(np.isfinite(center), "the center is not finite")
        return cls(schema, task, encoder, n_branches, gates, experts, center, spread)

    def learnt(self) -> dict[str, object]:
        """Return the fields for `take`."""
        scale = () if isinstance(self.task, Classification) else ("center", "spread")
        return {name: value for name, value in vars(self).items() if name not in ("center", "spread")} | {
            name: getattr(self, name) for name in scale
        }

    @property
    def tree(self) -> Branches:
        """The shape of the tree of gates."""
        return Branches(len(self.experts), self.n_branches)

    def models(self, width: int) -> tuple[list[Any], list[Any]]:
        """Return the gates and experts for a matrix. Only our own linear models are checked.

        Parameters
        ----------
        width : int
            The number of columns of the matrix.
        """
        branches = np.arange(self.n_branches)
        gates = [model_from(gate, width, branches) for gate in self.gates]
        own = [gate for gate in gates if isinstance(gate, SoftmaxModel)]
        require(all(np.array_equal(gate.classes_, branches) for gate in own), "A gate leaves out a branch")
        classes = self.task.classes if isinstance(self.task, Classification) else None
        return gates, [model_from(expert, width, classes) for expert in self.experts]

    def predictor(self, models: Models, parameters: Mapping[str, object]) -> Predictor:
        """Return the predictor."""
        encoding, gating = models.encoding(self.encoder), parameters.get("gating", "soft")
        require(gating in GATINGS, f"There is no gating {gating!r}")
        require(encoding is not None and encoding.schema == self.schema, "The encoder has other columns")
        assert encoding is not None
        width = encoding.width
        gates, experts = self.models(width)
        branches = Classification(np.arange(self.n_branches))
        decider = MixtureDecider(
            self.tree,
            tuple(voter_of(each, f"gate {i}", branches, width, models) for i, each in enumerate(gates)),
            tuple(voter_of(each, f"expert {i}", self.task, width, models) for i, each in enumerate(experts)),
            self.task,
            gating == "hard",
            self.center,
            self.spread,
        )
        inner = prepare(decider, self.schema, self.task)
        return prepare(EncodedDecider(encoding, inner), self.schema, self.task)


def voter_of(model: Any, role: str, task: Task, width: int, models: Models) -> Any:
    """Return one of our own linear models unchanged, and the predictor of another model."""
    if isinstance(model, SoftmaxModel | LinearModel):
        return model
    predictor = models.predictor(model, role)
    check_member(predictor, width, task)
    return predictor
