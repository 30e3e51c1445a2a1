"""A rule as one more learner of a study: what it decides by the votes that the store has, without training.

In: a rule and the names of learners. Out: for each table and resample that all of them have finished, the
outcome of a cell, with the time that the members took before it.
"""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Self

import numpy as np

from committee.assembling.members import Member, seeded_by_name
from committee.assembling.recipes import written_out
from committee.combining.naming import as_rule
from committee.evaluating.cells import Cell, Outcome
from committee.evaluating.comparison import listed
from committee.evaluating.store import Store, TableRecord

Seconds = tuple[float, float, float]


@dataclass(frozen=True, eq=False)
class AddedRule:
    """A rule and whose votes it combines.

    Parameters
    ----------
    title : str
        What the study calls it.
    rule : Rule
    members : list of str
    """

    title: str
    rule: Any
    members: list[str]

    @classmethod
    def of(cls, rule: Any, members: Sequence[str], name: str | None) -> Self:
        """Check a rule, and name it if nobody has.

        Examples
        --------
        >>> AddedRule.of("cawpe", ["rf", "gb"], None).title
        'cawpe(rf+gb)'
        """
        made, names = as_rule(rule), list(members)
        title = name or f"{rule if isinstance(rule, str) else type(made).__name__}({'+'.join(names)})"
        if made._looks_at_X():
            raise ValueError(f"{title} looks at the rows, and a study keeps votes. Use another rule.")
        if not names:
            raise ValueError("members must be at least one learner of the study. Got none.")
        return cls(title, made, names)

    def introduce(self, store: Store) -> None:
        """Write the rule down as a learner of the tasks that all members are for."""
        recipes = store.recipes()
        for each in self.members:
            if each not in {known for known, _ in recipes}:
                raise ValueError(f"There is no learner {each!r} in the study.")
        for task in sorted({table.task for table in store.tables().values()}):
            if all((each, task) in recipes for each in self.members):
                of = listed([recipes[each, task] for each in self.members])
                store.add_learner(self.title, task, f"{written_out(self.rule)} of {of}")

    def open_cells(self, finished: Mapping[Cell, Seconds]) -> list[Cell]:
        """The cells that it can decide and has not, in their order."""
        cells = {Cell(each.resample, each.table, self.title) for each in finished} - finished.keys()
        return [cell for cell in sorted(cells) if all(part in finished for part in self.parts(cell))]

    def parts(self, cell: Cell) -> list[Cell]:
        """The cells of the members."""
        return [Cell(cell.resample, cell.table, each) for each in self.members]

    def decide(
        self,
        store: Store,
        finished: Mapping[Cell, Seconds],
        cell: Cell,
        table: TableRecord,
        is_test: np.ndarray,
    ) -> Outcome:
        """What it decides in a cell, after it has learnt from the honest votes of the members."""
        parts = self.parts(cell)
        honest = [store.votes(part, "honest", table) for part in parts]
        if self.rule.needs_fit and any(each is None for each in honest):
            raise ValueError("The rule learns from honest votes, and the study has none: its cv is None.")
        rule: Any = seeded_by_name(Member(self.title, self.rule), cell.resample).estimator
        try:
            began = time.perf_counter()
            if rule.needs_fit:
                stack = np.stack([each for each in honest if each is not None])
                is_voted = np.isfinite(stack).all(axis=(0, 2))
                rule.fit(stack[:, is_voted], table.y[~is_test][is_voted], classes=table.classes)
            fitted = time.perf_counter()
            cast = np.stack([store.votes(part, "test", table) for part in parts])  # type: ignore[misc]
            votes = rule.combine(cast)
            ended = time.perf_counter()
            outcome = Outcome(votes, None, fitted - began, ended - fitted, ended - began)
        except Exception as error:
            outcome = Outcome.failed(error)
        return outcome.after([finished[part] for part in parts], with_folds=rule.needs_fit)
