"""Draw how ensembles work, and what the library has computed: one function call for each picture.

In: data, fitted models, votes or results. Out: altair charts, which notebooks show, and which
`committee.reporting.save_picture` writes to SVG, PNG, PDF and HTML files.
"""

from committee.pictures.boosting_pictures import boosting_rounds, gradient_boosting_rounds
from committee.pictures.bootstrap_pictures import bootstrap_samples, out_of_bag_table
from committee.pictures.boundary_pictures import adaboost_rounds, decision_boundaries, gate, selection_regions
from committee.pictures.experiment_pictures import bagged_trees, free_lunch, polynomials
from committee.pictures.result_pictures import (
    error_curves,
    error_decomposition,
    intervals,
    kappa_error_diagram,
    leaderboard,
    margin_distribution,
)
from committee.pictures.rule_pictures import (
    agreement,
    cawpe_weights,
    committee_flow,
    greedy_path,
    stacking_table,
)
from committee.pictures.tree_pictures import bootstrap_trees, tree
from committee.pictures.vote_pictures import coin_tosses, majority_accuracy, vote_table

__all__ = [
    "adaboost_rounds",
    "agreement",
    "bagged_trees",
    "boosting_rounds",
    "bootstrap_samples",
    "bootstrap_trees",
    "cawpe_weights",
    "coin_tosses",
    "committee_flow",
    "decision_boundaries",
    "error_curves",
    "error_decomposition",
    "free_lunch",
    "gate",
    "gradient_boosting_rounds",
    "greedy_path",
    "intervals",
    "kappa_error_diagram",
    "leaderboard",
    "majority_accuracy",
    "margin_distribution",
    "out_of_bag_table",
    "polynomials",
    "selection_regions",
    "stacking_table",
    "tree",
    "vote_table",
]
