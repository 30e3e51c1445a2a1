"""Implement LogitBoost, additive logistic regression (Friedman, Hastie and Tibshirani 2000)."""

from __future__ import annotations

from committee import _engine
from committee.boosting.gradient.additive_trees import StagedClasses
from committee.boosting.gradient.rounds import Rounds
from committee.learners.training_data import Training
from committee.parameters import boolean, declared, integer, number, parameter


@declared
class LogitBoostClassifier(StagedClasses, Rounds):
    """LogitBoost, which fits a regression tree to a Newton step for each class in every round.

    The target of the tree is the working response z = (y - p) / (p (1 - p)), where y is 1 for the rows of the
    class and 0 for the others, and p is the current probability. The weight of a row is p (1 - p). Working
    responses are clipped at `z_max`. The weight of a clipped row is (y - p) / z, as in Weka, because badly
    predicted rows would have almost no effect otherwise. For two classes, a round is one tree. For J classes,
    it is J trees, whose values are multiplied by (J - 1) / J; this equals the symmetric step of the paper,
    because softmax does not change when a constant is added to all scores.

    By default the trees are stumps, and the values of their leaves are not regularised. After too many
    rounds, the probabilities approach 0 and 1: use early stopping or a lower `learning_rate`.

    Attributes
    ----------
    train_score_, validation_score_ : ndarray of shape (n_rounds + 1,)
        The negative mean log loss before the first round and after each round, summed over the models of
        `one_versus_all`. `validation_score_` is empty without validation rows.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> X, y = load_iris(return_X_y=True)
    >>> booster = LogitBoostClassifier(10).fit(X, y)
    >>> booster.score(X, y) > 0.95, booster.predict_proba(X[:1]).argmax()
    (True, np.int64(0))
    """

    n_estimators: int = parameter(
        100, integer(1), "The number of rounds. Early stopping may reduce it.", kw_only=False
    )
    learning_rate: float = 1.0
    max_leaf_nodes: int | None = None
    max_depth: int | None = 1
    z_max: float = parameter(
        3.0,
        number(1),
        "The largest absolute working response. According to the paper, values from 2 to 4 work well.",
    )
    one_versus_all: bool = parameter(
        False,
        boolean,
        "Whether to boost a separate model for each of more than two classes against all others. Their "
        "probabilities are divided by their sum. False boosts one model for all classes.",
    )

    def _boost_parameters(self, training: Training) -> _engine.BoostParameters:
        parameters = super()._boost_parameters(training)
        parameters.objective.loss = "logit"
        parameters.objective.z_max = float(self.z_max)
        parameters.objective.one_versus_all = bool(self.one_versus_all) and training.n_classes > 2
        tree = parameters.tree
        tree.min_child_weight, tree.cat_smooth, tree.max_cat_to_onehot = 0.0, 0.0, 0
        return parameters
