"""A bank of votes: what members say of rows that they have not seen, kept for any rule and for later members.

In: the votes of each fitted model on the rows that it has not seen, and on test rows. Out: honest votes, the
decision of any rule on the test rows, and a leaderboard. A bank is of one table, one split and one set of
test rows, and refuses votes on others. Nobody who has voted needs to be fitted again.
"""

from __future__ import annotations

import os
import warnings
from collections.abc import Iterable
from pathlib import Path
from typing import Any, Self

import numpy as np
from sklearn.base import clone

from committee.assembling.ballots import Ballot, Box, FolderBox, MemoryBox
from committee.assembling.encoding import new_encoder
from committee.assembling.folds import Fold, folds_of
from committee.assembling.leaderboard import Leaderboard, leaderboard_of
from committee.assembling.leaks import Leak, leak_of
from committee.assembling.lesson import Lesson
from committee.assembling.poll import Poll
from committee.assembling.votes import HonestVotes, dtype_of, mean_votes
from committee.boosting.python_rounds import take_rows
from committee.combining import as_rule
from committee.combining.rule import Rule
from committee.task import Classification, Regression

POLL_FILE = "bank.poll"
TASKS = {"classification": Classification, "regression": Regression}


class Bank:
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
        Their answers, if they are known. They are used for nothing but to find leaks.
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
    >>> for name, member in ("bayes", GaussianNB()), ("near", KNeighborsClassifier()):
    ...     for fold, (train, held_out) in enumerate(bank.folds):
    ...         model = member.fit(X[::2][train], y[::2][train])
    ...         votes, test_votes = model.predict_proba(X[::2][held_out]), model.predict_proba(X[1::2])
    ...         bank.add(name, fold, votes, test_votes=test_votes)
    >>> bank.leaderboard(["mean", "cawpe"])
    member  bayes  0.9467 accuracy
    rule    mean   0.9333 accuracy
    rule    cawpe  0.9333 accuracy
    member  near   0.9200 accuracy
    >>> (bank.combine("cawpe").argmax(axis=1) == y[1::2]).mean().round(2)
    np.float64(0.96)
    """

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
        folder: str | os.PathLike[str] | None = None,
    ) -> None:
        if task not in TASKS:
            raise ValueError(f'task must be "classification" or "regression". Got {task!r}.')
        lesson = Lesson.of(TASKS[task], X, y, sample_weight, groups)
        if not lesson.is_open:
            raise ValueError("y has one class, so there is nothing to vote on.")
        folds = folds_of(
            cv, lesson.X, lesson.y, lesson.groups, lesson.weights, is_class_task=lesson.are_classes
        )
        self._open(Poll.of(lesson, folds, X_test, y_test), folder)
        self._lesson, self._folds, self._X_test = lesson, folds, X_test

    @classmethod
    def of(cls, lesson: Lesson, folds: list[Fold], *, folder: str | os.PathLike[str] | None = None) -> Self:
        """The bank of a table that is read and split already.

        Parameters
        ----------
        lesson : Lesson
        folds : list of (ndarray, ndarray)
        folder : str or path, default=None

        Returns
        -------
        Bank
        """
        bank = cls.__new__(cls)
        bank._open(Poll.of(lesson, folds), folder)
        bank._lesson, bank._folds, bank._X_test = lesson, folds, None
        return bank

    @classmethod
    def open(cls, folder: str | os.PathLike[str]) -> Self:
        """Open a bank without its table: for all that needs votes alone.

        Parameters
        ----------
        folder : str or path

        Returns
        -------
        Bank
            It cannot ask rules that look at rows.
        """
        path = Path(folder, POLL_FILE)
        if not path.is_file():
            raise FileNotFoundError(f"There is no bank of votes in {folder}. Make one with Bank(X, y).")
        bank = cls.__new__(cls)
        bank._poll = Poll.read(path)
        bank._box = FolderBox(Path(folder), bank._poll)
        bank._lesson, bank._folds, bank._X_test = None, None, None
        return bank

    _poll: Poll
    _box: Box
    _lesson: Lesson | None
    _folds: list[Fold] | None
    _X_test: Any

    @property
    def folds(self) -> list[Fold]:
        """The split: for each fold, the rows to learn from and the rows to vote on."""
        if self._folds is None:
            raise ValueError("A bank that was opened without its table knows no rows to learn from.")
        return self._folds

    @property
    def members(self) -> list[str]:
        """The names, sorted, of the members that have voted on every row that some fold holds out."""
        return sorted({member for member, _ in self._box.recipes() if self._is_whole(member)})

    def add(
        self,
        member: str,
        fold: int | None,
        votes: Any,
        *,
        rows: Any = None,
        test_votes: Any = None,
        recipe: str = "",
        notes: dict[str, Any] | None = None,
    ) -> None:
        """Keep the votes of one fitted model.

        A member that has voted on all rows is looked at for a leak, see `leaks`.

        Parameters
        ----------
        member : str
            The name of the member that it is a model of.
        fold : int or None
            The fold that it has not seen. None: it has seen all rows, and votes out of bag.
        votes : array-like of shape (n_held_out_rows, n_outputs)
            Probabilities in the order of the sorted classes, or numbers.
        rows : array-like of int, default=None
            The rows that the votes are on. None: those that the fold holds out, in their order.
        test_votes : array-like of shape (n_test_rows, n_outputs), default=None
        recipe : str, default=""
            What the member is made of. Votes by another recipe under the same name are refused.
        notes : dict, default=None
            What else is to be kept of the fit, as JSON can hold it.
        """
        if rows is None:
            if fold is None:
                raise ValueError(f"Votes of member {member!r} out of bag need rows: those they are on.")
            known = range(len(self._poll.held_out))
            rows = self._poll.held_out[fold] if fold in known else np.empty(0)
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
        )
        ballot.check(self._poll)
        self._box.put(ballot)
        if self._is_whole(member):
            leak = self._leak(member)
            if leak is not None:
                warnings.warn(str(leak), UserWarning, stacklevel=2)

    def has(self, member: str, fold: int | None, recipe: str = "") -> bool:
        """Whether there are votes of a member's model.

        Parameters
        ----------
        member : str
        fold : int or None
        recipe : str, default=""
            Votes of the same name by another recipe are an error.

        Returns
        -------
        bool
        """
        known = self._box.recipes()
        for (name, _), other in known.items():
            if name == member and other != recipe:
                raise ValueError(
                    f"There are votes of another member {member!r}, made by another recipe. Give this one a "
                    "name of its own."
                )
        return (member, fold) in known

    def notes(self, member: str, fold: int | None) -> dict[str, Any]:
        """What was noted of a fit.

        Parameters
        ----------
        member : str
        fold : int or None

        Returns
        -------
        dict
        """
        return self._box.take((member, fold)).notes

    def votes(self, names: Iterable[str] | None = None) -> np.ndarray:
        """The mean honest vote of each member on each row that all of them have voted on.

        Parameters
        ----------
        names : iterable of str, default=None
            Members. None is all that have voted on every row.

        Returns
        -------
        ndarray of shape (n_members, n_honest_rows, n_outputs)
            The only copy of the votes that is in memory.
        """
        return self.honest(names).votes

    def honest(self, names: Iterable[str] | None = None) -> HonestVotes:
        """The honest votes with their answers, weights, groups and rows.

        Parameters
        ----------
        names : iterable of str, default=None

        Returns
        -------
        HonestVotes
        """
        poll = self._poll
        held_out = [
            [(ballot.rows, ballot.votes) for ballot in self._ballots(name)] for name in self._chosen(names)
        ]
        votes, rows = mean_votes(held_out, poll.n_rows, poll.task)
        return HonestVotes.of(votes, rows, poll.y, poll.weights, poll.groups)

    def test_votes(self, names: Iterable[str] | None = None) -> np.ndarray:
        """The votes of each member on the test rows: the mean of its models'.

        Parameters
        ----------
        names : iterable of str, default=None

        Returns
        -------
        ndarray of shape (n_members, n_test_rows, n_outputs)
        """
        if not self._poll.test:
            raise ValueError("The bank has no test rows. Make it with Bank(X, y, X_test=...).")
        chosen = self._chosen(names)
        shape = (self._poll.n_test_rows, self._poll.task.n_outputs)
        votes: np.ndarray = np.empty((len(chosen), *shape), dtype=dtype_of(self._poll.task))
        for place, name in enumerate(chosen):
            ballots = self._ballots(name)
            total = np.zeros(shape)
            for ballot in ballots:
                if ballot.test_votes is None:
                    raise ValueError(f"Member {name!r} has not voted on the test rows in fold {ballot.fold}.")
                total += ballot.test_votes
            votes[place] = total / len(ballots)
        return votes

    def fit_rule(self, rule: Any, names: Iterable[str] | None = None) -> Rule:
        """Fit a rule on all honest votes.

        Parameters
        ----------
        rule : str, callable or Rule
            A name of `committee.rules`, a function of votes, or a rule, which stays as it is.
        names : iterable of str, default=None

        Returns
        -------
        Rule
        """
        honest = self.honest(names)
        made = clone(as_rule(rule))
        return made.fit(honest.votes, honest.y, self._matrix(made, honest.rows), honest.weights)

    def combine(self, rule: Any, names: Iterable[str] | None = None) -> np.ndarray:
        """Let a rule decide on the test rows, after it has learnt from all honest votes.

        Parameters
        ----------
        rule : str, callable or Rule
        names : iterable of str, default=None

        Returns
        -------
        ndarray of shape (n_test_rows, n_outputs)
            Probabilities in the order of the sorted classes, or numbers.
        """
        chosen = self._chosen(names)
        votes = self.test_votes(chosen)
        fitted = self.fit_rule(rule, chosen)
        return fitted.combine(votes, self._matrix(fitted, None))

    def leaderboard(
        self, rules: Any = None, names: Iterable[str] | None = None, *, scoring: str | None = None
    ) -> Leaderboard:
        """Judge members and rules by honest votes; a rule that learns decides on rows it has not learnt from.

        Parameters
        ----------
        rules : iterable of rules, default=None
            Names, functions or rules. None is every rule by name that can decide here.
        names : iterable of str, default=None
        scoring : str, default=None
            A name of scikit-learn's scorers. None is accuracy, or R2 for numbers.

        Returns
        -------
        Leaderboard
        """
        chosen = self._chosen(names)
        honest = self.honest(chosen)
        matrix = None if self._lesson is None else self._encoded(honest.rows)
        return leaderboard_of(honest, chosen, rules, matrix, scoring)

    def leaks(self, names: Iterable[str] | None = None) -> list[Leak]:
        """The members whose models do so much better on rows held out than on test rows that they know them.

        The models of a member have seen neither: so their mean loss should be the same on both, up to
        chance. If it is higher on the test rows by more than five standard errors and by more than a tenth,
        the member has a leak: what it votes on is known to it, say by a column that was made with y. Or the
        test rows are of another kind. The loss is that of Brier for classes and the squared error for
        numbers. If `y_test` is not known, it is how far the highest vote for a class is from one: models
        are surer of rows that they know. Without test votes nothing can be measured.

        Parameters
        ----------
        names : iterable of str, default=None

        Returns
        -------
        list of Leak
        """
        found = (self._leak(name) for name in self._chosen(names))
        return [leak for leak in found if leak is not None]

    def _open(self, poll: Poll, folder: str | os.PathLike[str] | None) -> None:
        """Be the bank of a poll, if a folder holds no other."""
        self._poll = poll
        if folder is None:
            self._box = MemoryBox()
            return
        place = Path(folder)
        place.mkdir(parents=True, exist_ok=True)
        if not (place / POLL_FILE).exists():
            poll.write(place / POLL_FILE)
        # What is read is what counts, if two processes have begun a bank at the same time.
        Poll.read(place / POLL_FILE).check_same(poll, place)
        self._box = FolderBox(place, poll)

    def _chosen(self, names: Iterable[str] | None) -> list[str]:
        whole = self.members
        if names is None:
            if not whole:
                raise ValueError("No member has voted on every row yet.")
            return whole
        chosen = list(names)
        for name in chosen:
            if name not in whole:
                raise ValueError(f"Member {name!r} has not voted on every row. Those who have: {whole}.")
        return chosen

    def _folds_of(self, member: str) -> list[int | None]:
        """The folds that a member has voted in, in order; None is out of bag."""
        known = [fold for name, fold in self._box.recipes() if name == member]
        return sorted(known, key=lambda fold: -1 if fold is None else fold)

    def _ballots(self, member: str) -> list[Ballot]:
        return [self._box.take((member, fold)) for fold in self._folds_of(member)]

    def _is_whole(self, member: str) -> bool:
        """Whether a member has voted on every row that some fold holds out, or out of bag."""
        voted = np.zeros(self._poll.n_rows, dtype=bool)
        for fold in self._folds_of(member):
            if fold is None:
                return True
            voted[self._poll.held_out[fold]] = True
        return bool(voted[self._poll.is_held_out].all())

    def _leak(self, member: str) -> Leak | None:
        return leak_of(member, self._ballots(member), self._poll)

    def _matrix(self, rule: Rule, rows: np.ndarray | None) -> np.ndarray | None:
        """What a rule that looks at rows sees of some, or of the test rows."""
        if not rule._looks_at_X():
            return None
        if self._lesson is None:
            raise ValueError(
                f"{type(rule).__name__} looks at the rows, which the folder does not hold. Make the "
                "bank with its table: Bank(X, y, folder=...)."
            )
        return self._encoded(rows)

    def _encoded(self, rows: np.ndarray | None) -> np.ndarray:
        lesson = self._lesson
        assert lesson is not None
        encoder = new_encoder().fit(lesson.X, sample_weight=lesson.weights)
        encoded: np.ndarray = encoder.transform(self._X_test if rows is None else take_rows(lesson.X, rows))
        return encoded


def as_votes(votes: Any, dtype: type) -> np.ndarray:
    """Votes as an array that can be kept: numbers of a regression may come without a second axis."""
    array: np.ndarray = np.ascontiguousarray(votes, dtype=dtype)
    return array[:, None] if array.ndim == 1 else array
