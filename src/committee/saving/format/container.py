"""The file itself: a safetensors file of arrays, with a description of them in its metadata.

In: a description (what JSON can hold) and named arrays. Out: one file, and back. What comes back has the
right format, version and checksum; what the description means is for `codec` to say. The layout is written
down in docs/saved_files.md.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
from safetensors import SafetensorError, safe_open

from committee.saving.format.file_errors import DamagedFile, require
from committee.saving.format.file_replacement import replace_file

FORMAT, VERSION = "committee", 1
# The arrays that a file may hold, with safetensors' names of their dtypes.
DTYPES = {
    np.dtype(name): code
    for name, code in (
        *(("bool", "BOOL"), ("float16", "F16"), ("float32", "F32"), ("float64", "F64")),
        *((f"int{bits}", f"I{bits}") for bits in (8, 16, 32, 64)),
        *((f"uint{bits}", f"U{bits}") for bits in (8, 16, 32, 64)),
    )
}
# Numbers can be mapped as they are. Booleans would have to be proven.
MAPPED = {code: dtype for dtype, code in DTYPES.items() if dtype.kind != "b"}
# The length of the header stands in so many bytes, the lowest first.
LENGTH_BYTES = 8
Arrays = dict[str, np.ndarray]


def write_container(path: Path, description: Mapping[str, object], arrays: Mapping[str, np.ndarray]) -> None:
    """Write a description and its arrays.

    Parameters
    ----------
    path : Path
        Replaced at once, or not at all.
    description : dict
        What JSON can hold. There is no NaN or infinity in it.
    arrays : dict of str to ndarray
        Contiguous, of a dtype among `DTYPES`.
    """
    text = json.dumps(description, allow_nan=False, separators=(",", ":"))
    metadata = {
        "format": FORMAT,
        "format_version": str(VERSION),
        "description": text,
        "sha256": digest(text, arrays),
    }
    replace_file(path, lambda temporary: write_safetensors(temporary, metadata, arrays))


def write_safetensors(path: Path, metadata: Mapping[str, str], arrays: Mapping[str, np.ndarray]) -> None:
    """Write a safetensors file: the same bytes every time, unlike the library, which shuffles its header."""
    # The widest first, so that each array lies where its numbers may.
    names = sorted(arrays, key=lambda name: (-arrays[name].itemsize, name))
    header: dict[str, object] = {"__metadata__": metadata}
    at = 0
    for name in names:
        array, begin, at = arrays[name], at, at + arrays[name].nbytes
        header[name] = {"dtype": DTYPES[array.dtype], "shape": array.shape, "data_offsets": [begin, at]}
    text = json.dumps(header, separators=(",", ":")).encode()
    text += b" " * (-len(text) % LENGTH_BYTES)
    with path.open("wb") as file:
        file.write(len(text).to_bytes(LENGTH_BYTES, "little"))
        file.write(text)
        for name in names:
            file.write(arrays[name].reshape(-1).view(np.uint8).data)


def read_container(path: Path) -> tuple[dict[str, Any], Arrays]:
    """Read a file and prove that it is what was written.

    Parameters
    ----------
    path : Path

    Returns
    -------
    description : dict
    arrays : dict of str to ndarray
        Each owns its memory.

    Raises
    ------
    DamagedFile
        If the file is not ours, of a later version, cut off or changed.
    """
    if path.is_dir():
        raise IsADirectoryError(f"{path} is a folder. Name the file in it.")
    if not path.is_file():
        raise FileNotFoundError(f"There is no file {path}.")
    try:
        with safe_open(path, framework="np") as file:
            metadata = file.metadata() or {}
            check_format(path, metadata)
            arrays = {name: file.get_tensor(name) for name in file.keys()}  # noqa: SIM118 - not a dict
    except DamagedFile:
        raise
    # What safetensors says of a bad file, and numpy of types and shapes that it does not have.
    except (SafetensorError, TypeError, ValueError, AttributeError, OverflowError) as error:
        reason = " ".join(str(error).split())
        raise DamagedFile(f"{path} is not a file of committee, or is cut off ({reason}).") from error
    text = metadata["description"]
    for name, array in arrays.items():
        require(array.dtype in DTYPES, f"{path} holds the array {name!r} of dtype {array.dtype}")
    require(digest(text, arrays) == metadata["sha256"], f"{path} was changed: its checksum does not fit")
    for name, array in arrays.items():
        is_sound = array.dtype != bool or not (array.view(np.uint8) > 1).any()
        require(is_sound, f"{path} holds the array {name!r} of booleans that are neither true nor false")
    return parse(text), arrays


def map_container(path: Path) -> tuple[dict[str, Any], Arrays]:
    """Map a file that `write_container` wrote, and prove that it is what was written.

    Parameters
    ----------
    path : Path

    Returns
    -------
    description : dict
    arrays : dict of str to ndarray
        Not to be written to. They are the file's own bytes, and stay what they are if the file is replaced.

    Raises
    ------
    DamagedFile
        If the file is not ours, of a later version, cut off or changed.

    Examples
    --------
    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     write_container(Path(folder, "file"), {"of": "tree"}, {"votes": np.array([0.5, 1.0])})
    ...     map_container(Path(folder, "file"))
    ({'of': 'tree'}, {'votes': array([0.5, 1. ])})
    """
    try:
        whole = np.asarray(np.memmap(path, np.uint8, "r"))
        start = LENGTH_BYTES + int.from_bytes(whole[:LENGTH_BYTES].tobytes(), "little")
        require(start <= len(whole), f"{path} is cut off")
        header = json.loads(whole[LENGTH_BYTES:start].tobytes())
        metadata = header.pop("__metadata__")
        check_format(path, metadata)
        arrays = {name: view(whole[start:], **tensor) for name, tensor in header.items()}
        n_bytes = sum(array.nbytes for array in arrays.values())
        require(n_bytes == len(whole) - start, f"{path} is cut off, or goes on after its end")
    except (DamagedFile, OSError):
        raise
    except (ValueError, TypeError, KeyError, AttributeError, OverflowError, RecursionError) as error:
        reason = " ".join(str(error).split())
        raise DamagedFile(f"{path} is not a file of committee, or is cut off ({reason}).") from error
    text = metadata["description"]
    require(digest(text, arrays) == metadata["sha256"], f"{path} was changed: its checksum does not fit")
    return parse(text), arrays


def view(content: np.ndarray, dtype: str, shape: list[int], data_offsets: list[int]) -> np.ndarray:
    """An array in the bytes of a file."""
    begin, end = data_offsets
    if not 0 <= begin <= end <= len(content):
        raise ValueError("an array ends after the file")
    return content[begin:end].view(MAPPED[dtype]).reshape(shape)


def check_format(path: Path, metadata: Mapping[str, str]) -> None:
    """Raise unless the file is one of ours, and not of a later version."""
    require(
        metadata.get("format") == FORMAT and {"format_version", "description", "sha256"} <= metadata.keys(),
        f"{path} is a safetensors file of something else, not of committee",
    )
    version = metadata["format_version"]
    require(version.isascii() and version.isdecimal() and len(version) < 10, f"{path} has no format version")
    require(
        int(version) <= VERSION,
        f"{path} is of format version {version}, and this committee reads up to {VERSION}. Upgrade it",
    )


def digest(text: str, arrays: Mapping[str, np.ndarray]) -> str:
    """The SHA-256 of a description and, by name, of what every array is."""
    checksum = hashlib.sha256(text.encode())
    for name in sorted(arrays):
        array = arrays[name]
        checksum.update(f"\n{name}\n{array.dtype.str}\n{array.shape}\n".encode())
        checksum.update(array.reshape(-1).view(np.uint8).data)
    return checksum.hexdigest()


def parse(text: str) -> dict[str, Any]:
    """Read the description: JSON without NaN, infinity and repeated names."""
    try:
        description = json.loads(text, parse_constant=refuse, object_pairs_hook=without_repetition)
    except RecursionError as error:
        raise DamagedFile("The description is too deep.") from error
    except DamagedFile:
        raise
    except ValueError as error:
        raise DamagedFile(f"The description is not JSON ({error}).") from error
    require(isinstance(description, dict), "The description is not an object")
    return description


def refuse(constant: str) -> None:
    """NaN and infinity are not JSON: the codec writes them in its own way."""
    raise DamagedFile(f"The description holds {constant}, which is not JSON.")


def without_repetition(pairs: list[tuple[str, object]]) -> dict[str, object]:
    """An object of JSON whose names differ."""
    found = dict(pairs)
    require(len(found) == len(pairs), "The description names one thing twice")
    return found
