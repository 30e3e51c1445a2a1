"""The bags of a forest, which may have been grown by several fits."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Self

import numpy as np

from committee.sampling.bags import Bags
from committee.saving import Fields


@dataclass(frozen=True, eq=False)
class ForestBags:
    """Which rows the trees of a forest see: fits that go on may draw from other rows than those before.

    Parameters
    ----------
    parts : tuple of (int, Bags)
        The first tree that sees such bags, and these; none if the file of a forest is older than they are.
    """

    parts: tuple[tuple[int, Bags], ...] = ()

    @classmethod
    def take(cls, fields: Fields, n_trees: int) -> Self:
        """Take them from a saved file; an older one does not know them."""
        parts = []
        for each in fields.take("bags", list) if "bags" in fields else []:
            fields.require(isinstance(each, dict), "bags are no named values")
            named = Fields(each, "bags.")
            parts.append((named.integer("first", 0, n_trees - 1), Bags.take(named.fields("bags"))))
            named.finish()
        firsts = [first for first, _ in parts]
        fields.require(not firsts or firsts[0] == 0, "the first tree has no bag")
        fields.require(sorted(set(firsts)) == firsts, "the bags are out of order")
        return cls(tuple(parts))

    def learnt(self) -> list[dict[str, Any]]:
        """What goes into a file."""
        return [{"first": first, "bags": vars(bags)} for first, bags in self.parts]

    def and_then(self, bags: Bags, first: int) -> Self:
        """The same with the bags of the trees from a first one on."""
        if first > 0 and (not self.parts or bags.are_those(self.parts[-1][1])):
            return self
        return type(self)((*self.parts, (first, bags)))

    def check_rows(self, bags: Bags) -> None:
        """Raise unless further bags are drawn from the rows that trees were judged on, if these are known."""
        if not self.parts:
            return
        _, before = self.parts[-1]
        units, weights = (before.units, bags.units), (before.weights, bags.weights)
        if not (np.array_equal(*units) and np.array_equal(*weights)):  # type: ignore[arg-type]
            raise ValueError(
                "The trees of the fit before were judged out of bag on other rows, or on rows of other "
                "weights. With warm_start=True, pass the same X, y and sample_weight, or set oob_score=False "
                "and a rule that does not learn."
            )

    def rows(self, seed: int, n_trees: int) -> list[np.ndarray]:
        """The rows that each tree sees, one as often as it was drawn."""
        if not self.parts:
            raise AttributeError(
                "The file of this forest is of an older version, which kept no bags. Fit the forest again."
            )
        ends = [*(first for first, _ in self.parts[1:]), n_trees]
        return [
            bags.rows(seed, tree)
            for (first, bags), end in zip(self.parts, ends, strict=True)
            for tree in range(first, end)
        ]
