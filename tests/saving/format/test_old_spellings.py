"""Files with parameters that were removed later."""

import numpy as np
import pytest
from edited_files import change

import committee
from committee import NetworkRegressor, VotingClassifier
from committee.rules import BehaviourKnowledgeRule

X, Y = np.arange(40.0).reshape(20, 2), np.arange(20) % 2


def test_a_fitted_model_loads_with_any_value_of_a_removed_parameter_of_the_fit(tmp_path):
    path = tmp_path / "network.committee"
    network = NetworkRegressor(n_estimators=2, max_steps=5, random_state=0).fit(X, Y)
    network.save(path)
    change(path, lambda description, arrays: description["model"]["parameters"].update(weight_decay=0.5))
    np.testing.assert_array_equal(committee.load(path).predict(X), network.predict(X))


@pytest.mark.parametrize("value", ["majority", "mean"])
def test_a_removed_parameter_of_predictions_must_have_its_current_value(tmp_path, value):
    path = tmp_path / "committee.committee"
    voting = VotingClassifier(rule=BehaviourKnowledgeRule(), random_state=0).fit(X, Y)
    voting.save(path)

    def name_fallback(description, arrays):
        for rule in rules_in(description):
            rule["parameters"]["fallback"] = value

    change(path, name_fallback)
    if value == "majority":
        np.testing.assert_array_equal(committee.load(path).predict(X), voting.predict(X))
    else:
        message = (
            "BehaviourKnowledgeRule was saved with fallback='mean'. .* 'majority' now. Fit the model again"
        )
        with pytest.raises(ValueError, match=message):
            committee.load(path)


def rules_in(value):
    """Yield the descriptions of all rules in a description."""
    if isinstance(value, dict):
        if value.get("estimator") == "committee.BehaviourKnowledgeRule":
            yield value
        for each in value.values():
            yield from rules_in(each)
    elif isinstance(value, list):
        for each in value:
            yield from rules_in(each)
