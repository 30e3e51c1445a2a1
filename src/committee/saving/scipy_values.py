"""The codec's form of sparse matrices: three arrays, which are checked before a matrix is made of them.

A matrix by rows or by columns, as `scipy.sparse` has them; code that reads them follows their indices without
asking. Both the classes of matrices and those of arrays are kept.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse

from committee.saving.codec import Decoder, Encoder, Json, join, refuse
from committee.saving.errors import require
from committee.saving.plain import with_keys

MAKERS = {
    "csr_matrix": scipy.sparse.csr_matrix,
    "csc_matrix": scipy.sparse.csc_matrix,
    "csr_array": scipy.sparse.csr_array,
    "csc_array": scipy.sparse.csc_array,
}
# Rows and columns are counted in 32 bits.
LONGEST = 2**31 - 1
KEYS = {"kind", "shape", "starts", "indices", "values"}


def write(matrix: Any, encoder: Encoder, path: str) -> Json:
    """Write a sparse matrix by rows or by columns."""
    kind = type(matrix).__name__
    if MAKERS.get(kind) is not type(matrix):
        return refuse(matrix, encoder, path)
    return {
        "sparse": {
            "kind": kind,
            "shape": list(matrix.shape),
            "starts": encoder.value(matrix.indptr, join(path, "starts")),
            "indices": encoder.value(matrix.indices, join(path, "indices")),
            "values": encoder.value(matrix.data, join(path, "values")),
        }
    }


def read(written: Json, decoder: Decoder, path: str) -> Any:
    """Make a sparse matrix whose indices all lie in it."""
    body = with_keys(written["sparse"], KEYS, path)
    kind, shape = body["kind"], body["shape"]
    require(isinstance(kind, str) and kind in MAKERS, f"{path}: there is no sparse matrix {kind!r}")
    is_shape = isinstance(shape, list) and len(shape) == 2 and all(type(n) is int for n in shape)
    require(is_shape and min(shape) >= 0 and max(shape) <= LONGEST, f"{path} has no shape")
    starts, indices, values = (decoder.value(body[name], path) for name in ("starts", "indices", "values"))
    for array in (starts, indices, values):
        require(isinstance(array, np.ndarray) and array.ndim == 1, f"{path} is not made of three vectors")
    n_lines, length = shape if kind.startswith("csr") else shape[::-1]
    for array in (starts, indices):
        require(array.dtype in (np.int32, np.int64), f"{path} has indices that are no integers")
    require(len(starts) == n_lines + 1, f"{path} has not {n_lines} lines")
    in_order = starts[0] == 0 and starts[-1] == len(indices) == len(values) and (np.diff(starts) >= 0).all()
    require(in_order, f"{path} has lines that do not follow each other")
    in_range = len(indices) == 0 or (indices.min() >= 0 and indices.max() < length)
    require(in_range, f"{path} has indices out of range")
    require(values.dtype.kind in "biuf", f"{path} holds no numbers")
    return MAKERS[kind]((values, indices, starts), shape=tuple(shape))
