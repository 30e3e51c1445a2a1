"""A bank of votes: what members say of rows that they have not seen, kept for any rule and for later members.

In: the votes of each fitted model on the rows that it has not seen, and on test rows. Out: honest votes, the
decision of any rule on the test rows, and a leaderboard. A bank is of one table, one split and one set of
test rows, and refuses votes on others. Nobody who has voted needs to be fitted again.
"""

from __future__ import annotations

import os
import warnings
from pathlib import Path
from typing import Any, Self

import numpy as np

from committee.assembling.assembled import Assembled
from committee.assembling.ballots import Ballot, FolderBox, MemoryBox
from committee.assembling.calibrating import METHODS
from committee.assembling.leaks import leak_of
from committee.assembling.members import members_of
from committee.assembling.poll import Poll, table_print
from committee.assembling.polled import Polled
from committee.assembling.polling import ask, places_of, seeded_by_name
from committee.assembling.recipes import recipe_of
from committee.members.lesson import Lesson, in_order
from committee.parameters import integer, is_integer
from committee.saving import Data
from committee.table.source import open_source
from committee.task import Classification, Regression
from committee.votes.arrays import dtype_of
from committee.votes.folds import Fold, bags_will_do, folds_of
from committee.votes.honest import HonestVotes

POLL_FILE = "bank.poll"
TASKS = {"classification": Classification, "regression": Regression}


