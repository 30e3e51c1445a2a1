"""Random forests (Breiman 2001) and extremely randomised trees (Geurts, Ernst and Wehenkel 2006)."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from committee import _engine
from committee.combining.rule import Rule
from committee.learners import DecisionTreeClassifier, DecisionTreeRegressor
from committee.learners.training_data import Training
from committee.learners.tree_parameters import CLASS_CRITERION, NUMBER_CRITERION
from committee.learners.voter import Classifies, Regresses
from committee.parameters import Constraint, boolean, declared, either, is_mapping, one_of, parameter
from committee.sampling.ensemble import oob_decision_function, oob_prediction
from committee.sampling.forest.forest import Forest
from committee.sampling.out_of_bag_rules import Ruling
from committee.saving import Fields
from committee.task import Classification, balancing_weights, class_weights, to_numbers


@declared
class ForestClassifier(Classifies, Forest):
    """The base of forests of classifiers.

    Attributes
    ----------
    oob_score_ : float
        With `bootstrap` and `oob_score`, like the next two.
    oob_decision_function_ : ndarray of shape (n_rows, n_classes)
        NaN for a row in the bags of all trees.
    oob_curve_ : ndarray of shape (n_members,)
        The misclassified share of the rows after every tree, by the majority of the votes if that is the
        rule, and by their mean for all other rules.
    """

    _member_type = DecisionTreeClassifier

    criterion: str = parameter("gini", *CLASS_CRITERION)
    max_features: int | float | str | None = "sqrt"
    class_weight: Any = parameter(
        None,
        either(
            one_of(None, "balanced", "balanced_subsample"),
            Constraint("a dict of label to weight", is_mapping),
        ),
        "Weights of the classes, multiplied by those of the rows. With `bootstrap`, rows are drawn in "
        'proportion to both, and the number of draws does not depend on the classes. "balanced" makes them '
        "inversely proportional to the total weight of the rows of each class. "
        '"balanced_subsample" weights the draws of each tree, inversely proportional to the number of draws '
        'of each class. Without `bootstrap` it is the same as "balanced". A class that is not in the dict '
        "has the weight 1.",
    )

    oob_decision_function_ = property(oob_decision_function)

    def _balances_bags(self) -> bool:
        """Return whether the classes of each bag are balanced separately."""
        is_subsample = isinstance(self.class_weight, str) and self.class_weight == "balanced_subsample"
        return bool(self.bootstrap) and is_subsample

    def _read_training(self, X: Any, y: Any, sample_weight: Any, resumes: bool) -> Training:
        training = super()._read_training(X, y, sample_weight, resumes)
        if self.class_weight is None or self._balances_bags():
            return training
        task, codes, weights = training.task, training.y, training.weights
        assert isinstance(task, Classification)
        by_class = self.class_weight
        if isinstance(by_class, str):
            by_class = balancing_weights(task, codes, weights)
        return replace(training, weights=class_weights(by_class, task, codes, weights))

    def _forest_parameters(
        self, training: Training, first_tree: int, rule: Rule | None
    ) -> _engine.ForestParameters:
        parameters = super()._forest_parameters(training, first_tree, rule)
        parameters.balance_bags = self._balances_bags()
        return parameters


@declared
class ForestRegressor(Regresses, Forest):
    """The base of forests of regressors.

    Attributes
    ----------
    oob_score_ : float
        With `bootstrap` and `oob_score`, like the next two.
    oob_prediction_ : ndarray of shape (n_rows,)
        NaN for a row in the bags of all trees.
    oob_curve_ : ndarray of shape (n_members,)
        The mean squared error of the mean of the votes after every tree, whatever the rule.
    """

    _member_type = DecisionTreeRegressor

    criterion: str = parameter("squared_error", *NUMBER_CRITERION)
    max_features: int | float | str | None = 1.0
    keep_leaf_rows: bool = parameter(
        False,
        boolean,
        "Whether to store the training rows of each leaf, which `predict_quantiles` needs.",
    )

    def predict_quantiles(self, X: Any, quantiles: Any = (0.05, 0.5, 0.95)) -> np.ndarray:
        """Predict quantiles of y for each row (Meinshausen 2006).

        Parameters
        ----------
        X : table of shape (n_rows, n_columns)
        quantiles : float or array-like of shape (n_quantiles,), default=(0.05, 0.5, 0.95)
            Between 0 and 1.

        Returns
        -------
        ndarray of shape (n_rows, n_quantiles)
            Each is the y of a training row that is in the same leaf of some tree.

        Examples
        --------
        >>> X, y = [[1], [1], [1], [9]], [1.0, 2.0, 3.0, 9.0]
        >>> forest = ExtraTreesRegressor(keep_leaf_rows=True, random_state=0).fit(X, y)
        >>> forest.predict_quantiles([[1], [9]], [0.1, 0.5, 0.9])
        array([[1., 2., 3.],
               [9., 9., 9.]])
        """
        table = self._read(X)
        if not self._leaf_rows:
            raise ValueError("predict_quantiles needs the rows of the leaves. Fit with keep_leaf_rows=True.")
        levels = np.atleast_1d(to_numbers(quantiles, "quantiles"))
        if levels.ndim != 1 or not ((levels >= 0) & (levels <= 1)).all():
            raise ValueError(f"quantiles must be numbers between 0 and 1. Got {quantiles!r}.")
        threads = self._threads(table.n_rows)
        columns = list(table.columns)
        return _engine.predict_quantiles(
            self._forest, self._leaf_rows, self._y, columns, table.n_rows, levels, threads
        )

    oob_prediction_ = property(oob_prediction)

    def _forest_parameters(
        self, training: Training, first_tree: int, rule: Rule | None
    ) -> _engine.ForestParameters:
        if first_tree > 0 and self.keep_leaf_rows and not self._leaf_rows:
            raise ValueError("keep_leaf_rows must be True from the first fit on. Set warm_start=False.")
        parameters = super()._forest_parameters(training, first_tree, rule)
        parameters.keep_leaf_rows = parameters.keep_leaf_rows or bool(self.keep_leaf_rows)
        return parameters

    def _keep_grown(
        self,
        grown: _engine.GrownForest,
        training: Training,
        has_missing: np.ndarray,
        resumes: bool,
        ruling: Ruling | None,
    ) -> None:
        leaf_rows = grown.leaf_rows if self.keep_leaf_rows else []
        y = training.y if self.keep_leaf_rows else np.empty(0)
        if resumes and self.keep_leaf_rows:
            # Earlier fits may have had other rows, so the rows of this fit get new numbers.
            shift = np.uint32(len(self._y))
            moved = [(offsets, rows + shift, weights) for offsets, rows, weights in leaf_rows]
            leaf_rows, y = self._leaf_rows + moved, np.concatenate([self._y, y])
        super()._keep_grown(grown, training, has_missing, resumes, ruling)
        self._leaf_rows: list[tuple[np.ndarray, np.ndarray, np.ndarray]] = leaf_rows
        self._y: np.ndarray = y

    def _learnt(self) -> dict[str, Any]:
        return super()._learnt() | {"leaf_rows": self._leaf_rows, "y": self._y}

    def _take_learnt(self, fields: Fields) -> None:
        super()._take_learnt(fields)
        leaf_rows = fields.take("leaf_rows", list)
        y = fields.array("y", np.float64, (None,))
        if leaf_rows:
            self._check_leaf_rows(leaf_rows, y, fields)
        self._leaf_rows, self._y = leaf_rows, y

    def _check_leaf_rows(self, leaf_rows: list[Any], y: np.ndarray, fields: Fields) -> None:
        """Check the rows of the leaves from a file. The engine checks them in a prediction for no rows."""
        for each in leaf_rows:
            fields.require(
                isinstance(each, tuple)
                and len(each) == 3
                and all(isinstance(part, np.ndarray) and part.dtype == np.uint32 for part in each)
                and all(part.ndim == 1 for part in each),
                "the rows of the leaves of a tree are not three vectors of uint32",
            )
        none = [np.empty(0, dtype=np.int32 if count else np.float64) for count in self._forest.n_categories]
        try:
            _engine.predict_quantiles(self._forest, leaf_rows, y, none, 0, np.array([0.5]), 1)
        except ValueError as error:
            fields.require(False, str(error).removesuffix("."))


@declared
class RandomForestClassifier(ForestClassifier):
    """A random forest classifier: full trees on rows drawn with replacement, few columns tried at each node.

    Nodes of a weight above 32 sort their rows into bins over the range of each column in the node, and try
    the thresholds between the bins. The number of bins grows with the weight, from 64 to 256. Lighter nodes
    try all thresholds. With `bootstrap`, each draw has the weight 1.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> X, y = load_iris(return_X_y=True)
    >>> forest = RandomForestClassifier(oob_score=True, random_state=0).fit(X, y)
    >>> forest.oob_score_ > 0.9, forest.predict(X[:2])
    (True, array([0, 0]))
    """


@declared
class RandomForestRegressor(ForestRegressor):
    """A random forest regressor: full trees on rows drawn with replacement.

    Splits are exact for columns of at most 65,535 distinct values.

    Examples
    --------
    >>> X, y = [[1], [2], [8], [9]] * 5, [1.0, 1.0, 5.0, 6.0] * 5
    >>> forest = RandomForestRegressor(keep_leaf_rows=True, random_state=0).fit(X, y)
    >>> forest.predict([[0], [10]]).round(), forest.predict_quantiles([[0], [10]], 0.5)
    (array([1., 6.]), array([[1.], [6.]]))
    """


@declared
class ExtraTreesClassifier(ForestClassifier):
    """Extremely randomised trees for classification: full trees on all rows, one random threshold per column.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> X, y = load_iris(return_X_y=True)
    >>> ExtraTreesClassifier(random_state=0).fit(X, y).predict(X[:2])
    array([0, 0])
    """

    _random_thresholds = True

    bootstrap: bool = False


@declared
class ExtraTreesRegressor(ForestRegressor):
    """Extremely randomised trees for regression: full trees on all rows, one random threshold per column.

    Examples
    --------
    >>> forest = ExtraTreesRegressor(random_state=0).fit([[1], [2], [8], [9]], [1.0, 1.0, 5.0, 6.0])
    >>> forest.predict([[1], [9]])
    array([1., 6.])
    """

    _random_thresholds = True

    bootstrap: bool = False
