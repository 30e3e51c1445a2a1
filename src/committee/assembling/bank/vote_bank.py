"""Store the honest votes of members in a bank, to reuse them with any rule and with later members.

In: the votes of each fitted model on the rows that it was not fitted on, and on test rows. Out: honest votes,
the decision of any rule on the test rows, and a leaderboard. A bank belongs to one table, one split and one
set of test rows, and refuses votes on others. Members that have voted need not be fitted again.
"""

from __future__ import annotations

import os
from collections.abc import Iterable
from pathlib import Path
from typing import Self

import numpy as np

from committee import running
from committee.assembling.bank.ballot import Ballot, Poll, as_codes, as_votes, table_print
from committee.assembling.bank.ballot_box import POLL_FILE, BallotBox
from committee.assembling.bank.recipe import recipe_of
from committee.assembling.fitted_committee import Assembled
from committee.assembling.leaderboard import Leaderboard, leaderboard_of
from committee.assembling.member_fits import carry_out, cast_ballot, has_bags, warn_of_dropped
from committee.assembling.named_members import members_of, seeded_by_name
from committee.combining.rule import Rule
from committee.combining.rule_registry import as_rule
from committee.members.member_view import look_at_rows
from committee.members.seeds import generator_of, seeded
from committee.members.table_encoder import TableEncoder
from committee.members.training_set import TrainingSet, in_order
from committee.parameters import integer, is_integer
from committee.running import Runner
from committee.saving.predictors.deciders import decided_by_fold, folds_of_rule
from committee.table.input_types import ArrayLike, TableLike
from committee.table.source import open_source
from committee.task import Classification, Regression
from committee.votes.folds import Fold, can_vote_out_of_bag
from committee.votes.honest_votes import HonestVotes
from committee.votes.vote_arrays import dtype_of

TASKS = {"classification": Classification, "regression": Regression}
# The fixed seed of rules. A bank has no random_state, so that the same votes give the same results.
SEED = 0


