"""From a file to a predictor, without scikit-learn: what is described is taken as the engine has it."""

from __future__ import annotations

import os
from dataclasses import dataclass
from typing import TypeGuard

from committee.saving.format.fields import Fields
from committee.saving.format.file_errors import DamagedFile, require
from committee.saving.model_file import read_content
from committee.saving.predictors.deciders import SUMMED, VotingRule
from committee.saving.predictors.linear_models import linear_model
from committee.saving.predictors.predictor import Predictor
from committee.saving.saved_estimators import PREFIX, Described, restore
from committee.saving.states.state import STATES, KeptRule
from committee.task import Classification, Regression


def predictor(path: str | os.PathLike[str]) -> Predictor:
    """Prepare the model of a file to answer rows at once, without scikit-learn.

    Parameters
    ----------
    path : str or path
        Of a fitted model of ours: a tree, a forest, a booster, networks, or a committee of such. Its rule
        may be any but those that look at the rows (regions, dynamic selection, `passthrough`); a
        meta-learner of stacking may be linear, or of ours.

    Returns
    -------
    Predictor
        With `predict` and, for classes, `predict_proba`. They take matrices of float64, and rows as mappings
        by column name, as JSON has them.

    Raises
    ------
    DamagedFile
        As `load` does, for what decides. Parameters and other fields are not looked at.
    ValueError
        If the model is not fitted, or needs scikit-learn to decide; the message says for what.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> import pandas as pd
    >>> from committee import DecisionTreeClassifier
    >>> X = pd.DataFrame({"age": [31, 54], "city": ["Oslo", "Bonn"]})
    >>> tree = DecisionTreeClassifier(random_state=0).fit(X, ["young", "old"])
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     tree.save(Path(folder, "tree.committee"))
    ...     prepared = predictor(Path(folder, "tree.committee"))
    >>> prepared.predict({"age": 29, "city": "Oslo"})
    array(['young'], dtype='<U5')
    """
    return DescribedModels(str(path)).predictor(read_content(path, builds=False).model, "model")


@dataclass(frozen=True)
class DescribedModels:
    """Models and rules as a file describes them, made ready to answer.

    Parameters
    ----------
    path : str
        Of the file, for the messages.
    """

    path: str

    def predictor(self, model: object, role: str) -> Predictor:
        """The predictor of a model, which has a role in the file: the model itself, a member or another."""
        if not isinstance(model, Described) or not model.name.startswith(PREFIX):
            what = model.name if isinstance(model, Described) else type(model).__name__
            raise ValueError(
                f"The {role} of {self.path} is not one of committee's own models ({what}). "
                "Use committee.load."
            )
        if model.fitted is None:
            raise ValueError(f"The {model.name} of {self.path} is not fitted.")
        name = model.name.removeprefix(PREFIX)
        if name not in STATES:
            raise ValueError(f"There is no predictor of a {model.name}. Use committee.load.")
        task_type = Classification if name.endswith("Classifier") else Regression
        state = STATES[name].take(Fields(model.fitted), task_type)
        return state.predictor(self, model.parameters)

    def summed(self, kept: KeptRule) -> str | None:
        """The name of a fixed rule that only sums votes, so that a plain forest waits for no rule."""
        rule = kept.rule
        if not isinstance(rule, Described) or rule.name != PREFIX + "FixedRule" or kept.encoder is not None:
            return None
        name, weights = rule.parameters.get("rule"), rule.parameters.get("weights")
        return name if isinstance(name, str) and name in SUMMED and weights is None else None

    def rule(self, kept: KeptRule) -> VotingRule | None:
        """Restore the rule of a model, if it needs no scikit-learn; None if there is nothing to decide."""
        if kept.encoder is not None:
            name = getattr(kept.rule, "name", "rule").removeprefix(PREFIX)
            raise ValueError(
                f"The {name} of {self.path} looks at the rows by means of scikit-learn. Use committee.load."
            )
        rule = None if kept.rule is None else self._rule(kept.rule)
        require(rule is None or not rule._looks_at_X(), "The rule looks at rows that nobody encodes")
        return rule

    def _rule(self, described: object) -> VotingRule:
        if not is_rule(described):
            raise DamagedFile("What decides is not a rule.")
        parameters = self._inner_rules(described.parameters)
        fitted = None if described.fitted is None else self._inner_rules(described.fitted)
        if fitted is not None and fitted.get("final_estimator_") is not None:
            fitted["final_estimator_"] = self._meta_learner(fitted["final_estimator_"])
        rule: VotingRule = restore(Described(described.name, parameters, fitted), "rule")
        return rule

    def _inner_rules(self, values: dict[str, object]) -> dict[str, object]:
        """Restore the rules among the values of a rule."""
        return {name: self._rule(value) if is_rule(value) else value for name, value in values.items()}

    def _meta_learner(self, described: object) -> object:
        found = linear_model(described) if isinstance(described, Described) else None
        return MetaLearner(self.predictor(described, "final_estimator")) if found is None else found


@dataclass(frozen=True, eq=False)
class MetaLearner:
    """A model of ours that decides on votes, as `StackingRule` asks it."""

    prepared: Predictor

    @property
    def n_features_in_(self) -> int:
        """The number of columns of the votes."""
        return int(self.prepared.schema.n_columns)

    def __getattr__(self, name: str) -> object:
        """`classes_` and `predict_proba`, if it decides on classes; and `predict`."""
        if name.startswith("__"):
            raise AttributeError(name)
        return getattr(self.prepared, name.removesuffix("_"))


def is_rule(value: object) -> TypeGuard[Described]:
    """Whether a value of a file describes a rule."""
    return isinstance(value, Described) and value.name.endswith("Rule")
