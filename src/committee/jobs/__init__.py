"""Run whole jobs from file to file: fit, predict, evaluate and describe. The command line calls them."""

from committee.files import BadTable
from committee.jobs.answers import Evaluation, evaluate, predict
from committee.jobs.table_fit import Fitted, fit, fit_table

__all__ = ["BadTable", "Evaluation", "Fitted", "evaluate", "fit", "fit_table", "predict"]
