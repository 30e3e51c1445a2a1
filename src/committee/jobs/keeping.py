"""Where a model goes: checked before the work, written after it."""

from __future__ import annotations

import os
import shutil
import sys
import tempfile
from pathlib import Path
from typing import Any

STANDARD = "-"


def check_place(place: str | os.PathLike[str], *inputs: str | os.PathLike[str]) -> None:
    """Raise if an output cannot be written to a place, or would replace an input, before any work is done.

    Parameters
    ----------
    place : str or path
        `-` is the standard output.
    *inputs : str or path
        The files that the command reads. `-` is the standard input, which may be a file too.

    Examples
    --------
    >>> check_place("no/such/folder/m.committee")
    Traceback (most recent call last):
    FileNotFoundError: There is no folder no/such/folder to save in. Make it first.
    """
    if os.fspath(place) == STANDARD:
        return
    path = Path(place)
    for given in inputs:
        if is_same_file(path, given):
            name = "standard input" if os.fspath(given) == STANDARD else f"input {given}"
            raise ValueError(f"{path} is the {name} itself. Give the output another name.")
    if path.is_dir():
        raise IsADirectoryError(f"{path} is a folder. Give the file a name in it.")
    if path.exists() and not path.is_file():
        raise OSError(f"{path} is not a file but a device or the like, which cannot be replaced.")
    if not path.parent.is_dir():
        raise FileNotFoundError(f"There is no folder {path.parent} to save in. Make it first.")
    try:
        with tempfile.TemporaryFile(dir=path.parent):
            pass
    except OSError as error:
        raise type(error)(f"Cannot save in {path.parent}: {error.strerror}.") from error


def is_same_file(path: Path, given: str | os.PathLike[str]) -> bool:
    """Whether a path leads to the file of an input, perhaps by a link."""
    try:
        status = os.fstat(sys.stdin.fileno()) if os.fspath(given) == STANDARD else os.stat(given)
        return os.path.samestat(status, path.stat())
    except (OSError, ValueError):  # one of them does not exist, or the standard input is not a file
        return False


def check_run(run: str | None, resume: bool) -> None:
    """Raise if a run would go on with another by accident, or has nothing to go on with.

    Parameters
    ----------
    run : str or None
        The folder of the run.
    resume : bool
        Whether to go on with what is in it.

    Examples
    --------
    >>> check_run(None, resume=True)
    Traceback (most recent call last):
    ValueError: --resume needs the folder of the run to go on with: --run DIR.
    """
    if run is None:
        if resume:
            raise ValueError("--resume needs the folder of the run to go on with: --run DIR.")
        return
    folder = Path(run)
    if folder.exists() and not folder.is_dir():
        raise NotADirectoryError(f"{run} is a file. Name a folder with --run.")
    is_begun = folder.is_dir() and any(folder.iterdir())
    if is_begun and not resume:
        raise ValueError(
            f"The folder {run} has a run in it. Pass --resume to go on with it, or name another."
        )
    if resume and not is_begun:
        raise ValueError(f"There is no run in the folder {run}. Leave --resume out to begin one.")


def keep(model: Any, place: str | os.PathLike[str]) -> int:
    """Save a model in a place.

    Parameters
    ----------
    model : estimator
    place : str or path
        `-` is the standard output.

    Returns
    -------
    int
        The size of the file.
    """
    if os.fspath(place) != STANDARD:
        model.save(place)
        return Path(place).stat().st_size
    with tempfile.TemporaryDirectory(prefix="committee-") as folder:
        path = Path(folder, "model.committee")
        model.save(path)
        with path.open("rb") as file:
            shutil.copyfileobj(file, sys.stdout.buffer)
        sys.stdout.flush()
        return path.stat().st_size
