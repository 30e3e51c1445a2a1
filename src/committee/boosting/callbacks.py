"""scikit-learn's callbacks, told of every round.

`sklearn.callback` came with scikit-learn 1.9. With an older one, estimators have no `set_callbacks`.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

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


__all__ = ["CallbackSupportMixin", "RoundCalls", "with_callbacks"]


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
