"""Values that all tasks of a runner see: given once, not copied for each task.

`Runner.put` gives a handle, and a task that gets the handle as an argument sees the value. In one process
that is the value itself, its arrays made read-only. For other processes the value lies in one file: the
pickle, then the memory of its arrays (protocol 5, out of band). A worker maps the file, so that all of them
read the same memory, and keeps the value for its next task.

The file lies in shared memory if there is room, else in the folder for temporary files. On Linux it has no
name from the beginning (workers open it through /proc), so that nothing is left behind whatever happens to
the process.
"""

from __future__ import annotations

import importlib.util
import itertools
import mmap
import os
import shutil
import sys
import tempfile
import threading
import weakref
from collections.abc import Callable, Collection
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any

import numpy as np

from committee.running.messages import Frame, Reducers, dumps, loads

if TYPE_CHECKING:
    import polars
    import pyarrow as pa

SHARED_MEMORY = Path("/dev/shm")
OPEN_FILES = Path("/proc/self/fd")
# Arrays begin where vector instructions like them to.
ALIGNMENT = 64

_keys = itertools.count()
_live: dict[tuple[int, int], None] = {}
_opened: dict[tuple[int, int], Any] = {}
_opening = threading.Lock()


class Handle:
    """Stands for a value that a runner shares with its tasks; `value` is what they see.

    Made by `Runner.put`. As an argument of a task, at any depth of tuples, lists and dicts, it becomes the
    value.

    Examples
    --------
    >>> from committee.running import runner
    >>> with runner("serial") as run:
    ...     numbers = run.put([3, 5])
    ...     run.submit(max, numbers).result(), numbers.value
    (5, [3, 5])
    """

    value: Any


class Held(Handle):
    """A handle of a value in this process.

    Parameters
    ----------
    value : object
    """

    def __init__(self, value: object) -> None:
        self.value = _transformed(with_values(value), np.ndarray, _read_only)

    def __reduce__(self) -> tuple[object, ...]:
        return _itself, (self.value,)


class NotShared(ValueError):  # noqa: N818 - it says what the value is
    """A value that was put into a runner which is closed."""


class Mapped(Handle):
    """A handle of a value in a file. It is pickled as what gives the value to whoever unpickles it.

    The file lasts as long as the handle.

    Parameters
    ----------
    value : object
    """

    def __init__(self, value: object) -> None:
        frames = dumps(with_values(value), _reducers())
        file, self.spans = _write(frames)
        # Files of Linux are reached through /proc, so that a later file may have the same address.
        self.key = (os.getpid(), next(_keys))
        self.address = f"/proc/{os.getpid()}/fd/{file.fileno()}" if OPEN_FILES.exists() else str(file.name)
        _live[self.key] = None
        self.close = weakref.finalize(self, _forget, self.key, file)

    @property
    def value(self) -> Any:
        """What tasks see."""
        return opened(*self._place())

    def __reduce__(self) -> tuple[object, ...]:
        return opened, self._place()

    def _place(self) -> tuple[tuple[int, int], str, list[tuple[int, int]]]:
        if not self.close.alive:
            raise NotShared(
                "A value is shared until its runner is closed. Put it into a runner that is open."
            )
        return self.key, self.address, self.spans


def opened(key: tuple[int, int], address: str, spans: list[tuple[int, int]]) -> Any:
    """The value in a file, which is mapped the first time."""
    with _opening:
        if key not in _opened:
            with open(address, "rb") as file:
                memory = memoryview(mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ))
            _opened[key] = loads([memory[begin:end] for begin, end in spans])
        return _opened[key]


def live_keys() -> tuple[tuple[int, int], ...]:
    """The keys of all values of this process that still have a handle."""
    return tuple(_live)


def keep_only(keys: Collection[tuple[int, int]]) -> None:
    """Forget all values whose handles are gone."""
    for key in _opened.keys() - keys:
        del _opened[key]


def with_values(argument: object) -> Any:
    """An argument of a task with the values in place of their handles."""
    return _transformed(argument, Handle, lambda handle: handle.value)


def _transformed(value: Any, kind: type, change: Callable[[Any], object]) -> Any:
    """A value with all of a kind changed, at any depth of tuples, lists and dicts; itself if none is."""
    if isinstance(value, kind):
        return change(value)
    if type(value) in (tuple, list):
        parts = [_transformed(part, kind, change) for part in value]
        is_same = all(new is old for new, old in zip(parts, value, strict=True))
        return value if is_same else type(value)(parts)
    if type(value) is dict:
        items = {key: _transformed(part, kind, change) for key, part in value.items()}
        return value if all(items[key] is value[key] for key in value) else items
    return value


def _read_only(array: np.ndarray) -> np.ndarray:
    if not array.flags.writeable:
        return array
    view = array.view()
    view.flags.writeable = False
    return view


def _itself(value: object) -> object:
    return value


def _write(frames: list[Frame]) -> tuple[IO[bytes], list[tuple[int, int]]]:
    spans, end = [], 0
    for frame in frames:
        begin = -(-end // ALIGNMENT) * ALIGNMENT
        end = begin + memoryview(frame).nbytes
        spans.append((begin, end))
    folders = [Path(tempfile.gettempdir())]
    # Whoever else needs shared memory gets the other half.
    if SHARED_MEMORY.is_dir() and 2 * end < shutil.disk_usage(SHARED_MEMORY).free:
        folders.insert(0, SHARED_MEMORY)
    for folder in folders:
        try:
            return _write_into(folder, frames, spans), spans
        except OSError as error:
            fault = error
    raise OSError(
        f"{end / 1e6:,.0f} MB to share with the workers found no place in "
        f"{' nor in '.join(map(str, folders))}: {fault.strerror}. "
        "Make room, or set TMPDIR to a folder that has it."
    ) from fault


def _write_into(folder: Path, frames: list[Frame], spans: list[tuple[int, int]]) -> IO[bytes]:
    make = tempfile.TemporaryFile if OPEN_FILES.exists() else tempfile.NamedTemporaryFile
    file = make(dir=folder, prefix="committee-", buffering=0)
    try:
        for frame, (begin, _) in zip(frames, spans, strict=True):
            file.seek(begin)
            view = memoryview(frame).cast("B") if memoryview(frame).nbytes else memoryview(b"")
            while view:
                view = view[file.write(view) :]
    except BaseException:
        file.close()
        raise
    return file


def _forget(key: tuple[int, int], file: IO[bytes]) -> None:
    # A forked process has the file open too, and must not remove it.
    if os.getpid() == key[0]:
        file.close()
        _live.pop(key, None)
        _opened.pop(key, None)


def _reducers() -> Reducers:
    """Polars pickles into bytes of its own, Arrow into buffers that can be mapped."""
    polars = sys.modules.get("polars")
    if polars is None or importlib.util.find_spec("pyarrow") is None:
        return {}
    return {polars.DataFrame: _reduce_polars}


def _reduce_polars(frame: polars.DataFrame) -> tuple[object, ...]:
    return _to_polars, (frame.to_arrow(),)


def _to_polars(table: pa.Table) -> polars.DataFrame | polars.Series:
    import polars

    return polars.from_arrow(table)
