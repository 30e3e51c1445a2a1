"""What Linux's control groups allow this process: the files that tell, of version 1 and 2."""

from __future__ import annotations

from pathlib import Path

CONTROL_GROUPS = Path("/sys/fs/cgroup")
OWN_GROUPS = Path("/proc/self/cgroup")


def folders_of(controller: str, groups: Path, own_groups: Path) -> list[Path]:
    """The folders of the groups that the process is in, of one controller ("cpu", "memory") and of all.

    Parameters
    ----------
    controller : str
    groups : Path
        Where the control groups are mounted. In a container, the process's own group may be mounted there.
    own_groups : Path
        The file that names the groups of the process.

    Returns
    -------
    list of Path
        Some may not exist.
    """
    folders = [groups, groups / controller]
    for line in read(own_groups).splitlines():
        _, controllers, path = line.split(":", 2)
        if controllers == "" or controller in controllers.split(","):
            own = (groups / controller if controllers else groups) / path.lstrip("/")
            folders += [own, *(parent for parent in own.parents if parent.is_relative_to(groups))]
    return folders


def read(path: Path) -> str:
    """The text of a small file; nothing if it cannot be read."""
    try:
        return path.read_text(encoding="utf-8")
    except OSError:
        return ""
