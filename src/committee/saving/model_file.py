"""Save, load and verify one safe file for a model.

The description of a file holds the versions of the libraries that wrote it, the training table, the scores
and the model: {"versions": {...}, "data": ..., "scores": {...}, "model": a value of the codec}. `Saveable` is
the base class of our own estimators, which describe their fitted state themselves.
"""

from __future__ import annotations

import json
import os
import platform
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from committee import _engine
from committee.saving.format.codec import Decoder, Encoder
from committee.saving.format.container import metadata_of, read_container, write_container
from committee.saving.format.fields import Fields
from committee.saving.format.file_errors import require
from committee.saving.format.plain_values import with_keys
from committee.saving.saved_estimators import Described, register
from committee.table.schema import Table

LIBRARIES = ("committee", "numpy", "scikit-learn")
PARTS = {"versions", "data", "scores", "model"}
# Only files of models that `committee.fit` has fitted have an origin.
ORIGIN = "origin"


@dataclass(frozen=True)
class Data:
    """The table that a model was fitted on.

    Parameters
    ----------
    n_rows, n_columns : int
    fingerprint : str
        A hash of 128 bits of the columns, y and the weights.
    """

    n_rows: int
    n_columns: int
    fingerprint: str

    @classmethod
    def of(cls, table: Table, y: np.ndarray, weights: np.ndarray | None) -> Data:
        """Describe a table with y and weights.

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
    """Return a hash of 128 bits of the values of columns, as text."""
    high, low = _engine.fingerprint(list(columns), n_rows)
    return f"{high:016x}{low:016x}"


@dataclass(frozen=True)
class Origin:
    """What the caller of `committee.fit` specified about the table.

    Parameters
    ----------
    target : str
        The column that the model predicts.
    left_out : tuple of str
        The other columns that the model does not use.
    decimal : {".", ",", None}
        The decimal separator, for a CSV file whose numbers can be read with either.
    formats : dict of str to str
        The formats of amounts and dates, by column.
    missing : tuple of str
        More words for missing values.
    coerced : tuple of str
        Columns of numbers and dates whose other values are missing values.
    ranges : dict of str to (float, float)
        The smallest and the largest number of each column; dates are seconds since 1970.
    groups, weights : str or None
        The columns of groups and of weights.
    """

    target: str
    left_out: tuple[str, ...] = ()
    decimal: str | None = None
    formats: Mapping[str, str] = field(default_factory=dict)
    missing: tuple[str, ...] = ()
    coerced: tuple[str, ...] = ()
    ranges: Mapping[str, tuple[float, float]] = field(default_factory=dict)
    groups: str | None = None
    weights: str | None = None


class Saveable:
    """An estimator that can be saved to a file, which `committee.load` reads."""

    _data: Data | None = None
    _origin: Origin | None = None

    def __init_subclass__(cls, **arguments: Any) -> None:
        """Register the class, so that a file can name it."""
        super().__init_subclass__(**arguments)
        register(cls)

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write this estimator, fitted or not, to one file, which `committee.load` reads.

        The file holds numbers and text, no code. Callbacks and metadata requests are not saved.

        Parameters
        ----------
        path : str or path
            An existing file is replaced atomically. After an error it is unchanged.
        """
        save(self, path)

    def _check_parameters(self) -> None:
        """Raise ValueError for an invalid parameter."""
        raise NotImplementedError

    def _has_learnt(self) -> bool:
        """Return whether the estimator is fitted."""
        raise NotImplementedError

    def _learnt(self) -> dict[str, object]:
        """Return the fitted state as values of the codec, by name."""
        raise NotImplementedError

    def _take_learnt(self, fields: Fields) -> None:
        """Restore the state that `_learnt` returned. Check all of it and raise `DamagedFile` for an error."""
        raise NotImplementedError

    def _known_scores(self) -> dict[str, float]:
        """Return the scores of the model that are known, such as the out-of-bag score."""
        return {}


