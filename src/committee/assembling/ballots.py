"""Ballots: the votes of one fitted model, and the box that they are put into, in memory or in a folder.

In a folder, a ballot is a file of its own, which is there whole or not at all: so a process that is killed
loses the fit it was at, and any number of processes may vote at the same time.
"""

from __future__ import annotations

import hashlib
import re
import warnings
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Protocol

import numpy as np

from committee.assembling.poll import Poll
from committee.combining import one_hot
from committee.saving.container import map_container, write_container
from committee.saving.errors import DamagedFile, require
from committee.votes.arrays import NEARLY_ONE, as_shares, check_block, dtype_of

Place = tuple[str, int | None]
SUFFIX = ".votes"


@dataclass(frozen=True, eq=False)
class Ballot:
    """The votes of one model.

    Parameters
    ----------
    member : str
        Of whom it is a model.
    fold : int or None
        Which fold it has not seen. None: it has seen all rows, and votes on a row by what in it has not, as
        a forest does out of bag.
    rows : ndarray of int64 of shape (n_votes,)
        The rows that it votes on.
    votes : ndarray of shape (n_votes, n_outputs)
    test_votes : ndarray of shape (n_test_rows, n_outputs), or None
    recipe : str, default=""
        What the member is made of.
    notes : dict, default={}
        What else is to be known of the fit, as JSON can hold it.
    are_scores : bool, default=False
        Whether these are what a `decision_function` says, of which calibration makes votes.
    """

    member: str
    fold: int | None
    rows: np.ndarray
    votes: np.ndarray
    test_votes: np.ndarray | None
    recipe: str = ""
    notes: dict[str, Any] = field(default_factory=dict)
    are_scores: bool = False

    @property
    def place(self) -> Place:
        """Where it is in the box."""
        return self.member, self.fold

    def check(self, poll: Poll) -> None:
        """Raise unless these are votes on the rows of the poll."""
        of = f"Votes of member {self.member!r}"
        if self.fold is not None:
            if self.fold not in range(len(poll.held_out)):
                raise ValueError(f"{of}: there is no fold {self.fold}. There are {len(poll.held_out)} folds.")
            of += f" in fold {self.fold}"
            if not np.array_equal(self.rows, poll.held_out[self.fold]):
                raise ValueError(f"{of} must be on the rows that it holds out, in their order.")
        elif len(self.rows) and not 0 <= self.rows.min() <= self.rows.max() < poll.n_rows:
            raise ValueError(f"{of} must be on rows of the table, which has {poll.n_rows}.")
        elif len(np.unique(self.rows)) < len(self.rows):
            raise ValueError(f"{of} must be one for each row.")
        self._check_numbers(of, self.votes, (len(self.rows), poll.task.n_outputs))
        if self.test_votes is not None:
            shape = (poll.n_test_rows, poll.task.n_outputs)
            self._check_numbers(f"{of} on test rows", self.test_votes, shape)

    def in_shares(self) -> Ballot:
        """The same, with votes for classes that sum to one; scores and numbers stay as they are."""
        if self.are_scores or self.votes.shape[1] == 1:
            return self
        on_test = None if self.test_votes is None else as_shares(self.test_votes, NEARLY_ONE)
        return replace(self, votes=as_shares(self.votes, NEARLY_ONE), test_votes=on_test)

    def crisp(self) -> Ballot:
        """The same; scores become votes for the class of the highest."""
        if not self.are_scores:
            return self
        on_test = None if self.test_votes is None else for_highest(self.test_votes)
        return replace(self, votes=for_highest(self.votes), test_votes=on_test, are_scores=False)

    def _check_numbers(self, what: str, votes: np.ndarray, shape: tuple[int, int]) -> None:
        """Raise unless votes have a shape and are such numbers as votes are; scores may be below 0."""
        if votes.shape != shape:
            raise ValueError(f"{what} must have the shape {shape}. Got {votes.shape}.")
        try:
            # A single output may be any number, as a score of a class may that the model knows.
            check_block(votes[votes > -np.inf].reshape(1, -1, 1) if self.are_scores else votes[None])
        except ValueError as error:
            raise ValueError(f"{what}: {error}") from error


def for_highest(scores: np.ndarray) -> np.ndarray:
    """Crisp votes for the classes of the highest scores.

    Examples
    --------
    >>> for_highest(np.array([[-3.0, -2.0]]))
    array([[0., 1.]])
    """
    return one_hot(scores.argmax(axis=1), scores.shape[1]).astype(scores.dtype)


class Box(Protocol):
    """Where ballots are kept."""

    def put(self, ballot: Ballot) -> None:
        """Keep a ballot, in the place of one that is there."""

    def recipes(self) -> dict[Place, str]:
        """What ballots there are, and the recipe of each."""

    def take(self, place: Place) -> Ballot:
        """A ballot."""


