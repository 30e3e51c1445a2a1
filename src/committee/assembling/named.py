"""Members by name among the parameters of a committee, as scikit-learn's ensembles have them."""

from __future__ import annotations

from typing import Any, Self

from sklearn.base import BaseEstimator

from committee.parameters import anything, declared, parameter


@declared
class NamedMembers(BaseEstimator):
    """An estimator whose members are among its parameters, as in `set_params(tree__max_depth=3)`."""

    estimators: Any = parameter(
        None,
        "a list of (name, estimator) pairs, or None",
        anything,
        "The members. None is a linear model, a tree (C4.5 for classes), a linear support vector machine, "
        "nearest neighbours and a perceptron, which see categories and missing values as `TableEncoder` "
        "makes them numbers: the five kinds of the CAWPE paper. A classifier that refuses the labels of y "
        "sees them as the numbers 0, 1, 2 and so on (`NumberedLabels`). Where the rows of a fit are of one "
        "class, scikit-learn's `DummyClassifier` votes for it, unless the member is one of ours.",
        kw_only=False,
    )

    def get_params(self, deep: bool = True) -> dict[str, Any]:
        """The parameters, and those of the members by name.

        Parameters
        ----------
        deep : bool, default=True
            Whether to look into the members.

        Returns
        -------
        dict of str to object
        """
        found = super().get_params(deep=False)
        if deep:
            for name, value in list(found.items()):
                if hasattr(value, "get_params") and not isinstance(value, type):
                    found |= {f"{name}__{key}": each for key, each in value.get_params().items()}
            for name, estimator in self._pairs():
                found[name] = estimator
                if hasattr(estimator, "get_params"):
                    found |= {f"{name}__{key}": each for key, each in estimator.get_params().items()}
        return found

    def set_params(self, **params: Any) -> Self:
        """Set parameters, members by their names, and parameters of members.

        Parameters
        ----------
        **params : dict
            `cv=10`, `tree=DecisionTreeClassifier()` or `tree__max_depth=3`.

        Returns
        -------
        self
        """
        if "estimators" in params:
            self.estimators = params.pop("estimators")
        pairs = self._pairs()
        names = [name for name, _ in pairs]
        replaced = {name: params.pop(name) for name in names if name in params}
        if replaced:
            self.estimators = [(name, replaced.get(name, estimator)) for name, estimator in pairs]
        super().set_params(**params)
        return self

    def _check_names(self) -> None:
        """Raise for a member that is named like a parameter, and so could not be set by its name."""
        own = super().get_params(deep=False)
        given = self.estimators if isinstance(self.estimators, list | tuple) else []
        for pair in given:
            if isinstance(pair, tuple | list) and pair and isinstance(pair[0], str) and pair[0] in own:
                raise ValueError(
                    f"A member is named {pair[0]!r}, and so is a parameter of {type(self).__name__}. Give "
                    "the member another name."
                )

    def _pairs(self) -> list[tuple[str, Any]]:
        """The members, if they are such as can be named."""
        given = self.estimators if isinstance(self.estimators, list | tuple) else []
        own = {field.name for field, _ in self._declarations}
        return [
            (pair[0], pair[1])
            for pair in given
            if isinstance(pair, tuple | list)
            and len(pair) == 2
            and isinstance(pair[0], str)
            and pair[0] not in own
        ]
