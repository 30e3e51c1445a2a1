"""Read and write the file itself: a safetensors file of arrays, with a description in its metadata.

In: a description (values that JSON can hold) and named arrays. Out: one file, and back. A file that is read
has the right format, version and checksum. The meaning of the description is left to `codec`.
docs/saved_files.md documents the layout.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import numpy as np
from safetensors import SafetensorError, safe_open

from committee.saving.format.file_errors import DamagedFile, require
from committee.saving.format.file_replacement import replace_file

FORMAT, VERSION = "committee", 2
# The dtypes of the arrays in a file, with their names in safetensors.
DTYPES = {
    np.dtype(name): code
    for name, code in (
        *(("bool", "BOOL"), ("float16", "F16"), ("float32", "F32"), ("float64", "F64")),
        *((f"int{bits}", f"I{bits}") for bits in (8, 16, 32, 64)),
        *((f"uint{bits}", f"U{bits}") for bits in (8, 16, 32, 64)),
    )
}
# Any bytes are a valid number, so arrays of numbers can be mapped. Booleans would need a check.
MAPPED = {code: dtype for dtype, code in DTYPES.items() if dtype.kind != "b"}
# The file begins with the length of its header, a little-endian integer of this size.
LENGTH_BYTES = 8
# The errors of safetensors, json and numpy for a damaged file or a file of another kind.
UNREADABLE = (
    SafetensorError, ValueError, TypeError, LookupError, AttributeError, OverflowError, RecursionError,
)  # fmt: skip
Arrays = dict[str, np.ndarray]


def write_container(path: Path, description: Mapping[str, object], arrays: Mapping[str, np.ndarray]) -> None:
    """Write a description and its arrays.

    Parameters
    ----------
    path : Path
        The file is replaced atomically.
    description : dict
        Values that JSON can hold, without NaN and infinity.
    arrays : dict of str to ndarray
        Contiguous arrays with dtypes in `DTYPES`.
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
    """Write a safetensors file with the same bytes every time. The library itself shuffles the header."""
    # The widest dtypes come first, so every array is aligned.
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


def is_container(path: Path) -> bool:
    """Return whether the header of a file is that of a model. The arrays are not read.

    Examples
    --------
    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     write_container(Path(folder, "file"), {}, {})
    ...     is_container(Path(folder, "file")), is_container(Path(__file__))
    (True, False)
    """
    with contextlib.suppress(*UNREADABLE):
        return bool(metadata_of(path)["format"] == FORMAT)
    return False


def metadata_of(path: Path) -> dict[str, str]:
    """Return the metadata in the header of a file, without a check."""
    with path.open("rb") as file:
        length = int.from_bytes(file.read(LENGTH_BYTES), "little")
        if length > path.stat().st_size:
            raise ValueError("the header is longer than the file")
        metadata: dict[str, str] = json.loads(file.read(length))["__metadata__"]
        return metadata


def read_container(path: Path) -> tuple[dict[str, Any], Arrays]:
    """Read a file and check its format, version and checksum.

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
        If committee did not write the file, its version is later, or it was cut off or changed.
    """
    if path.is_dir():
        raise IsADirectoryError(f"{path} is a folder. Name the file in it.")
    if not path.exists():
        raise FileNotFoundError(f"There is no file {path}.")
    if not path.is_file():
        raise OSError(f"{path} is not a regular file.")
    with refusing_other_files(path), safe_open(path, framework="np") as file:
        metadata = file.metadata() or {}
        check_format(path, metadata)
        arrays = {name: file.get_tensor(name) for name in file.keys()}  # noqa: SIM118 - not a dict
    for name, array in arrays.items():
        require(array.dtype in DTYPES, f"{path} holds the array {name!r} of dtype {array.dtype}")
    description = checked_description(path, metadata, arrays)
    for name, array in arrays.items():
        is_sound = array.dtype != bool or not (array.view(np.uint8) > 1).any()
        require(is_sound, f"{path} holds the array {name!r} of booleans that are neither true nor false")
    return description, arrays