class Bank:
    """Store the votes of members on rows that they were not fitted on, and on test rows.

    A ballot contains the votes of one fitted model. With a folder, every ballot is a file of numbers without
    code, which is written completely or not at all. The next `Bank` of the same table, split and test rows
    reads these files, and so does `Bank.open`. Several processes can fill a folder at the same time. Damaged
    files are ignored with a warning.

    Parameters
    ----------
    X : table of shape (n_rows, n_columns)
    y : array-like of shape (n_rows,)
    task : {"classification", "regression"}, default="classification"
    sample_weight : array-like of shape (n_rows,), default=None
        Rows of weight 0 are ignored.
    groups : array-like of shape (n_rows,), default=None
        Rows of one group are held out together, by members and by rules.
    cv : int, splitter or iterable of (train, test) rows, default=5
        The split, as for the `cv` of committees.
    X_test : table of shape (n_test_rows, n_columns), default=None
        Rows to decide on. The vote of a member on them is the mean of the votes of its models.
    calibrate : {"isotonic", "sigmoid", "temperature"} or None, default=None
        How to turn the scores of members with a `decision_function` and without `predict_proba` into votes.
        A curve is fitted on the honest scores. The honest scores of a fold are calibrated by a curve of the
        other folds. None makes crisp votes. The bank stores the scores. For a member that scores pairs of
        classes, such as SVC(decision_function_shape="ovo"), it stores 1 for the predicted class.
    folder : str or path, default=None
        The folder for the votes, which is created if necessary. None stores them in memory.

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
                                    accuracy     95 % interval
    bayes                             0.9467  0.8701 to 0.9792
    rule mean                         0.9333  0.8525 to 0.9713
    rule cawpe                        0.9333  0.8525 to 0.9713
    near                              0.9200  0.8355 to 0.9630
    most frequent class (baseline)    0.3333  0.2365 to 0.4466
    >>> (bank.combine("cawpe").argmax(axis=1) == y[1::2]).mean().round(2)
    np.float64(0.96)
    """

    def __init__(
        self,
        X: TableLike,
        y: ArrayLike,
        *,
        task: str = "classification",
        sample_weight: ArrayLike | None = None,
        groups: ArrayLike | None = None,
        cv: object = 5,
        X_test: TableLike | None = None,
        calibrate: str | None = None,
        folder: str | os.PathLike[str] | None = None,
    ) -> None:
        if task not in TASKS:
            raise ValueError(f'task must be "classification" or "regression". Got {task!r}.')
        training = TrainingSet.of(TASKS[task], X, y, sample_weight, groups)
        if not training.is_open:
            raise ValueError("y has one class, so there is nothing to vote on.")
        folds = training.folds(cv)
        box = BallotBox(Poll.of(training, folds, X_test), folder, calibrate)
        test_rows = None if X_test is None else in_order(open_source(X_test), training.schema).native
        self._take(box, training, folds, test_rows, can_vote_out_of_bag(cv, training.groups))

    @classmethod
    def of(
        cls, training: TrainingSet, folds: list[Fold], folder: str | os.PathLike[str] | None = None
    ) -> Self:
        """Make the bank for a training set and its folds."""
        bank = cls.__new__(cls)
        bank._take(BallotBox(Poll.of(training, folds), folder), training, folds)
        return bank

    @classmethod
    def open(cls, folder: str | os.PathLike[str], *, calibrate: str | None = None) -> Self:
        """Open a bank without its table, for methods that only need votes.

        Parameters
        ----------
        folder : str or path
        calibrate : str or None, default=None

        Returns
        -------
        Bank
            It cannot use rules that use the columns of X.
        """
        path = Path(folder, POLL_FILE)
        if not path.is_file():
            raise FileNotFoundError(f"There is no bank of votes in {folder}. Make one with Bank(X, y).")
        bank = cls.__new__(cls)
        bank._take(BallotBox(Poll.read(path), folder, calibrate))
        return bank

    def _take(
        self,
        box: BallotBox,
        training: TrainingSet | None = None,
        folds: list[Fold] | None = None,
        X_test: TableLike | None = None,
        # False, because it is unknown whether other folds than the given ones are equally valid.
        can_vote_out_of_bag: bool = False,
    ) -> None:
        """Set the ballot box and, if known, the table and the split of its votes."""
        self._box, self._poll = box, box.poll
        self._training, self._folds, self._X_test = training, folds, X_test
        self._can_vote_out_of_bag = can_vote_out_of_bag

    def add(
        self,
        member: str,
        fold: int | None,
        votes: ArrayLike,
        *,
        rows: ArrayLike | None = None,
        test_votes: ArrayLike | None = None,
        labels: ArrayLike | None = None,
        test_labels: ArrayLike | None = None,
        are_scores: bool = False,
        recipe: str = "",
        notes: dict[str, object] | None = None,
    ) -> None:
        """Add the votes of one fitted model.

        When a member has voted on all rows, the loss of these votes is compared with the loss on the test
        rows. If it is implausibly low, a warning reports that the member may know the answers.

        Parameters
        ----------
        member : str
            The name of the member.
        fold : int or None
            The fold that the model was not fitted on. None: it was fitted on all rows and votes out of bag.
        votes : array-like of shape (n_held_out_rows, n_outputs)
            Probabilities in the order of the sorted classes, or numbers. Probabilities that do not sum to one
            are rescaled.
        rows : array-like of int, default=None
            The rows of the votes. None: the rows that the fold holds out, in their order. Rules are only
            fitted on rows that all their members have voted on.
        test_votes : array-like of shape (n_test_rows, n_outputs), default=None
        labels, test_labels : array-like of int, default=None
            The codes of the classes that the model predicts, for rules that read labels. None means that it
            predicts the class of its highest vote.
        are_scores : bool, default=False
            Whether votes for classes are uncalibrated scores. A class that the model does not know has the
            score minus infinity.
        recipe : str, default=""
            A text that identifies the estimator. Votes by another recipe under the same name are refused.
        notes : dict, default=None
            Further values to store with the votes, as in JSON.
        """
        if not isinstance(member, str):
            raise ValueError(f"member must be a name. Got {member!r}.")
        if fold is not None and not is_integer(fold):
            raise ValueError(f"fold must be the number of a fold, or None. Got {fold!r}.")
        if rows is None:
            if fold is None:
                raise ValueError(f"Votes of member {member!r} out of bag need rows. Pass rows.")
            known = range(len(self._poll.held_out))
            rows = self._poll.held_out[fold] if fold in known else np.empty(0)
        if are_scores and not isinstance(self._poll.task, Classification):
            raise ValueError("are_scores=True is for classes. Leave it out for a regression.")
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
            as_codes(labels, self._poll.task),
            as_codes(test_labels, self._poll.task),
        )
        self._box.put(ballot)

    def add_committee(self, committee: object) -> None:
        """Add the votes of a committee's members: honest votes, and votes on the test rows.

        Parameters
        ----------
        committee : estimator
            A committee that was fitted on the table of the bank with the same groups and with cv=bank.folds.
        """
        if not isinstance(committee, Assembled):
            raise ValueError(
                f"committee must be a fitted committee. Got a {type(committee).__name__}. Use collect for "
                "members."
            )
        honest, data = committee._known_votes(), committee._data
        if data is None or table_print(data, committee.schema_, committee._task) != self._poll.table:
            raise ValueError("The committee was fitted on another table. Make a bank of that table for it.")
        if not honest.split:
            raise ValueError(
                "It is unknown which rows the members of the committee were fitted on: they were passed "
                "fitted, had a time limit, or are from an older file. Fit them with cv=bank.folds."
            )
        if honest.split != self._poll.split:
            raise ValueError(
                "The committee was fitted in other folds or groups than those of the bank. Fit it with "
                "cv=bank.folds and the bank's groups."
            )
        source = None if self._X_test is None else committee._open(self._X_test)
        for place, member in enumerate(committee._fitted_members):
            test_votes, test_labels = None, None
            if source is not None:
                test_votes = member.votes(source, self._poll.task)
                if place in honest.labels:
                    (predicted,) = member.votes_by_fold(source, self._poll.task, 1, as_labels=True)
                    test_labels = predicted.argmax(axis=1)
            self.add(
                member.name,
                None,
                honest.votes[place],
                rows=honest.rows,
                test_votes=test_votes,
                labels=honest.labels.get(place),
                test_labels=test_labels,
            )

    def collect(
        self,
        estimators: object,
        *,
        columns: object = None,
        out_of_bag: bool = True,
        on_error: str = "raise",
        runner: str | Runner = "threads",
        n_jobs: int | None = None,
        random_state: int = 0,
        verbose: int = 0,
    ) -> None:
        """Fit members in all folds and add their votes. Folds with stored votes are not fitted again.

        Parameters
        ----------
        estimators : list of (str, estimator)
            Members with neither `predict_proba` nor `decision_function` cast crisp votes.
        columns : dict from names of members to lists of columns, default=None
            The columns that each member sees, by name or position. Other members see all columns.
        out_of_bag : bool, default=True
            Whether committee's own forests and bagging with `bootstrap=True` vote out of bag, in a single
            fit, if `cv` is an integer and there are no groups. With another `cv`, bags could contain rows
            that the split must keep apart.
        on_error : {"raise", "drop"}, default="raise"
            What to do if a fit fails: raise an error, or drop the member with a warning.
        runner : {"serial", "threads", "processes"} or Runner, default="threads"
        n_jobs : int, default=None
            The number of fits that run at the same time. None uses all cores.
        random_state : int, default=0
            Draws, together with the name of the member, every `random_state` that is None.
        verbose : int, default=0
            Whether to show the number of finished fits.
        """
        if on_error not in ("raise", "drop"):
            raise ValueError(f'on_error must be "raise" or "drop". Got {on_error!r}.')
        if not integer(0)(random_state):
            raise ValueError(f"random_state must be an integer >= 0. Got {random_state!r}.")
        training, folds = self._training, self.folds
        assert training is not None  # Otherwise, folds would have raised.
        members = [
            seeded_by_name(member, random_state)
            for member in members_of(
                estimators,
                columns,
                training.schema,
                training.are_classes,
                training.task.n_outputs if training.are_classes else 0,
            )
        ]
        # One fit for each: the place of the member, its recipe, and a fold without its votes.
        wanted: list[tuple[int, str, int | None]] = []
        for place, member in enumerate(members):
            recipe = recipe_of(member)
            in_bags = out_of_bag and self._can_vote_out_of_bag and has_bags(member.estimator)
            for fold in [None] if in_bags else range(len(folds)):
                if not self.has(member.name, fold, recipe):
                    wanted.append((place, recipe, fold))
        with (
            running.runner_of(runner, n_jobs) as run,
            running.Work("folds", "Bank", len(wanted), verbose=int(verbose)) as work,
        ):
            shared = run.put((training, self._X_test))
            tasks = {}
            for place, recipe, fold in wanted:
                train, held_out = (None, None) if fold is None else folds[fold]
                title = f"member {members[place].name!r}, {'all rows' if fold is None else f'fold {fold}'}"
                task = run.submit(
                    cast_ballot, shared, members[place], recipe, fold, train, held_out, name=title
                )
                tasks[task] = place
            failures = carry_out(
                tasks,
                run,
                on_error=on_error,
                report=work.report,
                keep=lambda task: self._box.put(task.result()),
            )
        warn_of_dropped(members, failures)

    @property
    def folds(self) -> list[Fold]:
        """The split: for each fold, the rows to learn from and the rows to vote on."""
        if self._folds is None:
            raise ValueError(
                "The bank was opened without its table, so it has no training rows. Use Bank(X, y)."
            )
        return self._folds

    @property
    def members(self) -> list[str]:
        """The sorted names of the complete members.

        A member is complete if it has voted out of bag or on every row that any fold holds out.
        """
        return self._box.members

    def has(self, member: str, fold: int | None, recipe: str = "") -> bool:
        """Return whether there are votes of a member in a fold.

        Parameters
        ----------
        member : str
        fold : int or None
        recipe : str, default=""
            Votes of the same name by another recipe are an error. So is a fold for a member with out-of-bag
            votes, and the reverse.

        Returns
        -------
        bool
        """
        return self._box.has(member, fold, recipe)

    def notes(self, member: str, fold: int | None) -> dict[str, object]:
        """Return the notes that were added with a ballot."""
        return self.ballot(member, fold).notes

    def ballot(self, member: str, fold: int | None) -> Ballot:
        """Return the votes of a member's model in a fold.

        Parameters
        ----------
        member : str
        fold : int or None

        Returns
        -------
        Ballot
            It has `rows` and `votes`. If `are_scores`, the votes are uncalibrated scores.
        """
        return self._box.take((member, fold))

    def votes(self, names: Iterable[str] | None = None) -> np.ndarray:
        """Return the mean honest vote of each member, on the rows that all members have voted on.

        Parameters
        ----------
        names : iterable of str, default=None
            Members. None is all members that have voted on every row.

        Returns
        -------
        ndarray of shape (n_members, n_honest_rows, n_outputs)
            The bank keeps no other copy of a folder's votes in memory.
        """
        return self.honest(names).votes

    def honest(self, names: Iterable[str] | None = None) -> HonestVotes:
        """Return the honest votes with the answers, weights, groups and positions of their rows.

        Parameters
        ----------
        names : iterable of str, default=None

        Returns
        -------
        HonestVotes
        """
        return self._box.honest(self._box.chosen(names))

    def test_votes(self, names: Iterable[str] | None = None) -> np.ndarray:
        """Return the votes of each member on the test rows: the mean of the votes of its models.

        Parameters
        ----------
        names : iterable of str, default=None

        Returns
        -------
        ndarray of shape (n_members, n_test_rows, n_outputs)
        """
        votes: np.ndarray = self._box.test_votes(self._box.chosen(names), 1)[0]
        return votes

    def fit_rule(self, rule: object, names: Iterable[str] | None = None) -> Rule:
        """Fit a rule on all honest votes.

        Parameters
        ----------
        rule : str, callable or Rule
            A name of `committee.rules`, a function of votes, or a rule, of which a clone is fitted. A rule
            whose `random_state` is None draws the same numbers each time.
        names : iterable of str, default=None

        Returns
        -------
        Rule
        """
        return self._fit_rule(rule, names)[0]

    def combine(self, rule: object, names: Iterable[str] | None = None) -> np.ndarray:
        """Fit a rule on all honest votes and return its decision on the test rows.

        Parameters
        ----------
        rule : str, callable or Rule
        names : iterable of str, default=None

        Returns
        -------
        ndarray of shape (n_test_rows, n_outputs)
            Probabilities in the order of the sorted classes, or numbers.
        """
        chosen, voted_in = self._box.chosen(names), self._box.folds_by_member()
        fitted, encoder = self._fit_rule(rule, chosen)
        n_folds = folds_of_rule(fitted, [len(voted_in[name]) for name in chosen])
        votes = self._box.test_votes(chosen, n_folds, as_labels=fitted._reads_labels())
        return decided_by_fold(fitted, votes, None if encoder is None else encoder.transform(self._X_test))

    def leaderboard(
        self,
        rules: Iterable[object] | None = None,
        names: Iterable[str] | None = None,
        *,
        scoring: object = None,
    ) -> Leaderboard:
        """Score members and rules on honest votes. Rules that learn are cross-validated.

        Parameters
        ----------
        rules : iterable of rules, default=None
            Names, functions or rules. None is every named rule for the task.
        names : iterable of str, default=None
        scoring : str, scorer or callable, default=None
            As for `score`. None is accuracy, or R2 for numbers.

        Returns
        -------
        Leaderboard
        """
        chosen = self._box.chosen(names)
        honest = self.honest(chosen)
        if self._training is not None:
            _, honest = look_at_rows(honest, self._training.X)
        return leaderboard_of(honest, chosen, rules, scoring, SEED)

    def _fit_rule(self, rule: object, names: Iterable[str] | None) -> tuple[Rule, TableEncoder | None]:
        """Fit a rule on all honest votes. Return it, with an encoder if it uses the columns of X."""
        honest, encoder = self.honest(names), None
        made = seeded(as_rule(rule), generator_of(SEED))
        if made._looks_at_X():
            if self._training is None:
                raise ValueError(
                    f"{type(made).__name__} uses the columns of X, which the folder does not contain. Make "
                    "the bank with its table: Bank(X, y, folder=...)."
                )
            encoder, honest = look_at_rows(honest, self._training.X)
        return honest.fit_rule(made), encoder
