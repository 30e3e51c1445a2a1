"""LogitBoost: additive logistic regression (Friedman, Hastie and Tibshirani 2000)."""

from __future__ import annotations

from committee import _engine
from committee.boosting.gradient.additive_trees import StagedClasses
from committee.boosting.gradient.rounds import Rounds
from committee.learners.training_data import Training
from committee.parameters import boolean, declared, number, parameter
from committee.saving import saved


@saved
@declared
class LogitBoostClassifier(StagedClasses, Rounds):
    """LogitBoost: in every round, each class gets a regression tree that is fitted to a Newton step.

    The target of the tree is the working response z = (y - p) / (p (1 - p)), where y is 1 for the rows of the
    class and 0 for the others, and p the probability so far; a row weighs p (1 - p). Where z is cut at
    `z_max`, the row weighs (y - p) / z, as in Weka, because rows that are far off would hardly count
    otherwise. Two classes take one tree in every round. J classes take J trees, whose values are multiplied
    by (J - 1) / J; that is the paper's symmetric step, for softmax does not see what is added to all scores.

    The trees are stumps unless `max_depth` says otherwise, and the values of their leaves are not
    regularised. With more rounds than there is to learn, the probabilities go to 0 and 1: stop early, or
    lower the `learning_rate`.

    Attributes
    ----------
    train_score_, validation_score_ : ndarray of shape (n_rounds + 1,)
        Minus the mean log loss before the first round and after each, summed over the models of
        `one_versus_all`; `validation_score_` is empty if there were no rows to validate by.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> X, y = load_iris(return_X_y=True)
    >>> booster = LogitBoostClassifier(10).fit(X, y)
    >>> booster.score(X, y) > 0.95, booster.predict_proba(X[:1]).argmax()
    (True, np.int64(0))
    """

    learning_rate: float = 1.0
    max_leaf_nodes: int | None = None
    max_depth: int | None = 1
    z_max: float = parameter(
        3.0,
        number(1),
        "How large a working response may be. The paper finds values from 2 to 4 to work well.",
    )
    one_versus_all: bool = parameter(
        False,
        boolean,
        "Whether to boost, for each of more than two classes, a model of its own of the class against all "
        "others. Their probabilities are divided by their sum. False boosts one model of all classes.",
    )

    def _boost_parameters(self, training: Training) -> _engine.BoostParameters:
        parameters = super()._boost_parameters(training)
        parameters.objective.loss = "logit"
        parameters.objective.z_max = float(self.z_max)
        parameters.objective.one_versus_all = bool(self.one_versus_all) and training.n_classes > 2
        tree = parameters.tree
        tree.min_child_weight, tree.cat_smooth, tree.max_cat_to_onehot = 0.0, 0.0, 0
        return parameters
