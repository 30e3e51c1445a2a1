"""A predictor of a committee with our own members predicts as the committee does, without scikit-learn."""

import json
import pickle
import subprocess
import sys

import numpy as np
import pandas as pd
import pytest
from edited_files import change
from every_estimator import COMMITTEES, ESTIMATORS, make, mixed_frame, name_of, target_for, votes_of
from sklearn.base import clone, is_classifier
from sklearn.linear_model import Lasso, LogisticRegression
from sklearn.naive_bayes import BernoulliNB
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import MinMaxScaler
from sklearn.svm import LinearSVC

import committee
from committee import (
    AdaBoostClassifier,
    AdaBoostM1Classifier,
    AdaBoostM2Classifier,
    AdaBoostRegressor,
    C45Classifier,
    DecisionStumpRegressor,
    GradientBoostingClassifier,
    GradientBoostingRegressor,
    RandomForestClassifier,
    RandomForestRegressor,
    StackingClassifier,
    StackingRegressor,
    VotingClassifier,
    VotingRegressor,
)
from committee.combining.selection.competence import METHODS
from committee.rules import AdjustedRule, CAWPERule, DynamicRule, RegionRule, rule_names
from committee.saving import DamagedFile
from committee.saving.predictors.predictor import read_column
from committee.saving.states.committee_states import MEMBERS

ALONE = """
import json, sys
import numpy as np
import committee
predictor = committee.predictor(sys.argv[1])
decide = getattr(predictor, "predict_proba", predictor.predict)
decisions = decide(np.array(json.loads(sys.argv[2])))
print(json.dumps([decisions.tolist(), sorted({name.partition(".")[0] for name in sys.modules})]))
"""
OTHERS = {"sklearn", "narwhals", "scipy", "pandas", "joblib", "threadpoolctl"}
FRAME, SIGNAL = mixed_frame(90)
MATRIX = FRAME[["number", "count", "member"]].to_numpy(dtype=np.float64)


@pytest.fixture
def path(tmp_path):
    return tmp_path / "model.committee"


def own_members(estimator):
    """Return members of four kinds, all from committee."""
    if is_classifier(estimator):
        types = {"forest": RandomForestClassifier, "c45": C45Classifier}
        types |= {"booster": GradientBoostingClassifier, "ada": AdaBoostM2Classifier}
    else:
        types = {"forest": RandomForestRegressor, "stump": DecisionStumpRegressor}
        types |= {"booster": GradientBoostingRegressor, "ada": AdaBoostRegressor}
    return [(name, make(each)) for name, each in types.items()]


def own_committee(estimator, **parameters):
    known = estimator.get_params(deep=False)
    cv = {} if known.get("rule") == "mean" else {"cv": 3}
    return clone(estimator).set_params(**{"estimators": own_members(estimator)} | cv | parameters)


def as_json(frame):
    return json.loads(frame.to_json(orient="records"))


def decisions(predictor, X):
    return predictor.predict_proba(X) if hasattr(predictor, "predict_proba") else predictor.predict(X)


def check_same(fitted, path, X, rows=None):
    """Check that the predictors of an estimator and of its file predict as the loaded estimator does."""
    rows = X if rows is None else rows
    fitted.save(path)
    loaded = committee.load(path)
    for predictor in (committee.predictor(path), fitted.predictor()):
        for each in (predictor, pickle.loads(pickle.dumps(predictor))):
            np.testing.assert_array_equal(decisions(each, rows), votes_of(loaded, X))
            np.testing.assert_array_equal(each.predict(rows), loaded.predict(X))
            np.testing.assert_array_equal(decisions(each, rows[:1]), votes_of(loaded, X[:1]))


@pytest.mark.parametrize("refit", [True, False])
@pytest.mark.parametrize("estimator", COMMITTEES, ids=name_of)
def test_it_predicts_as_the_committee_does(estimator, refit, path):
    y = target_for(estimator, SIGNAL)
    more = {} if refit else {"cv": 3}
    if not refit and "refit" in estimator.get_params(deep=False):
        more["refit"] = False
    fitted = own_committee(estimator, **more)
    check_same(clone(fitted).fit(MATRIX, y), path, MATRIX)
    check_same(clone(fitted).fit(FRAME, y), path, FRAME, as_json(FRAME))


