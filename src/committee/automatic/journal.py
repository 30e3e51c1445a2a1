"""The journal of a run: finished fits in a folder, so that a run that was killed can resume.

In: models of members and folds. Out: the same, in the next run on the same table with the same folds. The
folder is also a `Bank` of votes, so any rule can be tried on them without the models. A model whose class
cannot be saved is fitted again.
"""

from __future__ import annotations

import hashlib
import json
import os
import warnings
from pathlib import Path

import numpy as np
from sklearn.base import BaseEstimator

from committee.assembling.bank.ballot import file_name
from committee.assembling.bank.recipe import recipe_of
from committee.assembling.bank.vote_bank import Bank
from committee.assembling.member_fits import votes_and_labels
from committee.assembling.named_members import Member
from committee.automatic.limits import Result
from committee.automatic.portfolio import library_of
from committee.members.member_votes import gives_scores
from committee.members.training_set import TrainingSet
from committee.running.resources import one_blas_thread
from committee.saving import DamagedFile, UntrustedMember, load, save
from committee.saving.format.file_replacement import replace_file
from committee.table.schema import take_rows
from committee.table.source import take_columns
from committee.votes.folds import Fold

SKIPPED = "skipped.json"


def libraries_of(member: Member) -> list[str]:
    """Return the libraries that a run trusts for a member: that of a booster that the caller named."""
    library = library_of(member.estimator)
    return [] if library is None else [library]


class Journal:
    """Finished fits in a folder.

    Parameters
    ----------
    folder : str or path
        Created if it does not exist. A run on another table or with other folds raises an error.
    training : TrainingSet
    folds : list of (ndarray, ndarray)
        The folds of all repeats.
    """

    def __init__(self, folder: str | os.PathLike[str], training: TrainingSet, folds: list[Fold]) -> None:
        # A bank stores row numbers with one dtype.
        self.folds = [(train.astype(np.int64), held_out.astype(np.int64)) for train, held_out in folds]
        self.training, self.folder = training, Path(folder)
        self.bank = Bank.of(training, self.folds, folder=folder)
        self._warned: set[str] = set()

    def check(self, member: Member) -> None:
        """Raise if the folder has votes of another member of this name."""
        self.bank.has(member.name, 0, recipe_of(member))

    def skipped(self, memory_limit: float | None) -> list[str]:
        """Return the members that this run skipped with the same memory limit."""
        try:
            known = json.loads((self.folder / SKIPPED).read_text())
            return list(known["skipped"]) if known["memory_limit"] == memory_limit else []
        except (OSError, ValueError, TypeError, KeyError):
            return []

    def keep_skipped(self, names: list[str], memory_limit: float | None) -> None:
        """Store the skipped members, so that a resumed run skips the same."""
        text = json.dumps({"memory_limit": memory_limit, "skipped": names}, indent=1)
        replace_file(self.folder / SKIPPED, lambda temporary: temporary.write_text(text))

    def find(self, member: Member, number: int) -> Result | None:
        """Return the result of a fit that was finished before, or None."""
        model = self._load(member, number)
        if model is None:
            return None
        _, held_out = self.folds[number]
        if self.bank.has(member.name, number, recipe_of(member)):
            ballot = self.bank.ballot(member.name, number)
            return model, held_out, ballot.votes, ballot.labels
        X = take_rows(take_columns(self.training.X, member.columns), held_out)
        with one_blas_thread():
            as_scores = gives_scores(member.estimator)
            cast = votes_and_labels(model, X, self.training.task, member.estimator, as_scores=as_scores)
        result: Result = model, held_out, *cast
        self._keep_votes(member, number, result)
        return result

    def keep(self, member: Member, number: int, result: Result) -> None:
        """Store the result of a fit."""
        self._save(member, number, result[0])
        self._keep_votes(member, number, result)

    def whole_model(self, member: Member) -> BaseEstimator | None:
        """Return the model that was fitted on all rows before, or None."""
        return self._load(member, None)

    def keep_whole(self, member: Member, model: BaseEstimator) -> None:
        """Store a model that was fitted on all rows."""
        self._save(member, None, model)

    def _keep_votes(self, member: Member, number: int, result: Result) -> None:
        """Add votes or scores to the bank."""
        _, _, votes, labels = result
        recipe = recipe_of(member)
        if not self.bank.has(member.name, number, recipe):
            are_scores = self.training.are_classes and gives_scores(member.estimator)
            self.bank.add(member.name, number, votes, labels=labels, recipe=recipe, are_scores=are_scores)

    def _load(self, member: Member, number: int | None) -> BaseEstimator | None:
        """Load the model of a fold, or of all rows if there is no number. Return None if there is none."""
        path = self._path(member, number)
        if not path.exists():
            return None
        try:
            return load(path, trusted=libraries_of(member))
        except DamagedFile:
            return None
        except UntrustedMember as error:
            self._warn(member, error)
            return None

    def _save(self, member: Member, number: int | None, model: BaseEstimator) -> None:
        try:
            save(model, self._path(member, number))
        except (TypeError, ValueError, ImportError) as error:
            self._warn(member, error)

    def _warn(self, member: Member, error: Exception) -> None:
        """Warn once that the models of a member cannot be stored in the folder."""
        if member.name not in self._warned:
            self._warned.add(member.name)
            reason = " ".join(str(error).split())
            warnings.warn(
                f"A resumed run will fit member {member.name!r} again: {reason}",
                RuntimeWarning,
                stacklevel=5,
            )

    def _path(self, member: Member, number: int | None) -> Path:
        """Return the path of a model. Each recipe has its own file."""
        digest = hashlib.sha256(recipe_of(member).encode()).hexdigest()[:12]
        return self.folder / f"{file_name((member.name, number))}.{digest}.committee"
