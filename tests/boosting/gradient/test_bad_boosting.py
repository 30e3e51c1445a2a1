"""Test that bad input of gradient boosting and LogitBoost raises one-line errors with a way out."""

import subprocess
import sys

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone
from sklearn.exceptions import NotFittedError

from committee import GradientBoostingClassifier, GradientBoostingRegressor, LogitBoostClassifier
from committee.table import bin_table

X = np.array([[1.0, 5.0], [2.0, 5.0], [8.0, 6.0], [9.0, 6.0]] * 5)
Y = np.array([0, 0, 1, 1] * 5)
CLASSIFIER, REGRESSOR = GradientBoostingClassifier(3), GradientBoostingRegressor(3)


def error_of(estimator, X, y, **more):
    """Return the error message of a fit; check that it is one line and that the estimator is not fitted."""
    booster = clone(estimator)
    with pytest.raises((ValueError, TypeError)) as caught:
        booster.fit(X, y, **more)
    assert "\n" not in str(caught.value)
    with pytest.raises(NotFittedError):
        booster.predict(X)
    return str(caught.value)


@pytest.mark.parametrize("booster", [CLASSIFIER, LogitBoostClassifier(3)])
def test_one_class_is_an_error(booster):
    message = "y has one class, 7, and boosting needs two. Add rows of another class."
    assert error_of(booster, X, np.full(20, 7)) == message
    weights = (Y == 1).astype(float)
    assert "y has one class, 1," in error_of(booster, X, Y, sample_weight=weights)


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"n_estimators": 0}, 'n_estimators must be an integer >= 1 or "auto". Got 0.'),
        ({"learning_rate": 0.0}, 'learning_rate must be a number > 0 or "auto". Got 0.0.'),
        ({"learning_rate": -1}, 'learning_rate must be a number > 0 or "auto". Got -1.'),
        ({"learning_rate": np.inf}, 'learning_rate must be a number > 0 or "auto". Got inf.'),
        ({"loss": "deviance"}, 'loss must be "log_loss", "exponential" or a callable. Got \'deviance\'.'),
        ({"max_leaf_nodes": 1}, "max_leaf_nodes must be an integer >= 2 or None. Got 1."),
        ({"max_bins": 1}, "max_bins must be an integer in [2, 65535]. Got 1."),
        ({"max_bins": 65_536}, "max_bins must be an integer in [2, 65535]. Got 65536."),
        ({"subsample": 0.0}, 'subsample must be a number in (0, 1] or "auto". Got 0.0.'),
        ({"subsample": 1.5}, 'subsample must be a number in (0, 1] or "auto". Got 1.5.'),
        ({"reg_lambda": -1.0}, "reg_lambda must be a number >= 0. Got -1.0."),
        ({"grow_policy": "widest"}, 'grow_policy must be "lossguide" or "depthwise". Got \'widest\'.'),
        ({"early_stopping": "yes"}, "early_stopping must be True, False or \"auto\". Got 'yes'."),
        ({"validation_fraction": 1.0}, "validation_fraction must be a float in (0, 1). Got 1.0."),
        ({"n_iter_no_change": 0}, "n_iter_no_change must be an integer >= 1. Got 0."),
        ({"n_jobs": 0}, "n_jobs must be an integer other than 0, or None. Got 0."),
        (
            {"monotonic_cst": [2, 0]},
            "monotonic_cst must be None or a value of -1, 0 or 1 for each of 2 columns. Got [2, 0].",
        ),
    ],
)
def test_bad_parameters_are_errors(parameters, message):
    assert error_of(GradientBoostingClassifier(**parameters), X, Y) == message


