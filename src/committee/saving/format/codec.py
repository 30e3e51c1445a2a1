"""Encode values as JSON and arrays, and decode them.

JSON values (null, true, numbers, text, lists) stand for themselves. Every other value is an object with
exactly one tag: {"tuple": [...]}, {"array": "the name of an array"}, {"estimator": ...}. `plain_values` has
the tags of plain values, `model_parts` those of tables, tasks and trees, and `saved_estimators` those of
estimators. `foreign_members` is imported when a file or a model has a member of another library.
"""

from __future__ import annotations

import importlib
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from committee.saving.format.file_errors import DamagedFile, require

MAX_DEPTH = 64
LONGEST_PART = 64
# Text of a fixed width is as wide as its longest value. A file may have this many characters of padding.
MOST_PADDING = 2**24
Json = Any
Write = Callable[[Any, "Encoder", str], Json]
Read = Callable[[Json, "Decoder", str], object]

# The writers of values by their exact type or by the library of the type, and the readers of values by tag.
# A writer returns the whole tagged object, and a reader receives it.
WRITERS: dict[type, Write] = {}
WRITERS_BY_LIBRARY: dict[str, Write] = {}
READERS: dict[str, Read] = {}
# The module that writes and reads members of other libraries, and their tags.
FOREIGN = "committee.saving.foreign_members"
BOOSTER_LIBRARIES = ("lightgbm", "xgboost", "catboost")
FOREIGN_TAGS = ("skops", *BOOSTER_LIBRARIES)


@dataclass
class Encoder:
    """Write values as JSON, and collect their arrays.

    Parameters
    ----------
    arrays : dict of str to ndarray
        The arrays of the file.
    holder : str, default=""
        The attribute of the model whose parameters are being written, with a dot after it: "rule_.". Empty
        for the parameters of the model itself. Errors name it.
    holder_path : str, default=""
        The path of that attribute.

    Examples
    --------
    >>> encoder = Encoder()
    >>> encoder.value((1, float("nan"), np.array([2.5])), "start")
    {'tuple': [1, {'float': 'nan'}, {'array': 'start__2'}]}
    >>> encoder.arrays
    {'start__2': array([2.5])}
    """

    arrays: dict[str, np.ndarray] = field(default_factory=dict)
    holder: str = ""
    holder_path: str = ""
    depth: int = 0
    padding: int = 0

    def value(self, value: object, path: str) -> Json:
        """Write one value. Error messages and the names of arrays contain the path."""
        self.depth += 1
        if self.depth > MAX_DEPTH:
            raise TypeError(f"{path} is more than {MAX_DEPTH} levels deep, so it cannot be saved.")
        try:
            return writer_of(value)(value, self, path)
        finally:
            self.depth -= 1

    def named(self, values: Mapping[str, object], path: str) -> dict[str, Json]:
        """Write named values, each at its own path."""
        return {name: self.value(value, join(path, name)) for name, value in values.items()}

    def learnt(self, estimator: object, values: Mapping[str, object], path: str) -> dict[str, Json]:
        """Write the named values that an estimator learnt. Errors name the attributes of the estimator."""
        before, written = (self.holder, self.holder_path), {}
        for name, value in values.items():
            attribute = attribute_of(estimator, value)
            if attribute is not None:
                self.holder, self.holder_path = f"{before[0]}{attribute}.", join(path, name)
            written[name] = self.value(value, join(path, name))
            self.holder, self.holder_path = before
        return written

    def put(self, array: np.ndarray, path: str) -> str:
        """Add a contiguous array whose dtype the container supports, and return its name."""
        name, n_before = path, 1
        while name in self.arrays:
            n_before += 1
            name = f"{path}#{n_before}"
        self.arrays[name] = array
        return name


