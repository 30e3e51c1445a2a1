"""A file that can be read from its start as often as needed: packed or not, a pipe or the standard input."""

from __future__ import annotations

import contextlib
import os
import shutil
import sys
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pyarrow as pa

from committee.files.errors import BadTable
from committee.files.formats import GZIP

# What is looked at to recognise a file.
HEAD_BYTES = 2**20
# Where lines are longer, it is about so many of them, up to so many bytes.
LEAST_LINES, MOST_HEAD_BYTES = 4, 2**26
STANDARD_INPUT = "-"


@dataclass(frozen=True)
class OpenedFile:
    """A file on the disk.

    Parameters
    ----------
    name : str
        For messages.
    path : Path
    is_packed : bool
        Whether its bytes are those of gzip.
    """

    name: str
    path: Path
    is_packed: bool

    def stream(self) -> Any:
        """The unpacked bytes from the start: a stream of Arrow's."""
        return pa.input_stream(str(self.path), compression="gzip" if self.is_packed else None)

    def head(self) -> bytes:
        """The first bytes, unpacked: more of them where lines are long, so that there are some whole ones."""
        with self.stream() as stream, self.reading():
            head = more = bytes(stream.read(HEAD_BYTES))
            while more and LEAST_LINES * len(cut_line(head)) > len(head) and len(head) < MOST_HEAD_BYTES:
                more = bytes(stream.read(HEAD_BYTES))
                head += more
        return head

    @contextlib.contextmanager
    def seekable(self) -> Iterator[Any]:
        """The unpacked bytes, for formats that are not read from the start to the end."""
        if not self.is_packed:
            # Not mapped: whoever changes the file meanwhile would end this process.
            with pa.OSFile(str(self.path)) as file:
                yield file
            return
        with tempfile.NamedTemporaryFile(prefix="committee-") as spool:
            with self.stream() as stream, self.reading():
                shutil.copyfileobj(stream, spool)
            spool.flush()
            with pa.OSFile(spool.name) as file:
                yield file

    @contextlib.contextmanager
    def reading(self) -> Iterator[None]:
        """Say in one line why bytes cannot be unpacked."""
        try:
            yield
        except OSError as error:
            if not self.is_packed:
                raise
            reason = " ".join(str(error).split())
            raise BadTable(f"{self.name} is packed with gzip and cannot be unpacked ({reason}).") from error


@contextlib.contextmanager
def open_file(place: str | os.PathLike[str]) -> Iterator[OpenedFile]:
    """Open a file by its path, or the standard input by `-`, which is copied, as pipes are, to a file.

    Parameters
    ----------
    place : str or path

    Yields
    ------
    OpenedFile
    """
    name, path = os.fspath(place), Path(place)
    with contextlib.ExitStack() as stack:
        if name == STANDARD_INPUT:
            name, path = "The standard input", stack.enter_context(copied(sys.stdin.buffer))
        elif path.is_fifo():
            path = stack.enter_context(copied(stack.enter_context(path.open("rb"))))
        yield opened(name, path)


@contextlib.contextmanager
def copied(stream: Any) -> Iterator[Path]:
    """What a stream holds, in a file that is there for as long as it is needed."""
    with tempfile.NamedTemporaryFile(prefix="committee-") as spool:
        shutil.copyfileobj(stream, spool)
        spool.flush()
        yield Path(spool.name)


def cut_line(head: bytes) -> bytes:
    r"""What stands behind the last end of a line.

    Examples
    --------
    >>> cut_line(b"a,b\n1,"), cut_line(b"a,b")
    (b'1,', b'a,b')
    """
    return head[max(head.rfind(b"\n"), head.rfind(b"\r")) + 1 :]


def opened(name: str, path: Path) -> OpenedFile:
    """Look at the first bytes of a file, if there is one and it can be read."""
    if path.is_dir():
        raise IsADirectoryError(f"{name} is a folder. Name a file in it.")
    try:
        with path.open("rb") as file:
            first = file.read(len(GZIP))
    except FileNotFoundError as error:
        raise FileNotFoundError(f"There is no file {name}.") from error
    except PermissionError as error:
        raise PermissionError(f"{name} cannot be read: permission denied.") from error
    if not first:
        raise BadTable(f"{name} is empty.")
    is_packed = first == GZIP
    if path.suffix and is_packed != (path.suffix.lower() == ".gz"):
        raise BadTable(
            f"{name} is packed with gzip. Rename it to {name}.gz."
            if is_packed
            else f"{name} is not packed with gzip. Rename it to {name[: -len('.gz')]}."
        )
    return OpenedFile(name, path, is_packed)
