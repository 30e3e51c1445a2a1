"""Values that a runner shares with all its tasks, without a copy for each task.

`Runner.put` returns a handle, and a task that receives the handle as an argument gets the value. In one
process this is the value itself, with read-only arrays. For other processes, one file contains the value: the
pickle, then the memory of its arrays (protocol 5, out of band). Workers map the file, so all of them read the
same memory, and they keep the value for later tasks.

The file is in shared memory if there is space, else in the folder for temporary files. On Linux the file
never has a name (workers open it through /proc), so no file remains, even if the process is killed.
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
from contextlib import suppress
from pathlib import Path
from queue import Empty, SimpleQueue
from typing import IO, TYPE_CHECKING, Any

import numpy as np

from committee.running.messages import Frame, Reducers, dumps, loads

if TYPE_CHECKING:
    import polars
    import pyarrow as pa

SHARED_MEMORY = Path("/dev/shm")
OPEN_FILES = Path("/proc/self/fd")
# Arrays begin at multiples of this number of bytes, as vector instructions need it.
ALIGNMENT = 64

Key = tuple[int, int]

_keys = itertools.count()
_files: dict[Key, tuple[weakref.ref[MemoryMap], IO[bytes]]] = {}
# Python ignores a KeyboardInterrupt in a finalizer, so deleted handles are only queued here, by a C function.
_deleted: SimpleQueue[weakref.KeyedRef[Key, MemoryMap]] = SimpleQueue()
_opened: dict[Key, Any] = {}
_opening = threading.Lock()


class Handle:
    """The handle of a value that a runner shares with its tasks.

    `Runner.put` makes handles. In the arguments of a task, at any depth of tuples, lists and dicts, the value
    replaces the handle. `value` is the value as tasks get it.

    Examples
    --------
    >>> from committee.running import runner
    >>> with runner("serial") as run:
    ...     numbers = run.put([3, 5])
    ...     run.submit(max, numbers).result(), numbers.value
    (5, [3, 5])
    """

    value: Any


class Reference(Handle):
    """A handle of a value in this process.

    Parameters
    ----------
    value : object
    """

    def __init__(self, value: object) -> None:
        self.value = _transformed(with_values(value), np.ndarray, _read_only)

    def __reduce__(self) -> tuple[object, ...]:
        return _identity, (self.value,)


class NotShared(ValueError):  # noqa: N818 - the name describes the value
    """The error for a value whose runner is closed."""


class MemoryMap(Handle):
    """A handle of a value in a file. Unpickling it returns the value.

    The file is closed at the next use of any runner of processes after the handle is deleted.

    Parameters
    ----------
    value : object
    """

    def __init__(self, value: object) -> None:
        frames = dumps(with_values(value), _reducers())
        file, self.spans = _write(frames)
        # On Linux, files are opened through /proc, so a later file may have the same address.
        self.key = (os.getpid(), next(_keys))
        self.address = f"/proc/{os.getpid()}/fd/{file.fileno()}" if OPEN_FILES.exists() else str(file.name)
        _files[self.key] = weakref.KeyedRef(self, _deleted.put, self.key), file

    @property
    def value(self) -> Any:
        """The value as tasks get it."""
        return opened(*self._place())

    def __reduce__(self) -> tuple[object, ...]:
        return opened, self._place()

    def _place(self) -> tuple[Key, str, list[tuple[int, int]]]:
        if self.key not in _files:
            raise NotShared("The runner of a shared value is closed. Put it into a runner that is open.")
        return self.key, self.address, self.spans


def opened(key: Key, address: str, spans: list[tuple[int, int]]) -> Any:
    """Return the value in a file; map the file the first time."""
    with _opening:
        if key not in _opened:
            with open(address, "rb") as file:
                memory = memoryview(mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ))
            _opened[key] = loads([memory[begin:end] for begin, end in spans])
        return _opened[key]


def live_keys() -> tuple[Key, ...]:
    """Return the keys of all values of this process that still have a handle, and close the other files."""
    with suppress(Empty):
        while True:
            close_file(_deleted.get_nowait().key)
    return tuple(_files)


def close_file(key: Key) -> None:
    """Delete a value and its file, unless another process has made them."""
    if os.getpid() == key[0]:
        _opened.pop(key, None)
        if key in _files:
            _files.pop(key)[1].close()


def keep_only(keys: Collection[Key]) -> None:
    """Delete all values without a handle."""
    for key in _opened.keys() - keys:
        del _opened[key]


def with_values(argument: object) -> Any:
    """Replace the handles in an argument of a task by their values."""
    return _transformed(argument, Handle, lambda handle: handle.value)


def _transformed(value: Any, kind: type, change: Callable[[Any], object]) -> Any:
    """Change all objects of a type in a value, at any depth of tuples, lists and dicts.

    Return the value itself if it has no such object.
    """
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


def _identity(value: object) -> object:
    return value


def _read_only(array: np.ndarray) -> np.ndarray:
    if not array.flags.writeable:
        return array
    view = array.view()
    view.flags.writeable = False
    return view


def _write(frames: list[Frame]) -> tuple[IO[bytes], list[tuple[int, int]]]:
    spans, end = [], 0
    for frame in frames:
        begin = -(-end // ALIGNMENT) * ALIGNMENT
        end = begin + memoryview(frame).nbytes
        spans.append((begin, end))
    folders = [Path(tempfile.gettempdir())]
    # Other programs keep at least half of the shared memory.
    if SHARED_MEMORY.is_dir() and 2 * end < shutil.disk_usage(SHARED_MEMORY).free:
        folders.insert(0, SHARED_MEMORY)
    for folder in folders:
        try:
            return _write_into(folder, frames, spans), spans
        except OSError as error:
            failed = error
    raise OSError(
        f"{end / 1e6:,.0f} MB to share with the workers do not fit in "
        f"{' or '.join(map(str, folders))}: {failed.strerror}. "
        "Free some space, or set TMPDIR to a folder with more of it."
    ) from failed


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


def _reducers() -> Reducers:
    """Return reducers that pickle polars frames as Arrow buffers, which can be mapped."""
    polars = sys.modules.get("polars")
    if polars is None or importlib.util.find_spec("pyarrow") is None:
        return {}
    return {polars.DataFrame: lambda frame: (_to_polars, (frame.to_arrow(),))}


def _to_polars(table: pa.Table) -> polars.DataFrame | polars.Series:
    import polars

    return polars.from_arrow(table)
