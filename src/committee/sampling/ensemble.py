"""Combine the votes of many members by a rule: the base of forests, bagging and rotation forests.

In: trees of the engine, or members of other kinds, and a rule. A rule that learns is fitted on out-of-bag
votes. Out: the decision for new rows. If a rule only sums votes, the engine decides.
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
    """Return whether a value has the type of a rule. `as_rule` checks the names."""
    return isinstance(value, str | Rule) or (callable(value) and not isinstance(value, type))


@declared
class Ensemble(Voter):
    """Members whose votes a rule combines.

    Attributes
    ----------
    rule_ : Rule
        The fitted rule. None if y has one class.
    """

    rule: Any = parameter(
        "mean",
        Constraint("the name of a rule, a function of votes or a rule", is_rule),
        "The rule that combines the votes of the members: a name of `committee.rules`, a function or a rule. "
        '"mean" averages the votes, "majority" counts the classes that members vote for, "weighted_mean" '
        "weighs members by their out-of-bag accuracy (in regression, by the inverse of their squared error). "
        "A rule that learns is fitted on out-of-bag votes. On a row in the bag of a member, the mean of the "
        "other votes replaces its vote.",
    )
    oob_score: Any = parameter(
        False,
        Constraint(
            "True, False, the name of a metric, a scorer or a callable",
            lambda value: is_boolean(value) or isinstance(value, str) or callable(value),
        ),
        "Whether to score the out-of-bag decision, which exists with `bootstrap`. For each row, the rule "
        "combines the votes of the members whose bags do not contain it. A rule that learns decides on each "
        "fifth of the rows after a fit on the others. True computes the accuracy, or R2 in regression. "
        "A name is a scorer of scikit-learn, as in `committee.score`. A callable is called as "
        "metric(y_true, y_pred), with labels or, if it takes no text, with their positions in `classes_`.",
    )

    @property
    def estimators_(self) -> Any:
        """The members."""
        raise NotImplementedError

    def __len__(self) -> int:
        """Return the number of members."""
        return len(self.estimators_)

    def __getitem__(self, index: int) -> Any:
        """Return the member at a position."""
        return self.estimators_[index]

    def __iter__(self) -> Iterator[Any]:
        """Iterate over the members."""
        return iter(self.estimators_)

    def votes(self, X: Any) -> np.ndarray:
        """Return the votes of all members.

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

    def _cast(self, X: Any, *, as_labels: bool = False) -> np.ndarray:
        """Return the votes of all members. With `as_labels`, they vote for the class that they predict."""
        table = self._read(X)
        return self._forest.votes(list(table.columns), table.n_rows, self._threads(table.n_rows))

    @property
    def rule_(self) -> Rule | None:
        """The fitted rule. None if y has one class."""
        check_is_fitted(self)
        if self._ruling is not None:
            return self._ruling.rule
        return as_rule("mean") if is_open(self._task) else None

    @property
    def oob_score_(self) -> float:
        """The accuracy, R2 or `oob_score` metric of the out-of-bag decision."""
        return self._scored().score

    @property
    def oob_curve_(self) -> np.ndarray:
        """The error after every tree: the misclassified share of the rows, or the mean squared error.

        It is the error of the majority of the votes if that is the rule, and of their mean for all other
        rules.
        """
        return self._required_out_of_bag().curve

    @property
    def _votes_outside(self) -> HonestVotes | None:
        return None if self._ruling is None else self._ruling.votes

    def _new_rule(self, seed: int) -> Rule:
        """Return the unfitted rule of the parameter `rule`."""
        made: Rule = seeded(as_rule(self.rule), stream(seed, 0, RULE))
        return made

    def _keep_ruling(self, ruling: Ruling, *, keeps_votes: bool) -> None:
        """Store a fitted rule, with or without the votes that it was fitted on."""
        # None if the engine averages the votes, which needs no rule.
        self._ruling: Ruling | None = ruling if keeps_votes else replace(ruling, votes=None)
        self._rule = name_of_sum(ruling.rule)
        # The engine takes a matrix directly only if it sums the votes.
        if not sums_votes(ruling.rule):
            self._matrix_width = -1

    def _curve_before(self) -> np.ndarray:
        """Return the out-of-bag errors of the previous fit. They are empty if it did not compute them."""
        return np.empty(0) if self._out_of_bag is None else self._out_of_bag.curve

    def _scored(self) -> OutOfBag:
        """Return the out-of-bag votes and score. Raise if there is no out-of-bag decision."""
        return self._required_out_of_bag()

    def _required_out_of_bag(self) -> OutOfBag:
        found = self.__dict__.get("_out_of_bag")
        if found is None:
            raise AttributeError("There are out-of-bag decisions only after a fit with oob_score=True.")
        return found

    def _open(self, X: Any) -> Source:
        """Open a table for the members. Raise if it does not have the columns of the fit."""
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
        return ruling.rule.combine(self._cast(source, as_labels=ruling.rule._reads_labels()), matrix)

    def _oob_decision(self) -> np.ndarray:
        """Return the out-of-bag decision, of shape (n_rows, n_outputs)."""
        out_of_bag, ruling = self._scored(), self._ruling
        return out_of_bag.decision if ruling is None or ruling.decision is None else ruling.decision

    def _check_same_sums(self, rule: str) -> None:
        """Raise if further votes cannot be added to the out-of-bag sums of the previous fit."""
        if is_open(self._task) and (rule == "majority") != (self._rule == "majority"):
            raise ValueError(
                "Only one of this fit and the previous one counts out-of-bag votes by majority, so they "
                "cannot be added. Keep the rule of the previous fit, or set warm_start=False."
            )

    def _score_again(self, training: Training) -> None:
        """Score the stored decision again, because `oob_score` may be another metric than before."""
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
        """Take them from a file. Files of old versions contain only the parameter `rule` of a forest."""
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


def oob_decision_function(ensemble: Any) -> np.ndarray:
    """Return the out-of-bag probabilities, with NaN for a row in the bags of all members."""
    return ensemble._oob_decision()


def oob_prediction(ensemble: Any) -> np.ndarray:
    """Return the out-of-bag predictions, with NaN for a row in the bags of all members."""
    return ensemble._oob_decision()[:, 0]


def feature_importances(forest: Any) -> np.ndarray:
    """Return how much the splits on each column lower the impurity, averaged over the trees.

    They sum to 1, or are all 0.
    """
    check_is_fitted(forest)
    return mean_importances(forest._importances)


def feature_importances_std(forest: Any) -> np.ndarray:
    """Return the standard deviation over the trees of `feature_importances_`."""
    check_is_fitted(forest)
    return shares_by_member(forest._importances).std(axis=0)


def leaves_of_rows(forest: Any, X: Any) -> np.ndarray:
    """Return the leaf of each row in each tree.

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
