"""Run whole jobs from file to file: fit, predict, evaluate and describe. The command line calls them.

Names are imported on first use, because a prediction needs none of the libraries that a fit needs.
"""

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from committee.files import BadTable
    from committee.jobs.answers import Evaluation, evaluate
    from committee.jobs.predictions import predict
    from committee.jobs.table_fit import Fitted, fit, fit_table

__all__ = ["BadTable", "Evaluation", "Fitted", "evaluate", "fit", "fit_table", "predict"]

# The modules that define the names. The one with the fewest imports is first.
_MODULES = ("files", "jobs.predictions", "jobs.answers", "jobs.table_fit")


def __getattr__(name: str) -> Any:
    for submodule in _MODULES if name in __all__ else ():
        module = importlib.import_module(f"committee.{submodule}")
        if hasattr(module, name):
            return getattr(module, name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    return __all__