def save(model: Any, path: str | os.PathLike[str]) -> None:
    """Write an estimator, fitted or not, to one file.

    Parameters
    ----------
    model : estimator
        One of committee's or scikit-learn's estimators. Some classes need skops to be installed.
    path : str or path
        An existing file is replaced atomically. After an error it is unchanged.

    Examples
    --------
    >>> import tempfile
    >>> from committee import DecisionTreeClassifier
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     save(DecisionTreeClassifier(max_depth=3), Path(folder, "tree.committee"))
    ...     load(Path(folder, "tree.committee"))
    DecisionTreeClassifier(max_depth=3)
    """
    if isinstance(model, type) or not hasattr(model, "get_params"):
        raise TypeError(f"Only estimators can be saved. Got {model!r}.")
    encoder = Encoder()
    described = encoder.value(model, "")
    is_ours = isinstance(model, Saveable) and model._has_learnt()
    scores = model._known_scores() if is_ours else {}
    description = {
        "versions": versions(),
        "data": asdict(model._data) if is_ours and model._data is not None else None,
        "scores": encoder.named(scores, "scores"),
        "model": described,
    }
    if is_ours and model._origin is not None:
        description[ORIGIN] = asdict(model._origin)
    write_container(Path(path), description, encoder.arrays)


def load(path: str | os.PathLike[str], trusted: Iterable[str] = ()) -> Any:
    """Read the estimator of a file. The file holds no code, so none of it is run.

    Parameters
    ----------
    path : str or path
    trusted : iterable of str, default=()
        Types that other libraries may create, for members of classes that committee does not check itself.
        The error for a file that needs trust lists all of them.

    Returns
    -------
    estimator

    Raises
    ------
    DamagedFile
        If committee did not write the file, its version is later, it was cut off or changed, or it does not
        describe a valid model.

    Examples
    --------
    >>> import tempfile
    >>> from committee import DecisionTreeClassifier
    >>> tree = DecisionTreeClassifier().fit([[1], [2], [8], [9]], [0, 0, 1, 1])
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     tree.save(Path(folder, "tree.committee"))
    ...     load(Path(folder, "tree.committee")).predict([[1], [9]])
    array([0, 1])
    """
    if isinstance(trusted, str):
        raise TypeError(f"trusted must be a list of types. Got a string. Use trusted=[{trusted!r}].")
    content = read_content(path, tuple(trusted))
    model = content.model
    require(hasattr(model, "get_params"), f"{path} holds no estimator")
    if isinstance(model, Saveable) and model._has_learnt():
        model._data = content.data
        if content.origin is not None:
            model._origin = content.origin
    return model


@dataclass(frozen=True)
class Summary:
    """A summary of a file.

    Parameters
    ----------
    estimator : str
        The name of the class, with its library.
    is_fitted : bool
    format_version : int
    versions : dict of str to str
        The versions of the libraries that wrote the file.
    data : Data or None
        The table that the model was fitted on: `n_rows`, `n_columns` and a `fingerprint` of its content.
    scores : dict of str to float
        The scores of the model that were known when it was saved.
    origin : Origin or None
        The `target` of `committee.fit`, and the columns that were `left_out`.
    n_arrays : int
    n_bytes : int
        The size of the file.
    """

    estimator: str
    is_fitted: bool
    format_version: int
    versions: dict[str, str]
    data: Data | None
    scores: dict[str, float]
    origin: Origin | None
    n_arrays: int
    n_bytes: int


def verify(path: str | os.PathLike[str]) -> Summary:
    """Check a file without making an estimator.

    Check the container, the checksum, the version, every value of the description, and the trees of
    committee's models. Only `load` checks that the values fit each other.

    Parameters
    ----------
    path : str or path

    Returns
    -------
    Summary

    Raises
    ------
    DamagedFile
        For the same errors as `load`.

    Examples
    --------
    >>> import tempfile
    >>> from committee import DecisionTreeClassifier
    >>> tree = DecisionTreeClassifier().fit([[1], [2], [8], [9]], [0, 0, 1, 1])
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     tree.save(Path(folder, "tree.committee"))
    ...     verify(Path(folder, "tree.committee")).estimator
    'committee.DecisionTreeClassifier'
    """
    content = read_content(path, builds=False)
    model = content.model
    require(isinstance(model, Described), f"{path} holds no estimator")
    return Summary(
        model.name,
        model.fitted is not None,
        int(metadata_of(Path(path))["format_version"]),
        content.versions,
        content.data,
        content.scores,
        content.origin,
        content.n_arrays,
        Path(path).stat().st_size,
    )


