"""The compiled engine: what engine/python/ binds. Private: use the package."""

from collections.abc import Callable
from typing import TypeVar

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
    def packed(self) -> np.ndarray: ...
    @staticmethod
    def from_packed(packed: np.ndarray) -> Forest: ...
    def node_weights(self, tree: int) -> np.ndarray: ...
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
    def packed(self) -> np.ndarray: ...
    @staticmethod
    def from_packed(packed: np.ndarray) -> RotationForest: ...
    def node_weights(self, tree: int) -> np.ndarray: ...
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
    def packed(self) -> np.ndarray: ...
    @staticmethod
    def from_packed(packed: np.ndarray) -> C45Forest: ...
    def node_weights(self, tree: int) -> np.ndarray: ...
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

class GrowParameters:
    criterion: str
    max_depth: int
    max_leaf_nodes: int
    min_samples_split: int
    min_samples_leaf: int
    min_weight_fraction_leaf: float
    min_impurity_decrease: float
    max_features: int
    random_thresholds: bool
    exact: bool
    needs_gain: bool
    branches: bool
    keep_records: bool
    monotonic: list[int]

class ForestParameters:
    grow: GrowParameters
    first_tree: int
    n_trees: int
    seed: int
    are_stumps: bool
    columns: list[list[int]]
    columns_tried: list[int]
    class_weights: list[float]
    balance_bags: bool
    out_of_bag: bool
    out_of_bag_importances: bool
    keep_leaf_rows: bool
    weight_unit: float
    ccp_alpha: float
    rule: str
    flat_trees: int

class C45Settings:
    pruning: str | None
    confidence: float
    subtree_raising: bool
    min_leaf_weight: float
    n_folds: int

class C45BagParameters:
    tree: C45Settings
    first_tree: int
    n_trees: int
    seed: int
    columns: list[list[int]]
    class_weights: list[float]
    balance_bags: bool
    out_of_bag: bool
    rule: str
    flat_trees: int

class RotationParameters:
    min_group: int
    max_group: int
    remove_proportion: float
    weights_repeat: bool

class RotationForestParameters:
    rotation: RotationParameters
    is_c45: bool
    c45: C45Settings
    min_leaf_rows: int
    n_trees: int
    seed: int
    bootstrap: bool
    n_draws: int
    out_of_bag: bool
    returns_outside: bool
    rule: str
    seconds: float

class MemberParameters:
    resample: bool
    is_stump: bool
    grow: GrowParameters
    ccp_alpha: float
    c45_settings: C45Settings

class AdaBoostParameters:
    scheme: str
    loss: str
    learning_rate: float
    negative_votes: bool
    member: MemberParameters
    first_round: int
    n_rounds: int
    seed: int
    keep_weights: bool

class Objective:
    loss: str
    quantile: float
    z_max: float
    one_versus_all: bool
    second_order: bool

class BoostTreeParameters:
    max_leaf_nodes: int
    max_depth: int
    is_depthwise: bool
    min_samples_leaf: int
    min_child_weight: float
    min_split_gain: float
    reg_lambda: float
    reg_alpha: float
    colsample_bytree: float
    colsample_bynode: float
    random_thresholds: bool
    cat_smooth: float
    max_cat_to_onehot: int
    monotonic: list[int]
    interactions: list[list[int]]

class BoostParameters:
    objective: Objective
    tree: BoostTreeParameters
    n_rounds: int
    learning_rate: float
    subsample: float
    is_multi_output: bool
    seed: int
    n_iter_no_change: int
    tol: float

class Drawing:
    def __init__(
        self,
        n_rows: int,
        units: np.ndarray,
        ends: np.ndarray,
        n_draws: np.ndarray,
        weights: np.ndarray | None,
        groups: np.ndarray | None,
        replaces: bool,
        keeps_weights: bool,
    ) -> None: ...
    def draw(self, seed: int, member: int) -> np.ndarray: ...

class OutOfBagVotes:
    sums: np.ndarray
    counts: np.ndarray
    curve: np.ndarray
    def __init__(self, sums: np.ndarray, counts: np.ndarray, curve: np.ndarray) -> None: ...

class BoostRows:
    def __init__(
        self, table: BinnedTable, y: np.ndarray, weights: np.ndarray | None, scores: np.ndarray | None
    ) -> None: ...

