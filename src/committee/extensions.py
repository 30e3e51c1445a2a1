"""Let a class of a lower layer offer methods that a higher layer implements.

The lower class declares the method, the higher module registers the function, and the first use imports it:

    class Study:
        report = extension("committee.reporting", extra="report")

    @extends(Study, "report")
    def write_report(study, folder): ...

This module alone imports upwards. `pyproject.toml` lists each of these imports for import-linter.
"""

from __future__ import annotations

from collections.abc import Callable
from types import MethodType
from typing import Any, TypeVar

Function = TypeVar("Function", bound=Callable[..., Any])


def _import_reporting() -> None:
    import committee.reporting.study_report  # noqa: F401


# For each home of extensions, what imports the module that registers them.
HOMES: dict[str, Callable[[], None]] = {"committee.reporting": _import_reporting}
_registered: dict[tuple[type, str], Callable[..., Any]] = {}


class extension:  # noqa: N801 - it is used like `property`
    """A method that a higher layer implements.

    Parameters
    ----------
    home : str
        The package that implements it, one of `HOMES`.
    extra : str, default=""
        The extra of committee that installs what the implementation imports.
    """

    def __init__(self, home: str, *, extra: str = "") -> None:
        self.home, self.extra = home, extra

    def __set_name__(self, owner: type, name: str) -> None:
        self.owner, self.name = owner, name

    def __get__(self, instance: object | None, owner: type | None = None) -> Any:
        function = self._implementation()
        return function if instance is None else MethodType(function, instance)

    def _implementation(self) -> Callable[..., Any]:
        key = self.owner, self.name
        if key not in _registered:
            method = f"{self.owner.__name__}.{self.name}"
            try:
                HOMES[self.home]()
            except ModuleNotFoundError as error:
                if not self.extra or (error.name or "").startswith("committee"):
                    raise
                raise ImportError(
                    f"{method} needs {error.name}. Install committee[{self.extra}].", name=error.name
                ) from error
            if key not in _registered:
                raise NotImplementedError(f"{self.home} registers no {method}.")
        return _registered[key]


def extends(owner: type, name: str) -> Callable[[Function], Function]:
    """Register the decorated function as a method that a class declares with `extension`.

    Examples
    --------
    >>> class Study:
    ...     report = extension("committee.reporting")
    >>> @extends(Study, "report")
    ... def report(study, folder):
    ...     return f"The report is in {folder}."
    >>> Study().report("here")
    'The report is in here.'
    """
    if not isinstance(vars(owner).get(name), extension):
        raise TypeError(f"{owner.__name__} declares no extension {name!r}.")

    def register(function: Function) -> Function:
        function.__name__, function.__qualname__ = name, f"{owner.__qualname__}.{name}"
        _registered[owner, name] = function
        return function

    return register
