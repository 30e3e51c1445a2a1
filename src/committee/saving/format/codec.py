"""Values as JSON and arrays, and back: the codec.

A value of JSON (null, true, numbers, text, lists) stands for itself. All else is an object with exactly one
tag, which says what is in it: {"tuple": [...]}, {"array": "the name of an array"}, {"estimator": ...}. The
tags of plain values are in `plain_values`, those of tables, tasks and trees in `model_parts`, estimators in
`saved_estimators`. What belongs to another library has a module of its own, which is imported when such a
value is met.
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
# Text of a fixed width takes that of the longest for each: so many characters of padding a file may ask for.
MOST_PADDING = 2**24
Json = Any
Write = Callable[[Any, "Encoder", str], Json]
Read = Callable[[Json, "Decoder", str], object]

# How values of a type are written, by the type itself and not by its ancestors; and how a tag is read.
WRITERS: dict[type, Write] = {}
READERS: dict[str, Read] = {}
WRITERS_BY_LIBRARY: dict[str, Write] = {}
# Modules for values of other libraries, by the library of a type and by the tag. Each is imported when such a
# value is met. Its `write` returns the whole tagged object, and its `read` gets it.
BOOSTERS = dict.fromkeys(
    ("lightgbm", "xgboost", "catboost"), "committee.saving.other_libraries.library_boosters"
)
SPARSE, SKOPS = (
    "committee.saving.scikit_learn.sparse_matrices",
    "committee.saving.other_libraries.skops_members",
)
WRITER_MODULES = {"scipy": SPARSE, **BOOSTERS}
READER_MODULES = {"sparse": SPARSE, "skops": SKOPS, **BOOSTERS}


@dataclass(frozen=True)
class Holder:
    """Whose parameters are written: the model, or what it has learnt, as a rule that it has fitted.

    Parameters
    ----------
    attributes : str, default=""
        By which one comes to it from the model, each with a dot after it.
    path : str, default=""
        Its own.
    """

    attributes: str = ""
    path: str = ""

    def holding(self, attribute: str | None, path: str) -> Holder:
        """What stands in an attribute; itself, if it is in none."""
        return self if attribute is None else Holder(f"{self.attributes}{attribute}.", path)

    def named(self, path: str) -> str:
        """The name of a parameter, as `set_params` takes it.

        Examples
        --------
        >>> Holder("rule_.", "rule").named("rule__metric")
        'metric'
        """
        return path.removeprefix(f"{self.path}__")


@dataclass
class Encoder:
    """Writes values as JSON, and puts their arrays aside.

    Parameters
    ----------
    arrays : dict of str to ndarray
        What the file will hold beside the JSON.

    Examples
    --------
    >>> encoder = Encoder()
    >>> encoder.value((1, float("nan"), np.array([2.5])), "start")
    {'tuple': [1, {'float': 'nan'}, {'array': 'start__2'}]}
    >>> encoder.arrays
    {'start__2': array([2.5])}
    """

    arrays: dict[str, np.ndarray] = field(default_factory=dict)
    depth: int = 0
    padding: int = 0
    holder: Holder = field(default_factory=lambda: Holder())

    def value(self, value: object, path: str) -> Json:
        """Write one value. The path says where it stands, in messages and in the names of arrays."""
        self.depth += 1
        if self.depth > MAX_DEPTH:
            raise TypeError(f"{path} is more than {MAX_DEPTH} levels deep, so it cannot be saved.")
        try:
            return writer_of(value)(value, self, path)
        finally:
            self.depth -= 1

    def named(self, values: Mapping[str, object], path: str) -> dict[str, Json]:
        """Write some named values, each at its own path."""
        return {name: self.value(value, join(path, name)) for name, value in values.items()}

    def learnt(self, estimator: object, values: Mapping[str, object], path: str) -> dict[str, Json]:
        """Write what an estimator has learnt, by name. What cannot be saved is told by its attribute."""
        holder, written = self.holder, {}
        for name, value in values.items():
            self.holder = holder.holding(attribute_of(estimator, value), join(path, name))
            written[name] = self.value(value, join(path, name))
        self.holder = holder
        return written

    def put(self, array: np.ndarray, path: str) -> str:
        """Put an array aside, and return its name. It is a contiguous one of the dtypes of a container."""
        name, n_before = path, 1
        while name in self.arrays:
            n_before += 1
            name = f"{path}#{n_before}"
        self.arrays[name] = array
        return name


@dataclass
class Decoder:
    """Makes values of JSON and arrays. What it reads is hostile until proven otherwise.

    Parameters
    ----------
    arrays : dict of str to ndarray
        Those of the file. Each is taken once.
    trusted : tuple of str, default=()
        Types that the caller lets other libraries make.
    builds : bool, default=True
        Whether estimators are made. If not, each becomes an `estimators.Described`, and nothing of another
        library is opened.
    described : JSON, default=None
        The whole of what is read, so that an error can tell all the types that it needs.

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
            require(is_tagged, f"{path} has not exactly one tag")
            return reader_of(written, path)(written, self, path)
        finally:
            self.depth -= 1

    def named(self, written: Json, path: str) -> dict[str, object]:
        """Make some named values."""
        require(isinstance(written, dict), f"{path} is not an object")
        return {name: self.value(each, join(path, name)) for name, each in written.items()}

    def take(self, name: Json, path: str) -> np.ndarray:
        """Take an array of the file."""
        require(isinstance(name, str) and name in self.arrays, f"{path}: there is no array {name!r}")
        return self.arrays.pop(name)

    def finish(self) -> None:
        """Raise if there are arrays that nothing has asked for."""
        require(not self.arrays, f"Nothing asks for the arrays {sorted(self.arrays)[:5]}")


