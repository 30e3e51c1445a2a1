"""The progress of long work: one stream of events, sent to one receiver.

Long work (on trees, rounds, members, folds) is a `Work`, which sends an `Event` at its start, at intervals,
and at its end. Nested work names the work that contains it. The receiver is the one of `receiving`, or else a
display if `verbose` is set. Without a receiver, no event is made. Displays show only the outermost work: an
event of work within it updates the times of its line.
"""

from __future__ import annotations

import importlib.util
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar, Token
from dataclasses import dataclass, replace
from types import TracebackType
from typing import TYPE_CHECKING, Self

if TYPE_CHECKING:
    from rich.console import Console
    from rich.progress import TaskID

SECONDS_BETWEEN_LINES = 10.0
SECONDS_BETWEEN_PICTURES = 0.1
BAR_WIDTH = 16


@dataclass(frozen=True, slots=True)
class Event:
    """The progress of some work.

    Parameters
    ----------
    what : {"cells", "members", "folds", "trees", "rounds", "restarts", "iterations", "bags", "draws"}
        The unit of the work.
    name : str
        The name of the estimator that does the work.
    n_done : int
        The number of finished units, including those of an earlier fit.
    n_total : int or None
        The number of units, if it is known.
    seconds : float
        The time since the start of the work.
    score : float or None, default=None
        The score so far, if it is known; greater is better.
    is_limit : bool, default=False
        Whether the work may end before `n_total` units.
    is_over : bool, default=False
        Whether this is the last event of the work, which has finished or was stopped.
    within : tuple of str, default=()
        The work that contains this work, the outermost first.
    part : str or None, default=None
        The name of the last finished unit, if units have names.
    seconds_left : float or None, default=None
        The longest time that the work may still take, if it is known.
    shown : (str, float) or None, default=None
        The score to display: a name, and a number that is positive for losses.
    share : float or None, default=None
        The share of the work that is done, if units differ in size.

    Examples
    --------
    >>> str(Event("trees", "RandomForestClassifier", 7, 100, 0.52, within=("member 2 of 5",)))
    'member 2 of 5: 7 of 100 trees, 0.5 s'
    >>> str(Event("members", "CommitteeClassifier", 3, 12, 6.0, share=0.25, shown=("log loss", 0.46)))
    '3 of 12 members, 25 %, best log loss 0.46, 6.0 s, about 18 s left'
    """

    what: str
    name: str
    n_done: int
    n_total: int | None
    seconds: float
    score: float | None = None
    is_limit: bool = False
    is_over: bool = False
    within: tuple[str, ...] = ()
    part: str | None = None
    seconds_left: float | None = None
    shown: tuple[str, float] | None = None
    share: float | None = None

    @property
    def progress(self) -> float | None:
        """The share of the time if the time left is known, else the share of the work; None if unknown."""
        if self.is_over:
            return 1.0
        if self.seconds_left is not None:
            return self.seconds / (self.seconds + self.seconds_left or 1.0)
        if self.share is not None:
            return self.share
        return self.n_done / self.n_total if self.n_total else None

    def words(self) -> list[str]:
        """Describe the progress, the most important words first."""
        most = "at most " if self.is_limit and not self.is_over else ""
        found = [f"{self.n_done}{'' if self.n_total is None else f' of {most}{self.n_total}'} {self.what}"]
        progress = self.progress
        if progress is not None and not self.is_over and (self.share is not None or self.seconds_left):
            found.append(f"{100 * progress:.0f} %")
        if self.shown is not None:
            found.append("best {} {:.4g}".format(*self.shown))
        elif self.score is not None:
            found.append(f"score {self.score:.6g}")
        found.append(f"{self.seconds:.1f} s")
        if self.seconds_left is not None and not self.is_over:
            found.append(f"{self.seconds_left:.0f} s left")
        elif self.share is not None and 0 < self.share < 1 and not self.is_over:
            found.append(f"about {self.seconds * (1 / self.share - 1):.0f} s left")
        return found

    def __str__(self) -> str:
        return ": ".join([*self.within, ", ".join(self.words())])


Receiver = Callable[[Event], object]

RECEIVER: ContextVar[Receiver | None] = ContextVar("receiver", default=None)
WITHIN: ContextVar[tuple[str, ...]] = ContextVar("within", default=())


