"""A file of arrays, mapped: what is read of it takes no memory of its own."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np

from committee.saving.container import DTYPES, LENGTH_BYTES, Arrays, check_format, digest, parse
from committee.saving.errors import DamagedFile, require

# Numbers can be mapped as they are; booleans would have to be proven.
MAPPED = {code: dtype for dtype, code in DTYPES.items() if dtype.kind != "b"}


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
    >>> from committee.saving.container import write_container
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
