"""Every public estimator, made small enough to be fitted often."""

import inspect

from sklearn.base import BaseEstimator, is_classifier

import committee


def make(estimator_type, **parameters):
    """An estimator with a fixed seed and few members, where it has such parameters."""
    known = inspect.signature(estimator_type).parameters
    # Five small steps on a share of the rows do not lead as far as scikit-learn's checks ask for.
    n_members = 12 if "Gradient" in estimator_type.__name__ else 5
    small = {"n_estimators": n_members, "random_state": 0}
    small = {name: value for name, value in small.items() if name in known}
    return estimator_type(**small | parameters)


def public_types():
    values = (getattr(committee, name) for name in committee.__all__)
    return [value for value in values if inspect.isclass(value) and issubclass(value, BaseEstimator)]


ESTIMATORS = [make(each) for each in public_types()]
CLASSIFIERS = [each for each in ESTIMATORS if is_classifier(each)]
REGRESSORS = [each for each in ESTIMATORS if not is_classifier(each)]


def needs_two_classes(estimator):
    """Whether y of one class is an error: there is nothing to boost."""
    return is_classifier(estimator) and "Boost" in name_of(estimator)


def name_of(estimator):
    """What a test's name says of an estimator."""
    return type(estimator).__name__