def map_container(path: Path) -> tuple[dict[str, Any], Arrays]:
    """Map a file into memory and check its format, version and checksum.

    Parameters
    ----------
    path : Path

    Returns
    -------
    description : dict
    arrays : dict of str to ndarray
        Read-only views of the file's bytes. They stay the same if the file is replaced.

    Raises
    ------
    DamagedFile
        If committee did not write the file, its version is later, or it was cut off or changed.

    Examples
    --------
    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     write_container(Path(folder, "file"), {"of": "tree"}, {"votes": np.array([0.5, 1.0])})
    ...     map_container(Path(folder, "file"))
    ({'of': 'tree'}, {'votes': array([0.5, 1. ])})
    """
    with refusing_other_files(path):
        whole = np.asarray(np.memmap(path, np.uint8, "r"))
        start = LENGTH_BYTES + int.from_bytes(whole[:LENGTH_BYTES].tobytes(), "little")
        require(start <= len(whole), f"{path} is cut off")
        header = json.loads(whole[LENGTH_BYTES:start].tobytes())
        metadata = header.pop("__metadata__")
        check_format(path, metadata)
        arrays = {name: view(whole[start:], **tensor) for name, tensor in header.items()}
        n_bytes = sum(array.nbytes for array in arrays.values())
        require(n_bytes == len(whole) - start, f"{path} is cut off, or has bytes after its end")
    return checked_description(path, metadata, arrays), arrays


@contextlib.contextmanager
def refusing_other_files(path: Path) -> Iterator[None]:
    """Raise `DamagedFile` if safetensors, json or numpy cannot read a file."""
    try:
        yield
    except DamagedFile:
        raise
    except UNREADABLE as error:
        reason = " ".join(str(error).split())
        raise DamagedFile(f"{path} is not a file of committee, or is cut off ({reason}).") from error


def view(content: np.ndarray, dtype: str, shape: list[int], data_offsets: list[int]) -> np.ndarray:
    """View a part of the bytes of a file as an array."""
    begin, end = data_offsets
    if not 0 <= begin <= end <= len(content):
        raise ValueError("an array ends after the file")
    return content[begin:end].view(MAPPED[dtype]).reshape(shape)


def check_format(path: Path, metadata: Mapping[str, str]) -> None:
    """Raise unless committee wrote the file, and not in a later version."""
    require(
        metadata.get("format") == FORMAT and {"format_version", "description", "sha256"} <= metadata.keys(),
        f"{path} is a safetensors file that committee did not write",
    )
    version = metadata["format_version"]
    require(version.isascii() and version.isdecimal() and len(version) < 10, f"{path} has no format version")
    require(
        int(version) <= VERSION,
        f"{path} is of format version {version}, and this committee reads up to {VERSION}. Upgrade it",
    )


def digest(text: str, arrays: Mapping[str, np.ndarray]) -> str:
    """Return the SHA-256 of a description and of the name, dtype, shape and bytes of every array."""
    checksum = hashlib.sha256(text.encode())
    for name in sorted(arrays):
        array = arrays[name]
        checksum.update(f"\n{name}\n{array.dtype.str}\n{array.shape}\n".encode())
        checksum.update(array.reshape(-1).view(np.uint8).data)
    return checksum.hexdigest()


def checked_description(path: Path, metadata: Mapping[str, str], arrays: Arrays) -> dict[str, Any]:
    """Check the checksum of a file and parse its description, JSON without NaN and repeated keys."""
    text = metadata["description"]
    require(digest(text, arrays) == metadata["sha256"], f"{path} was changed: its checksum does not match")
    try:
        description = json.loads(text, parse_constant=refuse_constant, object_pairs_hook=unique_keys)
    except RecursionError as error:
        raise DamagedFile("The description is too deep.") from error
    except DamagedFile:
        raise
    except ValueError as error:
        raise DamagedFile(f"The description is not JSON ({error}).") from error
    require(isinstance(description, dict), "The description is not an object")
    return description


def refuse_constant(constant: str) -> None:
    """Refuse NaN and infinity, which are not JSON. The codec has its own form for them."""
    raise DamagedFile(f"The description holds {constant}, which is not JSON.")


def unique_keys(pairs: list[tuple[str, object]]) -> dict[str, object]:
    """Make a dict from the pairs of a JSON object, whose keys must differ."""
    found = dict(pairs)
    require(len(found) == len(pairs), "The description has a key twice")
    return found