class GrownForest:
    forest: Forest
    importances: np.ndarray
    out_of_bag: OutOfBagVotes | None
    out_of_bag_importances: np.ndarray | None
    leaf_rows: list[tuple[np.ndarray, np.ndarray, np.ndarray]]
    interruption: BaseException | None

class GrownC45:
    forest: C45Forest
    importances: np.ndarray
    out_of_bag: OutOfBagVotes | None
    interruption: BaseException | None

class GrownRotations:
    forest: RotationForest
    importances: np.ndarray
    out_of_bag: OutOfBagVotes | None
    outside: np.ndarray | None
    interruption: BaseException | None

class AdaBoosted:
    members: Forest | C45Forest
    errors: np.ndarray
    votes: np.ndarray
    importances: np.ndarray
    weights: np.ndarray | None
    units: np.ndarray
    is_over: bool
    interruption: BaseException | None

class Boosted:
    forest: Forest
    train_loss: np.ndarray
    validation_loss: np.ndarray
    n_rounds: int
    gain: np.ndarray
    n_splits: np.ndarray
    interruption: BaseException | None

class TreeNodes:
    left: np.ndarray
    right: np.ndarray
    column: np.ndarray
    threshold: np.ndarray
    missing_right: np.ndarray
    only_missing: np.ndarray
    value: np.ndarray
    impurity: np.ndarray | None
    weight: np.ndarray | None
    n_rows: np.ndarray | None

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
        settings: C45Settings,
        held_out: np.ndarray | None,
    ) -> C45Tree: ...
    def predict(self, columns: list[np.ndarray], n_rows: int) -> np.ndarray: ...
    def packed(self) -> np.ndarray: ...
    @staticmethod
    def from_packed(packed: np.ndarray) -> C45Tree: ...
    def node_weights(self) -> np.ndarray: ...
    def depths(self) -> np.ndarray: ...
    def arrays(self) -> dict[str, np.ndarray]: ...
    @staticmethod
    def from_arrays(arrays: dict[str, np.ndarray]) -> C45Tree: ...

class TableEncoding:
    def __init__(
        self,
        fills: np.ndarray,
        kinds: np.ndarray,
        columns: np.ndarray,
        shifts: np.ndarray,
        scales: np.ndarray,
    ) -> None: ...
    def encode(
        self, columns: list[np.ndarray], n_rows: int, is_single: bool, n_threads: int
    ) -> np.ndarray: ...

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
    rows: BoostRows,
    n_classes: int,
    parameters: BoostParameters,
    loss: Callable[[np.ndarray, np.ndarray], object] | None,
    before: Forest | None,
    validation: BoostRows | None,
    progress: Callable[[int, Callable[[], Forest]], bool] | None,
    n_threads: int,
) -> Boosted: ...
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
    parameters: ForestParameters,
    drawing: Drawing | None,
    before: OutOfBagVotes | None,
    values: list[np.ndarray],
    progress: Callable[[int], object] | None,
    n_threads: int,
) -> GrownForest: ...
def grow_rotation_forest(
    columns: list[np.ndarray],
    n_categories: list[int],
    y: np.ndarray,
    n_classes: int,
    weights: np.ndarray | None,
    total_weight: int,
    parameters: RotationForestParameters,
    progress: Callable[[int], object] | None,
    n_threads: int,
) -> GrownRotations: ...
def grow_stump(
    table: BinnedTable,
    y: np.ndarray,
    n_classes: int,
    weights: np.ndarray | None,
    total_weight: int,
    weight_unit: float,
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
    is_counted: np.ndarray | None,
    parameters: C45BagParameters,
    drawing: Drawing,
    before: OutOfBagVotes | None,
    progress: Callable[[int], object] | None,
    n_threads: int,
) -> GrownC45: ...
def attribute(
    trees: Forest | C45Forest | C45Tree,
    columns: list[np.ndarray],
    n_rows: int,
    players: np.ndarray,
    n_players: int,
    rule: str,
    background: list[np.ndarray],
    n_background: int,
    of_pairs: bool,
    n_threads: int,
) -> tuple[np.ndarray, np.ndarray, np.ndarray | None]: ...
def link_of(trees: Forest | C45Forest) -> tuple[str, float]: ...
def describe_tree(forest: Forest, tree: int) -> TreeNodes: ...
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
    parameters: AdaBoostParameters,
    c45: tuple[list[np.ndarray], np.ndarray] | None,
    progress: Callable[[int], object] | None,
    n_threads: int,
) -> AdaBoosted: ...
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
