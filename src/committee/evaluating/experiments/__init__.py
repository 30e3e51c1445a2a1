"""Experiments of the lecture notes as functions: no free lunch, wrong labels, and simulated committees."""

from committee.evaluating.experiments.bagged_trees import (
    BaggingErrors,
    bagging_errors,
    draw_simulated_rows,
)
from committee.evaluating.experiments.label_noise import flip_labels, label_noise_study
from committee.evaluating.experiments.no_free_lunch import NoFreeLunch, no_free_lunch
from committee.evaluating.experiments.polynomial_committee import PolynomialCommittee, polynomial_committee

__all__ = [
    "BaggingErrors",
    "NoFreeLunch",
    "PolynomialCommittee",
    "bagging_errors",
    "draw_simulated_rows",
    "flip_labels",
    "label_noise_study",
    "no_free_lunch",
    "polynomial_committee",
]
