"""What can be asked of a poll and its ballots: honest votes, decisions of any rule, a leaderboard."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import Any

import numpy as np

from committee.assembling.ballots import Ballot, Box
from committee.assembling.calibrating import Curves
from committee.assembling.leaderboard import Leaderboard, leaderboard_of
from committee.assembling.poll import Poll
from committee.combining import as_rule
from committee.combining.rule import Rule
from committee.members.encoding import TableEncoder
from committee.members.lesson import Lesson
from committee.members.seeding import generator_of, seeded
from committee.members.seeing import look_at_rows
from committee.saving.together import decided_by_fold, folds_of_rule
from committee.votes.arrays import dtype_of, folded_scores
from committee.votes.folds import Fold
from committee.votes.honest import HonestVotes

# From what ballots hold on rows of the table, or on test rows (None), to votes.
Voting = Callable[[np.ndarray, np.ndarray | None], np.ndarray]
# A bank has no seed of its own, and what it is asked twice it answers alike.
SEED = 0


class Polled:
    """Votes that are there, whoever has put them into the box."""

    _poll: Poll
    _box: Box
    _lesson: Lesson | None
    _folds: list[Fold] | None
    _X_test: Any
    _calibrate: str | None

    @property
    def folds(self) -> list[Fold]:
        """The split: for each fold, the rows to learn from and the rows to vote on."""
        if self._folds is None:
            raise ValueError("A bank that was opened without its table knows no rows to learn from.")
        return self._folds

    @property
    def members(self) -> list[str]:
        """The names, sorted, of the members that can sit together.

        They have voted on every row that some fold holds out or, out of bag, on the rows that they could.
        """
        return sorted(name for name, folds in self._folds_by_member().items() if self._are_whole(folds))

    def has(self, member: str, fold: int | None, recipe: str = "") -> bool:
        """Whether there are votes of a member's model.

        Parameters
        ----------
        member : str
        fold : int or None
        recipe : str, default=""
            Votes of the same name by another recipe are an error. So are votes in a fold beside votes out of
            bag.

        Returns
        -------
        bool
        """
        known = self._box.recipes()
        for (name, voted_in), other in known.items():
            if name != member:
                continue
            if other != recipe:
                raise ValueError(
                    f"There are votes of another member {member!r}, made by another recipe. Give this one a "
                    "name of its own."
                )
            if (voted_in is None) != (fold is None):
                where, too = ("out of bag", "in folds") if voted_in is None else ("in folds", "out of bag")
                raise ValueError(
                    f"Member {member!r} has voted {where}, and cannot vote {too} as well. Give this one a "
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
        return self.ballot(member, fold).notes

    def ballot(self, member: str, fold: int | None) -> Ballot:
        """What a member's model has voted.

        Parameters
        ----------
        member : str
        fold : int or None

        Returns
        -------
        Ballot
            With `rows` and `votes`; scores, if `are_scores`, as the model gave them.
        """
        return self._box.take((member, fold))

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
        poll, chosen = self._poll, self._chosen(names)
        held_out = [((ballot.rows, ballot.votes) for ballot in self._ballots(name)) for name in chosen]
        honest = HonestVotes.of_models(held_out, poll.task, poll.y, poll.weights, poll.groups)
        for place, name in enumerate(chosen):
            honest.votes[place] = self._from_scores(name)(honest.votes[place], honest.rows)
        return honest

    def test_votes(self, names: Iterable[str] | None = None) -> np.ndarray:
        """The votes of each member on the test rows: the mean of its models'.

        Parameters
        ----------
        names : iterable of str, default=None

        Returns
        -------
        ndarray of shape (n_members, n_test_rows, n_outputs)
        """
        votes: np.ndarray = self._test_votes_by_fold(self._chosen(names), 1)[0]
        return votes

    def fit_rule(self, rule: Any, names: Iterable[str] | None = None) -> Rule:
        """Fit a rule on all honest votes.

        Parameters
        ----------
        rule : str, callable or Rule
            A name of `committee.rules`, a function of votes, or a rule, which stays as it is. One that draws
            and has no `random_state` draws the same each time.
        names : iterable of str, default=None

        Returns
        -------
        Rule
        """
        return self._fit_rule(rule, names)[0]

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
        chosen, voted_in = self._chosen(names), self._folds_by_member()
        fitted, encoder = self._fit_rule(rule, chosen)
        n_folds = folds_of_rule(fitted, [len(voted_in[name]) for name in chosen])
        votes = self._test_votes_by_fold(chosen, n_folds)
        return decided_by_fold(fitted, votes, None if encoder is None else encoder.transform(self._X_test))

    def leaderboard(
        self, rules: Any = None, names: Iterable[str] | None = None, *, scoring: Any = None
    ) -> Leaderboard:
        """Judge members and rules by honest votes; a rule that learns decides on rows it has not learnt from.

        Parameters
        ----------
        rules : iterable of rules, default=None
            Names, functions or rules. None is every rule by name that can decide here.
        names : iterable of str, default=None
        scoring : str, scorer or callable, default=None
            As for `score`. None is accuracy, or R2 for numbers.

        Returns
        -------
        Leaderboard
        """
        chosen = self._chosen(names)
        honest = self.honest(chosen)
        if self._lesson is not None:
            _, honest = look_at_rows(honest, self._lesson.X)
        return leaderboard_of(honest, chosen, rules, scoring, SEED)

    def _chosen(self, names: Iterable[str] | None) -> list[str]:
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
                raise ValueError(f"Member {name!r} has not voted on every row. Those who have: {whole}.")
        return chosen

    def _folds_by_member(self) -> dict[str, list[int | None]]:
        """The folds that each member has voted in, in order; None, out of bag, is the first."""
        found: dict[str, list[int | None]] = {}
        in_order = sorted(self._box.recipes(), key=lambda place: -1 if place[1] is None else place[1])
        for member, fold in in_order:
            found.setdefault(member, []).append(fold)
        return found

    def _ballots(self, member: str) -> Iterator[Ballot]:
        """The ballots of a member one after the other: each is mapped while it is looked at.

        There are scores among them only if they are to be calibrated.
        """
        for fold in self._folds_by_member()[member]:
            ballot = self._box.take((member, fold))
            yield ballot.crisp() if self._calibrate is None else ballot

    def _test_votes_by_fold(self, chosen: list[str], n_folds: int) -> np.ndarray:
        """The votes of the models of each of some folds, of shape (n_folds, n_members, n_rows, n_outputs)."""
        poll = self._poll
        if not poll.test:
            raise ValueError("The bank has no test rows. Make it with Bank(X, y, X_test=...).")
        shape = (n_folds, len(chosen), poll.n_test_rows, poll.task.n_outputs)
        votes: np.ndarray = np.empty(shape, dtype=dtype_of(poll.task))
        for place, name in enumerate(chosen):
            as_votes = self._from_scores(name)
            each = folded_scores(list(self._cast_on_test(name)), n_folds)
            votes[:, place] = [as_votes(mean, None) for mean in each]
        return votes

    def _cast_on_test(self, member: str) -> Iterator[np.ndarray]:
        """What each model of a member says of the test rows."""
        for ballot in self._ballots(member):
            if ballot.test_votes is None:
                raise ValueError(f"Member {member!r} has not voted on the test rows in fold {ballot.fold}.")
            yield ballot.test_votes

    def _are_whole(self, folds: list[int | None]) -> bool:
        """Whether some folds hold out every row that any does, or there are votes out of bag."""
        voted = np.zeros(self._poll.n_rows, dtype=bool)
        for fold in folds:
            if fold is None:
                return True
            voted[self._poll.held_out[fold]] = True
        return bool(voted[self._poll.is_held_out].all())

    def _from_scores(self, member: str) -> Voting:
        """What makes votes of what a member's ballots hold: for scores, the curves that `calibrate` names."""
        if self._calibrate is None or not next(self._ballots(member)).are_scores:
            return lambda votes, rows: votes
        poll = self._poll
        cast = ((ballot.rows, ballot.votes) for ballot in self._ballots(member))
        alone = HonestVotes.of_models([cast], poll.task, poll.y, poll.weights, poll.groups)
        curves = Curves.of(self._calibrate, alone, 0, (ballot.rows for ballot in self._ballots(member)))
        return lambda scores, rows: (
            curves.whole.votes(scores.astype(np.float64))
            if rows is None
            else curves.honest_votes(scores, rows)
        )

    def _fit_rule(self, rule: Any, names: Iterable[str] | None) -> tuple[Rule, TableEncoder | None]:
        """A rule that has learnt from all honest votes, and what encodes rows for it if it looks at them."""
        honest, encoder = self.honest(names), None
        made = seeded(as_rule(rule), generator_of(SEED))
        if made._looks_at_X():
            if self._lesson is None:
                raise ValueError(
                    f"{type(made).__name__} looks at the rows, which the folder does not hold. Make the "
                    "bank with its table: Bank(X, y, folder=...)."
                )
            encoder, honest = look_at_rows(honest, self._lesson.X)
        return honest.teach(made), encoder
