"""Store ballots in memory or in a folder, and compute honest votes from them.

In: a ballot for each fitted model. Out: honest votes and votes on test rows. In a folder, each ballot is a
separate file that is written completely or not at all. A process that is killed only loses its current fit,
and several processes can add ballots at the same time.
"""

from __future__ import annotations

import os
import warnings
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path

import numpy as np

from committee.assembling.bank.ballot import SUFFIX, Ballot, Place, Poll, file_name
from committee.assembling.calibration import Curves
from committee.combining.fixed_rules import one_hot
from committee.saving.format.file_errors import DamagedFile
from committee.saving.predictors.score_votes import METHODS, folded_scores, for_highest
from committee.votes.honest_votes import HonestVotes
from committee.votes.vote_arrays import dtype_of, label_dtype

POLL_FILE = "bank.poll"
# A function that turns the contents of ballots into votes, with the rows of the table, or None for test rows.
Voting = Callable[[np.ndarray, np.ndarray | None], np.ndarray]


class BallotBox:
    """The ballots of one poll, including files that other processes add to the folder.

    Parameters
    ----------
    poll : Poll
    folder : str or path, default=None
        None stores ballots in memory.
    calibrate : {"isotonic", "sigmoid", "temperature"} or None, default=None
        How scores become votes. With None, votes are crisp.
    """

    def __init__(
        self, poll: Poll, folder: str | os.PathLike[str] | None = None, calibrate: str | None = None
    ) -> None:
        if calibrate is not None and calibrate not in METHODS:
            raise ValueError(f"calibrate must be one of {', '.join(METHODS)}, or None. Got {calibrate!r}.")
        self.folder = None if folder is None else Path(folder)
        self.poll = poll if self.folder is None else poll_of_folder(poll, self.folder)
        self.calibrate = calibrate
        self._kept: dict[Place, Ballot] = {}
        # The files that were read: size and time, and the place and recipe of each valid file.
        self._looked_at: dict[str, tuple[tuple[int, int], tuple[Place, str] | None]] = {}

    @property
    def members(self) -> list[str]:
        """The sorted names of the members that have voted on every row or out of bag."""
        return sorted(name for name, folds in self.folds_by_member().items() if self._are_whole(folds))

    def put(self, ballot: Ballot) -> None:
        """Store a ballot. Warn if its member has now voted on all rows and may know their answers."""
        ballot.check(self.poll)
        ballot = ballot.in_shares()
        before = self.folds_by_member().get(ballot.member)
        if before and self.take((ballot.member, before[0])).are_scores != ballot.are_scores:
            raise ValueError(f"Member {ballot.member!r} casts votes in one fold and scores in another.")
        if self.folder is None:
            self._kept[ballot.place] = ballot
        else:
            ballot.write(self.folder, self.poll)

    def take(self, place: Place) -> Ballot:
        """Return a ballot. Votes in a file are mapped into memory."""
        if self.folder is None:
            return self._kept[place]
        return Ballot.read(self.folder / file_name(place), self.poll)

    def has(self, member: str, fold: int | None, recipe: str) -> bool:
        """Return whether there is a ballot. Raise if the member has another recipe or kind of votes."""
        known = self._recipes()
        for (name, voted_in), other in known.items():
            if name != member:
                continue
            if other != recipe:
                raise ValueError(
                    f"There are votes of another member {member!r}, made by another recipe. Give this member "
                    "another name."
                )
            if (voted_in is None) != (fold is None):
                where, too = ("out of bag", "in folds") if voted_in is None else ("in folds", "out of bag")
                raise ValueError(
                    f"Member {member!r} has voted {where}, and cannot vote {too} as well. Give this member "
                    "another name."
                )
        return (member, fold) in known

    def chosen(self, names: Iterable[str] | None) -> list[str]:
        """Check names of members. None returns all members that have voted on every row."""
        whole = self.members
        if names is None:
            if not whole:
                raise ValueError("No member has voted on every row yet.")
            return whole
        if isinstance(names, str):
            raise ValueError(f"names must be a list of members, or None. Got {names!r}: pass [{names!r}].")
        chosen = list(names)
        for name in chosen:
            if name not in whole:
                raise ValueError(f"Member {name!r} has not voted on every row. Members that have: {whole}.")
        return chosen

    def folds_by_member(self) -> dict[str, list[int | None]]:
        """Return the folds in which each member has voted, in order. None (out of bag) is the first."""
        found: dict[str, list[int | None]] = {}
        in_order = sorted(self._recipes(), key=lambda place: -1 if place[1] is None else place[1])
        for member, fold in in_order:
            found.setdefault(member, []).append(fold)
        return found

    def honest(self, chosen: list[str]) -> HonestVotes:
        """Return the mean honest vote of each member, on the rows that all members have voted on."""
        honest = self._honest_scores(chosen)
        for place, name in enumerate(chosen):
            if self._calibrates(name):
                codes = honest.votes[place].argmax(axis=1)
                honest.labels[place] = codes.astype(label_dtype(honest.n_outputs))
            honest.votes[place] = self._from_scores(name)(honest.votes[place], honest.rows)
        return honest

    def test_votes(self, chosen: list[str], n_folds: int, *, as_labels: bool = False) -> np.ndarray:
        """Return the test votes by fold, of shape (n_folds, n_members, n_rows, n_outputs).

        With `as_labels`, members with labels vote for the class that they predict.
        """
        poll = self.poll
        if not poll.test:
            raise ValueError("The bank has no test rows. Make it with Bank(X, y, X_test=...).")
        shape = (n_folds, len(chosen), poll.n_test_rows, poll.task.n_outputs)
        votes: np.ndarray = np.empty(shape, dtype=dtype_of(poll.task))
        for place, name in enumerate(chosen):
            cast, predicted = [], []
            for ballot in self._ballots(name):
                if ballot.test_votes is None:
                    raise ValueError(f"Member {name!r} has not voted on the test rows in fold {ballot.fold}.")
                cast.append(ballot.test_votes)
                if ballot.test_labels is not None:
                    predicted.append(one_hot(ballot.test_labels, poll.task.n_outputs))
            as_votes = self._from_scores(name)
            if as_labels and self._calibrates(name):
                votes[:, place] = [for_highest(mean) for mean in folded_scores(cast, n_folds)]
                continue
            if as_labels and len(predicted) == len(cast):
                cast = predicted
            votes[:, place] = [as_votes(mean, None) for mean in folded_scores(cast, n_folds)]
        return votes

    def _recipes(self) -> dict[Place, str]:
        """Return the places of all ballots, and the recipe of each."""
        if self.folder is None:
            return {place: ballot.recipe for place, ballot in self._kept.items()}
        looked_at = map(self._look_at, sorted(self.folder.glob(f"*{SUFFIX}")))
        return dict(found for found in looked_at if found is not None)

    def _look_at(self, path: Path) -> tuple[Place, str] | None:
        """Return the place and recipe of a valid file, else None. A file is read again after a change."""
        state = path.stat()
        stamp = state.st_size, state.st_mtime_ns
        before = self._looked_at.get(path.name)
        if before is not None and before[0] == stamp:
            return before[1]
        found = None
        try:
            ballot = Ballot.read(path, self.poll)
            found = ballot.place, ballot.recipe
        except DamagedFile as error:
            warnings.warn(f"A ballot is ignored. {error}", RuntimeWarning, stacklevel=6)
        self._looked_at[path.name] = stamp, found
        return found

    def _ballots(self, member: str) -> Iterator[Ballot]:
        """Yield the ballots of a member, mapped one at a time.

        Without calibration, scores are replaced by crisp votes.
        """
        for fold in self.folds_by_member()[member]:
            ballot = self.take((member, fold))
            yield ballot.crisp() if self.calibrate is None else ballot

    def _are_whole(self, folds: list[int | None]) -> bool:
        """Return whether these folds hold out every row that any fold does, or votes are out of bag."""
        voted = np.zeros(self.poll.n_rows, dtype=bool)
        for fold in folds:
            if fold is None:
                return True
            voted[self.poll.held_out[fold]] = True
        return bool(voted[self.poll.is_held_out].all())

    def _honest_scores(self, members: list[str]) -> HonestVotes:
        poll = self.poll
        cast = [
            ((ballot.rows, ballot.votes, ballot.labels) for ballot in self._ballots(name)) for name in members
        ]
        return HonestVotes.of_models(cast, poll.task, poll.y, poll.weights, poll.groups)

    def _calibrates(self, member: str) -> bool:
        """Return whether the ballots of a member are scores to calibrate."""
        return self.calibrate is not None and next(self._ballots(member)).are_scores

    def _from_scores(self, member: str) -> Voting:
        """Return the function that turns the contents of a member's ballots into votes."""
        if self.calibrate is None or not self._calibrates(member):
            return lambda votes, rows: votes
        held_out = (ballot.rows for ballot in self._ballots(member))
        curves = Curves.of(self.calibrate, self._honest_scores([member]), 0, held_out)
        return lambda scores, rows: (
            curves.whole.votes(scores.astype(np.float64))
            if rows is None
            else curves.honest_votes(scores, rows)
        )


def poll_of_folder(poll: Poll, folder: Path) -> Poll:
    """Write a poll to its folder. Raise if the folder contains another poll."""
    if folder.exists() and not folder.is_dir():
        raise NotADirectoryError(f"{folder} is a file. Use a folder for the bank.")
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / POLL_FILE
    if not path.exists():
        poll.write(path)
    # Read the file even after writing it, because another process may have created it at the same time.
    known = Poll.read(path)
    known.check_same(poll, folder)
    return known
