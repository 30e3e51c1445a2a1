"""Polls and ballots: the rows of a table to vote on, and the votes of one fitted model.

A `Poll` contains the answers of a table and the rows that each fold holds out, but no features. It has
fingerprints of the table, the split and the test rows, so that votes on others are refused. A `Ballot`
contains the votes of one model on the rows that it was not fitted on. Each is saved to a separate file.
"""

from __future__ import annotations

import hashlib
import json
import re
from dataclasses import dataclass, field, fields, replace
from functools import cached_property
from pathlib import Path

import numpy as np

from committee.members.member_votes import Task
from committee.members.training_set import TrainingSet
from committee.saving import Data, Fields
from committee.saving.format.codec import Decoder, Encoder
from committee.saving.format.container import map_container, read_container, write_container
from committee.saving.format.file_errors import DamagedFile, require
from committee.saving.format.plain_values import with_keys
from committee.saving.predictors.score_votes import for_highest
from committee.table import Schema, read_like
from committee.table.input_types import ArrayLike, TableLike
from committee.task import Classification, Regression
from committee.votes.folds import Fold, split_fingerprint
from committee.votes.vote_arrays import NEARLY_ONE, as_shares, check_block, dtype_of, label_dtype

# The name of a member, and the fold that its model was not fitted on.
Place = tuple[str, int | None]
SUFFIX = ".votes"
# The attributes of a ballot in the description of its file. The others are arrays.
ARRAYS = ("rows", "votes", "test_votes", "labels", "test_labels")
DESCRIBED = ("member", "fold", "recipe", "notes", "are_scores")


@dataclass(frozen=True, eq=False)
class Poll:
    """The rows to vote on.

    Parameters
    ----------
    task : Classification or Regression
    y : ndarray of shape (n_rows,)
        Codes of classes, or numbers.
    weights : ndarray of shape (n_rows,), or None
    groups : ndarray of int of shape (n_rows,), or None
    held_out : list of ndarray of int
        The rows that each fold holds out.
    n_test_rows : int
    table, split, test : str
        Fingerprints of the table with y and weights, of the folds with groups, and of the test rows.
    """

    task: Task
    y: np.ndarray
    weights: np.ndarray | None
    groups: np.ndarray | None
    held_out: list[np.ndarray]
    n_test_rows: int
    table: str
    split: str
    test: str

    @classmethod
    def of(cls, training: TrainingSet, folds: list[Fold], X_test: TableLike | None = None) -> Poll:
        """Make the poll for a table, its folds and test rows."""
        n_test_rows, test = 0, ""
        if X_test is not None:
            rows = read_like(X_test, training.schema)
            n_test_rows = rows.n_rows
            alone = Data.of(rows, np.full(n_test_rows, np.nan), None)
            test = table_print(alone, training.schema, training.task)
        return cls(
            training.task,
            training.y,
            training.weights,
            training.groups,
            [held_out for _, held_out in folds],
            n_test_rows,
            table_print(training.data, training.schema, training.task),
            split_fingerprint(folds, training.groups),
            test,
        )

    @property
    def n_rows(self) -> int:
        """The number of rows of the table."""
        return len(self.y)

    @property
    def key(self) -> str:
        """The fingerprint that every ballot of this poll contains."""
        return f"{self.table}-{self.split}-{self.test}"

    @cached_property
    def is_held_out(self) -> np.ndarray:
        """Whether any fold holds out each row."""
        found = np.zeros(self.n_rows, dtype=bool)
        for rows in self.held_out:
            found[rows] = True
        return found

    def check_same(self, other: Poll, folder: Path) -> None:
        """Raise unless another poll for the folder of this poll is the same."""
        for what, is_same in (
            ("another table", self.table == other.table),
            ("another split of this table", self.split == other.split),
            ("other test rows", self.test == other.test),
        ):
            if not is_same:
                raise ValueError(f"The folder {folder} holds votes on {what}. Use another folder.")

    def write(self, path: Path) -> None:
        """Write the poll to a file."""
        encoder = Encoder()
        parts = {part.name: getattr(self, part.name) for part in fields(self)}
        write_container(path, {"poll": encoder.named(parts, "poll")}, encoder.arrays)

    @classmethod
    def read(cls, path: Path) -> Poll:
        """Read a poll from a file and check it."""
        description, arrays = read_container(path)
        decoder = Decoder(arrays)
        parts = Fields(decoder.named(with_keys(description, {"poll"}, "poll")["poll"], "poll"), "poll")
        parts.values.pop("y_test", None)  # Older folders contain it.
        decoder.finish()
        task = parts.take("task", object)
        if not isinstance(task, Classification | Regression):
            raise DamagedFile(f"{path} does not contain a task")
        dtype = np.int32 if isinstance(task, Classification) else np.float64
        y = parts.array("y", dtype, (None,))
        n_test_rows = parts.integer("n_test_rows", 0, 2**48)
        found = cls(
            task,
            y,
            parts.optional_array("weights", np.float64, y.shape),
            parts.optional_array("groups", np.int64, y.shape),
            parts.take("held_out", list),
            n_test_rows,
            *(parts.take(name, str) for name in ("table", "split", "test")),
        )
        parts.finish()
        for rows in found.held_out:
            are_rows = isinstance(rows, np.ndarray) and rows.dtype == np.int64 and rows.ndim == 1
            require(are_rows and len(rows) and 0 <= rows.min() <= rows.max() < len(y), "A fold has no rows")
        if isinstance(task, Classification):
            are_codes = ((y >= 0) & (y < task.n_outputs)).all()
            require(are_codes, f"{path} has answers of unknown classes")
        require(found.weights is None or (found.weights >= 0).all(), f"{path} has a negative weight")
        return found