class MemoryBox:
    """Ballots in memory."""

    def __init__(self) -> None:
        self._ballots: dict[Place, Ballot] = {}

    def put(self, ballot: Ballot) -> None:
        """Keep a ballot, in the place of one that is there."""
        self._ballots[ballot.place] = ballot

    def recipes(self) -> dict[Place, str]:
        """What ballots there are, and the recipe of each."""
        return {place: ballot.recipe for place, ballot in self._ballots.items()}

    def take(self, place: Place) -> Ballot:
        """A ballot."""
        return self._ballots[place]


class FolderBox:
    """Ballots in a folder, each in a file. Files of other processes are found when they are there.

    Parameters
    ----------
    folder : Path
    poll : Poll
        What all of them are votes on.
    """

    def __init__(self, folder: Path, poll: Poll) -> None:
        self.folder, self.poll = folder, poll
        # Of the files that were looked at: size and time, and the place and recipe of each that is sound.
        self._looked_at: dict[str, tuple[tuple[int, int], tuple[Place, str] | None]] = {}

    def put(self, ballot: Ballot) -> None:
        """Keep a ballot, in the place of one that is there."""
        description = {
            "poll": self.poll.key,
            "member": ballot.member,
            "fold": ballot.fold,
            "recipe": ballot.recipe,
            "notes": ballot.notes,
            "are_scores": ballot.are_scores,
        }
        arrays = {"rows": ballot.rows, "votes": ballot.votes}
        if ballot.test_votes is not None:
            arrays["test_votes"] = ballot.test_votes
        write_container(self.folder / file_name(ballot.place), description, arrays)

    def recipes(self) -> dict[Place, str]:
        """What ballots there are, and the recipe of each."""
        found = {}
        for path in sorted(self.folder.glob(f"*{SUFFIX}")):
            known = self._look_at(path)
            if known is not None:
                found[known[0]] = known[1]
        return found

    def take(self, place: Place) -> Ballot:
        """A ballot, whose votes are mapped."""
        return read_ballot(self.folder / file_name(place), self.poll)

    def _look_at(self, path: Path) -> tuple[Place, str] | None:
        """The place and recipe of a file, if it is sound. A file is read once, unless it is replaced."""
        state = path.stat()
        stamp = state.st_size, state.st_mtime_ns
        before = self._looked_at.get(path.name)
        if before is not None and before[0] == stamp:
            return before[1]
        found = None
        try:
            ballot = read_ballot(path, self.poll)
            found = ballot.place, ballot.recipe
        except DamagedFile as error:
            warnings.warn(f"A ballot does not count. {error}", RuntimeWarning, stacklevel=6)
        self._looked_at[path.name] = stamp, found
        return found


def read_ballot(path: Path, poll: Poll) -> Ballot:
    """Map the ballot of a file.

    Raises
    ------
    DamagedFile
        If the file is not what was written.
    ValueError
        If it is a vote on another table or split.
    """
    description, arrays = map_container(path)
    keys = {"poll", "member", "fold", "recipe", "notes", "are_scores"}
    require(description.keys() == keys and {"rows", "votes"} <= arrays.keys(), f"{path} is no ballot")
    if description["poll"] != poll.key:
        raise ValueError(f"{path} is a vote on another table, split or test rows. Take it out of the folder.")
    fold = description["fold"]
    is_sound = (
        all(isinstance(description[name], str) for name in ("member", "recipe"))
        and (fold is None or type(fold) is int)
        and isinstance(description["notes"], dict)
        and isinstance(description["are_scores"], bool)
        and arrays["rows"].dtype == np.int64
        and all(each.dtype == dtype_of(poll.task) for name, each in arrays.items() if name != "rows")
    )
    require(is_sound, f"{path} is no ballot")
    ballot = Ballot(
        description["member"],
        fold,
        arrays["rows"],
        arrays["votes"],
        arrays.get("test_votes"),
        description["recipe"],
        description["notes"],
        description["are_scores"],
    )
    require(path.name == file_name(ballot.place), f"{path} is not called as its member and fold")
    try:
        ballot.check(poll)
    except ValueError as error:
        raise DamagedFile(f"{path}: {error}") from error
    return ballot


def file_name(place: Place) -> str:
    """The name of a ballot's file: what can be read of the member's name, and what tells it from others.

    Examples
    --------
    >>> file_name(("a/b", 3))
    'a_b-c14cddc033f6.fold3.votes'
    """
    member, fold = place
    digest = hashlib.sha256(member.encode()).hexdigest()[:12]
    readable = re.sub(r"[^A-Za-z0-9_-]", "_", member)[:40]
    return f"{readable}-{digest}.{'bags' if fold is None else f'fold{fold}'}{SUFFIX}"
