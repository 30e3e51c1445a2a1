"""Fit forests, and give access to their trees.

In: a table and a class or a number for each row. Out: trees, a rule that combines their votes, and the
out-of-bag decision for each row. The engine grows all trees in one call.
"""

from __future__ import annotations

from typing import Any, ClassVar, Self

import numpy as np
import scipy.sparse
from sklearn.base import BaseEstimator
from sklearn.utils.validation import check_is_fitted

from committee import _engine
from committee.combining.rule import Rule
from committee.learners import tree_parameters
from committee.learners.fit_session import CallbackSupportMixin, FitFrame, warn_of_no_more, with_callbacks
from committee.learners.fitted_members import Members
from committee.learners.scikit_learn_trees import to_scikit_learn_forest
from committee.learners.single_tree import paths_to_nodes
from committee.learners.training_data import (
    Training,
    check_same_task,
    fit_table,
    read_resumed_table,
    training_of,
)
from committee.parameters import (
    Constraint,
    boolean,
    check_parameters,
    declared,
    either,
    integer,
    is_float,
    one_of,
    optional,
    parameter,
)
from committee.running import n_threads
from committee.sampling.bagging.batch import FLAT_MEMBERS, n_members_wanted
from committee.sampling.bagging.outside_votes import check_values, votes_before
from committee.sampling.bags import Bags, ForestBags, n_draws, repeats_of
from committee.sampling.ensemble import Ensemble, feature_importances, feature_importances_std, leaves_of_rows
from committee.sampling.out_of_bag import OutOfBag, check_can_resume, check_metric, warn_if_all_rows_seen
from committee.sampling.out_of_bag_rules import Ruling, check_rule_of_trees, fit_rule_on_trees, needs_votes
from committee.saving import Fields
from committee.saving.predictors.deciders import name_of_sum, sums_votes
from committee.saving.states.tree_states import TreesState
from committee.table import BinnedTable


