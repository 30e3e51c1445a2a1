"""What the caller of `load` lets other libraries make of a file."""

from __future__ import annotations

from collections.abc import Iterable

from committee.saving.errors import UntrustedMember


def require_trust(types: Iterable[str], trusted: Iterable[str], path: str, what: str) -> None:
    """Raise unless the caller trusts some types.

    Parameters
    ----------
    types : iterable of str
        Full names of types, or of libraries.
    trusted : iterable of str
        What the caller trusts: full names of types, or of the modules and libraries that they are in.
    path : str
        Where the member stands, for the message.
    what : str
        How the member is stored, for the message.

    Examples
    --------
    >>> require_trust(["sklearn.tree._tree.Tree"], ["sklearn"], "", "by skops")
    >>> require_trust(["lightgbm"], [], "estimator", "in the format of lightgbm")
    Traceback (most recent call last):
    committee.saving.errors.UntrustedMember: estimator is stored in the format of lightgbm, whose arrays
    committee cannot check. If you trust who wrote the file, load it with trusted=['lightgbm'].
    """
    trusted = tuple(trusted)
    missing = [
        name for name in types if not any(name == each or name.startswith(f"{each}.") for each in trusted)
    ]
    if missing:
        raise UntrustedMember(
            f"{path or 'The model'} is stored {what}, whose arrays committee cannot check. If you trust who "
            f"wrote the file, load it with trusted={missing!r}."
        )
