"""Complete the docstrings of estimators and functions with shared entries.

Attributes are documented once, in the base class that sets them, and parameters where they are declared. The
docstring of a public estimator documents only what is specific to it, and the shared entries are added here.
The same is done for functions that have common parameters.
"""

from __future__ import annotations

import functools
import inspect
import textwrap
from collections.abc import Callable, Iterable, Mapping
from typing import Any, TypeVar

WIDTH = 88
AFTER_PARAMETERS = ("Returns", "Raises", "See Also", "Notes", "References", "Examples")
Function = TypeVar("Function", bound=Callable[..., Any])


def with_section(documentation: str, title: str, entries: Iterable[str], before: tuple[str, ...]) -> str:
    """Insert a section before the first section with one of some titles, or at the end.

    Examples
    --------
    >>> with_section("A tree.", "Notes", ["It is old."], before=("Examples",)).splitlines()
    ['A tree.', '', 'Notes', '-----', 'It is old.']
    """
    section = [title, "-" * len(title), *entries]
    sections = split_sections(documentation)
    place = next((i for i, lines in enumerate(sections) if lines[0] in before), len(sections))
    sections.insert(place, section)
    return "\n\n".join("\n".join(lines).rstrip() for lines in sections)


def with_parameters(entries: Mapping[str, str]) -> Callable[[Function], Function]:
    """Make a decorator that adds missing entries of parameters to the docstring of a function.

    Examples
    --------
    >>> @with_parameters({"votes": "votes : array"})
    ... def halved(votes, by=2):
    ...     '''Halve.
    ...
    ...     Parameters
    ...     ----------
    ...     by : int, default=2
    ...     '''
    >>> halved.__doc__.splitlines()
    ['Halve.', '', 'Parameters', '----------', 'votes : array', 'by : int, default=2']
    """

    def decorate(function: Function) -> Function:
        documentation = inspect.cleandoc(function.__doc__ or "")
        sections = split_sections(documentation)
        own = [entry for lines in sections if lines[0] == "Parameters" for entry in split_entries(lines[2:])]
        by_name = {**entries, **{entry.split(" :")[0]: entry for entry in own}}
        named = [by_name[name] for name in inspect.signature(function).parameters]
        function.__doc__ = with_section(
            without_section(documentation, "Parameters"), "Parameters", named, before=AFTER_PARAMETERS
        )
        return function

    return decorate


def attributes_of(cls: type[Any]) -> list[str]:
    """Return the entries of the attributes of a class and its ancestors. The nearest entry wins."""
    found: dict[str, str] = {}
    for ancestor in cls.__mro__:
        for entry in attribute_entries(vars(ancestor).get("__doc__") or ""):
            found.setdefault(entry.split(" :")[0], entry)
    return list(found.values())


# Many classes share ancestors and parameters, and all docstrings are completed at import.
@functools.cache
def attribute_entries(documentation: str) -> tuple[str, ...]:
    """Return the entries of the attributes in a docstring."""
    sections = split_sections(inspect.cleandoc(documentation))
    return tuple(
        entry for lines in sections if lines[0] == "Attributes" for entry in split_entries(lines[2:])
    )


def without_section(documentation: str, title: str) -> str:
    """Remove a section from a docstring."""
    kept = (lines for lines in split_sections(documentation) if lines[0] != title)
    return "\n\n".join("\n".join(lines).rstrip() for lines in kept)


def parameter_entry(name: str, allowed: str, default: Any, meaning: str) -> str:
    """Return the numpydoc entry of a parameter."""
    allowed = allowed.removeprefix("an ").removeprefix("a ")
    return f"{name} : {allowed}, default={default!r}\n{indented(meaning)}"


@functools.cache
def indented(meaning: str) -> str:
    """Wrap and indent the description of a parameter."""
    return textwrap.indent(textwrap.fill(meaning, WIDTH), "    ")


def split_sections(documentation: str) -> list[list[str]]:
    """Split a docstring into the lines before the first section, and the lines of each section."""
    sections: list[list[str]] = [[]]
    lines = documentation.split("\n")
    for line, following in zip(lines, [*lines[1:], ""], strict=True):
        if following.startswith("---") and line:
            sections.append([])
        sections[-1].append(line)
    return [section for section in sections if any(section)]


def split_entries(lines: list[str]) -> list[str]:
    """Split the lines of a section into entries, which begin with a line that is not indented."""
    entries: list[str] = []
    for line in filter(None, lines):
        if line.startswith(" "):
            entries[-1] += "\n" + line
        else:
            entries.append(line)
    return entries
