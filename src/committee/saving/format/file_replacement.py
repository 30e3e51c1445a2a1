"""Replace a file atomically."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Callable
from pathlib import Path


def replace_file(path: Path, write: Callable[[Path], object]) -> None:
    """Write a temporary file next to `path`, and move it to `path` once it is safe on the disk.

    Every process that opens `path` meanwhile reads the whole old file or the whole new one, even after a
    failure.

    Parameters
    ----------
    path : Path
    write : callable
        Called with the path of the temporary file, which exists and is empty.

    Raises
    ------
    OSError
        An old file is unchanged, and no temporary file is left.

    Examples
    --------
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     replace_file(Path(folder, "note"), lambda temporary: temporary.write_text("done"))
    ...     Path(folder, "note").read_text()
    'done'
    """
    if path.is_dir():
        raise IsADirectoryError(f"{path} is a folder. Give the file a name in it.")
    if path.exists() and not path.is_file():
        raise OSError(f"{path} is not a file but a device or the like, which cannot be replaced.")
    if path.is_symlink():
        path = path.resolve()
    if not path.parent.is_dir():
        raise FileNotFoundError(f"There is no folder {path.parent} to save in. Make it first.")
    try:
        handle, name = tempfile.mkstemp(prefix=f".{path.name}.", suffix=".part", dir=path.parent)
    except OSError as error:
        raise type(error)(f"Cannot save in {path.parent}: {reason_of(error)}.") from error
    os.close(handle)
    temporary = Path(name)
    try:
        write(temporary)
        temporary.chmod(mode_of(path))
        sync(temporary)
        temporary.replace(path)
    except OSError as error:
        raise type(error)(
            f"Cannot save to {path}: {reason_of(error)}. What was there before is unchanged."
        ) from error
    finally:
        temporary.unlink(missing_ok=True)
    sync(path.parent)


def mode_of(path: Path) -> int:
    """Return the permissions of a file, or those of new files if it does not exist."""
    if path.exists():
        return path.stat().st_mode & 0o777
    mask = os.umask(0)
    os.umask(mask)
    return 0o666 & ~mask


def sync(path: Path) -> None:
    """Wait until the content of a file or a folder is on the disk. Windows cannot open folders."""
    if os.name == "nt" and path.is_dir():
        return
    handle = os.open(path, os.O_RDONLY if path.is_dir() else os.O_RDWR)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


def reason_of(error: OSError) -> str:
    """Return the reason of the operating system, without the name of the temporary file."""
    return error.strerror or str(error)