@dataclass(frozen=True, eq=False)
class Ballot:
    """The votes of one model.

    Parameters
    ----------
    member : str
        The name of the member.
    fold : int or None
        The fold that the model was not fitted on. None: the model was fitted on all rows and votes out of
        bag, as a forest does.
    rows : ndarray of int64 of shape (n_votes,)
        The rows of the votes.
    votes : ndarray of shape (n_votes, n_outputs)
    test_votes : ndarray of shape (n_test_rows, n_outputs), or None
    recipe : str, default=""
        A text that identifies the estimator and the columns of the member.
    notes : dict, default={}
        Further values to store with the votes, as in JSON.
    are_scores : bool, default=False
        Whether the votes are values of a `decision_function`, which calibration turns into votes.
    labels, test_labels : ndarray of shape (n_votes,) and (n_test_rows,), or None, default=None
        The codes of the predicted classes, if they may differ from the highest votes.
    """

    member: str
    fold: int | None
    rows: np.ndarray
    votes: np.ndarray
    test_votes: np.ndarray | None
    recipe: str = ""
    notes: dict[str, object] = field(default_factory=dict)
    are_scores: bool = False
    labels: np.ndarray | None = None
    test_labels: np.ndarray | None = None

    @property
    def place(self) -> Place:
        """The member and the fold."""
        return self.member, self.fold

    @classmethod
    def read(cls, path: Path, poll: Poll) -> Ballot:
        """Map a ballot from a file into memory.

        Raises
        ------
        DamagedFile
            If the file is damaged.
        ValueError
            If the votes are on another table or split.
        """
        description, arrays = map_container(path)
        are_parts = description.keys() == {"poll", *DESCRIBED} and {"rows", "votes"} <= arrays.keys()
        require(are_parts, f"{path} is not a ballot")
        if description["poll"] != poll.key:
            raise ValueError(
                f"{path} contains votes on another table, split or test rows. Remove it from the folder."
            )
        fold = description["fold"]
        is_sound = (
            all(isinstance(description[name], str) for name in ("member", "recipe"))
            and (fold is None or type(fold) is int)
            and isinstance(description["notes"], dict)
            and isinstance(description["are_scores"], bool)
            and arrays["rows"].dtype == np.int64
            and all(arrays[name].dtype == dtype_of(poll.task) for name in {"votes", "test_votes"} & {*arrays})
        )
        require(is_sound, f"{path} is not a ballot")
        ballot = cls(
            rows=arrays["rows"],
            votes=arrays["votes"],
            test_votes=arrays.get("test_votes"),
            labels=arrays.get("labels"),
            test_labels=arrays.get("test_labels"),
            **{name: description[name] for name in DESCRIBED},
        )
        require(path.name == file_name(ballot.place), f"{path} has a wrong file name")
        try:
            ballot.check(poll)
        except ValueError as error:
            raise DamagedFile(f"{path}: {error}") from error
        return ballot

    def write(self, folder: Path, poll: Poll) -> None:
        """Write the ballot to a file, completely or not at all."""
        description = {"poll": poll.key} | {name: getattr(self, name) for name in DESCRIBED}
        arrays = {name: getattr(self, name) for name in ARRAYS}
        arrays = {name: each for name, each in arrays.items() if each is not None}
        write_container(folder / file_name(self.place), description, arrays)

    def check(self, poll: Poll) -> None:
        """Raise if the votes are not on rows of the poll or are not valid."""
        of = f"Votes of member {self.member!r}"
        if self.fold is not None:
            if self.fold not in range(len(poll.held_out)):
                raise ValueError(f"{of}: there is no fold {self.fold}. There are {len(poll.held_out)} folds.")
            of += f" in fold {self.fold}"
            if not np.array_equal(self.rows, poll.held_out[self.fold]):
                raise ValueError(f"{of} must be on the rows that the fold holds out, in their order.")
        elif len(self.rows) and not 0 <= self.rows.min() <= self.rows.max() < poll.n_rows:
            raise ValueError(f"{of} must be on rows of the table, which has {poll.n_rows}.")
        elif len(np.unique(self.rows)) < len(self.rows):
            raise ValueError(f"{of} must be one for each row.")
        self._check_numbers(of, self.votes, (len(self.rows), poll.task.n_outputs))
        check_codes(f"{of}: labels", self.labels, len(self.rows), poll.task)
        check_codes(f"{of}: test_labels", self.test_labels, poll.n_test_rows, poll.task)
        if self.test_votes is not None:
            shape = (poll.n_test_rows, poll.task.n_outputs)
            self._check_numbers(f"{of} on test rows", self.test_votes, shape)

    def in_shares(self) -> Ballot:
        """Rescale votes for classes so that they sum to one. Scores and numbers do not change."""
        if self.are_scores or self.votes.shape[1] == 1:
            return self
        on_test = None if self.test_votes is None else as_shares(self.test_votes, NEARLY_ONE)
        return replace(self, votes=as_shares(self.votes, NEARLY_ONE), test_votes=on_test)

    def crisp(self) -> Ballot:
        """Replace scores by crisp votes for the class with the highest score."""
        if not self.are_scores:
            return self
        on_test = None if self.test_votes is None else for_highest(self.test_votes)
        return replace(self, votes=for_highest(self.votes), test_votes=on_test, are_scores=False)

    def _check_numbers(self, what: str, votes: np.ndarray, shape: tuple[int, int]) -> None:
        """Raise unless votes have the given shape and valid values. Only scores may be negative."""
        if votes.shape != shape:
            raise ValueError(f"{what} must have the shape {shape}. Got {votes.shape}.")
        try:
            # Scores of known classes are checked like a single output, which may be any finite number.
            check_block(votes[votes > -np.inf].reshape(1, -1, 1) if self.are_scores else votes[None])
        except ValueError as error:
            raise ValueError(f"{what}: {error}") from error


