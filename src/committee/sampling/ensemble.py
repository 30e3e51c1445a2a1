"""Members of which a rule makes one decision: what forests, bagging and rotation forests share.

In: trees of the engine, or members of other kinds, and a rule; one that learns does so from the votes on rows
outside of the bags. Out: the decision for new rows. Where votes are only summed, the engine decides itself.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import numpy as np
from sklearn.utils.validation import check_is_fitted

from committee.combining.rule import Rule
from committee.combining.rule_registry import as_rule
from committee.learners.fitted_members import mean_importances, shares_by_member
from committee.learners.training_data import Training
from committee.learners.voter import Voter
from committee.members.seeds import RULE, seeded, stream
from committee.members.table_encoder import fitted_rule
from committee.members.training_set import in_order
from committee.parameters import Constraint, declared, is_boolean, parameter
from committee.sampling.bagging.outside_votes import kept_votes_outside, take_votes_outside
from committee.sampling.out_of_bag import OutOfBag, score_of
from committee.sampling.out_of_bag_rules import Ruling, is_open
from committee.saving import Fields
from committee.saving.predictors.deciders import name_of_sum, sums_votes
from committee.saving.states.state import KeptRule, State
from committee.saving.states.tree_states import TreesState
from committee.table.source import Source, open_source
from committee.votes.honest_votes import HonestVotes


def is_rule(value: Any) -> bool:
    """Whether a value may be a rule; `as_rule` knows whether it is one."""
    return isinstance(value, str | Rule) or (callable(value) and not isinstance(value, type))


def is_text(value: Any) -> bool:
    """Whether a value is text; `metric_of` knows whether it names a metric."""
    return isinstance(value, str)


@declared
class Ensemble(Voter):
    """Members of which a rule makes one decision.

    Attributes
    ----------
    rule_ : Rule
        The fitted rule; None if y has one class.
    """

    rule: Any = parameter(
        "mean",
        Constraint("the name of a rule, a function of votes or a rule", is_rule),
        'How the votes of the members are combined: "mean" averages them, "majority" counts the classes that '
        'members vote for, "weighted_mean" weighs members by their out-of-bag accuracy (numbers: the inverse '
        "of their squared error), and so on: a name of `committee.rules`, a function or a rule. One that "
        "learns does so from out-of-bag votes, in which the mean of the others stands for the vote of a "
        "member on a row that it has seen.",
    )
    oob_score: Any = parameter(
        False,
        Constraint(
            "True, False, the name of a metric, a scorer or a callable",
            lambda value: is_boolean(value) or is_text(value) or callable(value),
        ),
        "Whether to judge the decision on the rows that members have not seen; there are such with "
        "`bootstrap`. A rule decides on the votes of those members alone; one that learns decides on each "
        "fifth of the rows by what it learns from the others. True is the accuracy, or R2 of numbers. A name "
        "is that of a scorer of scikit-learn, as in `committee.score`; a callable is called as "
        "metric(y_true, y_pred), with labels or, if it takes no text, with their numbers in `classes_`.",
    )

    @property
    def estimators_(self) -> Any:
        """The members."""
        raise NotImplementedError

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
        """The vote of every member.

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
        check_is_fitted(self)
        return self._cast(X)

    def _cast(self, X: Any) -> np.ndarray:
        table = self._read(X)
        return self._forest.votes(list(table.columns), table.n_rows, self._threads(table.n_rows))

    @property
    def rule_(self) -> Rule | None:
        """The fitted rule; None if y has one class."""
        check_is_fitted(self)
        if self._ruling is not None:
            return self._ruling.rule
        return as_rule("mean") if is_open(self._task) else None

    @property
    def oob_score_(self) -> float:
        """The metric on the rows that have an out-of-bag decision: accuracy or R2, or what `oob_score` is."""
        return self._scored().score

    @property
    def oob_curve_(self) -> np.ndarray:
        """The error after every tree: the misclassified share of the rows, or the mean squared error.

        It is that of the mean of the votes, or of their majority if that is the rule. No other rule is asked.
        """
        return self._required_out_of_bag().curve

    @property
    def _votes_outside(self) -> HonestVotes | None:
        return None if self._ruling is None else self._ruling.votes

    def _new_rule(self, seed: int) -> Rule:
        """Make the rule that the parameter names, to be fitted."""
        made: Rule = seeded(as_rule(self.rule), stream(seed, 0, RULE))
        return made

    def _keep_ruling(self, ruling: Ruling, *, keeps_votes: bool) -> None:
        """Take a fitted rule, and the votes that it learnt from if somebody needs them.

        Where votes are not summed, no matrix goes to the engine as it is.
        """
        # None if the engine sums the votes to their mean, which takes no rule.
        self._ruling: Ruling | None = ruling if keeps_votes else replace(ruling, votes=None)
        self._rule = name_of_sum(ruling.rule)
        if not sums_votes(ruling.rule):
            self._matrix_width = -1

    def _curve_before(self) -> np.ndarray:
        """Return the errors of the members of the previous fit; none if they were not judged."""
        return np.empty(0) if self._out_of_bag is None else self._out_of_bag.curve

    def _scored(self) -> OutOfBag:
        """Return what is known of the decision, and not only of the sums of the votes."""
        return self._required_out_of_bag()

    def _required_out_of_bag(self) -> OutOfBag:
        found = self.__dict__.get("_out_of_bag")
        if found is None:
            raise AttributeError("There are out-of-bag decisions only after a fit with oob_score=True.")
        return found

    def _open(self, X: Any) -> Source:
        """A table as members take it, if it has the columns of the fit."""
        source = open_source(X)
        self._read(source)
        return in_order(source, self.schema_)

    def _decide_table(self, X: Any) -> np.ndarray:
        check_is_fitted(self)
        ruling = self._ruling
        if ruling is None or ruling.rule is None or sums_votes(ruling.rule):
            return super()._decide_table(X)
        source = self._open(X)
        matrix = None if ruling.encoder is None else ruling.encoder.transform(source)
        return ruling.rule.combine(self.votes(source), matrix)

    def _oob_decision(self) -> np.ndarray:
        """The out-of-bag decision, of shape (n_rows, n_outputs)."""
        judged = self._scored()
        ruling = self._ruling
        return judged.decision if ruling is None or ruling.decision is None else ruling.decision

    def _check_same_sums(self, rule: str) -> None:
        """Raise if votes of further members cannot be added to the sums out of bag of those before."""
        if is_open(self._task) and (rule == "majority") != (self._rule == "majority"):
            raise ValueError(
                "The members of the previous fit were judged by another rule than the majority, or these are "
                "not. Leave the rule as it was, or set warm_start=False."
            )

    def _score_again(self, training: Training) -> None:
        """Score the decision that is there: `oob_score` may be another metric than in the previous fit."""
        if self.oob_score and self._out_of_bag is not None:
            score = score_of(self._oob_decision(), training, self.oob_score)
            self._out_of_bag: OutOfBag | None = replace(self._out_of_bag, score=score)

    def _known_scores(self) -> dict[str, float]:
        return {} if self._out_of_bag is None else {"out_of_bag": self._out_of_bag.score}

    def _kept_rule(self) -> KeptRule:
        return KeptRule(self.rule_, None if self._ruling is None else self._ruling.encoder)

    def _state(self) -> State:
        return TreesState(self.schema_, self._task, self._forest, self._kept_rule())

    def _learnt_ruling(self) -> dict[str, Any]:
        """Return the out-of-bag decisions of the sums and of the rule, and the votes, for a file."""
        kept, out_of_bag = self._votes_outside, self._out_of_bag
        return {
            "out_of_bag": None if out_of_bag is None else vars(out_of_bag),
            "decision_outside": None if self._ruling is None else self._ruling.decision,
            "votes_outside": None if kept is None else kept_votes_outside(kept),
        }

    def _take_ruling(self, kept: KeptRule | None, fields: Fields, n_members: int, n_rows: int | None) -> None:
        """Take the same from a file; one that is older than the rules of forests names its rule."""
        found = fields.optional_fields("out_of_bag")
        sizes = n_members, self.n_features_in_, self._task.n_outputs
        self._out_of_bag = None if found is None else OutOfBag.take(found, *sizes)
        if kept is None:
            rule = as_rule(self.rule) if is_open(self._task) else None
            return self._keep_ruling(Ruling(rule), keeps_votes=True)
        rule, encoder = fitted_rule(kept, n_members, self.n_features_in_, self._task)
        shape = (n_rows, self._task.n_outputs)
        decision = fields.optional_array("decision_outside", np.float64, shape, finite=False)
        named = fields.optional_fields("votes_outside")
        votes = None if named is None else take_votes_outside(named, n_members, n_rows, self._task)
        return self._keep_ruling(Ruling(rule, encoder, votes, decision), keeps_votes=True)


def feature_importances(forest: Any) -> np.ndarray:
    """How much the splits on each column lower the impurity, in the mean of the trees.

    They sum to 1, or are all 0.
    """
    check_is_fitted(forest)
    return mean_importances(forest._importances)


def feature_importances_std(forest: Any) -> np.ndarray:
    """The standard deviation over the trees of `feature_importances_`."""
    check_is_fitted(forest)
    return shares_by_member(forest._importances).std(axis=0)


def leaves_of_rows(forest: Any, X: Any) -> np.ndarray:
    """The leaf of each row in each tree.

    Parameters
    ----------
    X : table of shape (n_rows, n_columns)

    Returns
    -------
    ndarray of int of shape (n_rows, n_members)
        Numbers of nodes.
    """
    table = forest._read(X)
    leaves = forest._forest.apply(list(table.columns), table.n_rows, forest._threads(table.n_rows))
    return leaves.astype(np.int64)
