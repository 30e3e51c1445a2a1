"""The journal of a run: every fit that is finished, in a folder, so that a run that was killed goes on.

In: models of members and folds. Out: the same, in the next run on the same table with the same folds. The
votes of the models are in the folder too, as a `Bank` keeps them: any rule can be tried on them without the
models. A model whose class cannot rest in a file is fitted again.
"""

from __future__ import annotations

import hashlib
import json
import os
import warnings
from pathlib import Path

import numpy as np

from committee.assembling.bank.ballot import file_name
from committee.assembling.bank.recipe import recipe_of
from committee.assembling.bank.vote_bank import Bank
from committee.assembling.named_members import Member
from committee.automatic.limits import Result
from committee.automatic.portfolio import library_of
from committee.members.member_votes import gives_scores, votes_of
from committee.members.training_set import TrainingSet
from committee.running.resources import one_blas_thread
from committee.saving import DamagedFile, UntrustedMember, load, save
from committee.saving.format.file_replacement import replace_file
from committee.table.schema import take_rows
from committee.table.source import take_columns
from committee.votes.folds import Fold
from committee.votes.vote_arrays import dtype_of

SKIPPED = "skipped.json"


def libraries_of(member: Member) -> list[str]:
    """What a run may open of a member: the caller trusts the library of a booster that he names."""
    library = library_of(member.estimator)
    return [] if library is None else [library]


class Journal:
    """Finished fits in a folder.

    Parameters
    ----------
    folder : str or path
        It is made if it is not there. One that holds a run on another table or with other folds is refused.
    training : TrainingSet
    folds : list of (ndarray, ndarray)
        All of them, those of repeated folds one after the other.
    """

    def __init__(self, folder: str | os.PathLike[str], training: TrainingSet, folds: list[Fold]) -> None:
        # A bank has one type for the numbers of rows.
        self.folds = [(train.astype(np.int64), held_out.astype(np.int64)) for train, held_out in folds]
        self.training, self.folder = training, Path(folder)
        self.bank = Bank.of(training, self.folds, folder=folder)
        self.told: set[str] = set()

    def check(self, member: Member) -> None:
        """Raise if the folder has votes of another member of this name."""
        self.bank.has(member.name, 0, recipe_of(member))

    def skipped(self, memory_limit: float | None) -> list[str]:
        """The members that this run has skipped for want of memory, if it had the same limit."""
        try:
            known = json.loads((self.folder / SKIPPED).read_text())
            return list(known["skipped"]) if known["memory_limit"] == memory_limit else []
        except (OSError, ValueError, TypeError, KeyError):
            return []

    def keep_skipped(self, names: list[str], memory_limit: float | None) -> None:
        """Write down the skipped members, so that a resumed run does not choose again."""
        text = json.dumps({"memory_limit": memory_limit, "skipped": names}, indent=1)
        replace_file(self.folder / SKIPPED, lambda temporary: temporary.write_text(text))

    def find(self, member: Member, number: int) -> Result | None:
        """What came of a fit, if it was finished before."""
        path = self._path(member, number)
        if not path.exists():
            return None
        try:
            model = load(path, trusted=libraries_of(member))
        except DamagedFile:
            return None
        except UntrustedMember as error:
            self._tell(member, error)
            return None
        _, held_out = self.folds[number]
        if self.bank.has(member.name, number, recipe_of(member)):
            return model, held_out, self.bank.ballot(member.name, number).votes
        X = take_rows(take_columns(self.training.X, member.columns), held_out)
        with one_blas_thread():
            votes = votes_of(model, X, self.training.task, as_scores=gives_scores(member.estimator))
        result: Result = model, held_out, votes.astype(dtype_of(self.training.task))
        self._keep_votes(member, number, result)
        return result

    def keep(self, member: Member, number: int, result: Result) -> None:
        """Write down what came of a fit."""
        try:
            save(result[0], self._path(member, number))
        except (TypeError, ValueError, ImportError) as error:
            self._tell(member, error)
        self._keep_votes(member, number, result)

    def _keep_votes(self, member: Member, number: int, result: Result) -> None:
        """Put votes, or scores, into the bank."""
        _, _, votes = result
        recipe = recipe_of(member)
        if not self.bank.has(member.name, number, recipe):
            are_scores = self.training.are_classes and gives_scores(member.estimator)
            self.bank.add(member.name, number, votes, recipe=recipe, are_scores=are_scores)

    def _tell(self, member: Member, error: Exception) -> None:
        """Say once that the models of a member cannot rest in the folder."""
        if member.name not in self.told:
            self.told.add(member.name)
            reason = " ".join(str(error).split())
            warnings.warn(
                f"A run that goes on will fit member {member.name!r} again: {reason}",
                RuntimeWarning,
                stacklevel=5,
            )

    def _path(self, member: Member, number: int) -> Path:
        """The file of a model: another recipe is another file."""
        digest = hashlib.sha256(recipe_of(member).encode()).hexdigest()[:12]
        return self.folder / f"{file_name((member.name, number))}.{digest}.committee"