@declared
class Forest(CallbackSupportMixin, Ensemble):
    """The base of forests, whose trees differ in their rows, in the columns they try or in their thresholds.

    Attributes
    ----------
    estimator_ : DecisionTreeClassifier or DecisionTreeRegressor
        An unfitted tree with the parameters of the members.
    estimators_ : sequence of such trees
        The members. They are created when they are accessed.
    estimators_samples_ : list of ndarray of int
        The rows in the bag of each tree, each as often as it was drawn. They are drawn again when they are
        accessed.
    feature_importances_, feature_importances_std_ : ndarray of shape (n_columns,)
        How much the splits on each column lower the impurity: mean and standard deviation over the trees. The
        means sum to 1, or are all 0.
    oob_importances_, oob_importances_std_ : ndarray of shape (n_columns,)
        With `bootstrap` and `oob_importances`.
    """

    _member_type: ClassVar[type]
    _random_thresholds: ClassVar[bool] = False

    n_estimators: int | str = parameter(
        100,
        either(integer(1), one_of("auto")),
        'The number of trees. "auto" adds trees, at most 1000, until `oob_curve_` is flat: its mean over the '
        "last 25 trees is less than half a percent below the mean over the 25 before.",
        kw_only=False,
    )
    max_depth: int | None = parameter(None, *tree_parameters.MAX_DEPTH)
    min_samples_split: int | float = parameter(2, *tree_parameters.MIN_SAMPLES_SPLIT)
    min_samples_leaf: int | float = parameter(1, *tree_parameters.MIN_SAMPLES_LEAF)
    min_weight_fraction_leaf: float = parameter(0.0, *tree_parameters.MIN_WEIGHT_FRACTION_LEAF)
    max_features: int | float | str | None = parameter(None, *tree_parameters.MAX_FEATURES)
    random_state: Any = parameter(None, *tree_parameters.SEED)
    categorical_features: Any = parameter("from_dtype", *tree_parameters.CATEGORICAL_FEATURES)
    max_leaf_nodes: int | None = parameter(None, *tree_parameters.MAX_LEAF_NODES)
    min_impurity_decrease: float = parameter(0.0, *tree_parameters.MIN_IMPURITY_DECREASE)
    ccp_alpha: float = parameter(0.0, *tree_parameters.CCP_ALPHA)
    monotonic_cst: Any = parameter(None, *tree_parameters.MONOTONIC_CST)
    bootstrap: bool = parameter(
        True,
        boolean,
        "Whether each tree is grown on rows that are drawn with replacement, in proportion to their weights, "
        "instead of all rows. The number of draws is the number of rows of positive weight. Integer weights "
        "whose mean over these rows is below 4 are repetitions: a row of weight 2 is the row twice, and the "
        "number of draws is the sum of the weights.",
    )
    max_samples: int | float | None = parameter(
        None,
        optional(
            either(
                integer(1), Constraint("a float > 0", lambda value: is_float(value) and 0 < value < np.inf)
            )
        ),
        "The number of rows to draw for each tree. None is the number that `bootstrap` describes. A float is "
        "a multiple of it, which may exceed 1.",
    )
    oob_importances: bool = parameter(
        False,
        boolean,
        "Whether to measure how much the error of each tree on the rows outside of its bag grows when a "
        "column is shuffled.",
    )
    warm_start: bool = parameter(False, *tree_parameters.WARM_START)
    n_jobs: int | None = parameter(None, *tree_parameters.N_JOBS)
    verbose: int = parameter(0, *tree_parameters.VERBOSE)

    @with_callbacks
    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Grow the trees.

        Parameters
        ----------
        X : table of shape (n_rows, n_columns)
            numpy, scipy sparse, pandas, polars or Arrow, or a `BinnedTable`. NaN and None are missing values.
        y : array-like of shape (n_rows,)
        sample_weight : array-like of shape (n_rows,), default=None
            Weights of the rows. None gives every row the weight 1. With `bootstrap=True`, rows are drawn in
            proportion to their weights, and each draw has the weight 1.

        Returns
        -------
        self
        """
        check_parameters(self)
        self._check_bags()
        resumes = self.warm_start and hasattr(self, "_forest")
        training = self._read_training(X, y, sample_weight, resumes)
        if resumes:
            self._check_same_pruning()
        seed = self._seed if resumes else tree_parameters.draw_seed(self.random_state)
        first_tree = self._forest.n_trees if resumes else 0
        rule = None if self._is_plain() else self._new_rule(seed)
        parameters = self._forest_parameters(training, first_tree, rule)
        parameters.seed = seed
        before = self._votes_to_resume(parameters, training)
        is_auto = self.n_estimators == "auto"
        binned = training.bin(n_threads(self.n_jobs), keep_cuts=parameters.grow.random_thresholds)
        bags = self._bags_of(training, binned, sample_weight)
        if resumes and (before is not None or self._needs_votes(rule, training)):
            self._bags.check_rows(bags)
        if parameters.n_trees == first_tree:
            if not is_auto:
                warn_of_no_more("trees")
            self._score_again(training)
            return self
        frame = FitFrame(self, X, y, "tree", parameters.n_trees, n_before=first_tree, is_limit=is_auto)
        with frame.work:
            hook = frame.hook
            grown = training.grow(
                binned,
                parameters,
                n_threads(self.n_jobs),
                bags=bags.drawing() if self.bootstrap else None,
                most_weight=bags.most_weight if self.bootstrap else None,
                before=before,
                progress=hook,
            )
            if hook is not None and grown.interruption is None:
                hook(grown.forest.n_trees)

        def keep() -> None:
            ruling = None if rule is None else self._fit_rule(rule, grown, training, X, resumes)
            all_bags = (self._bags if resumes else ForestBags()).and_then(bags, first_tree)
            self._keep_grown(grown, training, binned.has_missing, resumes, ruling)
            self._seed: int = seed
            self._bags: ForestBags = all_bags

        frame.end(grown.interruption, grown.forest.n_trees, keep)
        warn_if_all_rows_seen(self._out_of_bag)
        return self

    feature_importances_ = property(feature_importances)
    feature_importances_std_ = property(feature_importances_std)
    apply = leaves_of_rows

    @property
    def oob_importances_(self) -> np.ndarray:
        """How much the out-of-bag error grows when a column is shuffled, averaged over the trees."""
        return self._losses().mean(axis=0)

    @property
    def oob_importances_std_(self) -> np.ndarray:
        """The standard deviation over the trees of `oob_importances_`."""
        return self._losses().std(axis=0)

    @property
    def estimator_(self) -> Any:
        """An unfitted tree with the parameters of the members, without `class_weight`."""
        check_is_fitted(self)
        member = self._member_type(splitter="random" if self._random_thresholds else "best")
        shared = (member.get_params().keys() & self.get_params().keys()) - {"class_weight"}
        return member.set_params(**{name: getattr(self, name) for name in shared})

    @property
    def estimators_(self) -> Members:
        """The trees: a sequence of fitted estimators, each created on access."""
        check_is_fitted(self)
        return Members(self, self._forest)

    @property
    def estimators_samples_(self) -> list[np.ndarray]:
        """The rows in the bag of each tree, each as often as it was drawn."""
        check_is_fitted(self)
        return self._bags.rows(self._seed, self._forest.n_trees)

    def decision_path(self, X: Any) -> tuple[scipy.sparse.csr_matrix, np.ndarray]:
        """Return the nodes that each row passes.

        Parameters
        ----------
        X : table of shape (n_rows, n_columns)

        Returns
        -------
        indicator : csr_matrix of shape (n_rows, n_nodes)
            1 where the row passes the node. The nodes of one tree follow those of the tree before.
        n_nodes_ptr : ndarray of shape (n_members + 1,)
            The nodes of tree i are the columns from n_nodes_ptr[i] up to n_nodes_ptr[i + 1].

        Examples
        --------
        >>> from committee import ExtraTreesRegressor
        >>> forest = ExtraTreesRegressor(2, random_state=0).fit([[1], [9]], [0.0, 5.0])
        >>> indicator, n_nodes_ptr = forest.decision_path([[1]])
        >>> indicator.toarray(), n_nodes_ptr
        (array([[1, 1, 0, 1, 1, 0]]), array([0, 3, 6]))
        """
        leaves = self.apply(X)
        paths = [paths_to_nodes(_engine.describe_tree(self._forest, i)) for i in range(leaves.shape[1])]
        passed = [path[leaves[:, i]] for i, path in enumerate(paths)]
        n_nodes = [path.shape[1] for path in paths]
        return scipy.sparse.hstack(passed, format="csr"), np.cumsum([0, *n_nodes])

    def to_sklearn(self, X: Any = None) -> BaseEstimator:
        """Return the same forest as a fitted estimator of scikit-learn.

        Libraries that read forests of scikit-learn, such as shap and skl2onnx, then work. scikit-learn rounds
        X to float32. The predictions are equal for values that float32 represents exactly, and for all others
        unless a threshold is between a value and its rounded value.

        Parameters
        ----------
        X : table of shape (n_rows, n_columns), default=None
            Rows, usually those of the fit, that must keep their leaves although they are rounded. Thresholds
            move between the rounded values of the nearest rows. It is an error if rounding makes the values
            of two rows equal that a split separates.

        Returns
        -------
        estimator
            Of the class of the same name in `sklearn.ensemble`.

        Examples
        --------
        >>> from committee import RandomForestClassifier
        >>> forest = RandomForestClassifier(random_state=0).fit([[1], [2], [8], [9]] * 5, [0, 0, 1, 1] * 5)
        >>> forest.to_sklearn().predict([[1.5], [8.5]])
        array([0, 1])
        """
        check_is_fitted(self)
        return to_scikit_learn_forest(self, None if X is None else self._read(X))

    def _is_plain(self) -> bool:
        """Return whether the engine averages the votes itself, which needs no rule."""
        return isinstance(self.rule, str) and self.rule == "mean"

    def _check_bags(self) -> None:
        if self.bootstrap:
            return
        if self.oob_score or self.oob_importances:
            raise ValueError("Out of bag estimation only available if bootstrap=True. Got bootstrap=False.")
        if self.n_estimators == "auto":
            raise ValueError('n_estimators="auto" needs the out-of-bag error. Set bootstrap=True.')
        if self.max_samples is not None:
            raise ValueError("max_samples cannot be set if bootstrap=False. Set bootstrap=True.")

    def _read_training(self, X: Any, y: Any, sample_weight: Any, resumes: bool) -> Training:
        table = read_resumed_table(self, X) if resumes else fit_table(self, X, sample_weight)
        training = training_of(self, table, y, sample_weight, None)
        if resumes:
            check_same_task(training.task, self._task)
        return training

    def _losses(self) -> np.ndarray:
        losses = self._required_out_of_bag().losses
        if losses is None:
            raise AttributeError("Only a fit with oob_importances=True computes out-of-bag importances.")
        return losses

    def _needs_votes(self, rule: Rule | None, training: Training) -> bool:
        return rule is not None and needs_votes(rule, training.task, is_scored=bool(self.oob_score))

    def _check_rule(self, rule: Rule, training: Training, n_trees: int, resumes: bool) -> None:
        """Raise if the rule cannot combine the votes of the trees, or needs votes that were not kept."""
        check_rule_of_trees(rule, training.task, n_trees, self)
        has_to_vote = self._needs_votes(rule, training)
        check_values(training.table, rule, has_to_vote)
        if not (resumes and has_to_vote):
            return
        before = votes_before(self._votes_outside)
        if not np.array_equal(before.y, training.y):
            raise ValueError(
                f"rule={self.rule!r} needs the votes of all trees on the same rows, and the votes of the "
                "previous fit are on other rows. With warm_start=True, pass the same rows, or set "
                "rule='mean'."
            )

    def _check_same_pruning(self) -> None:
        """Raise if only the trees of this fit or only those of the previous fit are pruned."""
        if (_engine.describe_tree(self._forest, 0).weight is not None) != (self.ccp_alpha > 0):
            raise ValueError(
                f"With warm_start=True, all trees must be pruned, or none. Got ccp_alpha={self.ccp_alpha}, "
                "unlike the previous fit. Keep the previous value, or set warm_start=False."
            )

    def _fit_rule(
        self, rule: Rule, grown: _engine.GrownForest, training: Training, X: Any, resumes: bool
    ) -> Ruling:
        """Fit the rule on the out-of-bag votes of the trees."""

        def outside_of(tree: int) -> np.ndarray:
            is_outside = np.ones(training.table.n_rows, dtype=bool)
            _, seen, _ = grown.leaf_rows[tree]
            is_outside[seen] = False
            return is_outside

        return fit_rule_on_trees(
            rule,
            grown.forest,
            training,
            X,
            outside_of,
            n_threads(self.n_jobs),
            is_scored=bool(self.oob_score),
            before=votes_before(self._votes_outside)
            if resumes and self._needs_votes(rule, training)
            else None,
        )

    def _forest_parameters(
        self, training: Training, first_tree: int, rule: Rule | None
    ) -> _engine.ForestParameters:
        """Check the parameters of the trees, and return them as the engine takes them."""
        curve = self._curve_before() if first_tree > 0 else ()
        n_trees = n_members_wanted(self.n_estimators, first_tree, "trees", curve)
        if self.oob_score:
            check_metric(self.oob_score, training.task)
        if rule is not None:
            self._check_rule(rule, training, n_trees, first_tree > 0)
        is_auto = self.n_estimators == "auto"
        grow = tree_parameters.cart_parameters_of(self, training)
        grow.random_thresholds = self._random_thresholds
        grow.exact = training.n_classes == 0
        grow.keep_records = bool(self.ccp_alpha > 0)
        parameters = _engine.ForestParameters()
        parameters.grow = grow
        parameters.ccp_alpha = float(self.ccp_alpha)
        parameters.first_tree, parameters.n_trees = first_tree, n_trees
        parameters.out_of_bag = bool(self.oob_score or self.oob_importances or is_auto)
        parameters.out_of_bag_importances = bool(self.oob_importances)
        if rule is not None:
            parameters.rule = name_of_sum(rule)
        # The rows of the leaves of a tree are the rows of its bag.
        parameters.keep_leaf_rows = self._needs_votes(rule, training)
        parameters.flat_trees = FLAT_MEMBERS if is_auto else 0
        return parameters

    def _votes_to_resume(
        self, parameters: _engine.ForestParameters, training: Training
    ) -> _engine.OutOfBagVotes | None:
        """Return the out-of-bag votes of the previous fit, if those of further trees are added."""
        if not parameters.out_of_bag or parameters.first_tree == 0:
            return None
        check_can_resume(self._out_of_bag, training.table.n_rows, self.oob_importances)
        self._check_same_sums(parameters.rule)
        return self._required_out_of_bag().votes

    def _bags_of(self, training: Training, binned: BinnedTable, sample_weight: Any) -> Bags:
        """Return the bags of the trees."""
        if not self.bootstrap:
            return Bags.of_all_rows(training)
        n_rows = binned.n_rows
        n_drawn = n_draws(training.weights, repeats_of(sample_weight, n_rows), n_rows, self.max_samples)
        return Bags.of_forest(training, binned, n_drawn, n_threads(self.n_jobs))

    def _keep_grown(
        self,
        grown: _engine.GrownForest,
        training: Training,
        has_missing: np.ndarray,
        resumes: bool,
        ruling: Ruling | None,
    ) -> None:
        """Store the results of a fit. This is the last step, so a failed fit changes nothing."""
        forest, importances, losses = grown.forest, grown.importances, grown.out_of_bag_importances
        if resumes:
            has_missing = has_missing | self._has_missing
            forest = _engine.append_trees(self._forest, forest)
            importances = np.concatenate([self._importances, importances])
            if losses is not None:
                losses = np.concatenate([self._losses(), losses])
        out_of_bag, decision = None, None if ruling is None else ruling.decision
        if grown.out_of_bag is not None:
            out_of_bag = OutOfBag.of(grown.out_of_bag, training, self.oob_score, decision, losses)
        self._out_of_bag = out_of_bag
        self._importances: np.ndarray = importances
        self._data = training.data
        self._keep(forest, training.table.schema, training.task, has_missing)
        if ruling is None:
            self._ruling, self._rule = None, "mean"
        else:
            # A resumed fit needs the votes of the existing trees.
            self._keep_ruling(ruling, keeps_votes=bool(self.warm_start))

    def _learnt(self) -> dict[str, Any]:
        own = {"seed": self._seed, "importances": self._importances, "bags": self._bags.learnt()}
        return super()._learnt() | own | self._learnt_ruling()

    def _take_learnt(self, fields: Fields) -> None:
        state = TreesState.take(fields, self._task_type)
        self._take_trees(state, fields)
        n_trees = state.forest.n_trees
        self._seed = fields.integer("seed", 0, 2**64 - 1)
        self._importances = fields.array("importances", np.float64, (n_trees, self.n_features_in_))
        self._bags = ForestBags.take(fields, n_trees)
        self._take_ruling(state.kept, fields, n_trees, None)
        if self._is_plain() and self._rule == "mean" and sums_votes(self.rule_):
            self._ruling = None
