"""Define the errors of files that cannot be loaded."""

from __future__ import annotations


class DamagedFile(ValueError):  # noqa: N818 - users catch it by this name
    """A file that committee did not write, or that was changed since. The message names the error.

    Examples
    --------
    >>> raise DamagedFile("schema: there are no columns.")
    Traceback (most recent call last):
    committee.saving.format.file_errors.DamagedFile: schema: there are no columns.
    """


class UntrustedMember(ValueError):  # noqa: N818 - users catch it by this name
    """A member that another library must load, and that the caller has not trusted.

    Examples
    --------
    >>> raise UntrustedMember("estimator is stored by skops.")
    Traceback (most recent call last):
    committee.saving.format.file_errors.UntrustedMember: estimator is stored by skops.
    """


def require(condition: object, error: str) -> None:
    """Raise `DamagedFile` unless a condition is true.

    Examples
    --------
    >>> require(1 < 2, "one is not below two")
    """
    if not condition:
        raise DamagedFile(f"{error}.")