class Bank(Polled):
    """Votes of members on rows that they have not seen, and on test rows.

    With a folder, every ballot, which is what one fitted model votes, is a file: it is there whole or not at
    all, holds numbers and no code, and is found again by the next `Bank` of the same table, split and test
    rows, or by `Bank.open`. Several processes may fill a folder at the same time. A file that is cut off or
    changed is told of in a warning, and does not count.

    Parameters
    ----------
    X : table of shape (n_rows, n_columns)
    y : array-like of shape (n_rows,)
    task : {"classification", "regression"}, default="classification"
    sample_weight : array-like of shape (n_rows,), default=None
        Rows of weight 0 take no part.
    groups : array-like of shape (n_rows,), default=None
        Rows of one group are held out together, by members and by rules.
    cv : int, splitter or iterable of (train, test) rows, default=5
        The split, as the `cv` of committees.
    X_test : table of shape (n_test_rows, n_columns), default=None
        Rows to decide on. A member's vote on them is the mean of its models'.
    y_test : array-like of shape (n_test_rows,), default=None
        Their answers, if they are known. They only serve to find members that know rows held out.
    calibrate : {"isotonic", "sigmoid", "temperature"} or None, default=None
        How the scores of members that have a `decision_function` and no `predict_proba` become votes: by a
        curve that is fitted on the honest ones, and on those of the other folds for the honest votes
        themselves. With None, they are crisp. The scores are what is kept; of a member that scores pairs of
        classes, as SVC(decision_function_shape="ovo"), it is 1 for the class that it predicts.
    folder : str or path, default=None
        Where votes are kept; it is made if it is not there. None keeps them in memory.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from sklearn.naive_bayes import GaussianNB
    >>> from sklearn.neighbors import KNeighborsClassifier
    >>> from committee.assembling import Bank
    >>> X, y = load_iris(return_X_y=True)
    >>> bank = Bank(X[::2], y[::2], cv=3, X_test=X[1::2])
    >>> bank.collect([("bayes", GaussianNB()), ("near", KNeighborsClassifier())])
    >>> bank.leaderboard(["mean", "cawpe"])
    member  bayes  0.9467 accuracy
    rule    mean   0.9333 accuracy
    rule    cawpe  0.9333 accuracy
    member  near   0.9200 accuracy
    >>> (bank.combine("cawpe").argmax(axis=1) == y[1::2]).mean().round(2)
    np.float64(0.96)
    """

    # Of folds that are given, nobody knows whether others would do as well.
    _bags_will_do: bool = False

    def __init__(
        self,
        X: Any,
        y: Any,
        *,
        task: str = "classification",
        sample_weight: Any = None,
        groups: Any = None,
        cv: Any = 5,
        X_test: Any = None,
        y_test: Any = None,
        calibrate: str | None = None,
        folder: str | os.PathLike[str] | None = None,
    ) -> None:
        if task not in TASKS:
            raise ValueError(f'task must be "classification" or "regression". Got {task!r}.')
        self._calibrate = check_calibrate(calibrate)
        lesson = Lesson.of(TASKS[task], X, y, sample_weight, groups)
        if not lesson.is_open:
            raise ValueError("y has one class, so there is nothing to vote on.")
        folds = folds_of(
            cv, lesson.X, lesson.y, lesson.groups, lesson.weights, is_class_task=lesson.are_classes
        )
        self._open(Poll.of(lesson, folds, X_test, y_test), folder)
        self._lesson, self._folds = lesson, folds
        self._bags_will_do = bags_will_do(cv, lesson.groups)
        self._X_test = None if X_test is None else in_order(open_source(X_test), lesson.schema).native

    @classmethod
    def of(
        cls,
        lesson: Lesson,
        folds: list[Fold],
        *,
        calibrate: str | None = None,
        folder: str | os.PathLike[str] | None = None,
    ) -> Self:
        """The bank of a table that is read and split already.

        Parameters
        ----------
        lesson : Lesson
        folds : list of (ndarray, ndarray)
        calibrate : str or None, default=None
        folder : str or path, default=None

        Returns
        -------
        Bank
        """
        bank = cls.__new__(cls)
        bank._calibrate = check_calibrate(calibrate)
        bank._open(Poll.of(lesson, folds), folder)
        bank._lesson, bank._folds, bank._X_test = lesson, folds, None
        return bank

    @classmethod
    def open(cls, folder: str | os.PathLike[str], *, calibrate: str | None = None) -> Self:
        """Open a bank without its table: for all that needs votes alone.

        Parameters
        ----------
        folder : str or path
        calibrate : str or None, default=None

        Returns
        -------
        Bank
            It cannot ask rules that look at rows.
        """
        path = Path(folder, POLL_FILE)
        if not path.is_file():
            raise FileNotFoundError(f"There is no bank of votes in {folder}. Make one with Bank(X, y).")
        bank = cls.__new__(cls)
        bank._calibrate = check_calibrate(calibrate)
        bank._poll = Poll.read(path)
        bank._box = FolderBox(Path(folder), bank._poll)
        bank._lesson, bank._folds, bank._X_test = None, None, None
        return bank

    def add(
        self,
        member: str,
        fold: int | None,
        votes: Any,
        *,
        rows: Any = None,
        test_votes: Any = None,
        are_scores: bool = False,
        recipe: str = "",
        notes: dict[str, Any] | None = None,
    ) -> None:
        """Keep the votes of one fitted model.

        Once a member has voted on all rows, its votes on them are compared with those on the test rows. If it
        does implausibly well on the former, a warning says that it may know their answers.

        Parameters
        ----------
        member : str
            The name of the member that it is a model of.
        fold : int or None
            The fold that it has not seen. None: it has seen all rows, and votes out of bag.
        votes : array-like of shape (n_held_out_rows, n_outputs)
            Probabilities in the order of the sorted classes, or numbers. Probabilities that do not sum to one
            are rescaled.
        rows : array-like of int, default=None
            The rows that the votes are on. None: those that the fold holds out, in their order. Rules learn
            from the rows that all their members have voted on, so a few rows here leave few for all.
        test_votes : array-like of shape (n_test_rows, n_outputs), default=None
        are_scores : bool, default=False
            Whether votes for classes are scores of any size, to be calibrated. A class that the model does
            not know has the score minus infinity.
        recipe : str, default=""
            What the member is made of. Votes by another recipe under the same name are refused.
        notes : dict, default=None
            What else is to be kept of the fit, as JSON can hold it.
        """
        if not isinstance(member, str):
            raise ValueError(f"member must be a name. Got {member!r}.")
        if fold is not None and not is_integer(fold):
            raise ValueError(f"fold must be the number of a fold, or None. Got {fold!r}.")
        if rows is None:
            if fold is None:
                raise ValueError(f"Votes of member {member!r} out of bag need rows: those they are on.")
            known = range(len(self._poll.held_out))
            rows = self._poll.held_out[fold] if fold in known else np.empty(0)
        if are_scores and not isinstance(self._poll.task, Classification):
            raise ValueError("are_scores=True is for classes. Numbers are votes as they are: leave it out.")
        self.has(member, fold, recipe)
        dtype = dtype_of(self._poll.task)
        ballot = Ballot(
            member,
            None if fold is None else int(fold),
            np.ascontiguousarray(rows, dtype=np.int64),
            as_votes(votes, dtype),
            None if test_votes is None else as_votes(test_votes, dtype),
            recipe,
            notes or {},
            bool(are_scores),
        )
        self._keep(ballot)

    def add_committee(self, committee: Any) -> None:
        """Keep the honest votes of a committee's members, and what they vote on the test rows.

        Parameters
        ----------
        committee : estimator
            A committee that was fitted on the table of the bank with its groups, if there are any, and held
            out the same rows: cv=bank.folds.
        """
        if not isinstance(committee, Assembled):
            raise ValueError(
                f"committee must be a fitted committee. Got a {type(committee).__name__}. Use collect for "
                "members."
            )
        honest: HonestVotes = committee._known_votes()
        data: Data | None = committee._data
        if data is None or table_print(data, committee.schema_, committee._task) != self._poll.table:
            raise ValueError("The committee was fitted on another table. Make a bank of that table for it.")
        if not honest.split:
            raise ValueError(
                "Nobody knows which rows the members of the committee have seen: they came fitted, had a "
                "time limit, or are from an older file. Fit them with cv=bank.folds."
            )
        if honest.split != self._poll.split:
            raise ValueError(
                "The committee was fitted in other folds or groups than those of the bank. Fit it with "
                "cv=bank.folds and the bank's groups."
            )
        on_test = None if self._X_test is None else committee.votes(self._X_test)
        for place, name in enumerate(committee.named_estimators_):
            test_votes = None if on_test is None else on_test[place]
            self.add(name, None, honest.votes[place], rows=honest.rows, test_votes=test_votes)

    def collect(
        self,
        estimators: Any,
        *,
        columns: Any = None,
        out_of_bag: bool = True,
        on_error: str = "raise",
        runner: Any = "threads",
        n_jobs: int | None = None,
        random_state: int = 0,
        verbose: int = 0,
    ) -> None:
        """Fit members in all folds, and keep their votes. What is there already is not fitted again.

        Parameters
        ----------
        estimators : list of (str, estimator)
            Members with neither `predict_proba` nor `decision_function` cast crisp votes.
        columns : dict from names of members to lists of columns, default=None
            Which columns members see, by name or position. Members that are not named see all.
        out_of_bag : bool, default=True
            Whether our forests and bagging with `bootstrap=True` vote out of bag, in one fit, if `cv` is an
            integer and there are no groups. In other splits a bag would know rows that a fold does not.
        on_error : {"raise", "drop"}, default="raise"
            Whether a fit that fails is an error, or drops the member with a warning.
        runner : {"serial", "threads", "processes"} or Runner, default="threads"
        n_jobs : int, default=None
            How many fits run at the same time. None is as many as there are cores.
        random_state : int, default=0
            Draws, with the member's name, every `random_state` that is None.
        verbose : int, default=0
            Whether to show how many fits are done.
        """
        if on_error not in ("raise", "drop"):
            raise ValueError(f'on_error must be "raise" or "drop". Got {on_error!r}.')
        if not integer(0)(random_state):
            raise ValueError(f"random_state must be an integer >= 0. Got {random_state!r}.")
        lesson, folds = self._lesson, self.folds
        assert lesson is not None  # Or it would have no folds.
        members = [
            seeded_by_name(member, random_state)
            for member in members_of(estimators, columns, lesson.schema, lesson.are_classes)
        ]
        uses_bags = out_of_bag and self._bags_will_do
        wanted = [
            [
                place
                for place in places_of(member, len(folds), uses_bags)
                if not self.has(*place, recipe_of(member))
            ]
            for member in members
        ]
        ask(
            members,
            wanted,
            lesson,
            folds,
            self._X_test,
            self._keep,
            runner=runner,
            n_jobs=n_jobs,
            on_error=on_error,
            verbose=verbose,
        )

    def _open(self, poll: Poll, folder: str | os.PathLike[str] | None) -> None:
        """Be the bank of a poll, if a folder holds no other."""
        self._poll = poll
        if folder is None:
            self._box = MemoryBox()
            return
        place = Path(folder)
        if place.exists() and not place.is_dir():
            raise NotADirectoryError(f"{place} is a file. Give the bank a folder of its own.")
        place.mkdir(parents=True, exist_ok=True)
        if not (place / POLL_FILE).exists():
            poll.write(place / POLL_FILE)
        # What is read is what counts, if two processes have begun a bank at the same time.
        known = Poll.read(place / POLL_FILE)
        known.check_same(poll, place)
        if poll.y_test is None:
            self._poll = known
        elif known.y_test is None:
            poll.write(place / POLL_FILE)
        self._box = FolderBox(place, self._poll)

    def _keep(self, ballot: Ballot) -> None:
        """Put a ballot into the box, and warn if its member has voted on all rows and may know them."""
        ballot.check(self._poll)
        ballot = ballot.in_shares()
        before = self._folds_by_member().get(ballot.member)
        if before and self._box.take((ballot.member, before[0])).are_scores != ballot.are_scores:
            raise ValueError(f"Member {ballot.member!r} casts votes in one fold and scores in another.")
        self._box.put(ballot)
        if self._are_whole(self._folds_by_member()[ballot.member]):
            self._warn_of_leak(ballot.member)

    def _warn_of_leak(self, member: str) -> None:
        if not self._poll.n_test_rows:
            return
        leak = leak_of(member, self._ballots(member), self._poll, self._from_scores(member))
        if leak is not None:
            warnings.warn(leak, UserWarning, stacklevel=4)


def check_calibrate(calibrate: str | None) -> str | None:
    """Raise unless it is a method of calibration, or None."""
    if calibrate is not None and calibrate not in METHODS:
        raise ValueError(f"calibrate must be one of {', '.join(METHODS)}, or None. Got {calibrate!r}.")
    return calibrate


def as_votes(votes: Any, dtype: type) -> np.ndarray:
    """A copy of votes that can be kept: numbers of a regression may come without a second axis."""
    array: np.ndarray = np.array(votes, dtype=dtype, order="C")
    return array[:, None] if array.ndim == 1 else array