def test_a_loss_must_fit_the_target():
    def message(loss, y):
        return error_of(GradientBoostingRegressor(3, loss=loss), X, y)

    assert message("poisson", Y - 1.0) == 'loss="poisson" needs y >= 0. Got -1.0. Use "squared_error".'
    assert message("tweedie", Y - 1.0) == 'loss="tweedie" needs y >= 0. Got -1.0. Use "squared_error".'
    assert message("poisson", 0.0 * Y) == 'loss="poisson" needs some y > 0. All are 0. Use "squared_error".'
    assert message("gamma", Y) == 'loss="gamma" needs y > 0. Got 0.0. Use "tweedie" or "squared_error".'
    three = np.arange(20) % 3
    assert error_of(GradientBoostingClassifier(3, loss="exponential"), X, three) == (
        'loss="exponential" needs two classes, and y has 3. Use "log_loss".'
    )
    poisson = GradientBoostingRegressor(3, loss="poisson")
    assert "needs y_val >= 0. Got -1.0" in error_of(poisson, X, Y + 1.0, X_val=X, y_val=Y - 1.0)
    assert "two classes, and y has 3" in error_of(GradientBoostingClassifier(monotonic_cst=[1, 0]), X, three)


def test_the_error_for_unknown_columns_in_monotonic_cst_names_them():
    frame, booster = pd.DataFrame(X, columns=["dose", "age"]), GradientBoostingClassifier(3)
    assert error_of(booster.set_params(monotonic_cst={"does": 1}), frame, Y) == (
        "monotonic_cst names the columns ['does'], which X does not have."
    )
    assert error_of(booster, X, Y) == (
        "monotonic_cst names columns, and those of X have no names. Pass a value for each column."
    )
    message = error_of(booster.set_params(monotonic_cst={"dose": 2}), frame, Y)
    assert message.endswith("a value of -1, 0 or 1 for each of 2 columns. Got {'dose': 2}.")


ARRAY = " of a custom loss must be an array of finite numbers of shape (20,). "


@pytest.mark.parametrize(
    ("returned", "message"),
    [
        (lambda s: (s * np.nan, s * 0 + 1), "The gradient" + ARRAY + "Got nan in row 0."),
        (lambda s: (s, s * 0 + np.inf), "The hessian" + ARRAY + "Got inf in row 0."),
        (lambda s: (s[:5], s * 0 + 1), "The gradient" + ARRAY + "Got shape (5,)."),
        (lambda s: s, "A custom loss must return a tuple (gradient, hessian)."),
        (lambda s: (s, s * 0 - 1), "The hessian of a custom loss must not be negative."),
        (lambda s: (["a"] * 20, s), "The gradient" + ARRAY + "Got the dtype <U1."),
        (lambda s: (s, s * 1j), "The hessian" + ARRAY + "Got the dtype complex128."),
    ],
)
def test_a_custom_loss_must_return_numbers_of_the_right_shape(returned, message):
    booster = GradientBoostingRegressor(3, loss=lambda y, scores: returned(scores))
    assert error_of(booster, X, Y).startswith(message)


@pytest.mark.parametrize("name", ["gradient", "hessian"])
def test_a_custom_loss_must_not_return_numbers_that_overflow(name):
    def huge(y, scores):
        return (scores - y + 1e300, scores + 1) if name == "gradient" else (scores - y, scores + 1e300)

    assert error_of(GradientBoostingRegressor(3, loss=huge), X, Y) == (
        f"The {name} of a custom loss must be between -1e+30 and 1e+30. Row 0 has more. Scale it."
    )


def test_an_error_in_a_custom_loss_is_raised():
    def broken(y, scores):
        raise ZeroDivisionError("mine")

    with pytest.raises(ZeroDivisionError, match="mine"):
        GradientBoostingRegressor(3, loss=broken).fit(X, Y)


def test_a_custom_loss_must_not_change_y():
    def greedy(y, scores):
        y[:] = 0
        return scores - y, np.ones_like(y)

    with pytest.raises(ValueError, match="read-only"):
        GradientBoostingRegressor(3, loss=greedy).fit(X, Y)
    assert Y.any()


