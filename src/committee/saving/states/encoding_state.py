"""Define the fields of a `TableEncoder` in files."""

from __future__ import annotations

import numpy as np

from committee.saving.format.fields import Fields
from committee.table.matrix_encoding import SCALINGS, MatrixEncoding
from committee.table.schema import Schema

FIELDS = ("schema", "medians", "means", "deviations", "kept")


def take_encoding(fields: Fields, scaling: object) -> MatrixEncoding:
    """Take the encoding of a table from the fields of a file, and check it."""
    schema = fields.take("schema", Schema)
    medians, means, deviations = (
        fields.array(name, np.float64, (schema.n_columns,)) for name in ("medians", "means", "deviations")
    )
    kept = fields.take("kept", list)
    are_codes = all(
        isinstance(codes, np.ndarray) and codes.dtype == np.int64 and codes.ndim == 1 for codes in kept
    )
    fields.require(are_codes and len(kept) == schema.n_columns, "kept is not codes for each column")
    fields.require((deviations > 0).all(), "a deviation is not above 0")
    fields.require(scaling in SCALINGS, "there is no such scaling")
    return MatrixEncoding(schema, str(scaling), medians, means, deviations, kept)


def learnt_encoding(encoding: MatrixEncoding) -> dict[str, object]:
    """Return the fields for `take_encoding`. The scaling is a parameter of the encoder."""
    return {name: value for name, value in vars(encoding).items() if name in FIELDS}
