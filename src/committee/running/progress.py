"""The progress of long work: one stream of events, sent to one receiver.

Long work (on trees, rounds, members, folds) is a `Work`, which sends an `Event` at its start, at intervals,
and at its end. Nested work names the work that contains it. The receiver is the one of `receiving`, or else a
display if `verbose` is set. Without a receiver, no event is made.
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

SECONDS_BETWEEN_LINES = 2.0
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

    Examples
    --------
    >>> str(Event("trees", "RandomForestClassifier", 7, 100, 0.52, within=("member 2 of 5",)))
    'member 2 of 5: 7 of 100 trees, 0.5 s'
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

    def __str__(self) -> str:
        most = "at most " if self.is_limit else ""
        of_all = "" if self.n_total is None else f" of {most}{self.n_total}"
        name, number = self.shown or ("score", self.score)
        score = "" if number is None else f", {name} {number:.6g}"
        left = "" if self.seconds_left is None else f", {self.seconds_left:.0f} s left"
        part = "" if self.part is None else f" ({self.part})"
        done = f"{self.n_done}{of_all} {self.what}{part}{score}, {self.seconds:.1f} s{left}"
        return ": ".join([*self.within, done])


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
    ) -> None:
        """Report the number of finished units, without those of an earlier fit, and the score so far."""
        n_done += self._n_before
        if self._receiver is not None and (n_done, score) != (self._event.n_done, self._event.score):
            self._event = replace(
                self._event, n_done=n_done, score=score, part=part, seconds_left=seconds_left, shown=shown
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
    """Return bars if rich is installed and can draw them, else lines.

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
            return Bars(console)
    return Lines()


class Lines:
    """A display that writes lines to stderr at intervals, and one at the end of all work.

    Examples
    --------
    >>> Lines()(Event("trees", "RandomForestClassifier", 1, 100, 0.0))  # the interval has not passed
    """

    def __init__(self) -> None:
        self._written = time.monotonic()

    def __call__(self, event: Event) -> None:
        """Write a line unless the last one is too recent."""
        is_last = event.is_over and not event.within
        if is_last or time.monotonic() - self._written >= SECONDS_BETWEEN_LINES:
            self._written = time.monotonic()
            print(f"committee: {event}", file=sys.stderr)


class Bars:
    """A display with one bar for each work in progress. rich draws the bars.

    Parameters
    ----------
    console : rich.console.Console
    """

    def __init__(self, console: Console) -> None:
        from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn
        from rich.table import Column

        self._progress = Progress(
            TextColumn("{task.description}", table_column=Column(no_wrap=True)),
            BarColumn(bar_width=BAR_WIDTH),
            TimeElapsedColumn(),
            # This column gets the remaining width.
            TextColumn("{task.fields[done]}", table_column=Column(no_wrap=True, ratio=1)),
            console=console,
            expand=True,
            # A drawing thread would not end on an interruption, and events are frequent enough.
            auto_refresh=False,
        )
        self._bars: dict[tuple[str, ...], TaskID] = {}
        self._drawn = 0.0

    def __call__(self, event: Event) -> None:
        """Update the bars, and draw them unless the last picture is too recent."""
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
    """Describe the progress next to a bar, the most important words first, for narrow windows.

    Examples
    --------
    >>> in_words(Event("folds", "CommitteeClassifier", 7, 27, 14.0, -0.46, shown=("log loss", 0.46)))
    '7/27, about 40 s left, best log loss 0.46'
    """
    of_all = "" if event.n_total is None else f"/{event.n_total}"
    words = [f"{event.n_done}{of_all}"]
    if event.seconds_left is not None:
        words.append(f"{event.seconds_left:.0f} s left")
    elif event.n_total is not None and 0 < event.n_done < event.n_total:
        words.append(f"about {event.seconds * (event.n_total / event.n_done - 1):.0f} s left")
    if event.shown is not None:
        words.append("best {} {:.4g}".format(*event.shown))
    elif event.score is not None:
        words.append(f"best {event.score:.4g}")
    if event.part is not None:
        words.append(event.part)
    return ", ".join(words)
