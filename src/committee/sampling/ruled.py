"""Members of which a rule makes one decision: what forests, bagging and rotation forests share.

In: trees of the engine, or members of other kinds, and a rule; one that learns does so from the votes on rows
outside of the bags. Out: the decision for new rows. Where votes are only summed, the engine decides itself.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Any

import numpy as np
from sklearn.utils.validation import check_is_fitted

from committee.combining import as_rule
from committee.combining.rule import Rule, check_rule
from committee.learners.training import Training
from committee.learners.voting import Voter
from committee.members.encoding import TableEncoder, fitted_rule
from committee.members.lesson import in_order
from committee.members.seeding import RULE, seeded, stream
from committee.members.votes import Task
from committee.parameters import declared, either, is_boolean, parameter
from committee.running import n_threads
from committee.sampling.out_of_bag import Judged, check_metric, score_of
from committee.sampling.outside import (
    check_decides_outside,
    kept_votes_outside,
    take_votes_outside,
    votes_before,
    votes_outside,
)
from committee.sampling.ruling import Ruling
from committee.saving import Fields
from committee.saving.deciding import name_of_sum, sums_votes
from committee.saving.states.state import KeptRule, State
from committee.saving.states.tree_states import TreesState
from committee.table.source import Source, open_source
from committee.task import Classification
from committee.votes.honest import HonestVotes


def is_rule(value: Any) -> bool:
    """Whether a value may be a rule; `as_rule` knows whether it is one."""
    return isinstance(value, str | Rule) or (callable(value) and not isinstance(value, type))


def is_text(value: Any) -> bool:
    """Whether a value is text; `metric_of` knows whether it names a metric."""
    return isinstance(value, str)


def is_open(task: Task) -> bool:
    """Whether there is anything to decide: numbers, or more than one class."""
    return not isinstance(task, Classification) or task.n_outputs > 1


def learns(rule: Rule, task: Task) -> bool:
    """Whether a rule must be fitted before it decides on a task."""
    return rule.needs_fit and is_open(task)


@declared
class Combining(Voter):
    """The parameter of all whose members vote."""

    rule: Any = parameter(
        "mean",
        "the name of a rule, a function of votes or a rule",
        is_rule,
        'How the votes of the members are combined: "mean" averages them, "majority" counts the classes that '
        'members vote for, "weighted_mean" weighs members by their out-of-bag accuracy (numbers: the inverse '
        "of their squared error), and so on: a name of `committee.rules`, a function or a rule. One that "
        "learns does so from out-of-bag votes, in which the mean of the others stands for the vote of a "
        "member on a row that it has seen.",
    )
    oob_score: Any = parameter(
        False,
        "True, False, the name of a metric, a scorer or a callable",
        either(is_boolean, is_text, callable),
        "Whether to judge the decision on the rows that members have not seen; there are such with "
        "`bootstrap`. A rule decides on the votes of those members alone; one that learns decides on each "
        "fifth of the rows by what it learns from the others. True is the accuracy, or R2 of numbers. A name "
        "is that of a scorer of scikit-learn, as in `committee.score`; a callable is called as "
        "metric(y_true, y_pred), with labels or, if it takes no text, with their numbers in `classes_`.",
    )


class Ruled(Judged, Combining):
    """Members of which a rule makes one decision.

    Attributes
    ----------
    rule_ : Rule
        The fitted rule; None if y has one class.
    """

    estimators_: Any
    rule_: Rule | None
    _encoder: TableEncoder | None
    _decision_outside: np.ndarray | None
    _votes_outside: HonestVotes | None

    def __len__(self) -> int:
        """The number of members."""
        return len(self.estimators_)

    def __getitem__(self, index: int) -> Any:
        """The member at a position."""
        return self.estimators_[index]

    def __iter__(self) -> Iterator[Any]:
        """One member after the other."""
        return iter(self.estimators_)

    def votes(self, X: Any) -> np.ndarray:
        """The vote of every tree.

        Parameters
        ----------
        X : table of shape (n_rows, n_columns)

        Returns
        -------
        ndarray of shape (n_members, n_rows, n_outputs)
            The functions of `committee.rules` combine them.

        Examples
        --------
        >>> from committee import RandomForestClassifier, rules
        >>> forest = RandomForestClassifier(3, random_state=0).fit([[1], [2], [8], [9]], [0, 0, 1, 1])
        >>> votes = forest.votes([[1], [9]])
        >>> votes.shape, bool((rules.mean(votes) == forest.predict_proba([[1], [9]])).all())
        ((3, 2, 2), True)
        """
        table = self._read(X)
        return self._forest.votes(list(table.columns), table.n_rows, self._threads(table.n_rows))

    def _new_rule(self, seed: int) -> Rule:
        """The rule that the parameter names, to be fitted."""
        made: Rule = seeded(as_rule(self.rule), stream(seed, 0, RULE))
        return made

    def _keep_rule(self, rule: Rule | None, encoder: TableEncoder | None) -> None:
        """Take a fitted rule. Where votes are not summed, no matrix goes to the engine as it is."""
        self.rule_, self._encoder = rule, encoder
        self._rule = name_of_sum(rule)
        if not sums_votes(rule):
            self._matrix_width = -1

    def _keep_ruling(self, ruling: Ruling, *, keeps_votes: bool) -> None:
        """Take a fitted rule with what it has decided out of bag, and the votes if somebody needs them."""
        self._decision_outside = ruling.decision
        self._votes_outside = ruling.votes if keeps_votes else None
        self._keep_rule(ruling.rule, ruling.encoder)

    def _open(self, X: Any) -> Source:
        """A table as members take it, if it has the columns of the fit."""
        source = open_source(X)
        self._read(source)
        return in_order(source, self.schema_)

    def _decide_table(self, X: Any) -> np.ndarray:
        check_is_fitted(self)
        if self.rule_ is None or sums_votes(self.rule_):
            return super()._decide_table(X)
        source = self._open(X)
        matrix = None if self._encoder is None else self._encoder.transform(source)
        return self.rule_.combine(self.votes(source), matrix)

    def _oob_decision(self) -> np.ndarray:
        """The out-of-bag decision, of shape (n_rows, n_outputs)."""
        judged = self._scored()
        return judged.decision if self._decision_outside is None else self._decision_outside

    def _check_judged_alike(self, rule: Rule) -> None:
        """Raise if votes of further members cannot be added to the sums out of bag of those before."""
        if is_open(self._task) and (name_of_sum(rule) == "majority") != (self._rule == "majority"):
            raise ValueError(
                "The members of the fit before were judged by another rule than the majority, or these are "
                "not. Leave the rule as it was, or set warm_start=False."
            )

    def _judge_again(self, training: Training) -> None:
        """Score the decision that is there: `oob_score` may be another metric than in the fit before."""
        if self.oob_score and self._out_of_bag is not None:
            score = score_of(self._oob_decision(), training, self.oob_score)
            self._out_of_bag = replace(self._out_of_bag, score=score)

    def _state(self) -> State:
        return TreesState(self.schema_, self._task, self._forest, KeptRule(self.rule_, self._encoder))

    def _learnt_ruling(self) -> dict[str, Any]:
        """What the rule has decided out of bag, and the votes that it knows, for a file."""
        kept = self._votes_outside
        return {
            "decision_outside": self._decision_outside,
            "votes_outside": None if kept is None else kept_votes_outside(kept),
        }

    def _take_ruling(self, kept: KeptRule | None, fields: Fields, n_members: int, n_rows: int | None) -> None:
        """Take the rule and those from a file; one that is older than the rules of forests names its rule."""
        self._decision_outside = self._votes_outside = None
        if kept is None:
            return self._keep_rule(as_rule(self.rule) if is_open(self._task) else None, None)
        rule, encoder = fitted_rule(kept, n_members, self.n_features_in_, self._task)
        shape = (n_rows, self._task.n_outputs)
        self._decision_outside = fields.optional_array("decision_outside", np.float64, shape, finite=False)
        votes = fields.optional_fields("votes_outside")
        if votes is not None:
            self._votes_outside = take_votes_outside(votes, n_members, n_rows, self._task)
        return self._keep_rule(rule, encoder)


class RuledTrees(Ruled):
    """Trees of the engine. With `bootstrap` each leaves rows out, and a rule may learn from votes on them."""

    bootstrap: bool
    n_jobs: int | None

    def _check_rule(self, rule: Rule, task: Task, n_trees: int) -> None:
        """Raise if the rule cannot decide on the votes of so many trees, or not learn from them."""
        check_rule(rule, n_trees, task)
        check_metric(self.oob_score, task)
        if self.oob_score and is_open(task):
            check_decides_outside(rule, n_trees, task)
        if learns(rule, task) and not self.bootstrap:
            raise ValueError(
                f"rule={self.rule!r} learns from out-of-bag votes, and every tree sees all rows. Set "
                "bootstrap=True, or rule='mean'."
            )

    def _needs_votes(self, rule: Rule, task: Task) -> bool:
        """Whether the votes of every tree on the rows that it has not seen are wanted."""
        return learns(rule, task) or (bool(self.oob_score) and not sums_votes(rule))

    def _teach(
        self,
        rule: Rule,
        forest: Any,
        training: Training,
        X: Any,
        outside_of: Callable[[int], np.ndarray],
        *,
        goes_on: bool = False,
    ) -> Ruling:
        """Let the rule learn from what the trees say of rows outside of their bags, as told for each tree."""
        votes, native = None, None
        if rule._looks_at_X():
            native = in_order(open_source(X), training.table.schema).native
        if self._needs_votes(rule, training.task):
            cast = votes_outside(training, forest, outside_of, n_threads(self.n_jobs))
            votes = HonestVotes.of_bags(cast, training.y, training.weights)
            votes = votes.after(votes_before(self._votes_outside)) if goes_on else votes
        return Ruling.of(rule, training.task, votes, native, is_judged=bool(self.oob_score))
