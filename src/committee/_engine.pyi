"""The compiled engine: what engine/python*.cpp binds. Private: use the package."""

from collections.abc import Callable
from typing import Any, TypeVar

import numpy as np

class BinnedTable:
    n_rows: int
    n_columns: int
    nbytes: int
    has_missing: np.ndarray
    def __getstate__(self) -> dict[str, np.ndarray | int]: ...
    def __setstate__(self, state: dict[str, np.ndarray | int]) -> None: ...

class Forest:
    n_trees: int
    n_columns: int
    n_outputs: int
    is_mean: bool
    is_classifier: bool
    n_categories: np.ndarray
    n_scores: int
    nbytes: int
    def predict(self, columns: list[np.ndarray], n_rows: int, rule: str, n_threads: int) -> np.ndarray: ...
    def predict_matrix(self, matrix: np.ndarray, rule: str, n_threads: int) -> np.ndarray: ...
    def scores(
        self, columns: list[np.ndarray], n_rows: int, first_tree: int, last_tree: int, n_threads: int
    ) -> np.ndarray: ...
    def staged_scores(
        self,
        columns: list[np.ndarray],
        n_rows: int,
        first_tree: int,
        last_tree: int,
        trees_per_stage: int,
        before: np.ndarray | None,
        n_threads: int,
    ) -> np.ndarray: ...
    def link(self, scores: np.ndarray) -> np.ndarray: ...
    def votes(self, columns: list[np.ndarray], n_rows: int, n_threads: int) -> np.ndarray: ...
    def apply(self, columns: list[np.ndarray], n_rows: int, n_threads: int) -> np.ndarray: ...

class RotationForest:
    n_trees: int
    n_columns: int
    n_outputs: int
    is_classifier: bool
    n_categories: np.ndarray
    nbytes: int
    def predict(self, columns: list[np.ndarray], n_rows: int, rule: str, n_threads: int) -> np.ndarray: ...
    def predict_matrix(self, matrix: np.ndarray, rule: str, n_threads: int) -> np.ndarray: ...
    def votes(self, columns: list[np.ndarray], n_rows: int, n_threads: int) -> np.ndarray: ...
    def apply(self, columns: list[np.ndarray], n_rows: int, n_threads: int) -> np.ndarray: ...
    def arrays(self) -> dict[str, np.ndarray]: ...
    @staticmethod
    def from_arrays(arrays: dict[str, np.ndarray]) -> RotationForest: ...

class C45Forest:
    n_trees: int
    n_columns: int
    n_outputs: int
    is_mean: bool
    is_classifier: bool
    n_categories: np.ndarray
    nbytes: int
    def predict(self, columns: list[np.ndarray], n_rows: int, rule: str, n_threads: int) -> np.ndarray: ...
    def predict_matrix(self, matrix: np.ndarray, rule: str, n_threads: int) -> np.ndarray: ...
    def votes(self, columns: list[np.ndarray], n_rows: int, n_threads: int) -> np.ndarray: ...
    def scores(
        self, columns: list[np.ndarray], n_rows: int, first_tree: int, last_tree: int, n_threads: int
    ) -> np.ndarray: ...
    def link(self, scores: np.ndarray) -> np.ndarray: ...
    def tree(self, number: int, columns: np.ndarray | None) -> C45Tree: ...
    def arrays(self) -> dict[str, np.ndarray]: ...
    @staticmethod
    def from_arrays(arrays: dict[str, np.ndarray]) -> C45Forest: ...

AnyForest = TypeVar("AnyForest", Forest, C45Forest, RotationForest)
VotingTrees = TypeVar("VotingTrees", Forest, C45Forest)

class NeighbourSearch:
    def __init__(self, known: np.ndarray, turned: np.ndarray, n_threads: int) -> None: ...
    def find(
        self, asked: np.ndarray, turned: np.ndarray, n_neighbours: int, are_known: bool, n_threads: int
    ) -> tuple[np.ndarray, np.ndarray]: ...

class NetworkTraining:
    def __init__(
        self,
        inputs: np.ndarray,
        classes: np.ndarray,
        numbers: np.ndarray,
        weights: np.ndarray,
        folds: np.ndarray,
        hidden: list[int],
        outputs: np.ndarray,
        n_members: int,
        are_classes: bool,
        batch_size: int,
        weight_decay: float,
        smoothing: float,
        seed: int,
    ) -> None: ...
    def advance(self, rates: np.ndarray, dropout: float, n_threads: int) -> None: ...
    def held_out_loss(self, n_threads: int) -> float: ...
    def gradient(self, member: int, rows: np.ndarray) -> np.ndarray: ...
    def parameters(self) -> np.ndarray: ...

class Prepared:
    def __init__(self, forest: Forest, rule: str) -> None: ...
    def predict_matrix(self, matrix: np.ndarray) -> np.ndarray: ...

