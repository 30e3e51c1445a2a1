"""Prepare tables for members of any kind, in the container of the user."""

from __future__ import annotations

from dataclasses import replace
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
from committee.saving.predictors.linear_models import as_plain_model
from committee.table.input_types import TableLike
from committee.table.schema import FEW_ROWS, take_rows
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


def voting_model(model: BaseEstimator, source: Source) -> tuple[BaseEstimator, Source | TableLike]:
    """Return the estimator that votes for a model, and its table.

    Our models take the open table, so that it is read once for all. Of a pipeline of our encoder and one
    model, the last step votes, because the pipeline itself is slow for single rows.
    """
    if isinstance(model, Pipeline) and isinstance(model.steps[0][1], TableEncoder):
        if len(model.steps) > 2:
            return model, source
        (_, encoder), (_, last) = model.steps
        return as_plain_model(last) if source.n_rows <= FEW_ROWS else last, encoder.transform(source)
    if isinstance(model, C45Classifier | Network):
        return model, source
    # The engine needs no conversion of a matrix.
    is_read = isinstance(model, Voter) and "_forest" in vars(model)
    return model, source if is_read and not isinstance(source.native, np.ndarray) else source.native
