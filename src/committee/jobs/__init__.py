"""Whole jobs, from a file to a file: fit, predict, evaluate, describe. What the command line does is here."""

from committee.jobs.answering import Evaluation, evaluate, predict
from committee.jobs.fitting import Fitted, fit, fit_table

__all__ = ["Evaluation", "Fitted", "evaluate", "fit", "fit_table", "predict"]