class C45Tree:
    n_nodes: int
    n_leaves: int
    n_classes: int
    nbytes: int
    @staticmethod
    def grow(
        columns: list[np.ndarray],
        n_categories: np.ndarray,
        classes: np.ndarray,
        n_classes: int,
        weights: np.ndarray,
        pruning: str | None,
        confidence: float,
        subtree_raising: bool,
        min_leaf_weight: float,
        held_out: np.ndarray | None,
    ) -> C45Tree: ...
    def predict(self, columns: list[np.ndarray], n_rows: int) -> np.ndarray: ...
    def depths(self) -> np.ndarray: ...
    def arrays(self) -> dict[str, np.ndarray]: ...
    @staticmethod
    def from_arrays(arrays: dict[str, np.ndarray]) -> C45Tree: ...

def bin_table(
    columns: list[np.ndarray],
    n_categories: np.ndarray,
    n_rows: int,
    weights: np.ndarray | None,
    max_bins: int,
    n_threads: int,
    keep_cuts: bool = True,
) -> BinnedTable: ...
def take_rows(codes: BinnedTable, rows: np.ndarray) -> BinnedTable: ...
def encode(
    codes_like: BinnedTable, columns: list[np.ndarray], n_rows: int, n_threads: int
) -> BinnedTable: ...
def boost(
    table: BinnedTable,
    y: np.ndarray,
    n_classes: int,
    weights: np.ndarray | None,
    options: dict[str, Any],
    validation: tuple[BinnedTable, np.ndarray, np.ndarray | None, np.ndarray | None] | None,
    progress: Callable[[int, Callable[[], Forest]], bool] | None,
    n_threads: int,
) -> dict[str, Any]: ...
def fingerprint(columns: list[np.ndarray], n_rows: int) -> tuple[int, int]: ...
def hash_rows(table: BinnedTable, n_threads: int) -> np.ndarray: ...
def order_by_content(
    table: BinnedTable, targets: np.ndarray, weights: np.ndarray | None, n_threads: int
) -> np.ndarray: ...
def fixed_weights(weights: np.ndarray) -> np.ndarray: ...
def grow_forest(
    table: BinnedTable,
    y: np.ndarray,
    n_classes: int,
    weights: np.ndarray | None,
    most_weight: int,
    options: dict[str, Any],
    progress: Callable[[int], object] | None,
    n_threads: int,
) -> dict[str, Any]: ...
def check_drawing(drawing: tuple[Any, ...], n_rows: int) -> None: ...
def draw_bag(drawing: tuple[Any, ...], n_rows: int, seed: int, member: int) -> np.ndarray: ...
def grow_rotation_forest(
    columns: list[np.ndarray],
    n_categories: list[int],
    y: np.ndarray,
    n_classes: int,
    weights: np.ndarray | None,
    total_weight: int,
    options: dict[str, Any],
    progress: Callable[[int], object] | None,
    n_threads: int,
) -> dict[str, Any]: ...
def grow_stump(
    table: BinnedTable,
    y: np.ndarray,
    n_classes: int,
    weights: np.ndarray | None,
    total_weight: int,
    criterion: str,
) -> Forest: ...
def forest_arrays(forest: Forest) -> dict[str, np.ndarray]: ...
def forest_from_arrays(arrays: dict[str, np.ndarray]) -> Forest: ...
def append_trees(forest: VotingTrees, more: VotingTrees) -> VotingTrees: ...
def take_trees(forest: AnyForest, begin: int, end: int) -> AnyForest: ...
def on_columns(forest: Forest, columns: np.ndarray) -> Forest: ...
def grow_c45_bags(
    columns: list[np.ndarray],
    n_categories: np.ndarray,
    y: np.ndarray,
    n_classes: int,
    weights: np.ndarray | None,
    judged: np.ndarray | None,
    options: dict[str, Any],
    progress: Callable[[int], object] | None,
    n_threads: int,
) -> dict[str, Any]: ...
def describe_tree(forest: Forest, tree: int) -> dict[str, np.ndarray]: ...
def left_categories(forest: Forest, tree: int, node: int) -> np.ndarray: ...
def prune_tree(forest: Forest, ccp_alpha: float) -> Forest: ...
def pruning_path(forest: Forest) -> tuple[np.ndarray, np.ndarray]: ...
def predict_quantiles(
    forest: Forest,
    leaf_rows: list[tuple[np.ndarray, np.ndarray, np.ndarray]],
    y: np.ndarray,
    columns: list[np.ndarray],
    n_rows: int,
    quantiles: np.ndarray,
    n_threads: int,
) -> np.ndarray: ...
def boost_adaptively(
    table: BinnedTable,
    y: np.ndarray,
    n_classes: int,
    counts: np.ndarray,
    units: np.ndarray,
    options: dict[str, Any],
    c45: tuple[list[np.ndarray], np.ndarray] | None,
    progress: Callable[[int], object] | None,
    n_threads: int,
) -> dict[str, Any]: ...
def weigh_votes(
    members: VotingTrees, votes: np.ndarray, are_crisp: bool, link: str, scale: float
) -> VotingTrees: ...
def local_sums(
    facts: np.ndarray, neighbours: np.ndarray, weights: np.ndarray, n_threads: int
) -> np.ndarray: ...
def network_decision(
    inputs: np.ndarray,
    parameters: np.ndarray,
    hidden: list[int],
    n_outputs: int,
    are_classes: bool,
    n_threads: int,
) -> np.ndarray: ...