@contextmanager
def receiving(receiver: Receiver | None) -> Iterator[None]:
    """Send the events of all work within the block to your own receiver, for every value of `verbose`.

    Parameters
    ----------
    receiver : callable, or None
        Called with each `Event` on the thread that does the work. An exception of the receiver ends the work.
        With None, `verbose` decides about a display.

    Examples
    --------
    >>> from committee import GradientBoostingRegressor
    >>> with receiving(lambda event: print(event.n_done, event.what, event.is_over)):
    ...     _ = GradientBoostingRegressor(2).fit([[1], [2], [3]], [1.0, 2.0, 3.0])
    0 rounds False
    1 rounds False
    2 rounds False
    2 rounds True
    """
    token = RECEIVER.set(receiver)
    try:
        yield
    finally:
        RECEIVER.reset(token)


@contextmanager
def within(*parts: str) -> Iterator[None]:
    """Name the work that contains the work of the block, such as "member 3 (GaussianNB)" or "fold 2".

    Examples
    --------
    >>> with receiving(print), within("fold 2"), Work("trees", "Forest", 1):
    ...     pass  # doctest: +ELLIPSIS
    fold 2: 0 of 1 trees, 0.0 s
    fold 2: 0 of 1 trees, 0.0 s
    """
    token = WITHIN.set((*WITHIN.get(), *parts))
    try:
        yield
    finally:
        WITHIN.reset(token)


@contextmanager
def side_by_side() -> Iterator[None]:
    """Report work that starts in the block next to the current unit, because named units run in parallel.

    Examples
    --------
    >>> with receiving(print), Work("folds", "Forest", 2), side_by_side(), within("fold 2 of 2"):
    ...     with Work("trees", "Forest", 1):
    ...         pass  # doctest: +ELLIPSIS
    0 of 2 folds, 0.0 s
    fold 2 of 2: 0 of 1 trees, 0.0 s
    fold 2 of 2: 0 of 1 trees, 0.0 s
    0 of 2 folds, 0.0 s
    """
    token = WITHIN.set(WITHIN.get()[:-1])
    try:
        yield
    finally:
        WITHIN.reset(token)


def forward(event: Event) -> None:
    """Forward an event from another process as an event of the current work."""
    receiver = RECEIVER.get()
    if receiver is not None:
        receiver(replace(event, within=(*WITHIN.get(), *event.within)))


class Work:
    """A context for long work, which sends its events. Work that starts in the context is reported as a part.

    Parameters
    ----------
    what, name, n_total, is_limit : see Event
    n_before : int, default=0
        The number of units that an earlier fit has finished.
    verbose : int, default=0
        Whether to show a display if the events have no other receiver.

    Examples
    --------
    >>> with Work("trees", "RandomForestClassifier", 100) as work:
    ...     work.report(3)  # without a receiver
    """

    def __init__(
        self,
        what: str,
        name: str,
        n_total: int | None,
        *,
        n_before: int = 0,
        is_limit: bool = False,
        verbose: int = 0,
    ) -> None:
        self._event = Event(what, name, n_before, n_total, 0.0, None, is_limit, False, WITHIN.get())
        self._n_before, self._verbose = n_before, verbose
        self._began = 0.0
        self._receiver: Receiver | None = None
        self._tokens: tuple[Token[Receiver | None], Token[tuple[str, ...]]] | None = None

    def __enter__(self) -> Self:
        self._began = time.monotonic()
        self._receiver = RECEIVER.get()
        if self._receiver is None and self._verbose:
            self._receiver = display()
        if self._receiver is not None:
            self._tokens = RECEIVER.set(self._receiver), WITHIN.set((*self._event.within, self._part()))
            self._send()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._tokens is not None:
            receiver, part = self._tokens
            RECEIVER.reset(receiver)
            WITHIN.reset(part)
            self._event = replace(self._event, is_over=True)
            self._send()

    @property
    def has_receiver(self) -> bool:
        """Whether the events have a receiver."""
        return self._receiver is not None

    def report(
        self,
        n_done: int,
        score: float | None = None,
        *,
        part: str | None = None,
        seconds_left: float | None = None,
        shown: tuple[str, float] | None = None,
        share: float | None = None,
        n_total: int | None = None,
    ) -> None:
        """Report the number of finished units, without those of an earlier fit, and the score so far.

        A new n_total replaces the one of the start.
        """
        before, n_done = self._event, n_done + self._n_before
        n_total = before.n_total if n_total is None else n_total
        known = before.n_done, before.score, before.share, before.n_total
        if self._receiver is not None and known != (n_done, score, share, n_total):
            self._event = replace(
                before,
                n_done=n_done,
                n_total=n_total,
                score=score,
                part=part,
                seconds_left=seconds_left,
                shown=shown,
                share=share,
            )
            WITHIN.set((*self._event.within, self._part()))
            self._send()

    def _send(self) -> None:
        if self._receiver is not None:
            self._event = replace(self._event, seconds=time.monotonic() - self._began)
            self._receiver(self._event)

    def _part(self) -> str:
        """Return the name of the current unit."""
        of_all = "" if self._event.n_total is None else f" of {self._event.n_total}"
        return f"{self._event.what.removesuffix('s')} {self._event.n_done + 1}{of_all}"


