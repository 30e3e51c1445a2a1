"""Make a predictor from a model file, without scikit-learn."""

from __future__ import annotations

import os
from dataclasses import dataclass
from typing import TypeGuard

from committee.saving.format.fields import Fields
from committee.saving.format.file_errors import DamagedFile, require
from committee.saving.model_file import read_content
from committee.saving.plain_models.plain_model import plain_model
from committee.saving.plain_models.plain_predictor import plain_predictor
from committee.saving.predictors.deciders import SUMMED, VotingRule
from committee.saving.predictors.predictor import Predictor
from committee.saving.saved_estimators import PREFIX, Described, restore
from committee.saving.states.encoding_state import take_encoding
from committee.saving.states.state import STATES, KeptRule
from committee.table.matrix_encoding import MatrixEncoding
from committee.task import Classification, Regression


def predictor(path: str | os.PathLike[str]) -> Predictor:
    """Prepare the model of a file for fast predictions of few rows, without scikit-learn.

    Parameters
    ----------
    path : str or path
        The file of a fitted model of committee, such as a forest or a committee. Its members can be models of
        committee, and linear models, discriminants, Gaussian naive Bayes, support vector machines,
        perceptrons and nearest neighbours of scikit-learn, alone or behind a `TableEncoder`. All default
        members and all committees that `committee.fit` chooses by itself consist of these.

    Returns
    -------
    Predictor
        With `predict` and, for classes, `predict_proba`. They take matrices of float64, and rows as mappings
        by column name, such as JSON objects.

    Raises
    ------
    DamagedFile
        For the same errors as `load`, in all parts of the file that decisions depend on. Other parts, such as
        most parameters, are not checked.
    ValueError
        If the model is not fitted or needs scikit-learn. The message names the part that needs it.

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
    """Make predictors of the models, and restore the rules, that a file describes.

    Parameters
    ----------
    path : str
        The path of the file, for messages.
    """

    path: str

    def predictor(self, model: object, role: str, *, as_scores: bool = False) -> Predictor:
        """Return the predictor of a model. Its role in the file is "model", "member 1" or similar."""
        if not isinstance(model, Described):
            raise DamagedFile(f"The {role} of {self.path} is not an estimator.")
        if not model.name.startswith(PREFIX):
            found = plain_predictor(model, role, self, as_scores=as_scores)
            if found is None:
                raise ValueError(
                    f"The {role} of {self.path} needs the library that fitted it ({model.name}). Use "
                    "committee.load."
                )
            return found
        require(not as_scores, f"The {role} has probabilities and needs no calibration")
        if model.fitted is None:
            raise ValueError(f"The {model.name} of {self.path} is not fitted.")
        name = model.name.removeprefix(PREFIX)
        if name not in STATES:
            raise ValueError(f"There is no predictor of a {model.name}. Use committee.load.")
        task_type = Classification if name.endswith("Classifier") else Regression
        state = STATES[name].take(Fields(model.fitted), task_type)
        return state.predictor(self, model.parameters)

    def summed(self, kept: KeptRule) -> str | None:
        """Return the name of a fixed rule that only sums votes, so that a forest needs no restored rule."""
        rule = kept.rule
        if not isinstance(rule, Described) or rule.name != PREFIX + "FixedRule" or kept.encoder is not None:
            return None
        name, weights = rule.parameters.get("rule"), rule.parameters.get("weights")
        return name if isinstance(name, str) and name in SUMMED and weights is None else None

    def rule(self, kept: KeptRule) -> VotingRule | None:
        """Restore the rule of a model. None is the rule of a single class."""
        rule = None if kept.rule is None else self._rule(kept.rule)
        looks_at_X = rule is not None and rule._looks_at_X()
        require(looks_at_X == (kept.encoder is not None), "The rule looks at rows without an encoder")
        return rule

    def encoding(self, encoder: object) -> MatrixEncoding | None:
        """Return the encoding of a `TableEncoder`, None for other values."""
        if not isinstance(encoder, Described) or encoder.name != PREFIX + "TableEncoder":
            return None
        require(encoder.fitted is not None, "A TableEncoder is not fitted")
        fields = Fields(encoder.fitted or {})
        # Older files have no scaling.
        encoding = take_encoding(fields, encoder.parameters.get("scaling", "standard"))
        fields.finish()
        return encoding

    def _rule(self, described: object) -> VotingRule:
        if not is_rule(described):
            raise DamagedFile("The rule of the file is not a rule.")
        parameters = self._inner_rules(described.parameters)
        fitted = None if described.fitted is None else self._inner_rules(described.fitted)
        if fitted is not None and fitted.get("final_estimator_") is not None:
            final = fitted["final_estimator_"]
            plain = plain_model(final) if isinstance(final, Described) else None
            fitted["final_estimator_"] = plain or MetaLearner(self.predictor(final, "final_estimator"))
        rule: VotingRule = restore(Described(described.name, parameters, fitted), "rule")
        return rule

    def _inner_rules(self, values: dict[str, object]) -> dict[str, object]:
        """Restore the rules among the values of a rule."""
        return {name: self._rule(value) if is_rule(value) else value for name, value in values.items()}


@dataclass(frozen=True, eq=False)
class MetaLearner:
    """A model of committee as a meta-learner, with the attributes that `StackingRule` uses."""

    prepared: Predictor

    @property
    def n_features_in_(self) -> int:
        """The number of columns of the matrix of votes."""
        return int(self.prepared.schema.n_columns)

    def __getattr__(self, name: str) -> object:
        """Return `predict` of the predictor and, for a classifier, `classes_` and `predict_proba`."""
        if name.startswith("__"):
            raise AttributeError(name)
        return getattr(self.prepared, name.removesuffix("_"))


def is_rule(value: object) -> TypeGuard[Described]:
    """Return whether a value of a file describes a rule."""
    return isinstance(value, Described) and value.name.endswith("Rule")