def test_a_warm_start_keeps_the_rounds_before_an_interruption_in_a_custom_loss():
    n_calls = 0

    def interrupted(y, scores):
        nonlocal n_calls
        # The scores are constant in the search for the start and in the first round.
        n_calls += scores.min() < scores.max()
        if n_calls == 3:
            raise KeyboardInterrupt
        return scores - y, np.ones_like(y)

    booster = GradientBoostingRegressor(9, loss=interrupted, warm_start=True, random_state=0)
    with pytest.raises(KeyboardInterrupt):
        booster.fit(X, Y)
    assert booster.n_iter_ == 3
    whole = clone(booster).set_params(loss=lambda y, s: (s - y, np.ones_like(y))).fit(X, Y)
    np.testing.assert_array_equal(booster.fit(X, Y).predict(X), whole.predict(X))


def test_an_interruption_in_the_search_for_the_start_changes_nothing():
    def interrupted(y, scores):
        raise KeyboardInterrupt

    booster = GradientBoostingRegressor(9, loss=interrupted)
    with pytest.raises(KeyboardInterrupt):
        booster.fit(X, Y)
    assert not hasattr(booster, "n_iter_")


def test_validation_rows_must_have_positive_weight():
    booster = GradientBoostingClassifier(3, class_weight={0: 1, 1: 0, 2: 1})
    y = np.arange(20) % 3
    with pytest.raises(ValueError, match="class_weight sets the weight of every row of X_val to zero"):
        booster.fit(X, y, X_val=X[y == 1], y_val=y[y == 1])


def test_early_stopping_with_a_custom_loss_is_an_error():
    own = GradientBoostingRegressor(3, loss=lambda y, s: (s - y, np.ones(len(y))))
    message = (
        "Early stopping needs the loss, and a callable returns only its derivatives. "
        "Set early_stopping=False."
    )
    assert error_of(own, X, Y, X_val=X, y_val=Y) == message
    assert error_of(clone(own).set_params(early_stopping=True), X, Y) == message


def test_rows_without_weight_are_an_error():
    assert "the weight of every row to zero" in error_of(CLASSIFIER, X, Y, sample_weight=np.zeros(20))
    message = error_of(CLASSIFIER, X, Y, X_val=X, y_val=Y, sample_weight_val=np.zeros(20))
    assert message.startswith("sample_weight_val sets the weight of every row to zero")


def test_validation_rows_must_match_the_training_rows():
    assert error_of(CLASSIFIER, X, Y, X_val=X) == "X_val needs y_val. Pass both or none."
    assert error_of(CLASSIFIER, X, Y, y_val=Y) == "y_val needs X_val. Pass both or none."
    assert error_of(CLASSIFIER, X, Y, sample_weight_val=np.ones(20)) == (
        "sample_weight_val needs X_val and y_val. Pass all or none."
    )
    assert error_of(CLASSIFIER, X, Y, X_val=X[:, :1], y_val=Y) == (
        "X_val does not fit X. X has 1 features, but 2 were fitted."
    )
    assert error_of(CLASSIFIER, X, Y, X_val=X, y_val=Y * 2) == (
        "y_val has the classes [2], which the fit did not see. It saw [0, 1]. Drop those rows."
    )
    assert "inconsistent numbers of samples: [20, 19]" in error_of(CLASSIFIER, X, Y, X_val=X, y_val=Y[:-1])
    assert "Input y_val contains NaN" in error_of(REGRESSOR, X, Y, X_val=X, y_val=[np.nan] * 20)
    assert "Input y_val contains NaN" in error_of(CLASSIFIER, X, Y, X_val=X, y_val=pd.Series([None, *Y[1:]]))
    frame = pd.DataFrame(X, columns=["age", "size"])
    message = error_of(CLASSIFIER, frame, Y, X_val=frame.rename(columns={"age": "years"}), y_val=Y)
    assert "Now missing: 'age'." in message
    message = error_of(CLASSIFIER, frame, Y, X_val=frame.assign(age="old"), y_val=Y)
    assert "Column 'age' was a number" in message
    assert "X_val is a BinnedTable with its own bins" in error_of(
        CLASSIFIER, X, Y, X_val=bin_table(X), y_val=Y
    )