@dataclass
class Decoder:
    """Make values from JSON and arrays. Every value is checked, because files may be hostile.

    Parameters
    ----------
    arrays : dict of str to ndarray
        The arrays of the file. Each is taken once.
    trusted : tuple of str, default=()
        Types that other libraries may make.
    builds : bool, default=True
        Whether to make estimators. If not, each becomes a `Described`, and other libraries open nothing.
    described : JSON, default=None
        The whole model, so that an error can list all types that need trust.

    Examples
    --------
    >>> Decoder({"start__1": np.array([2.5])}).value({"tuple": [1, {"array": "start__1"}]}, "start")
    (1, array([2.5]))
    """

    arrays: dict[str, np.ndarray]
    trusted: tuple[str, ...] = ()
    builds: bool = True
    described: Json = None
    depth: int = 0
    padding: int = 0

    def value(self, written: Json, path: str) -> Any:
        """Make one value."""
        self.depth += 1
        require(self.depth <= MAX_DEPTH, f"{path} is more than {MAX_DEPTH} levels deep")
        try:
            if written is None or isinstance(written, bool | int | float | str):
                return written
            if isinstance(written, list):
                return [self.value(each, join(path, i)) for i, each in enumerate(written)]
            is_tagged = isinstance(written, dict) and (len(written) == 1 or is_estimator(written))
            require(is_tagged, f"{path} does not have exactly one tag")
            return reader_of(written, path)(written, self, path)
        finally:
            self.depth -= 1

    def named(self, written: Json, path: str) -> dict[str, object]:
        """Make named values."""
        require(isinstance(written, dict), f"{path} is not an object")
        return {name: self.value(each, join(path, name)) for name, each in written.items()}

    def take(self, name: Json, path: str) -> np.ndarray:
        """Take an array of the file."""
        require(isinstance(name, str) and name in self.arrays, f"{path}: there is no array {name!r}")
        return self.arrays.pop(name)

    def finish(self) -> None:
        """Raise if no value uses some of the arrays."""
        require(not self.arrays, f"No value uses the arrays {sorted(self.arrays)[:5]}")


def join(path: str, name: object) -> str:
    """Return the path of a part, as scikit-learn names nested parameters. Cut a long name of a file."""
    part = str(name)[:LONGEST_PART]
    return f"{path}__{part}" if path else part


def writer_of(value: object) -> Write:
    """Return the writer of a value, by its type."""
    found = WRITERS.get(type(value))
    if found is not None:
        return found
    for general in (np.ndarray, np.generic, np.dtype):
        if isinstance(value, general):
            return WRITERS[general]
    library = type(value).__module__.partition(".")[0]
    if library in WRITERS_BY_LIBRARY:
        return WRITERS_BY_LIBRARY[library]
    if library not in BOOSTER_LIBRARIES and not hasattr(value, "get_params"):
        return refuse
    write: Write = importlib.import_module(FOREIGN).write
    return write


def reader_of(written: dict[str, Json], path: str) -> Read:
    """Return the reader of a tagged object, by its tag."""
    tag = "estimator" if is_estimator(written) else next(iter(written))
    if tag in FOREIGN_TAGS:
        importlib.import_module(FOREIGN)
    if tag not in READERS:
        raise DamagedFile(f"{path}: there is no tag {tag!r}.")
    return READERS[tag]


def is_estimator(written: Json) -> bool:
    """Return whether an object describes an estimator. It has three keys instead of one tag."""
    return isinstance(written, dict) and written.keys() == {"estimator", "parameters", "fitted"}


def attribute_of(estimator: object, value: object) -> str | None:
    """Return the public attribute of an estimator that holds a fitted estimator, None for other values."""
    if not hasattr(value, "get_params"):
        return None
    return next((name for name, each in vars(estimator).items() if each is value and name[0] != "_"), None)


def refuse(value: object, encoder: Encoder, path: str) -> Json:
    """Raise TypeError for a value that cannot be saved, and name the parameter to set."""
    name = path.removeprefix(f"{encoder.holder_path}__")
    what = getattr(value, "__name__", type(value).__name__)
    kind = "a function" if callable(value) and hasattr(value, "__name__") else f"a {type(value).__name__}"
    raise TypeError(
        f"{encoder.holder}{name} is {kind} ({what}), and a saved file holds no code. Set {name} to something "
        f"else with {encoder.holder}set_params before saving."
    )
