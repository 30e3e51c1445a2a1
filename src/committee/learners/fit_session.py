"""What every long fit does around its work: progress, scikit-learn's callbacks, interruption.

`sklearn.callback` came with scikit-learn 1.9. With an older one, estimators have no `set_callbacks`.
"""

from __future__ import annotations

import functools
import warnings
from collections.abc import Callable
from typing import Any

from committee.running import Work
from committee.running.deadline import has_deadline, is_time_up

try:
    from sklearn.callback import CallbackSupportMixin as CallbackSupportMixin
    from sklearn.callback import with_callbacks as with_callbacks
except ImportError:

    class CallbackSupportMixin:  # type: ignore[no-redef]
        """Nothing: there are no callbacks."""

    def with_callbacks(method: Callable[..., Any]) -> Callable[..., Any]:
        """The method, as many calls deep as with callbacks."""

        @functools.wraps(method)
        def called(*arguments: Any, **named: Any) -> Any:
            return method(*arguments, **named)

        return called


Fitted = Callable[[], dict[str, Any]]


class TaskCalls:
    """Calls an estimator's callbacks at the beginning and the end of the fit and of each of its tasks.

    Parameters
    ----------
    estimator : estimator with callbacks
    X, y : what it is fitted on
    name : {"tree", "round", "member", "fold"}
        Of a task.
    n_tasks : int or None
        How many there will be, if that is known.
    """

    def __init__(self, estimator: Any, X: Any, y: Any, name: str, n_tasks: int | None) -> None:
        self.about = {"estimator": estimator, "X": X, "y": y}
        self.name, self.n_tasks = name, n_tasks
        self.n_ended = 0
        self.fit = estimator._init_callback_context(max_subtasks=n_tasks)
        self.fit.call_on_fit_task_begin(**self.about)
        self.task: Any = None
        self.begin()

    def begin(self) -> None:
        """Tell that the next task begins."""
        self.task = self.fit.subcontext(task_name=self.name)
        self.task.call_on_fit_task_begin(**self.about)

    def tell(self, n_done: int, fitted: Fitted | None = None) -> bool:
        """Tell that tasks have ended and the next begins; True if a callback wants to stop.

        Parameters
        ----------
        n_done : int
            How many tasks have ended: more than one since the last time if threads do them side by side.
        fitted : callable, default=None
            Gives the attributes of an estimator that has learnt so far; called if a callback asks for it.
        """
        wants_to_stop = False
        # After a callback has stopped the fit, threads may still end what they were doing.
        while self.n_ended < n_done and self.task is not None:
            self.n_ended += 1
            is_last = self.n_ended == n_done
            attributes = fitted if is_last else None
            wants_to_stop |= self.task.call_on_fit_task_end(
                **self.about, reconstruction_attributes=attributes
            )
            self.task = None
            if self.n_ended != self.n_tasks and not (is_last and wants_to_stop):
                self.begin()
        return wants_to_stop

    def end(self, fitted: Fitted) -> None:
        """Tell that the fit has ended, and with it the task that early stopping has kept from running."""
        if self.task is not None:
            self.task.call_on_fit_task_end(**self.about)
        self.fit.call_on_fit_task_end(**self.about, reconstruction_attributes=fitted)


def task_calls(estimator: Any, X: Any, y: Any, name: str, n_tasks: int | None) -> TaskCalls | None:
    """The calls of an estimator's callbacks; None if it has none."""
    return TaskCalls(estimator, X, y, name, n_tasks) if hasattr(estimator, "_skl_callbacks") else None


def hook_of(work: Work, calls: TaskCalls | None) -> Callable[[int], bool] | None:
    """What the engine calls with the number of tasks that are done; it stops if the answer is True.

    None if nobody wants to know, and nobody looks at the clock.
    """
    if not work.has_receiver and calls is None and not has_deadline():
        return None
    tell = telling(work, calls)
    return lambda n_done: tell(n_done) or is_time_up()


def telling(work: Work, calls: TaskCalls | None) -> Callable[[int], bool]:
    """What is called with the number of tasks that are done; True if a callback wants to stop."""

    def tell(n_done: int) -> bool:
        work.report(n_done)
        return calls is not None and calls.tell(n_done)

    return tell


class FitFrame:
    """What a fit that makes many trees or members does around its work.

    Parameters
    ----------
    estimator : estimator
    X, y : what it is fitted on
    unit : {"tree", "round", "member"}
        What it makes.
    n_total : int
        How many there will be after the fit.
    n_before : int, default=0
        How many there are before.
    is_limit : bool, default=False
        Whether there may be fewer in the end.
    n_tasks : int, default=None
        How many callbacks are told of. None is those that are made, if there cannot be fewer.
    """

    def __init__(
        self,
        estimator: Any,
        X: Any,
        y: Any,
        unit: str,
        n_total: int,
        *,
        n_before: int = 0,
        is_limit: bool = False,
        n_tasks: int | None = None,
    ) -> None:
        self.estimator = estimator
        n_made = None if is_limit else n_total - n_before
        self.calls = task_calls(estimator, X, y, unit, n_made if n_tasks is None else n_tasks)
        name, verbose = type(estimator).__name__, estimator.verbose
        self.work = Work(f"{unit}s", name, n_total, n_before=n_before, is_limit=is_limit, verbose=verbose)

    @property
    def hook(self) -> Callable[[int], bool] | None:
        """What the work calls with the number that is made, within `work`; it stops if the answer is True."""
        return hook_of(self.work, self.calls)

    def end(self, interruption: BaseException | None, n_made: int, keep: Callable[[], object]) -> None:
        """Keep what is made, then raise what has ended the work, or call the callbacks.

        An interrupted fit keeps whole members if a warm start can add the others.
        """
        is_warm = getattr(self.estimator, "warm_start", False)
        if interruption is None or (is_warm and isinstance(interruption, KeyboardInterrupt) and n_made > 0):
            keep()
        if interruption is not None:
            raise interruption
        if self.calls:
            self.calls.end(lambda: vars(self.estimator))


def warn_of_no_more(what: str, stacklevel: int = 4) -> None:
    """Warn, from a fit, that a warm start has as many trees or members as it wants."""
    message = f"Warm-start fitting without increasing n_estimators does not fit new {what}."
    warnings.warn(message, stacklevel=stacklevel)