@pytest.mark.parametrize("name", rule_names())
def test_every_rule_has_a_predictor(name, path):
    three = np.digitize(SIGNAL, [-0.5, 1.0])
    voting = own_committee(make(VotingClassifier), rule=name).fit(MATRIX, three)
    check_same(voting, path, MATRIX)


@pytest.mark.parametrize("method", METHODS)
def test_every_method_of_dynamic_selection_has_a_predictor(method, path):
    voting = own_committee(make(VotingClassifier), rule=DynamicRule(method=method), cv=3)
    check_same(voting.fit(FRAME, np.digitize(SIGNAL, [-0.5, 1.0])), path, FRAME, as_json(FRAME))


@pytest.mark.parametrize("partition", ["clusters", "tree"])
def test_both_partitions_of_regions_have_predictors(partition, path):
    rule = RegionRule(partition=partition, random_state=0)
    voting = own_committee(make(VotingRegressor), rule=rule, cv=3)
    check_same(voting.fit(FRAME, SIGNAL), path, FRAME, as_json(FRAME))


@pytest.mark.parametrize("rule", ["dynamic", "region"])
def test_a_forest_whose_rule_looks_at_the_rows_has_a_predictor(rule, path):
    forest = make(RandomForestClassifier, rule=rule).fit(FRAME, SIGNAL > 0)
    check_same(forest, path, FRAME, as_json(FRAME))


def test_a_meta_learner_that_sees_the_columns_has_a_predictor(path):
    stacking = own_committee(make(StackingClassifier), passthrough=True)
    check_same(stacking.fit(FRAME, SIGNAL > 0), path, FRAME, as_json(FRAME))


def test_a_rule_inside_a_rule_needs_no_scikit_learn(path):
    voting = own_committee(make(VotingClassifier), rule=AdjustedRule(), cv=3)
    check_same(voting.fit(MATRIX, np.digitize(SIGNAL, [-0.5, 1.0])), path, MATRIX)


@pytest.mark.parametrize("n_classes", [2, 3])
@pytest.mark.parametrize(
    "learner",
    [
        *(None, "nnls", "convex", "mlr", LogisticRegression(C=100.0)),
        make(RandomForestClassifier),
        StackingClassifier([("forest", make(RandomForestClassifier))], final_estimator="convex"),
    ],
    ids=str,
)
def test_meta_learners_of_classes_need_no_scikit_learn(learner, n_classes, path):
    y = np.digitize(SIGNAL, [-0.5, 1.0][: n_classes - 1])
    stacking = own_committee(make(StackingClassifier), final_estimator=learner)
    check_same(stacking.fit(MATRIX, y), path, MATRIX)


@pytest.mark.parametrize(
    "learner", [None, "linear", "nnls", "convex", Lasso(0.01), make(RandomForestRegressor)], ids=str
)
def test_meta_learners_of_numbers_need_no_scikit_learn(learner, path):
    stacking = own_committee(make(StackingRegressor), final_estimator=learner)
    check_same(stacking.fit(MATRIX, SIGNAL), path, MATRIX)


def test_members_can_have_different_columns(path):
    columns = {"c45": ["city", "number"], "ada": ["member"]}
    voting = own_committee(make(VotingClassifier), columns=columns).fit(FRAME, SIGNAL > 0)
    check_same(voting, path, FRAME, as_json(FRAME))
    voting = own_committee(make(VotingClassifier), columns={"c45": [2, 0]}).fit(MATRIX, SIGNAL > 0)
    check_same(voting, path, MATRIX)
    rows = [dict(zip(("x0", "x1", "x2"), row, strict=True)) for row in MATRIX.tolist()]
    np.testing.assert_array_equal(committee.predictor(path).predict_proba(rows), voting.predict_proba(MATRIX))


