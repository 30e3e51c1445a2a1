"""What a fitted rule keeps in a file, and how it comes back: attributes from the list of its class."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, ClassVar

from committee.parameters import check_parameters
from committee.saving import DamagedFile, Fields, Saveable
from committee.saving.attributes import Kind, Sizes, Wrong, count, sentence

# What every fitted rule knows.
SHAPE: Mapping[str, Kind] = {"n_members_": count("members"), "n_outputs_": count("outputs")}


class KeptRule(Saveable):
    """A rule whose fitted attributes are on a list, each with what it may be."""

    # In the order in which they are checked; None if it cannot be saved once it is fitted.
    kept: ClassVar[Mapping[str, Kind] | None] = None
    # Attributes that files know by another name: what it means there never changes.
    names_in_files: ClassVar[Mapping[str, str]] = {}
    tasks: ClassVar[tuple[str, ...]]

    n_members_: int
    n_outputs_: int

    if TYPE_CHECKING:

        def __getattr__(self, name: str) -> Any:
            """What a fit leaves is on the list."""

    def _check_parameters(self) -> None:
        check_parameters(self)

    def _has_learnt(self) -> bool:
        return hasattr(self, "n_members_")

    def _learnt(self) -> dict[str, Any]:
        return {self.names_in_files.get(name, name): getattr(self, name) for name in self._kinds()}

    def _take_learnt(self, fields: Fields) -> None:
        sizes: Sizes = {}
        for name, kind in self._kinds().items():
            value = fields.take(self.names_in_files.get(name, name), object)
            try:
                kind(value, sizes)
            except Wrong as fault:
                raise DamagedFile(f"{sentence(name, fault)}.") from fault
            setattr(self, name, value)
        task = "classification" if self.n_outputs_ > 1 else "regression"
        fields.require(self.n_members_ > 0 and self.n_outputs_ > 0, "there are no members or no outputs")
        fields.require(task in self.tasks, f"a {type(self).__name__} is no rule for {task}")
        self._check_learnt()

    def _check_learnt(self) -> None:
        """Raise `DamagedFile` unless what was taken fits together, beyond what the kinds say."""

    def _kinds(self) -> Mapping[str, Kind]:
        if self.kept is None:
            raise TypeError(f"A fitted {type(self).__name__} cannot be saved. Save it before it is fitted.")
        return {**SHAPE, **self.kept}
