"""Messages between a runner and its processes: frames of bytes.

The first frame is the pickle of a value. The arrays in the value follow as separate frames (protocol 5, out
of band), so they are not copied into the pickle. The reader gets writable arrays.
"""

from __future__ import annotations

import copyreg
import io
import pickle
import struct
from collections import ChainMap
from collections.abc import Callable, Sequence
from types import ModuleType
from typing import IO, Any, NoReturn

Frame = bytes | bytearray | memoryview
Reducers = dict[type, Callable[[Any], str | tuple[Any, ...]]]

_number = struct.Struct("<Q")


def dumps(value: object, reducers: Reducers | None = None) -> list[Frame]:
    """Turn a value into frames; `reducers` define how objects of some types are pickled.

    cloudpickle, which joblib installs, sends objects by value that pickle cannot name in another process,
    such as a class of a notebook. It is slower, so pickle is tried first.
    """
    try:
        frames = _dumps(value, pickle.Pickler, copyreg.dispatch_table, reducers or {})
        is_whole = b"__main__" not in frames[0]
    except (pickle.PicklingError, AttributeError, TypeError):
        is_whole = False
    if not is_whole:
        by_value = _cloudpickle().Pickler
        # cloudpickle would send the content of a text file instead of the file.
        reducers = {io.TextIOWrapper: _refuse, **(reducers or {})}
        frames = _dumps(value, by_value, by_value.dispatch_table, reducers)
    return frames


def _dumps(value: object, pickler: type[pickle.Pickler], known: Reducers, reducers: Reducers) -> list[Frame]:
    if reducers:
        pickler = type("Pickler", (pickler,), {"dispatch_table": ChainMap(reducers, known)})
    memory = io.BytesIO()
    buffers: list[pickle.PickleBuffer] = []
    pickler(memory, protocol=5, buffer_callback=buffers.append).dump(value)
    return [memory.getvalue(), *(buffer.raw() for buffer in buffers)]


def _refuse(value: object) -> NoReturn:
    raise TypeError(f"cannot pickle {type(value).__name__!r} object")


def loads(frames: Sequence[Frame]) -> Any:
    """Return the value of frames. Its arrays are views of the frames."""
    return pickle.loads(frames[0], buffers=frames[1:])


def write(stream: IO[bytes], frames: Sequence[Frame]) -> None:
    """Write one message."""
    lengths = [memoryview(frame).nbytes for frame in frames]
    stream.write(b"".join(map(_number.pack, [len(frames), *lengths])))
    for frame in frames:
        stream.write(frame)
    stream.flush()


def read(stream: IO[bytes]) -> list[Frame]:
    """Read one message; raise an EOFError at the end of the stream."""
    n_frames = _number.unpack(_exactly(stream, _number.size))[0]
    lengths = struct.unpack(f"<{n_frames}Q", _exactly(stream, n_frames * _number.size))
    return [_exactly(stream, length) for length in lengths]


def _exactly(stream: IO[bytes], n_bytes: int) -> bytearray:
    filled, memory = 0, bytearray(n_bytes)
    view = memoryview(memory)
    while filled < n_bytes:
        n_more = stream.readinto(view[filled:])  # type: ignore[attr-defined]
        if not n_more:
            raise EOFError("The other end of the pipe is closed.")
        filled += n_more
    return memory


def _cloudpickle() -> ModuleType:
    try:
        import cloudpickle
    except ModuleNotFoundError:
        # joblib before 1.6 contains a copy.
        from joblib.externals import cloudpickle
    return cloudpickle