def test_a_committee_can_be_a_member(path):
    inner = own_committee(make(VotingClassifier), rule=CAWPERule(alpha=2))
    outer = VotingClassifier([("inner", inner), ("tree", C45Classifier())], rule="product", random_state=0)
    check_same(outer.fit(FRAME, SIGNAL > 0), path, FRAME, as_json(FRAME))


def test_a_member_with_another_category_uses_it(path):
    all_cities = pd.DataFrame({"city": ["Bonn", "Oslo", "Rome"] * 20})
    y = np.array(["cold", "cold", "warm"] * 20)
    tree = C45Classifier().fit(all_cities, y)
    few = all_cities[all_cities["city"] != "Rome"]
    voting = VotingClassifier([("tree", tree)], cv="prefit").fit(few, ["warm"] + ["cold"] * (len(few) - 1))
    voting.save(path)
    assert voting.schema_.columns[0].categories == ("Bonn", "Oslo")
    predictor = committee.predictor(path)
    assert (
        predictor.predict(as_json(all_cities)).tolist() == voting.predict(all_cities).tolist() == y.tolist()
    )


def test_one_class_needs_no_rule(path):
    voting = VotingClassifier([("tree", C45Classifier())]).fit(MATRIX, ["yes"] * len(MATRIX))
    check_same(voting, path, MATRIX)


@pytest.mark.parametrize(
    ("booster", "member"),
    [
        (AdaBoostM1Classifier, C45Classifier(class_weight="balanced")),
        (AdaBoostM2Classifier, C45Classifier(class_weight="balanced")),
        (AdaBoostClassifier, make(RandomForestClassifier)),
        (AdaBoostRegressor, make(RandomForestRegressor)),
    ],
)
def test_boosted_members_that_are_fitted_one_by_one_have_predictors(booster, member, path):
    model = make(booster, estimator=member, n_estimators=4)
    y = np.digitize(SIGNAL, [-0.5, 1.0]) if is_classifier(model) else SIGNAL
    check_same(clone(model).fit(MATRIX, y), path, MATRIX)
    check_same(clone(model).fit(FRAME, y), path, FRAME, as_json(FRAME))


def test_an_older_file_must_be_saved_again(path):
    X, y = MATRIX[:, 1:], SIGNAL > 0
    AdaBoostM1Classifier(C45Classifier(class_weight="balanced"), n_estimators=2).fit(X, y).save(path)
    change(path, lambda description, arrays: description["model"]["fitted"].pop("weighing"))
    with pytest.raises(ValueError, match=r"An earlier version of committee .* Load it, and save it again"):
        committee.predictor(path)
    committee.load(path).save(path)
    assert committee.predictor(path).predict(X).shape == (90,)


@pytest.mark.parametrize(
    ("model", "message"),
    [
        (
            VotingClassifier([("bayes", BernoulliNB())]),
            r"^The member 'bayes' of .* needs the library that fitted it \(sklearn.*BernoulliNB\)",
        ),
        (
            AdaBoostM1Classifier(BernoulliNB(), n_estimators=2),
            r"^The member 0 of .*BernoulliNB\)\. Use",
        ),
        (
            StackingClassifier([("tree", C45Classifier())], final_estimator=BernoulliNB(), cv=2),
            r"^The final_estimator of .* \(sklearn.naive_bayes.BernoulliNB\)\. Use committee\.load\.$",
        ),
        (
            VotingClassifier([("pipe", make_pipeline(MinMaxScaler(), LogisticRegression()))]),
            r"^The member 'pipe' of .*\(sklearn.pipeline.Pipeline\)\. Use",
        ),
    ],
    ids=["member", "boosted", "learner", "pipeline"],
)
def test_the_error_names_the_part_that_needs_scikit_learn(model, message, path):
    model.fit(MATRIX[:, 1:], SIGNAL > 0).save(path)
    with pytest.raises(ValueError, match=message) as caught:
        committee.predictor(path)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    "model",
    [
        VotingClassifier([("bayes", BernoulliNB())]),
        AdaBoostM1Classifier(BernoulliNB(), n_estimators=2),
    ],
)
def test_an_estimator_with_members_of_other_libraries_has_no_predictor(model):
    with pytest.raises(ValueError, match=r"BernoulliNB, which has no predictor because it needs .* Use the"):
        model.fit(MATRIX[:, 1:], SIGNAL > 0).predictor()


