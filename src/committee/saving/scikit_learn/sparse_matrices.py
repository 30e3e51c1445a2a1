"""Sparse matrices in a file: three arrays, all checked, because code in C follows their indices unasked.

`write` and `read` are the codec's form of a matrix by rows or by columns. `sparse` is the kind of a fitted
attribute that is one.
"""

from __future__ import annotations

import importlib
from typing import Any

import numpy as np

from committee.saving.format.attributes import (
    LARGEST,
    Kind,
    Size,
    Sizes,
    Wrong,
    check_range,
    check_shape,
    described,
)
from committee.saving.format.codec import Decoder, Encoder, Json, refuse
from committee.saving.format.file_errors import require
from committee.saving.format.plain_values import with_keys

KINDS = ("csr_matrix", "csc_matrix", "csr_array", "csc_array")
# scipy counts rows and columns in 32 bits.
LONGEST = 2**31 - 1
# The three vectors of a matrix, by their names in the file and in scipy.
VECTORS = (("starts", "indptr"), ("indices", "indices"), ("values", "data"))


def write(matrix: Any, encoder: Encoder, path: str) -> Json:
    """Write a sparse matrix by rows or by columns."""
    kind = type(matrix).__name__
    if kind not in KINDS or type(matrix) is not maker(kind):
        return refuse(matrix, encoder, path)
    return {
        "sparse": {
            "kind": kind,
            "shape": list(matrix.shape),
            **encoder.named({name: getattr(matrix, name_in_scipy) for name, name_in_scipy in VECTORS}, path),
        }
    }


def read(written: Json, decoder: Decoder, path: str) -> Any:
    """Make a sparse matrix whose indices all lie in it."""
    body = with_keys(written["sparse"], {"kind", "shape", *dict(VECTORS)}, path)
    kind, shape = body["kind"], body["shape"]
    require(isinstance(kind, str) and kind in KINDS, f"{path}: there is no sparse matrix {kind!r}")
    is_shape = isinstance(shape, list) and len(shape) == 2 and all(type(n) is int for n in shape)
    require(is_shape and min(shape) >= 0 and max(shape) <= LONGEST, f"{path} has no shape")
    vectors = [decoder.value(body[name], path) for name, _ in VECTORS]
    are_vectors = all(isinstance(each, np.ndarray) and each.ndim == 1 for each in vectors)
    require(are_vectors, f"{path} is not made of three vectors")
    starts, indices, values = vectors
    n_lines, length = shape if kind.startswith("csr") else shape[::-1]
    are_integers = {starts.dtype, indices.dtype} <= {np.dtype(np.int32), np.dtype(np.int64)}
    require(are_integers, f"{path} has indices that are not integers")
    require(len(starts) == n_lines + 1, f"{path} has not {n_lines} lines")
    in_order = starts[0] == 0 and starts[-1] == len(indices) == len(values) and (np.diff(starts) >= 0).all()
    require(in_order, f"{path} has lines that do not follow each other")
    in_range = len(indices) == 0 or (indices.min() >= 0 and indices.max() < length)
    require(in_range, f"{path} has indices out of range")
    require(values.dtype.kind in "biuf", f"{path} does not hold numbers")
    return maker(kind)((values, indices, starts), shape=tuple(shape))


def maker(kind: str) -> Any:
    """The class of a kind. A predictor of a meta-learner reads this module and must not wait for scipy."""
    return getattr(importlib.import_module("scipy.sparse"), kind)


def sparse(*shape: Size, of: str = "") -> Kind:
    """A sparse matrix of finite numbers by rows, whose indices are in order."""

    def check(value: Any, sizes: Sizes) -> None:
        if getattr(value, "format", "") != "csr" or value.ndim != 2 or value.dtype.kind != "f":
            raise Wrong(f"is {described(value)} instead of a sparse matrix of floats by rows")
        if of and value.dtype != of:
            raise Wrong(f"holds {value.dtype} instead of {of}")
        check_shape(value.shape, shape, sizes)
        check_range(value.data, -LARGEST, LARGEST)
        is_first = np.zeros(value.nnz + 1, dtype=bool)
        is_first[value.indptr] = True
        if not (is_first[1:-1] | (np.diff(value.indices) > 0)).all():
            raise Wrong("has columns that are not in order")

    return check
