"""The documentation of an estimator or a function, put together from what is said once.

A family says once, in its own docstring, what attributes its estimators have; a declared parameter carries
its meaning. The docstring of a public estimator says only what is its own, and gets the rest here. So does
that of a function, one of several that take the same.
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
    """Insert a section before the first of some others, or at the end.

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
    """A decorator: the parameters of a function by what it says of them, or else by entries by their names.

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
        told = {**entries, **{entry.split(" :")[0]: entry for entry in own}}
        named = [told[name] for name in inspect.signature(function).parameters]
        function.__doc__ = with_section(
            without_section(documentation, "Parameters"), "Parameters", named, before=AFTER_PARAMETERS
        )
        return function

    return decorate


def attributes_of(cls: type[Any]) -> list[str]:
    """What a class and its ancestors say of their attributes, each by the nearest that says it."""
    found: dict[str, str] = {}
    for ancestor in cls.__mro__:
        for entry in attribute_entries(vars(ancestor).get("__doc__") or ""):
            found.setdefault(entry.split(" :")[0], entry)
    return list(found.values())


# The same ancestors and the same parameters are met by many classes, and all of it when they are imported.
@functools.cache
def attribute_entries(documentation: str) -> tuple[str, ...]:
    """What a docstring says of attributes."""
    sections = split_sections(inspect.cleandoc(documentation))
    return tuple(
        entry for lines in sections if lines[0] == "Attributes" for entry in split_entries(lines[2:])
    )


def without_section(documentation: str, title: str) -> str:
    """The documentation without one of its sections."""
    kept = (lines for lines in split_sections(documentation) if lines[0] != title)
    return "\n\n".join("\n".join(lines).rstrip() for lines in kept)


def parameter_entry(name: str, allowed: str, default: Any, meaning: str) -> str:
    """A parameter, as numpydoc writes it."""
    allowed = allowed.removeprefix("an ").removeprefix("a ")
    return f"{name} : {allowed}, default={default!r}\n{indented(meaning)}"


@functools.cache
def indented(meaning: str) -> str:
    """What a parameter means, in lines."""
    return textwrap.indent(textwrap.fill(meaning, WIDTH), "    ")


def split_sections(documentation: str) -> list[list[str]]:
    """The lines before the first section, and the lines of each section from its title on."""
    sections: list[list[str]] = [[]]
    lines = documentation.split("\n")
    for line, following in zip(lines, [*lines[1:], ""], strict=True):
        if following.startswith("---") and line:
            sections.append([])
        sections[-1].append(line)
    return [section for section in sections if any(section)]


def split_entries(lines: list[str]) -> list[str]:
    """The entries of a section: each begins with a line that is not indented."""
    entries: list[str] = []
    for line in filter(None, lines):
        if line.startswith(" "):
            entries[-1] += "\n" + line
        else:
            entries.append(line)
    return entries