@pytest.mark.parametrize(
    "model",
    [
        own_committee(make(VotingClassifier)),
        own_committee(make(VotingClassifier), rule="bayesian_averaging"),
        own_committee(make(StackingClassifier)),
        own_committee(make(StackingRegressor)),
        make(AdaBoostM2Classifier, estimator=C45Classifier()),
    ],
    ids=name_of,
)
def test_scikit_learn_is_not_imported(model, path):
    X = np.nan_to_num(MATRIX)
    fitted = model.fit(X, target_for(model, SIGNAL))
    fitted.save(path)
    command = [sys.executable, "-c", ALONE, str(path), json.dumps(X[:5].tolist())]
    found, modules = json.loads(subprocess.run(command, capture_output=True, text=True, check=True).stdout)
    assert found == votes_of(fitted, X[:5]).tolist()
    assert not OTHERS & set(modules)


def test_bad_rows_are_named_by_the_columns_of_the_committee(path):
    columns = {"c45": ["city"]}
    own_committee(make(VotingClassifier), columns=columns).fit(FRAME, SIGNAL > 0).save(path)
    predictor = committee.predictor(path)
    assert predictor.feature_names == ("number", "count", "member", "city")
    for rows, kind, message in [
        ({"city": "Oslo"}, ValueError, r"^Row 0 .* Missing: \['number', 'count', 'member'\]"),
        (np.zeros((1, 4)), ValueError, r"A matrix holds numbers only, and \['city'\] are not"),
        ([], ValueError, "There are no rows"),
        (None, TypeError, "Got NoneType"),
    ]:
        with pytest.raises(kind, match=message):
            predictor.predict(rows)


@pytest.mark.parametrize("estimator", [*ESTIMATORS, own_committee(make(VotingClassifier), cv=2)], ids=name_of)
def test_unused_parts_of_a_file_are_refused(estimator, path):
    fitted = clone(estimator).fit(MATRIX, target_for(estimator, SIGNAL))
    for edit, message in [
        (lambda description, arrays: arrays.update(more=np.zeros(3)), "No value uses the arrays"),
        (
            lambda description, arrays: description["model"]["fitted"].update(more=1),
            r"unknown fields \['more'\]",
        ),
        (lambda description, arrays: description["scores"].update(more={"array": "none"}), "no array 'none'"),
    ]:
        fitted.save(path)
        change(path, edit)
        with pytest.raises(DamagedFile, match=message):
            committee.load(path)
        if "more" not in message:
            with pytest.raises(DamagedFile, match=message):
                committee.predictor(path)


@pytest.mark.parametrize("model", [*ESTIMATORS, own_committee(make(VotingClassifier), cv=2)], ids=name_of)
def test_a_new_fitted_attribute_needs_a_change_of_one_class_only(model, path, monkeypatch):
    """The attribute is saved and loaded, and the predictor still works."""
    kind = type(model)
    learnt, take = kind._learnt, kind._take_learnt

    def take_with_attribute(self, fields):
        self.n_looks_ = fields.integer("n_looks", 0, 10)
        take(self, fields)

    monkeypatch.setattr(kind, "_learnt", lambda self: learnt(self) | {"n_looks": self.n_looks_})
    monkeypatch.setattr(kind, "_take_learnt", take_with_attribute)
    fitted = clone(model).fit(MATRIX, target_for(model, SIGNAL))
    # Members of the same class need the attribute too.
    monkeypatch.setattr(kind, "n_looks_", 3, raising=False)
    fitted.save(path)
    monkeypatch.delattr(kind, "n_looks_")
    assert committee.load(path).n_looks_ == 3
    np.testing.assert_array_equal(decisions(committee.predictor(path), MATRIX), votes_of(fitted, MATRIX))