def join(path: str, name: object) -> str:
    """Return the path of a part, as scikit-learn names nested parameters. A long name of a file is cut."""
    part = str(name)[:LONGEST_PART]
    return f"{path}__{part}" if path else part


def writer_of(value: object) -> Write:
    """How a value is written, by its type."""
    found = WRITERS.get(type(value))
    if found is not None:
        return found
    for general in (np.ndarray, np.generic, np.dtype):
        if isinstance(value, general):
            return WRITERS[general]
    library = type(value).__module__.partition(".")[0]
    if library in WRITERS_BY_LIBRARY:
        return WRITERS_BY_LIBRARY[library]
    if library not in WRITER_MODULES and not hasattr(value, "get_params"):
        return refuse
    write: Write = importlib.import_module(WRITER_MODULES.get(library, SKOPS)).write
    return write


def reader_of(written: dict[str, Json], path: str) -> Read:
    """How a tagged object is read, by its tag."""
    tag = "estimator" if is_estimator(written) else next(iter(written))
    if tag in READERS:
        return READERS[tag]
    if tag not in READER_MODULES:
        raise DamagedFile(f"{path}: there is no tag {tag!r}.")
    read: Read = importlib.import_module(READER_MODULES[tag]).read
    return read


def is_estimator(written: Json) -> bool:
    """Whether an object describes an estimator, which has its parameters and what it has learnt beside."""
    return isinstance(written, dict) and written.keys() == {"estimator", "parameters", "fitted"}


def attribute_of(estimator: object, value: object) -> str | None:
    """The public attribute in which an estimator has another that it has fitted; None for all else."""
    if not hasattr(value, "get_params"):
        return None
    return next((name for name, each in vars(estimator).items() if each is value and name[0] != "_"), None)


def refuse(value: object, encoder: Encoder, path: str) -> Json:
    """Say that something cannot be saved."""
    holder, name = encoder.holder.attributes, encoder.holder.named(path)
    what = getattr(value, "__name__", type(value).__name__)
    kind = "a function" if callable(value) and hasattr(value, "__name__") else f"a {type(value).__name__}"
    raise TypeError(
        f"{holder}{name} is {kind} ({what}), and a saved file holds no code. Set {name} to something else "
        f"with {holder}set_params before saving."
    )
