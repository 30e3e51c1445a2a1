"""What a committee has learnt, for a file and back: its seats, its rule and its honest votes."""

from __future__ import annotations

from typing import Any

import numpy as np

from committee.assembling.calibrating import Calibration
from committee.assembling.seats import Seat
from committee.combining.rule import Rule
from committee.learners.voting import Tabular
from committee.members.encoding import TableEncoder
from committee.saving import Fields
from committee.saving.deciding import Decider
from committee.saving.errors import require
from committee.saving.predicting import Predictor
from committee.saving.together import PreparedSeat, RuleDecider, check_rule
from committee.task import Classification
from committee.votes.arrays import dtype_of
from committee.votes.honest import HonestVotes

# What a file keeps of honest votes.
KEPT_OF_HONEST = ("votes", "y", "weights", "groups", "rows", "X", "table", "split")


class KeptCommittee(Tabular):
    """A committee in a file."""

    _seats: list[Seat]
    _honest: HonestVotes | None
    _encoder: TableEncoder | None
    rule_: Rule | None

    def _decider(self) -> Decider:
        if self._encoder is not None:
            raise ValueError(
                f"{type(self.rule_).__name__} looks at the rows, so there is no predictor. Use the committee."
            )
        seats = tuple(
            PreparedSeat(tuple(prepared(model, seat.name) for model in seat.models), seat.columns)
            for seat in self._seats
        )
        return RuleDecider(seats, self.rule_, self._task)

    def _has_learnt(self) -> bool:
        return "_seats" in self.__dict__

    def _learnt(self) -> dict[str, Any]:
        seats = [
            {
                "name": seat.name,
                "models": seat.models,
                "columns": seat.columns,
                "calibration": None if seat.calibration is None else vars(seat.calibration),
            }
            for seat in self._seats
        ]
        honest = None
        if self._honest is not None:
            honest = {name: getattr(self._honest, name) for name in KEPT_OF_HONEST}
            # Files leave out weights and rows that a committee does not have.
            if (self._honest.weights == 1).all():
                honest["weights"] = None
            if self._honest.X is None:
                del honest["X"]
        own = {"seats": seats, "honest": honest, "encoder": self._encoder, "rule": self.rule_}
        return super()._learnt() | own

    def _take_learnt(self, fields: Fields) -> None:
        super()._take_learnt(fields)
        seats = fields.take("seats", list)
        fields.require(seats and all(isinstance(seat, dict) for seat in seats), "there are no seats")
        self._seats = [self._take_seat(Fields(seat, f"seats__{i}")) for i, seat in enumerate(seats)]
        names = [seat.name for seat in self._seats]
        fields.require(len(set(names)) == len(names), "two seats have one name")
        honest = fields.optional_fields("honest")
        self._honest = None if honest is None else self._take_honest(honest)
        self._encoder = fields.optional("encoder", TableEncoder)
        self.rule_ = fields.optional("rule", Rule)

    def _take_seat(self, fields: Fields) -> Seat:
        name, models = fields.take("name", str), fields.take("models", list)
        columns = fields.optional("columns", list)
        in_range = range(self.n_features_in_)
        are_columns = columns is None or (
            columns and all(type(each) is int and each in in_range for each in columns)
        )
        fields.require(are_columns, "its columns are none of the table")
        calibration = fields.optional_fields("calibration")
        n_columns = self.n_features_in_ if columns is None else len(columns)
        fields.require(models, "it has no models")
        for model in models:
            known = getattr(model, "n_features_in_", n_columns)
            fields.require(hasattr(model, "predict") and known == n_columns, "it votes on other columns")
            if isinstance(self._task, Classification) and hasattr(model, "classes_"):
                are_known = np.isin(model.classes_, self._task.classes).all()
                fields.require(are_known, "it votes for other classes")
        fields.finish()
        curve = None if calibration is None else Calibration.take(calibration, self._task.n_outputs)
        return Seat(name, models, columns, curve)

    def _take_honest(self, fields: Fields) -> HonestVotes:
        shape = (len(self._seats), None, self._task.n_outputs)
        votes = fields.array("votes", dtype_of(self._task), shape)
        n_rows = votes.shape[1]
        are_classes = isinstance(self._task, Classification)
        y = fields.array("y", np.int32 if are_classes else np.float64, (n_rows,))
        weights = fields.optional_array("weights", np.float64, (n_rows,))
        groups = fields.optional_array("groups", np.int64, (n_rows,))
        rows = fields.array("rows", np.int64, (n_rows,))
        X = fields.array("X", np.float64, (n_rows, None)) if "X" in fields else None
        # Older files do not tell tables and splits apart.
        table, split = (fields.take(name, str) if name in fields else "" for name in ("table", "split"))
        fields.finish()
        if are_classes:
            fields.require((votes >= 0).all(), "a vote is negative")
            fields.require(((y >= 0) & (y < self._task.n_outputs)).all(), "y is of no class")
        fields.require(weights is None or (weights >= 0).all(), "a weight is negative")
        fields.require((rows >= 0).all() and (groups is None or (groups >= 0).all()), "a row is negative")
        weights = np.ones(n_rows) if weights is None else weights
        return HonestVotes(
            votes, y, weights, rows, groups, X, classes=self._task.classes, table=table, split=split
        )

    def _check_learnt(self) -> None:
        check_rule(self.rule_, len(self._seats), self._task)
        if self.rule_ is None:
            return
        looks = self.rule_._looks_at_X()
        require((self._encoder is not None) == looks, "The rule looks at rows that nobody encodes")
        is_same = self._encoder is None or self._encoder.n_features_in_ == self.n_features_in_
        require(is_same, "The rows are encoded with other columns")


def prepared(model: Any, name: str) -> Predictor:
    """The predictor of a member, if it is one of ours."""
    if isinstance(model, Tabular):
        return model.predictor()
    raise ValueError(
        f"The member {name!r} is a {type(model).__name__}, and only models of our own can be prepared. Use "
        "the committee itself."
    )
