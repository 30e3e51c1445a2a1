"""Selection: who of the members decides, everywhere (greedy), by region, or row by row."""

from __future__ import annotations

from committee.assembling.committee import Committee
from committee.combining.dynamic_methods import METHODS
from committee.combining.greedy import SCORING
from committee.combining.rule import Rule
from committee.learners.voting import Classifies, Regresses
from committee.parameters import declared, integer, one_of, optional, parameter
from committee.saving import saved


@declared
class EnsembleSelection(Committee):
    """A committee whose members are selected one by one, with replacement."""

    scoring: object = parameter(None, *SCORING)
    n_steps: int = parameter(50, "an integer >= 0", integer(0), "How many members are added at most.")
    n_start: int = parameter(
        1, "an integer >= 1", integer(1), "How many of the best members sit from the start."
    )
    n_bags: int = parameter(
        1, "an integer >= 1", integer(1), "How many samples of the members are selected from."
    )

    def _new_rule(self) -> Rule:
        return self._rule_with("greedy", "scoring", "n_steps", "n_start", "n_bags")


@saved
@declared
class EnsembleSelectionClassifier(Classifies, EnsembleSelection):
    """Add the member that lowers the loss of the mean vote most, again and again (Caruana et al. 2004).

    References
    ----------
    R. Caruana, A. Niculescu-Mizil, G. Crew, A. Ksikes (2004). Ensemble selection from libraries of models.
    ICML.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from sklearn.naive_bayes import GaussianNB
    >>> from committee import DecisionTreeClassifier, EnsembleSelectionClassifier
    >>> X, y = load_iris(return_X_y=True)
    >>> members = [("bayes", GaussianNB()), ("stump", DecisionTreeClassifier(max_depth=1))]
    >>> EnsembleSelectionClassifier(members).fit(X, y).weights_.round(1)
    array([1., 0.])
    """


@saved
@declared
class EnsembleSelectionRegressor(Regresses, EnsembleSelection):
    """Add the member that lowers the error of the mean most, again and again (Caruana et al. 2004).

    Examples
    --------
    >>> from sklearn.datasets import load_diabetes
    >>> from sklearn.linear_model import LinearRegression
    >>> from committee import DecisionTreeRegressor, EnsembleSelectionRegressor
    >>> X, y = load_diabetes(return_X_y=True)
    >>> members = [("line", LinearRegression()), ("tree", DecisionTreeRegressor(max_depth=3))]
    >>> EnsembleSelectionRegressor(members).fit(X, y).weights_.round(1)
    array([0.9, 0.1])
    """


@declared
class RegionSelection(Committee):
    """A committee in which each region of the table is left to one member."""

    partition: str = parameter(
        "clusters",
        '"clusters" or "tree"',
        one_of("clusters", "tree"),
        "What makes the regions of the table, as `TableEncoder` makes it a matrix: k-means, or a shallow "
        "tree that splits where the members' losses differ.",
    )
    n_regions: int = parameter(8, "an integer >= 2", integer(2), "How many regions there are at most.")
    min_rows: int = parameter(
        10, "an integer >= 1", integer(1), "How many rows a region needs to have a member of its own."
    )

    def _new_rule(self) -> Rule:
        return self._rule_with("region", "partition", "n_regions", "min_rows")


@saved
@declared
class RegionSelectionClassifier(Classifies, RegionSelection):
    """Leave each region of the table to the member that is best there (Kuncheva 2000).

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from sklearn.naive_bayes import GaussianNB
    >>> from committee import DecisionTreeClassifier, RegionSelectionClassifier
    >>> X, y = load_iris(return_X_y=True)
    >>> members = [("bayes", GaussianNB()), ("tree", DecisionTreeClassifier(max_depth=3))]
    >>> RegionSelectionClassifier(members, random_state=0).fit(X, y).predict(X[:2])
    array([0, 0])
    """


@saved
@declared
class RegionSelectionRegressor(Regresses, RegionSelection):
    """Leave each region of the table to the member that is best there.

    Examples
    --------
    >>> from sklearn.linear_model import LinearRegression
    >>> from committee import DecisionStumpRegressor, RegionSelectionRegressor
    >>> X, y = [[float(i)] for i in range(20)], [float(max(i, 10)) for i in range(20)]
    >>> members = [("line", LinearRegression()), ("stump", DecisionStumpRegressor())]
    >>> regions = RegionSelectionRegressor(members, n_regions=2, min_rows=2, random_state=0).fit(X, y)
    >>> regions.predict([[2.0]]).round(2)
    array([10.43])
    """


@declared
class DynamicSelection(Committee):
    """A committee that asks for each row who is competent there."""

    method: str = parameter(
        "knora_u",
        f"one of {', '.join(METHODS)}",
        one_of(*METHODS),
        "How competence is measured, and who decides: see `DynamicRule`.",
    )
    n_neighbours: int | None = parameter(
        None,
        "an integer >= 1 or None",
        optional(integer(1)),
        "How many rows are asked, near in the matrix that `TableEncoder` makes of the table. None is 7, and "
        "all rows for des_rrc and des_kl.",
    )

    def _new_rule(self) -> Rule:
        return self._rule_with("dynamic", "method", "n_neighbours")


@saved
@declared
class DynamicSelectionClassifier(Classifies, DynamicSelection):
    """Let those members decide on a row that are right on the rows near it.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from sklearn.naive_bayes import GaussianNB
    >>> from committee import DecisionTreeClassifier, DynamicSelectionClassifier
    >>> X, y = load_iris(return_X_y=True)
    >>> members = [("bayes", GaussianNB()), ("stump", DecisionTreeClassifier(max_depth=1))]
    >>> dynamic = DynamicSelectionClassifier(members, method="ola").fit(X, y)
    >>> dynamic.selected(X[100:101])[0]
    array([[1., 0.]])
    """


@saved
@declared
class DynamicSelectionRegressor(Regresses, DynamicSelection):
    """Let those members decide on a row that err little on the rows near it.

    Examples
    --------
    >>> from sklearn.linear_model import LinearRegression
    >>> from committee import DecisionStumpRegressor, DynamicSelectionRegressor
    >>> X, y = [[float(i)] for i in range(20)], [float(max(i, 10)) for i in range(20)]
    >>> members = [("line", LinearRegression()), ("stump", DecisionStumpRegressor())]
    >>> dynamic = DynamicSelectionRegressor(members, method="ola", n_neighbours=3).fit(X, y)
    >>> dynamic.predict([[2.0]]).round(2)
    array([10.43])
    """