def display() -> Receiver:
    """Return a bar if rich is installed and can draw it, else lines.

    Examples
    --------
    >>> type(display()).__name__
    'Lines'
    """
    is_terminal, is_interactive = sys.stderr.isatty(), "IPython" in sys.modules
    if (is_terminal or is_interactive) and importlib.util.find_spec("rich") is not None:
        from rich.console import Console

        console = Console(stderr=True)
        # rich needs ipywidgets in notebooks.
        has_widgets = not console.is_jupyter or importlib.util.find_spec("ipywidgets") is not None
        if (console.is_terminal or console.is_jupyter) and has_widgets and not console.is_dumb_terminal:
            return Bar(console)
    return Lines()


class Outermost:
    """The last event of the outermost work, with times of now.

    Examples
    --------
    >>> outermost = Outermost()
    >>> outermost.at(Event("members", "Committee", 1, 3, 2.0)).n_done
    1
    >>> outermost.at(Event("trees", "Forest", 7, 100, 0.5, within=("member 2 of 3",))).what
    'members'
    """

    def __init__(self) -> None:
        self._last: Event | None = None
        self._received = 0.0

    def at(self, event: Event) -> Event:
        """Return the state of the outermost work at an event of it, or of work within it."""
        now = time.monotonic()
        last = self._last
        if last is None or len(event.within) <= len(last.within):
            self._last, self._received = event, now
            return event
        passed = now - self._received
        left = None if last.seconds_left is None else max(0.0, last.seconds_left - passed)
        return replace(last, seconds=last.seconds + passed, seconds_left=left)

    def is_over(self, event: Event) -> bool:
        """Return whether an event is the last of the outermost work."""
        return event.is_over and event is self._last


class Lines:
    """A display that writes a line to stderr every ten seconds, and one at the end of the work.

    Examples
    --------
    >>> Lines()(Event("trees", "RandomForestClassifier", 1, 100, 0.0))  # the interval has not passed
    """

    def __init__(self) -> None:
        self._written = time.monotonic()
        self._outermost = Outermost()

    def __call__(self, event: Event) -> None:
        """Write a line unless the last one is too recent."""
        shown = self._outermost.at(event)
        now = time.monotonic()
        if self._outermost.is_over(event) or now - self._written >= SECONDS_BETWEEN_LINES:
            self._written = now
            print(f"committee: {shown}", file=sys.stderr)


class Bar:
    """A display with one bar, which rich draws in a terminal or a notebook.

    Parameters
    ----------
    console : rich.console.Console
    """

    def __init__(self, console: Console) -> None:
        from rich.progress import BarColumn, Progress, TextColumn
        from rich.table import Column

        self._progress = Progress(
            BarColumn(bar_width=BAR_WIDTH),
            # This column gets the remaining width.
            TextColumn("{task.description}", table_column=Column(no_wrap=True, ratio=1), markup=False),
            console=console,
            expand=True,
            # A drawing thread would not end on an interruption, and events are frequent enough.
            auto_refresh=False,
        )
        self._outermost = Outermost()
        self._task: TaskID | None = None
        self._drawn = 0.0

    def __call__(self, event: Event) -> None:
        """Update the bar, and draw it unless the last picture is too recent."""
        shown = self._outermost.at(event)
        if self._task is None:
            for finished in list(self._progress.task_ids):
                self._progress.remove_task(finished)
            self._progress.start()
            self._task = self._progress.add_task("", total=1.0)
        text = ", ".join([*shown.words(), *([] if shown.part is None else [shown.part])])
        progress = shown.progress
        self._progress.update(
            self._task, description=text, completed=progress or 0.0, total=None if progress is None else 1.0
        )
        if self._outermost.is_over(event):
            self._task = None
            self._progress.refresh()
            self._progress.stop()
        elif time.monotonic() - self._drawn >= SECONDS_BETWEEN_PICTURES:
            self._drawn = time.monotonic()
            self._progress.refresh()
