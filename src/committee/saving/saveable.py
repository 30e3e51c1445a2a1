"""What makes an estimator one that can be saved."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from committee import _engine
from committee.saving.format.fields import Fields
from committee.table.schema import Table


@dataclass(frozen=True)
class Data:
    """The table that a model was fitted on.

    Parameters
    ----------
    n_rows, n_columns : int
    fingerprint : str
        Of the values of the columns, of y and of the weights: 128 bits that differ if one of them does.
    """

    n_rows: int
    n_columns: int
    fingerprint: str

    @classmethod
    def of(cls, table: Table, y: np.ndarray, weights: np.ndarray | None) -> Data:
        """What tells a table, with y and weights, from others.

        Examples
        --------
        >>> from committee.table import read
        >>> table = read([[1.0, 2.0], [3.0, 4.0]])
        >>> Data.of(table, np.array([0.0, 1.0]), None) == Data.of(table, np.array([0.0, 2.0]), None)
        False
        """
        columns = [*table.columns, y, *([] if weights is None else [weights])]
        return cls(table.n_rows, table.schema.n_columns, fingerprint(columns, table.n_rows))


def fingerprint(columns: Sequence[np.ndarray], n_rows: int) -> str:
    """128 bits that differ if a value of some columns does, as text."""
    high, low = _engine.fingerprint(list(columns), n_rows)
    return f"{high:016x}{low:016x}"


@dataclass(frozen=True)
class Origin:
    """What `committee.fit` was told of the table that a model was fitted on.

    Parameters
    ----------
    target : str
        The column that the model answers with.
    left_out : tuple of str
        Columns beside it that the model does not look at.
    decimal : {".", ",", None}
        The decimal sign of CSV that could be read with either.
    """

    target: str
    left_out: tuple[str, ...] = ()
    decimal: str | None = None


class Saveable:
    """An estimator with a file of its own: `save`, and what `committee.load` needs to bring it back."""

    _data: Data | None = None
    _origin: Origin | None = None

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write this estimator, fitted or not, to one file, which `committee.load` reads.

        The file holds numbers and text, no code. Callbacks and metadata requests are not kept.

        Parameters
        ----------
        path : str or path
            A file that is there is replaced at once; if anything goes wrong, it stays as it is.
        """
        from committee.saving.model_file import save

        save(self, path)

    def _check_parameters(self) -> None:
        """Raise ValueError for a parameter that is not what it may be."""
        raise NotImplementedError

    def _has_learnt(self) -> bool:
        """Whether it is fitted."""
        raise NotImplementedError

    def _learnt(self) -> dict[str, object]:
        """What it has learnt: values of the codec, by name."""
        raise NotImplementedError

    def _take_learnt(self, fields: Fields) -> None:
        """Become what `_learnt` returned, all of it checked; what is not sound is a `DamagedFile`."""
        raise NotImplementedError

    def _known_scores(self) -> dict[str, float]:
        """What it knows of how well it does."""
        return {}
