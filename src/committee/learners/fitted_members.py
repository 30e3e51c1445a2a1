"""The trees of an ensemble as estimators of their own."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, overload


class Members(Sequence[Any]):
    """A view of an ensemble's trees; each is made an estimator when it is asked for.

    Parameters
    ----------
    ensemble : fitted estimator
    n_members : int
    take : callable
        Makes the member at a position: take(ensemble, position).

    Examples
    --------
    >>> from committee import RandomForestClassifier
    >>> forest = RandomForestClassifier(3, random_state=0).fit([[1], [2], [8], [9]], [0, 0, 1, 1])
    >>> forest.estimators_, forest.estimators_[-1].n_features_in_
    (<3 members of RandomForestClassifier>, 1)
    """

    def __init__(self, ensemble: Any, n_members: int, take: Callable[[Any, int], Any]) -> None:
        self.ensemble, self.n_members, self.take = ensemble, n_members, take

    def __len__(self) -> int:
        return self.n_members

    @overload
    def __getitem__(self, index: int) -> Any: ...
    @overload
    def __getitem__(self, index: slice) -> list[Any]: ...
    def __getitem__(self, index: int | slice) -> Any:
        positions = range(len(self))[index]
        if isinstance(positions, range):
            return [self.take(self.ensemble, position) for position in positions]
        return self.take(self.ensemble, positions)

    def __repr__(self) -> str:
        return f"<{len(self)} members of {type(self.ensemble).__name__}>"
