"""Receivers that show events: bars in terminals and notebooks, lines on stderr everywhere else."""

from __future__ import annotations

import importlib.util
import sys
import time
from typing import Any

from committee.running.progress import Event, Receiver

SECONDS_BETWEEN_LINES = 2.0
SECONDS_BETWEEN_PICTURES = 0.1
BAR_WIDTH = 16


def display() -> Receiver:
    """What suits the place: bars where rich is installed and can draw them, else lines.

    Examples
    --------
    >>> type(display()).__name__
    'Lines'
    """
    is_terminal, is_interactive = sys.stderr.isatty(), "IPython" in sys.modules
    if (is_terminal or is_interactive) and importlib.util.find_spec("rich") is not None:
        from rich.console import Console

        console = Console(stderr=True)
        # In notebooks, rich draws with widgets.
        has_widgets = not console.is_jupyter or importlib.util.find_spec("ipywidgets") is not None
        if (console.is_terminal or console.is_jupyter) and has_widgets and not console.is_dumb_terminal:
            return Bars(console)
    return Lines()


class Lines:
    """A line on stderr now and then, and one at the end of all work.

    Examples
    --------
    >>> Lines()(Event("trees", "RandomForestClassifier", 1, 100, 0.0))  # too early for a line
    """

    def __init__(self) -> None:
        self._told = time.monotonic()

    def __call__(self, event: Event) -> None:
        """Write a line, unless one was written just before."""
        is_last = event.is_over and not event.within
        if is_last or time.monotonic() - self._told >= SECONDS_BETWEEN_LINES:
            self._told = time.monotonic()
            print(f"committee: {event}", file=sys.stderr)


class Bars:
    """A bar for each work that goes on, drawn by rich. Those of work within work come and go.

    Parameters
    ----------
    console : rich.console.Console
    """

    def __init__(self, console: Any) -> None:
        from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn
        from rich.table import Column

        self._progress = Progress(
            TextColumn("{task.description}", table_column=Column(no_wrap=True)),
            BarColumn(bar_width=BAR_WIDTH),
            TimeElapsedColumn(),
            # It takes what the others leave.
            TextColumn("{task.fields[done]}", table_column=Column(no_wrap=True, ratio=1)),
            console=console,
            expand=True,
            # A thread that draws would outlive an interruption; events come often enough.
            auto_refresh=False,
        )
        self._bars: dict[tuple[str, ...], Any] = {}
        self._drawn = 0.0

    def __call__(self, event: Event) -> None:
        """Draw the bars anew, unless that was done just before."""
        bar = (*event.within, event.name, event.what)
        if not self._bars:
            for finished in list(self._progress.task_ids):
                self._progress.remove_task(finished)
            self._progress.start()
        if bar not in self._bars:
            title = "  " * len(event.within) + f"{event.name}: {event.what}"
            self._bars[bar] = self._progress.add_task(title, total=event.n_total, done="")
        self._progress.update(self._bars[bar], completed=event.n_done, done=in_words(event))
        if event.is_over:
            self._close(bar, is_part=bool(event.within))
        elif time.monotonic() - self._drawn >= SECONDS_BETWEEN_PICTURES:
            self._drawn = time.monotonic()
            self._progress.refresh()

    def _close(self, bar: tuple[str, ...], is_part: bool) -> None:
        number = self._bars.pop(bar)
        if is_part:
            self._progress.remove_task(number)
        if not self._bars:
            self._progress.refresh()
            self._progress.stop()


def in_words(event: Event) -> str:
    """How far some work is, beside its bar: what comes first is seen in a narrow window too.

    Examples
    --------
    >>> in_words(Event("folds", "CommitteeClassifier", 7, 27, 14.0, -0.46, part="member 'forest', fold 1"))
    "7/27, about 40 s left, best -0.46, member 'forest', fold 1"
    """
    of_all = "" if event.n_total is None else f"/{event.n_total}"
    words = [f"{event.n_done}{of_all}"]
    if event.seconds_left is not None:
        words.append(f"{event.seconds_left:.0f} s left")
    elif event.n_total is not None and 0 < event.n_done < event.n_total:
        words.append(f"about {event.seconds * (event.n_total / event.n_done - 1):.0f} s left")
    if event.score is not None:
        words.append(f"best {event.score:.4g}")
    if event.part is not None:
        words.append(event.part)
    return ", ".join(words)
