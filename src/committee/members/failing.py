"""What goes wrong inside a member is told with who it was: by number or name, with the cause."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from committee.running import TaskError
from committee.running.tasks import failed


def numbered(number: int, member: Any, what: str = "Member") -> str:
    """What errors call a member that has no name.

    Examples
    --------
    >>> from sklearn.naive_bayes import GaussianNB
    >>> numbered(3, GaussianNB())
    'Member 3, GaussianNB,'
    """
    return f"{what} {number}, {type(member).__name__},"


def failed_member(who: str, what: str, error: Exception, way_out: str = "") -> TaskError:
    """The error that names a member, what it cannot do and why, in one line; it is of the type of the cause.

    Examples
    --------
    >>> failed_member("Member 'tree'", "vote", ValueError("No rows."))
    TaskError("Member 'tree' cannot vote. ValueError: No rows.")
    """
    told = " ".join(f"{type(error).__name__}: {error}".split())
    return failed(f"{who} cannot {what}. {told}{way_out}", error)


@contextmanager
def naming(who: str, what: str) -> Iterator[None]:
    """Name the member in whatever is raised meanwhile."""
    try:
        yield
    except Exception as error:
        raise failed_member(who, what, error) from error
