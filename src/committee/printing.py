"""Lay out text for people: aligned tables, lists of names, sizes and times.

The representations of results and the commands print through these functions, so both look the same.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Collection, Sequence
from typing import Any

# The largest number of names in a line.
MOST_NAMES = 12
# In representations, longer arrays are described by their shape, and longer lists by their length.
MOST_SHORT, LONGEST_SHORT = 12, 160


def aligned(header: Sequence[str], rows: Sequence[Sequence[str]], right: Collection[int] = ()) -> str:
    """Lay out a table with two blanks between columns, and no blanks at the ends of lines.

    Parameters
    ----------
    header : sequence of str
    rows : sequence of sequences of str
    right : collection of int, default=()
        The positions of columns of numbers, which are aligned to the right.

    Examples
    --------
    >>> print(aligned(["member", "weight"], [["forest", "0.5"], ["c45", "12"]], right=[1]))
    member  weight
    forest     0.5
    c45         12
    """
    lines = [header, *rows]
    widths = [max(len(line[place]) for line in lines) for place in range(len(header))]
    return "\n".join(
        "  ".join(
            text.rjust(width) if place in right else text.ljust(width)
            for place, (text, width) in enumerate(zip(line, widths, strict=True))
        ).rstrip()
        for line in lines
    )


def some(names: Sequence[str], most: int = MOST_NAMES, separator: str = ", ") -> str:
    """List names in a line, at most some of them.

    Examples
    --------
    >>> some([str(i) for i in range(15)])
    '0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11 and 3 more'
    """
    rest = len(names) - most
    return separator.join(names[:most]) + (f" and {rest} more" if rest > 0 else "")


def size_of(n_bytes: float) -> str:
    """Format a number of bytes.

    Examples
    --------
    >>> size_of(512), size_of(2_345_678)
    ('512 bytes', '2.3 MB')
    """
    for unit, amount in (("GB", 1e9), ("MB", 1e6), ("kB", 1e3)):
        if n_bytes >= amount:
            return f"{n_bytes / amount:.1f} {unit}"
    return f"{n_bytes:.0f} bytes"


def duration(seconds: float) -> str:
    """Format a time.

    Examples
    --------
    >>> duration(0.25), duration(42), duration(754), duration(7300)
    ('0.2 s', '42 s', '12 min 34 s', '2 h 1 min')
    """
    if seconds < 10:
        return f"{seconds:.1f} s"
    whole = round(seconds)
    if whole < 60:
        return f"{whole} s"
    if whole < 3600:
        return f"{whole // 60} min {whole % 60} s"
    return f"{whole // 3600} h {whole % 3600 // 60} min"


def counted(number: int, what: str) -> str:
    """Name a number of things.

    Examples
    --------
    >>> counted(1, "member"), counted(3, "member")
    ('1 member', '3 members')
    """
    return f"{number} {what}" if number == 1 else f"{number} {what}s"


def brief(cls: type[Any]) -> Any:
    """Give a dataclass a short representation, with the sizes of long arrays and lists.

    Examples
    --------
    >>> @brief
    ... @dataclasses.dataclass
    ... class Found:
    ...     name: str
    ...     numbers: list[int]
    >>> Found("curve", list(range(200)))
    Found(name='curve', numbers=<list of 200>)
    """

    def text(self: Any) -> str:
        fields = (each for each in dataclasses.fields(self) if each.repr)
        return (
            f"{type(self).__name__}({', '.join(f'{f.name}={short(getattr(self, f.name))}' for f in fields)})"
        )

    setattr(cls, "__repr__", text)  # noqa: B010
    return cls


def short(value: Any) -> str:
    """Return the representation of a value in one line, or the size of a long one.

    Examples
    --------
    >>> import numpy as np
    >>> short(np.arange(3)), short(np.zeros((100, 4))), short("x")
    ('array([0, 1, 2])', '<array of shape (100, 4)>', "'x'")
    """
    if getattr(value, "ndim", 0) and value.size > MOST_SHORT:
        return f"<array of shape {value.shape}>"
    text = " ".join(repr(value).split())
    is_sized = isinstance(value, list | tuple | dict)
    return f"<{type(value).__name__} of {len(value)}>" if is_sized and len(text) > LONGEST_SHORT else text
