"""Whole jobs, from a file to a file: fit, predict, evaluate, describe. What the command line does is here."""

from committee.files import BadTable
from committee.jobs.answers import Evaluation, evaluate, predict
from committee.jobs.table_fit import Fitted, fit, fit_table

__all__ = ["BadTable", "Evaluation", "Fitted", "evaluate", "fit", "fit_table", "predict"]