@dataclass(frozen=True)
class Content:
    """The checked content of a file. The model is an estimator, or a `Described` if none is built."""

    model: Any
    versions: dict[str, str]
    data: Data | None
    scores: dict[str, float]
    origin: Origin | None
    n_arrays: int


def read_content(
    path: str | os.PathLike[str], trusted: tuple[str, ...] = (), *, builds: bool = True
) -> Content:
    """Read a file. Check every part, and that all arrays are used."""
    description, arrays = read_container(Path(path))
    n_arrays = len(arrays)
    description = with_keys({ORIGIN: None} | description, PARTS | {ORIGIN}, "description")
    written_by = description["versions"]
    is_sound = isinstance(written_by, dict) and all(isinstance(each, str) for each in written_by.values())
    require(is_sound, "versions are not text")
    parts = Fields(description)
    data, origin = read_data(parts.optional_fields("data")), read_origin(parts.optional_fields(ORIGIN))
    decoder = Decoder(arrays, trusted, builds, described=description["model"])
    model = decoder.value(description["model"], "")
    scores: dict[str, Any] = decoder.named(description["scores"], "scores")
    for name, score in scores.items():
        is_number = isinstance(score, int | float) and not isinstance(score, bool)
        require(is_number, f"scores__{name} is not a number")
    decoder.finish()
    return Content(model, written_by, data, scores, origin, n_arrays)


def origin_of(path: str | os.PathLike[str]) -> Origin | None:
    """Return the origin of a file that was checked before, for example by `predictor`."""
    origin = json.loads(metadata_of(Path(path))["description"]).get(ORIGIN)
    return None if origin is None else read_origin(Fields(origin, ORIGIN))


def read_data(fields: Fields | None) -> Data | None:
    """Read the description of the table that a model was fitted on."""
    if fields is None:
        return None
    data = Data(fields.take("n_rows", int), fields.take("n_columns", int), fields.take("fingerprint", str))
    fields.finish()
    return data


def read_origin(fields: Fields | None) -> Origin | None:
    """Read what the caller of `committee.fit` specified."""
    if fields is None:
        return None
    new: dict[str, object] = {"decimal": None, "formats": {}, "missing": [], "coerced": [], "ranges": {}}
    new |= {"decimals": {}, "groups": None, "weights": None}
    fields = Fields(new | fields.values, fields.path)
    target = fields.take("target", str)
    left_out, missing, coerced = (fields.take(name, list) for name in ("left_out", "missing", "coerced"))
    formats, ranges = fields.take("formats", dict), fields.take("ranges", dict)
    # Older files have a separator for each column. If these differ, that of a new table is inferred again.
    separators = [fields.optional("decimal", str), *fields.take("decimals", dict).values()]
    groups, weights = (fields.optional(name, str) for name in ("groups", "weights"))
    fields.finish()
    for what, names in (("left_out", left_out), ("missing", missing), ("coerced", coerced)):
        fields.require(all(isinstance(name, str) for name in names), f"{what} has names that are not text")
    fields.require(all(isinstance(form, str) for form in formats.values()), "a format is not text")
    fields.require(all(map(is_range, ranges.values())), "a range is not two numbers")
    fields.require(
        all(separator in (".", ",", None) for separator in separators),
        "the decimal separator is neither . nor ,",
    )
    known = set(separators) - {None}
    return Origin(
        target,
        tuple(left_out),
        known.pop() if len(known) == 1 else None,
        formats,
        tuple(missing),
        tuple(coerced),
        {name: (float(pair[0]), float(pair[1])) for name, pair in ranges.items()},
        groups,
        weights,
    )


def is_range(value: object) -> bool:
    """Return whether a value of a file is a list of two numbers."""
    if not isinstance(value, list) or len(value) != 2:
        return False
    return all(isinstance(each, int | float) and not isinstance(each, bool) for each in value)


def versions() -> dict[str, str]:
    """Return the versions of Python and of the libraries that a model depends on."""
    import importlib.metadata

    found = {"python": platform.python_version()}
    for library in LIBRARIES:
        found[library] = np.__version__ if library == "numpy" else importlib.metadata.version(library)
    return found
