"""What is wrong with a file."""

from __future__ import annotations


class DamagedFile(ValueError):  # noqa: N818 - it says what the file is
    """A file that is not one of ours, or not as we have written it. The message names the fault.

    Examples
    --------
    >>> raise DamagedFile("schema: there are no columns.")
    Traceback (most recent call last):
    committee.saving.format.file_errors.DamagedFile: schema: there are no columns.
    """


class UntrustedMember(ValueError):  # noqa: N818 - it says what the file holds
    """A member that another library must make, and that the caller has not said to trust.

    Examples
    --------
    >>> raise UntrustedMember("estimator is stored by skops.")
    Traceback (most recent call last):
    committee.saving.format.file_errors.UntrustedMember: estimator is stored by skops.
    """


def require(holds: object, fault: str) -> None:
    """Raise `DamagedFile` unless something holds of a file.

    Examples
    --------
    >>> require(1 < 2, "one is not below two")
    """
    if not holds:
        raise DamagedFile(f"{fault}.")
