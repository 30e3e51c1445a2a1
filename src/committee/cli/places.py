"""Check the paths of inputs and outputs before a command imports heavy libraries or does any work."""

from __future__ import annotations

import os
import stat
import sys
import tempfile
from collections.abc import Callable
from datetime import datetime
from pathlib import Path

from committee.cli.console import STANDARD

# A path with this text is a URL, which only a server can check.
URL = "://"


def check_input(place: str) -> None:
    """Raise unless a file can be read. The standard input and URLs are not checked.

    Examples
    --------
    >>> check_input("no/such/table.csv")
    Traceback (most recent call last):
    FileNotFoundError: There is no file no/such/table.csv.
    """
    if place == STANDARD or URL in place:
        return
    try:
        mode = os.stat(place).st_mode
    except (FileNotFoundError, NotADirectoryError) as error:
        raise FileNotFoundError(f"There is no file {place}.") from error
    if stat.S_ISDIR(mode):
        raise IsADirectoryError(f"{place} is a folder. Name a file in it.")
    if not stat.S_ISREG(mode) and not stat.S_ISFIFO(mode):
        raise OSError(f"{place} is not a regular file.")
    if not os.access(place, os.R_OK):
        raise PermissionError(f"{place} cannot be read: permission denied.")


def check_output(
    place: str, *inputs: str, holds: str, is_replaceable: Callable[[Path], bool], force: bool
) -> None:
    """Raise if an output cannot be written, or would replace an input or a file of another kind.

    Parameters
    ----------
    place : str
        `-` is the standard output. At a URL, any existing file is of another kind.
    *inputs : str
        The files that the command reads. `-` is the standard input, which may be redirected from a file.
    holds : str
        What the command writes, for the message.
    is_replaceable : callable
        Return whether an existing file contains what the command writes. Empty files can always be replaced.
    force : bool
        Whether to replace a file of another kind.

    Examples
    --------
    >>> check_output("no/such/folder/m.committee", holds="a model", is_replaceable=bool, force=False)
    Traceback (most recent call last):
    FileNotFoundError: There is no folder no/such/folder to save in. Make it first.
    """
    if place == STANDARD:
        return
    if URL in place:
        check_url(place, *inputs, force=force)
        return
    path = Path(place)
    for given in inputs:
        if is_same_file(path, given):
            name = "standard input" if given == STANDARD else f"input {given}"
            raise ValueError(f"{path} is the {name} itself. Give the output another name.")
    if path.is_dir():
        raise IsADirectoryError(f"{path} is a folder. Name a file in it.")
    if path.exists() and not path.is_file():
        raise OSError(f"{path} is a device or another special file, which cannot be replaced.")
    if not path.parent.is_dir():
        raise FileNotFoundError(f"There is no folder {path.parent} to save in. Make it first.")
    if not force and path.exists() and path.stat().st_size and not is_replaceable(path):
        raise FileExistsError(
            f"{path} exists and does not contain {holds}. Name another file, or pass --force to replace it."
        )
    try:
        with tempfile.TemporaryFile(dir=path.parent):
            pass
    except OSError as error:
        raise type(error)(f"Cannot save in {path.parent}: {error.strerror}.") from error


def check_url(place: str, *inputs: str, force: bool) -> None:
    """Raise if a file cannot be written to a URL, is an input, or exists and would be replaced."""
    from committee.files.remote_files import exists, name_of_url

    name = name_of_url(place)
    if any(URL in given and name_of_url(given) == name for given in inputs):
        raise ValueError(f"{name} is an input itself. Give the output another name.")
    if exists(place) and not force:
        raise FileExistsError(f"{name} exists. Name another file, or pass --force to replace it.")


def is_same_file(path: Path, given: str) -> bool:
    """Return whether a path is the file of an input, perhaps through a link."""
    try:
        status = os.fstat(sys.stdin.fileno()) if given == STANDARD else os.stat(given)
        return os.path.samestat(status, path.stat())
    except (OSError, ValueError):  # A file does not exist, or the standard input is not a file.
        return False


def time_of(path: Path) -> str:
    """Return when a file was written: the time, with the date unless it is today."""
    written = datetime.fromtimestamp(path.stat().st_mtime)
    is_today = written.date() == datetime.now().date()
    return written.strftime("%H:%M" if is_today else "%Y-%m-%d %H:%M")


def check_run(run: str | None, resume: bool) -> None:
    """Raise if a fit would resume a run by accident, or has no run to resume.

    Parameters
    ----------
    run : str or None
        The folder of the run.
    resume : bool
        Whether to resume the run in the folder.

    Examples
    --------
    >>> check_run(None, resume=True)
    Traceback (most recent call last):
    ValueError: --resume needs the folder of the run: --run-folder DIR.
    """
    if run is None:
        if resume:
            raise ValueError("--resume needs the folder of the run: --run-folder DIR.")
        return
    folder = Path(run)
    if folder.exists() and not folder.is_dir():
        raise NotADirectoryError(f"{run} is a file. Name a folder with --run-folder.")
    is_begun = folder.is_dir() and any(folder.iterdir())
    if is_begun and not resume:
        raise ValueError(
            f"The folder {run} contains a run. Pass --resume to resume it, or name another folder."
        )
    if resume and not is_begun:
        raise ValueError(f"There is no run in the folder {run}. Omit --resume to start one.")