def test_initial_scores_must_have_the_right_shape():
    assert (
        error_of(CLASSIFIER, X, Y, init_score=np.zeros(3))
        == "init_score must have the shape (20,). Got (3,)."
    )
    three = np.arange(20) % 3
    assert error_of(CLASSIFIER, X, three, init_score=np.zeros(20)) == (
        "init_score must have the shape (20, 3). Got (20,)."
    )
    bad = np.where(Y, np.nan, 0.0)
    assert error_of(CLASSIFIER, X, Y, init_score=bad) == "init_score must be finite. Got nan."
    assert error_of(REGRESSOR, X, Y, init_score=np.full(20, -1e300)) == (
        "init_score must be between -1e+30 and 1e+30. Got -1e+300. Scale it."
    )
    message = error_of(CLASSIFIER, X, Y, init_score=np.zeros(20), X_val=X, y_val=Y)
    assert message == "init_score needs init_score_val for the rows of X_val. Pass both or none."


def test_too_few_rows_for_validation_are_an_error():
    booster = GradientBoostingClassifier(3, early_stopping=True)
    assert error_of(booster, X[:4], Y[:4]) == (
        "validation_fraction=0.1 leaves no row of 4 for validation. Pass X_val and y_val, or set "
        "early_stopping=False."
    )


def test_a_warm_start_needs_the_same_columns_and_classes():
    booster = GradientBoostingClassifier(3, warm_start=True).fit(X, Y)
    before = booster.predict_proba(X)
    booster.set_params(n_estimators=5)
    with pytest.raises(ValueError, match="1 features"):
        booster.fit(X[:, :1], Y)
    with pytest.raises(ValueError, match="needs the classes of the previous fit"):
        booster.fit(X, np.arange(20) % 3)
    with pytest.raises(ValueError, match="needs a table to continue, not a BinnedTable"):
        booster.fit(bin_table(X), Y)
    np.testing.assert_array_equal(booster.predict_proba(X), before)


@pytest.mark.parametrize(
    ("booster", "change"),
    [
        (GradientBoostingRegressor(2), {"loss": "poisson"}),
        (LogitBoostClassifier(2), {"one_versus_all": True}),
    ],
)
def test_a_warm_start_needs_the_same_link(booster, change):
    booster = clone(booster).set_params(warm_start=True).fit(X, np.arange(20) % 3)
    before = booster.predict(X)
    with pytest.raises(ValueError, match="with a loss of another link"):
        booster.set_params(n_estimators=4, **change).fit(X, np.arange(20) % 3)
    np.testing.assert_array_equal(booster.predict(X), before)


def test_too_large_or_too_small_numbers_are_errors():
    assert error_of(REGRESSOR, X, 1e40 * Y) == "y must be between -1e+30 and 1e+30. Got 1e+40. Scale it."
    assert (
        error_of(REGRESSOR, X, 1e-40 * Y)
        == "y is so close to 0 that its squares vanish: the largest is 1e-40. Scale it."
    )
    assert clone(REGRESSOR).fit(X, 0.0 * Y).predict(X[:1]) == 0


SCRIPT = """
import signal, threading
import numpy as np
from committee import GradientBoostingClassifier

signal.signal(signal.SIGINT, signal.default_int_handler)
rng = np.random.default_rng(0)
X = rng.normal(size=(2000, 5))
y = X[:, 0] + X[:, 1] > 0
booster = GradientBoostingClassifier(5, n_jobs=2, random_state=0).fit(X, y)
before = booster.predict_proba(X)
threading.Timer(0.5, signal.raise_signal, (signal.SIGINT,)).start()
try:
    booster.set_params(n_estimators=1_000_000).fit(X, y)
except KeyboardInterrupt:
    print("interrupted")
print(np.array_equal(booster.predict_proba(X), before))
print(np.array_equal(booster.set_params(n_estimators=5).fit(X, y).predict_proba(X), before))
"""


def test_ctrl_c_ends_a_long_fit_and_leaves_the_booster_unchanged():
    ended = subprocess.run(
        [sys.executable, "-c", SCRIPT], capture_output=True, text=True, timeout=60, check=False
    )
    assert ended.stderr == ""
    assert ended.stdout.split() == ["interrupted", "True", "True"]