def check_codes(what: str, labels: np.ndarray | None, n_rows: int, task: Task) -> None:
    """Raise unless labels are codes of classes in their dtype, or None."""
    if labels is None:
        return
    if not isinstance(task, Classification):
        raise ValueError(f"{what} are for classes, and the task is a regression. Leave them out.")
    is_sound = labels.shape == (n_rows,) and labels.dtype == label_dtype(task.n_outputs)
    if not is_sound or (labels >= task.n_outputs).any():
        raise ValueError(f"{what} must be one code from 0 to {task.n_outputs - 1} for each of {n_rows} rows.")


def as_codes(labels: ArrayLike | None, task: Task) -> np.ndarray | None:
    """Return the codes of classes in the smallest dtype. Raise if a code is not of a class."""
    if labels is None:
        return None
    codes = np.asarray(labels)
    if codes.dtype.kind not in "iu" or (len(codes) and not 0 <= codes.min() <= codes.max() < task.n_outputs):
        raise ValueError(f"labels must be codes of classes, from 0 to {task.n_outputs - 1}. Got {labels!r}.")
    return codes.astype(label_dtype(task.n_outputs))


def as_votes(votes: ArrayLike, dtype: type) -> np.ndarray:
    """Copy votes, and add a second axis to one-dimensional votes of a regression."""
    array: np.ndarray = np.array(votes, dtype=dtype, order="C")
    return array[:, None] if array.ndim == 1 else array


def file_name(place: Place) -> str:
    """Return the file name of a ballot: the name of the member in safe characters, and a checksum.

    Examples
    --------
    >>> file_name(("a/b", 3))
    'a_b-c14cddc033f6.fold3.votes'
    """
    member, fold = place
    digest = hashlib.sha256(member.encode()).hexdigest()[:12]
    readable = re.sub(r"[^A-Za-z0-9_-]", "_", member)[:40]
    return f"{readable}-{digest}.{'bags' if fold is None else f'fold{fold}'}{SUFFIX}"


def table_print(data: Data, schema: Schema, task: Task) -> str:
    """Return a fingerprint of the values, the columns and any classes of a table."""
    classes = repr(task.classes.tolist()) if isinstance(task, Classification) else ""
    columns = [[column.name, column.kind.value, repr(column.categories)] for column in schema.columns]
    text = json.dumps([data.fingerprint, columns, classes])
    return hashlib.sha256(text.encode()).hexdigest()[:32]
