"""Ensemble learning for tables: members vote, a rule decides.

Names are imported when they are first used. So a service that only predicts, with `committee.predictor`,
starts without scikit-learn.
"""

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from committee import diversity, rules
    from committee.assembling import *
    from committee.automatic import *
    from committee.boosting import *
    from committee.evaluating import *
    from committee.explaining import Explanation
    from committee.jobs import *
    from committee.learners import *
    from committee.sampling import *
    from committee.saving import *

    __version__: str

__all__ = [
    "AdaBoostClassifier",
    "AdaBoostM1Classifier",
    "AdaBoostM2Classifier",
    "AdaBoostRegressor",
    "BaggingClassifier",
    "BaggingRegressor",
    "BayesianAveragingClassifier",
    "BayesianAveragingRegressor",
    "C45Classifier",
    "CAWPEClassifier",
    "CommitteeClassifier",
    "CommitteeRegressor",
    "DecisionStumpClassifier",
    "DecisionStumpRegressor",
    "DecisionTreeClassifier",
    "DecisionTreeRegressor",
    "DynamicSelectionClassifier",
    "DynamicSelectionRegressor",
    "EnsembleSelectionClassifier",
    "EnsembleSelectionRegressor",
    "Explanation",
    "ExtraTreeClassifier",
    "ExtraTreeRegressor",
    "ExtraTreesClassifier",
    "ExtraTreesRegressor",
    "GradientBoostingClassifier",
    "GradientBoostingRegressor",
    "HistGradientBoostingClassifier",
    "HistGradientBoostingRegressor",
    "LogitBoostClassifier",
    "MixtureOfExpertsClassifier",
    "MixtureOfExpertsRegressor",
    "NetworkClassifier",
    "NetworkRegressor",
    "RandomForestClassifier",
    "RandomForestRegressor",
    "RandomSubspaceClassifier",
    "RandomSubspaceRegressor",
    "RandomTreeClassifier",
    "RandomTreeRegressor",
    "RegionSelectionClassifier",
    "RegionSelectionRegressor",
    "RotationForestClassifier",
    "RotationForestRegressor",
    "StackingClassifier",
    "StackingRegressor",
    "Study",
    "VotingClassifier",
    "VotingRegressor",
    "bias_variance",
    "bootstrap_error",
    "bootstrap_variance",
    "decompose",
    "decompose_intervals",
    "diversity",
    "error_curve",
    "fit",
    "kappa_error",
    "load",
    "majority_vote_accuracy",
    "majority_vote_forecast",
    "margins",
    "oracle_accuracy",
    "predictor",
    "rules",
    "save",
    "score",
    "score_interval",
    "verify",
]

# The packages of the public names, those with the fewest imports first, and all modules that are available as
# `committee.x`.
_PLACES = (
    *("saving", "learners", "sampling", "boosting", "assembling", "automatic", "jobs", "evaluating"),
    "explaining",
)
_MODULES = (
    *_PLACES,
    *(
        "combining",
        "diversity",
        "files",
        "members",
        "pictures",
        "reporting",
        "rules",
        "running",
        "table",
        "task",
    ),
)


# What to write instead of a public name that was removed.
_REMOVED = {
    "bootstrap_interval": "scipy.stats.bootstrap, or score_interval for the score of a decision",
    "read_published": "pandas.read_csv and committee.evaluating.Comparison.of",
}


# The modules of other classes in saved files, besides public estimators and rules.
_ENCODERS = {
    "MidpointClassifier": "committee.members.member_fit",
    "NumberedLabels": "committee.members.member_fit",
    "TableEncoder": "committee.members.table_encoder",
}


def _module_of(name: str) -> str | None:
    """Return the module of a class that a saved file names, or None if it is not from committee."""
    if name.endswith(("Classifier", "Regressor")) and name in __all__:
        return "committee"
    if name.endswith("Rule"):
        place: str | None = importlib.import_module("committee.combining").module_of(name)
        return place
    return _ENCODERS.get(name)


def __getattr__(name: str) -> Any:
    if name == "__version__":
        return globals().setdefault(name, importlib.import_module("importlib.metadata").version(__name__))
    if name in _MODULES:
        return importlib.import_module(f"committee.{name}")
    if name in __all__:
        for place in _PLACES:
            module = importlib.import_module(f"committee.{place}")
            if name in module.__all__:
                return globals().setdefault(name, getattr(module, name))
    if name in _REMOVED:
        raise AttributeError(f"committee.{name} was removed. Use {_REMOVED[name]}.")
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}{_hint_for(name)}")


def _hint_for(name: str) -> str:
    """Return what to use instead of an unknown public name, for an error."""
    if name.startswith("_"):
        return ""
    classes: dict[str, str] = importlib.import_module("committee.other_names").CLASSES
    if name in classes:
        return f". Use {classes[name]}."
    nearest = importlib.import_module("committee.parameters").nearest_name(name, [*__all__, *_MODULES])
    return "" if nearest is None else f". Did you mean {nearest!r}?"


def __dir__() -> list[str]:
    return __all__
