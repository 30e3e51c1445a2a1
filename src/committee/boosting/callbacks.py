"""scikit-learn's callbacks, told of every round.

`sklearn.callback` came with scikit-learn 1.9. With an older one, estimators have no `set_callbacks`.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

from committee import _engine
from committee.running import Progress

try:
    from sklearn.callback import CallbackSupportMixin, with_callbacks
except ImportError:

    class CallbackSupportMixin:  # type: ignore[no-redef]
        """Nothing: there are no callbacks."""

    def with_callbacks(method: Callable[..., Any]) -> Callable[..., Any]:
        """The method, as many calls deep as with callbacks."""

        @functools.wraps(method)
        def called(*arguments: Any, **named: Any) -> Any:
            return method(*arguments, **named)

        return called


__all__ = ["CallbackSupportMixin", "RoundCalls", "after_round", "with_callbacks"]


Model = Callable[[], _engine.Forest]


class RoundCalls:
    """Calls an estimator's callbacks at the beginning and the end of the fit and of each of its rounds.

    Parameters
    ----------
    estimator : estimator with callbacks
    X, y : what it is fitted on
    n_rounds : int
    """

    def __init__(self, estimator: Any, X: Any, y: Any, n_rounds: int) -> None:
        self.about = {"estimator": estimator, "X": X, "y": y}
        self.n_rounds = n_rounds
        self.fit = estimator._init_callback_context(max_subtasks=n_rounds)
        self.fit.call_on_fit_task_begin(**self.about)
        self.round: Any = None
        self.begin()

    def begin(self) -> None:
        """Tell that the next round begins."""
        self.round = self.fit.subcontext(task_name="round")
        self.round.call_on_fit_task_begin(**self.about)

    def tell(self, n_done: int, fitted: Callable[[], dict[str, Any]]) -> bool:
        """Tell that a round has ended and the next begins; True if a callback wants to stop.

        Parameters
        ----------
        n_done : int
            How many rounds have ended.
        fitted : callable
            Gives the attributes of an estimator that has learnt so far; called if a callback asks for it.
        """
        wants_to_stop = self.round.call_on_fit_task_end(**self.about, reconstruction_attributes=fitted)
        self.round = None
        if not wants_to_stop and n_done < self.n_rounds:
            self.begin()
        return wants_to_stop

    def end(self, fitted: Callable[[], dict[str, Any]]) -> None:
        """Tell that the fit has ended, and with it the round that early stopping has kept from running."""
        if self.round is not None:
            self.round.call_on_fit_task_end(**self.about)
        self.fit.call_on_fit_task_end(**self.about, reconstruction_attributes=fitted)


def after_round(
    progress: Progress | None,
    calls: RoundCalls | None,
    fitted: Callable[[int, _engine.Forest], dict[str, Any]],
) -> Callable[[int, Model], bool] | None:
    """What the engine calls after every round, with the number of rounds and a function that gives the model.

    It stops if the answer is True. `fitted` makes a model the attributes of an estimator.
    """
    if progress is None and calls is None:
        return None

    def tell(n_done: int, model: Model) -> bool:
        if progress is not None:
            progress.tell(n_done)
        return calls is not None and calls.tell(n_done, lambda: fitted(n_done, model()))

    return tell
