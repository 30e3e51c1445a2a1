"""Results as text for people: tables and short lines, on a console of rich; or as JSON for programs."""

from __future__ import annotations

import dataclasses
import json
import math
import sys
from collections.abc import Iterable, Sequence
from typing import Any

# Where no terminal says how wide it is.
WIDTH = 160
MOST_NAMES = 12


def show_json(value: Any) -> None:
    """Write a value as JSON."""
    print(json.dumps(plain(value), indent=2, ensure_ascii=False))


def plain(value: Any) -> Any:
    """A value as JSON has it: what it has no word for is null, as NaN, or text.

    Examples
    --------
    >>> plain({"score": float("nan"), "names": ("a", "b"), 3: 1.5})
    {'score': None, 'names': ['a', 'b'], '3': 1.5}
    """
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        value = dataclasses.asdict(value)
    if hasattr(value, "tolist"):
        value = value.tolist()
    if isinstance(value, dict):
        return {str(name): plain(each) for name, each in value.items()}
    if isinstance(value, list | tuple):
        return [plain(each) for each in value]
    if isinstance(value, float) and not math.isfinite(value):
        return None
    return value if isinstance(value, bool | int | float | str | None) else str(value)


def say(text: str, *, on_stderr: bool = False) -> None:
    """Write a line."""
    print(text, file=sys.stderr if on_stderr else sys.stdout)


def show_table(
    header: Sequence[str],
    rows: Iterable[Sequence[str]],
    *,
    right: Sequence[int] = (),
    on_stderr: bool = False,
) -> None:
    """Write rows in columns.

    Parameters
    ----------
    header : sequence of str
    rows : iterable of sequences of str
    right : sequence of int, default=()
        The columns of numbers.
    on_stderr : bool, default=False
    """
    from rich.box import SIMPLE_HEAD
    from rich.console import Console
    from rich.table import Table

    console = Console(stderr=on_stderr, highlight=False)
    if not console.is_terminal:
        console = Console(stderr=on_stderr, highlight=False, width=WIDTH)
    table = Table(box=SIMPLE_HEAD, pad_edge=False)
    for place, title in enumerate(header):
        table.add_column(title, justify="right" if place in right else "left", overflow="fold")
    for row in rows:
        table.add_row(*(text.replace("[", "\\[") for text in row))
    console.print(table)


def show_standings(found: dict[str, Any], *, on_stderr: bool = False) -> None:
    """Show a leaderboard."""
    from committee.metrics import shown

    scoring = found["scoring"]
    rows = [
        [each["kind"], each["name"], f"{shown(scoring, each['score'])[1]:.6g}"] for each in found["standings"]
    ]
    show_table(["", "name", shown(scoring, 0.0)[0]], rows, right=[2], on_stderr=on_stderr)


def some(names: Sequence[str]) -> str:
    """Names for a line, not too many of them.

    Examples
    --------
    >>> some([str(i) for i in range(15)])
    '0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11 and 3 more'
    """
    rest = len(names) - MOST_NAMES
    return ", ".join(names[:MOST_NAMES]) + (f" and {rest} more" if rest > 0 else "")


def size_of(n_bytes: float) -> str:
    """A size for people.

    Examples
    --------
    >>> size_of(512), size_of(2_345_678)
    ('512 bytes', '2.3 MB')
    """
    for unit, amount in (("GB", 1e9), ("MB", 1e6), ("kB", 1e3)):
        if n_bytes >= amount:
            return f"{n_bytes / amount:.1f} {unit}"
    return f"{n_bytes:.0f} bytes"
