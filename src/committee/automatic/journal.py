"""The journal of a run: every fit that is finished, in a folder, so that a run that was killed goes on.

In: models of members and folds. Out: the same, in the next run on the same table with the same folds. The
votes of the models are in the folder too, as a `Bank` keeps them: any rule can be tried on them without the
models. A model whose class cannot rest in a file is fitted again.
"""

from __future__ import annotations

import hashlib
import os
from pathlib import Path
from typing import Any

from committee.assembling.ballots import file_name
from committee.assembling.bank import Bank
from committee.assembling.folds import Fold
from committee.assembling.lesson import Lesson
from committee.assembling.members import Member, take_columns
from committee.assembling.polling import recipe_of
from committee.assembling.votes import dtype_of, votes_of
from committee.boosting.python_rounds import take_rows
from committee.saving import DamagedFile, UntrustedMember, load, save

# A model, the rows that it has not seen, if there are any, and its votes on them.
Result = tuple[Any, Any, Any]


class Journal:
    """Finished fits in a folder.

    Parameters
    ----------
    folder : str or path
        It is made if it is not there. One that holds a run on another table or with other folds is refused.
    lesson : Lesson
    folds : list of (ndarray, ndarray)
        All of them, those of repeated folds one after the other.
    """

    def __init__(self, folder: str | os.PathLike[str], lesson: Lesson, folds: list[Fold]) -> None:
        self.lesson, self.folds, self.folder = lesson, folds, Path(folder)
        self.bank = Bank.of(lesson, folds, folder=folder)

    def find(self, member: Member, number: int) -> Result | None:
        """What came of a fit, if it was finished before."""
        path = self._path(member, number)
        if not path.exists():
            return None
        try:
            model = load(path)
        except (DamagedFile, UntrustedMember):
            return None
        _, held_out = self.folds[number]
        X = take_rows(take_columns(self.lesson.X, member.columns), held_out)
        votes = votes_of(model, X, self.lesson.task, as_scores=True)
        result: Result = model, held_out, votes.astype(dtype_of(self.lesson.task))
        self._keep_votes(member, number, result)
        return result

    def keep(self, member: Member, number: int, result: Result) -> None:
        """Write down what came of a fit."""
        try:
            save(result[0], self._path(member, number))
        except (TypeError, ValueError, ImportError):
            # It cannot rest in a file, and is fitted again.
            return
        self._keep_votes(member, number, result)

    def _keep_votes(self, member: Member, number: int, result: Result) -> None:
        """Put votes into the bank; scores, which are not calibrated yet, are no votes."""
        _, _, votes = result
        is_vote = not self.lesson.are_classes or (votes >= 0).all()
        recipe = recipe_of(member)
        if is_vote and not self.bank.has(member.name, number, recipe):
            self.bank.add(member.name, number, votes, recipe=recipe)

    def _path(self, member: Member, number: int) -> Path:
        """The file of a model: another recipe is another file."""
        digest = hashlib.sha256(recipe_of(member).encode()).hexdigest()[:12]
        return self.folder / f"{file_name((member.name, number))}.{digest}.committee"