@pytest.mark.parametrize(
    ("edit", "message"),
    [
        (
            lambda fitted: fitted[MEMBERS][0]["dict"][2].__setitem__(1, [7]),
            "its columns are not in the table",
        ),
        (lambda fitted: fitted[MEMBERS].clear(), "there are no members|No value uses"),
        (lambda fitted: fitted.update(rule=None), "must have a rule unless|No value uses"),
        (lambda fitted: fitted["rule"].update(estimator="committee.C45Classifier"), "not a rule|is a|has no"),
        (lambda fitted: fitted["rule"]["fitted"].update(n_members_=3), "scores_ has shape"),
    ],
)
def test_an_inconsistent_committee_is_refused(edit, message, path):
    own_committee(make(VotingClassifier), rule="cawpe", cv=2).fit(MATRIX, SIGNAL > 0).save(path)
    change(path, lambda description, arrays: edit(description["model"]["fitted"]))
    for read in (committee.load, committee.predictor):
        with pytest.raises(DamagedFile, match=message):
            read(path)


def test_a_member_of_our_own_with_calibrated_scores_is_refused_by_name(path):
    members = [("tree", make(C45Classifier)), ("svm", LinearSVC())]
    VotingClassifier(members, calibrate="sigmoid", cv=3).fit(np.nan_to_num(MATRIX), SIGNAL > 0).save(path)

    def calibrate_tree(description, arrays):
        fitted = description["model"]["fitted"]
        tree, svm = (dict(member["dict"]) for member in fitted[MEMBERS])
        tree["calibration"], svm["calibration"] = svm["calibration"], None
        fitted[MEMBERS] = [{"dict": list(map(list, member.items()))} for member in (tree, svm)]

    change(path, calibrate_tree)
    with pytest.raises(DamagedFile, match="The member 'tree' has probabilities and needs no calibration"):
        committee.predictor(path)


def test_members_that_need_another_library_are_named():
    members = [("tree", C45Classifier()), ("bayes", BernoulliNB()), ("svm", LinearSVC())]
    voting = VotingClassifier(members, calibrate="sigmoid", cv=2).fit(np.nan_to_num(MATRIX), SIGNAL > 0)
    assert voting.members_without_predictor_ == ["bayes"]


def test_rows_are_read_once_for_all_members_with_the_same_columns(path, monkeypatch):
    """Members of folds have not seen every category, so only columns of categories are read again."""
    rng = np.random.default_rng(3)
    frame = pd.DataFrame({f"x{place}": rng.normal(size=60) for place in range(6)})
    numbers = list(frame.columns)
    frame["city"] = [f"city {place % 50}" for place in range(60)]
    y = (frame["x0"] + (np.arange(60) % 50 > 25) > 0).astype(int)
    members = [("c45", C45Classifier()), ("forest", RandomForestClassifier(5, random_state=0))]
    voting = VotingClassifier(members, cv=4, refit=False, rule="mean", random_state=0).fit(frame, y)
    schemas = {model.schema_ for models in voting.estimators_ for model in models}
    assert len(schemas) > 1
    voting.save(path)
    prepared, asked = committee.predictor(path), []

    def counted(values, column):
        asked.append(column.name)
        return read_column(values, column)

    for module in ("predictor", "deciders"):
        monkeypatch.setattr(f"committee.saving.predictors.{module}.read_column", counted)
    rows = frame.to_dict("records")
    for row in [*rows, rows[0] | {"city": "new"}, rows[1] | {"city": None}]:
        asked.clear()
        expected = voting.predict_proba(
            pd.DataFrame([row], dtype=object).astype(dict.fromkeys(numbers, float))
        )
        np.testing.assert_allclose(prepared.predict_proba(row), expected, atol=1e-7)
        asked.clear()
        np.testing.assert_allclose(
            prepared.predict_proba([row, row]), np.repeat(expected, 2, axis=0), atol=1e-7
        )
        assert all(asked.count(name) == 1 for name in numbers)
        assert asked.count("city") == len(schemas | {voting.schema_})
