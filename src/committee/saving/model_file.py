"""One safe file for a model: save, load, verify.

The description of a file says which versions wrote it, on what data the model was fitted, how well it did,
and what it is: {"versions": {...}, "data": ..., "scores": {...}, "model": a value of the codec}.
"""

from __future__ import annotations

import os
import platform
from collections.abc import Iterable
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np

from committee.saving.format.codec import Decoder, Encoder, Json
from committee.saving.format.container import VERSION, Arrays, read_container, write_container
from committee.saving.format.file_errors import DamagedFile, require
from committee.saving.format.plain_values import with_keys
from committee.saving.saveable import Data, Origin, Saveable
from committee.saving.saved_estimators import Described

LIBRARIES = ("committee", "numpy", "scikit-learn")
PARTS = {"versions", "data", "scores", "model"}
# Only in the files of models that `committee.fit` has made.
ORIGIN = "origin"


def save(model: Any, path: str | os.PathLike[str]) -> None:
    """Write an estimator, fitted or not, to one file.

    Parameters
    ----------
    model : estimator
        One of committee's own or of scikit-learn. Some classes need skops to be installed.
    path : str or path
        A file that is there is replaced at once; if anything goes wrong, it stays as it is.

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
    """Read the estimator of a file. Nothing of the file is run: there is no code in it.

    Parameters
    ----------
    path : str or path
    trusted : iterable of str, default=()
        Types of other libraries that may be made of the file, for members of classes that committee does not
        check itself. The error for a file that needs them gives the whole list.

    Returns
    -------
    estimator

    Raises
    ------
    DamagedFile
        If the file is not ours, of a later version, cut off, changed, or does not describe a sound model.

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
        raise TypeError(f"trusted must be a list of types. Got a text: use trusted=[{trusted!r}].")
    description, arrays = read_description(path)
    decoder = Decoder(arrays, tuple(trusted), described=description["model"])
    model = decoder.value(description["model"], "")
    read_scores(description["scores"], decoder)
    decoder.finish()
    require(hasattr(model, "get_params"), f"{path} holds no estimator")
    if isinstance(model, Saveable) and model._has_learnt():
        model._data = read_data(description["data"])
        if description[ORIGIN] is not None:
            model._origin = read_origin(description[ORIGIN])
    return model


@dataclass(frozen=True)
class Summary:
    """What a file says of itself.

    Parameters
    ----------
    estimator : str
        The name of the class, with its library.
    is_fitted : bool
    format_version : int
    versions : dict of str to str
        Of the libraries that wrote it.
    data : Data or None
        The table that the model was fitted on: `n_rows`, `n_columns` and a `fingerprint` of its content.
    scores : dict of str to float
        What the model knows of how well it does.
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
    """Check a file without making an estimator of it.

    The container, the checksum, the version and every value of the description are checked, and the trees of
    our own models are proven to be sound. That the values fit each other is known only when it is loaded.

    Parameters
    ----------
    path : str or path

    Returns
    -------
    Summary

    Raises
    ------
    DamagedFile
        As `load` does.

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
    description, arrays = read_description(path)
    n_arrays = len(arrays)
    decoder = Decoder(arrays, builds=False)
    model = decoder.value(description["model"], "")
    scores = read_scores(description["scores"], decoder)
    decoder.finish()
    require(isinstance(model, Described), f"{path} holds no estimator")
    return Summary(
        model.name,
        model.fitted is not None,
        VERSION,
        description["versions"],
        read_data(description["data"]),
        scores,
        read_origin(description[ORIGIN]),
        n_arrays,
        Path(path).stat().st_size,
    )


def read_description(path: str | os.PathLike[str]) -> tuple[dict[str, Json], Arrays]:
    """The parts of a file's description, and its arrays."""
    description, arrays = read_container(Path(path))
    require(isinstance(description, dict), "description is not told")
    description.setdefault(ORIGIN, None)
    with_keys(description, PARTS | {ORIGIN}, "description")
    written_by = description["versions"]
    is_sound = isinstance(written_by, dict) and all(isinstance(each, str) for each in written_by.values())
    require(is_sound, "versions are not text")
    read_data(description["data"])
    read_origin(description[ORIGIN])
    return description, arrays


def read_scores(written: Json, decoder: Decoder) -> dict[str, float]:
    """What a file says of how well its model does: numbers by name, NaN and infinity among them."""
    scores = {}
    for name, score in decoder.named(written, "scores").items():
        if not isinstance(score, int | float) or isinstance(score, bool):
            raise DamagedFile(f"scores__{name} is not a number.")
        scores[name] = score
    return scores


def read_data(written: Json) -> Data | None:
    """What a file says of the table that its model was fitted on."""
    if written is None:
        return None
    body = with_keys(written, {"n_rows", "n_columns", "fingerprint"}, "data")
    n_rows, n_columns, fingerprint = body["n_rows"], body["n_columns"], body["fingerprint"]
    require(
        type(n_rows) is int and type(n_columns) is int and isinstance(fingerprint, str), "data is not told"
    )
    return Data(n_rows, n_columns, fingerprint)


def read_origin(written: Json) -> Origin | None:
    """What a file says of the table that `committee.fit` was given."""
    if written is None:
        return None
    require(isinstance(written, dict), "origin is not told")
    names = {"target", "left_out", "decimal", "decimals"}
    body = with_keys({"decimal": None, "decimals": {}} | written, names, "origin")
    target, left_out, decimals = body["target"], body["left_out"], body["decimals"]
    are_names = isinstance(left_out, list) and all(isinstance(name, str) for name in left_out)
    require(isinstance(target, str) and are_names and isinstance(decimals, dict), "origin is not told")
    # Older files have a sign for each column. Where those differ, the sign of a table is found anew.
    signs = [body["decimal"], *decimals.values()]
    require(all(sign in (".", ",", None) for sign in signs), "origin is not told")
    known = set(signs) - {None}
    return Origin(target, tuple(left_out), known.pop() if len(known) == 1 else None)


def versions() -> dict[str, str]:
    """The versions of Python and of the libraries that a model depends on."""
    import importlib.metadata

    found = {"python": platform.python_version()}
    for library in LIBRARIES:
        found[library] = np.__version__ if library == "numpy" else importlib.metadata.version(library)
    return found
