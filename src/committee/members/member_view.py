"""Prepare tables for members of any kind, in the container of the user."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import narwhals.stable.v2 as nw
import numpy as np
import scipy.sparse
from sklearn.base import BaseEstimator
from sklearn.pipeline import Pipeline
from sklearn.utils.validation import check_array

from committee.learners import C45Classifier
from committee.learners.network import Network
from committee.learners.voter import Voter
from committee.members.table_encoder import TableEncoder, new_encoder
from committee.saving.plain_models.plain_model import as_plain_model
from committee.table.input_types import TableLike
from committee.table.schema import take_rows
from committee.table.source import Source
from committee.votes.honest_votes import HonestVotes


def native_table(X: Any) -> Any:
    """Return X as members accept it: frames and matrices unchanged, lists as arrays."""
    if scipy.sparse.issparse(X):
        X = X.tocsr()
    is_frame = nw.dependencies.is_into_dataframe(X)
    if not is_frame and not scipy.sparse.issparse(X) and not (isinstance(X, np.ndarray) and X.ndim == 2):
        return check_array(X, dtype=None, ensure_all_finite=False)
    if X.shape[0] == 0:
        raise ValueError(f"Found array with 0 sample(s) (shape={X.shape}) while a minimum of 1 is required.")
    return X


def column_names(X: TableLike) -> list[str] | None:
    """Return the names of the columns of a frame."""
    if not nw.dependencies.is_into_dataframe(X):
        return None
    return list(nw.from_native(X, eager_only=True).columns)


def look_at_rows(honest: HonestVotes, table: TableLike) -> tuple[TableEncoder, HonestVotes]:
    """Encode the rows of honest votes for a rule that looks at them.

    Return the encoder, which is fitted on these rows only, and the votes with X.
    """
    rows = take_rows(table, honest.rows)
    encoder = new_encoder().fit(rows, sample_weight=honest.weights)
    return encoder, replace(honest, X=encoder.transform(rows))


@dataclass(frozen=True, eq=False)
class MemberVoter:
    """The estimator that votes for a fitted model of a member.

    Of a pipeline of our encoder and one model, the last step votes. A plain copy replaces a model of
    scikit-learn, as in a predictor: it gives the same votes and is much faster for single rows.

    Parameters
    ----------
    estimator : estimator or plain model
    encoder : TableEncoder or None
        The encoder of the tables for the estimator.
    """

    estimator: Any
    encoder: TableEncoder | None = None

    @classmethod
    def of(cls, model: BaseEstimator) -> MemberVoter:
        """Return the voter of a fitted model."""
        if isinstance(model, Pipeline) and isinstance(model.steps[0][1], TableEncoder):
            (_, encoder), *others = model.steps
            if len(others) == 1:
                return cls(as_plain_model(others[0][1]), encoder)
        return cls(model)

    def table(self, source: Source) -> Source | TableLike:
        """Return a table as the estimator takes it. Our models share the open table, which is read once."""
        if self.encoder is not None:
            return self.encoder.transform(source)
        if isinstance(self.estimator, C45Classifier | Network):
            return source
        # The engine needs no conversion of a matrix.
        is_read = isinstance(self.estimator, Voter) and "_forest" in vars(self.estimator)
        return source if is_read and not isinstance(source.native, np.ndarray) else source.native


def voting_model(model: BaseEstimator, source: Source) -> tuple[Any, Source | TableLike]:
    """Return the estimator that votes for a model, and its table."""
    voter = MemberVoter.of(model)
    return voter.estimator, voter.table(source)
