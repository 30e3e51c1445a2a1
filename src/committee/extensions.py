"""Give a class of a lower layer a method that a higher layer implements.

The lower class refers to a function that imports the implementation. It is called when the method is used:

    class Study:
        report = extension(study_report, extra="report")

Only this module imports upwards. `pyproject.toml` lists each of these imports for import-linter.
"""

from __future__ import annotations

from collections.abc import Callable
from types import MethodType
from typing import Any


def study_report() -> Callable[..., Any]:
    """Import `Study.report`."""
    from committee.reporting.study_report import report

    return report


def picture(name: str) -> Callable[[], Callable[..., Any]]:
    """Return a function that imports a picture of a result."""

    def load() -> Callable[..., Any]:
        from committee import pictures

        found: Callable[..., Any] = getattr(pictures, name)
        return found

    return load


def rank_diagram() -> Callable[..., Any]:
    """Import `Comparison.plot`."""
    from committee.reporting.rank_charts import critical_difference_diagram

    return critical_difference_diagram


def explain() -> Callable[..., Any]:
    """Import `explain`, the method of all estimators."""
    from committee.explaining.explain import explain

    return explain


class extension:  # noqa: N801 - it is used like `property`
    """A method that a higher layer implements.

    Parameters
    ----------
    load : callable
        Import and return the implementation.
    extra : str, default=""
        The extra of committee that installs the packages that the implementation imports.

    Examples
    --------
    >>> class Study:
    ...     report = extension(lambda: lambda study, folder: f"The report is in {folder}.")
    >>> Study().report("here")
    'The report is in here.'
    """

    def __init__(self, load: Callable[[], Callable[..., Any]], *, extra: str = "") -> None:
        self.load, self.extra = load, extra

    def __set_name__(self, owner: type, name: str) -> None:
        self.method = f"{owner.__name__}.{name}"

    def __get__(self, instance: object | None, owner: type | None = None) -> Any:
        try:
            function = self.load()
        except ModuleNotFoundError as error:
            if not self.extra or (error.name or "").startswith("committee"):
                raise
            raise ImportError(
                f"{self.method} needs {error.name}. Install committee[{self.extra}].", name=error.name
            ) from error
        return function if instance is None else MethodType(function, instance)
