"""How far long work is: one stream of events, sent to one receiver.

Whatever takes long (trees, rounds, members, folds) is a `Work`, which sends an `Event` at its beginning, now
and then, and at its end. Work within work knows what it is a part of. The events go to the receiver that
`receiving` names, or to a display if `verbose` asks for one, or to nobody, which costs nothing.
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
    """How far some work is.

    Parameters
    ----------
    what : {"cells", "members", "folds", "trees", "rounds", "restarts", "iterations", "bags", "draws"}
        What is made or done.
    name : str
        By whom: the name of the estimator.
    n_done : int
        How many are done, those of a fit before included.
    n_total : int or None
        How many there will be, if that is known.
    seconds : float
        How long it has taken so far.
    score : float or None, default=None
        How good it is so far, if that is known; more is better.
    is_limit : bool, default=False
        Whether there may be fewer than `n_total` at the end.
    is_over : bool, default=False
        Whether this is the last event of the work. It has come to its end, or was stopped.
    within : tuple of str, default=()
        What the work is a part of, the outermost first.
    part : str or None, default=None
        What was done last, if the parts of the work have names.
    seconds_left : float or None, default=None
        How much longer it may take at most, if that is known.
    shown : (str, float) or None, default=None
        The score as people read it: a name, and a number that is positive for losses.

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
    """Send the events of all work within the block to a receiver of your own, whatever `verbose` is.

    Parameters
    ----------
    receiver : callable, or None
        Called with each `Event`, on the thread that does the work. What it raises ends the work. None: nobody
        receives them, and `verbose` decides.

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
    """Say what the work of the block is a part of: "member 3 (GaussianNB)", "fold 2".

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
def beside() -> Iterator[None]:
    """Tell what begins in the block beside the part that the work is at: parts run side by side, by name.

    Examples
    --------
    >>> with receiving(print), Work("folds", "Forest", 2), beside(), within("fold 2 of 2"):
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


def tell(event: Event) -> None:
    """Pass on an event from elsewhere, such as another process, as one of the work at hand."""
    receiver = RECEIVER.get()
    if receiver is not None:
        receiver(replace(event, within=(*WITHIN.get(), *event.within)))


class Work:
    """Some long work: a context within which it is done. Work that begins there is told as a part of it.

    Parameters
    ----------
    what, name, n_total, is_limit : see Event
    n_before : int, default=0
        How many were done by a fit before.
    verbose : int, default=0
        Whether a display is wanted if nobody else receives the events.

    Examples
    --------
    >>> with Work("trees", "RandomForestClassifier", 100) as work:
    ...     work.tell(3)  # nobody listens
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
    def is_heard(self) -> bool:
        """Whether anybody receives the events."""
        return self._receiver is not None

    def tell(
        self,
        n_done: int,
        score: float | None = None,
        *,
        part: str | None = None,
        seconds_left: float | None = None,
        shown: tuple[str, float] | None = None,
    ) -> None:
        """Report how many are done, those of a fit before not counted, and how good it is so far."""
        n_there = self._n_before + n_done
        if self._receiver is not None and (n_there, score) != (self._event.n_done, self._event.score):
            self._event = replace(
                self._event, n_done=n_there, score=score, part=part, seconds_left=seconds_left, shown=shown
            )
            WITHIN.set((*self._event.within, self._part()))
            self._send()

    def _send(self) -> None:
        if self._receiver is not None:
            self._event = replace(self._event, seconds=time.monotonic() - self._began)
            self._receiver(self._event)

    def _part(self) -> str:
        """What begins now is a part of."""
        of_all = "" if self._event.n_total is None else f" of {self._event.n_total}"
        return f"{self._event.what.removesuffix('s')} {self._event.n_done + 1}{of_all}"


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

    def __init__(self, console: Console) -> None:
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
        self._bars: dict[tuple[str, ...], TaskID] = {}
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
