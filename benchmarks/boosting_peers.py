"""The peers of boosting with the same rounds, rate, leaves and bins, behind the interface of `peers.py`.

Kinds of models: "classifier" and "regressor" are gradient boosting, "stumps" is AdaBoost over stumps.
"""

import importlib

from peers import THREADS, CommitteeModel, Peer, SklearnModel, YdfModel

RATE, LEAVES, BINS, DEPTH = 0.1, 31, 255, 6
GRADIENT = ("classifier", "regressor")
SAME = f"rate {RATE}, {LEAVES} leaves, {BINS} bins, {THREADS} threads"


class Booster(SklearnModel):
    """A peer with scikit-learn's interface whose model size is unknown."""

    def nbytes(self):
        return None


class YdfBooster(YdfModel):
    def learner(self, n_columns, **settings):
        return self.ydf.GradientBoostedTreesLearner(
            shrinkage=RATE,
            growing_strategy="BEST_FIRST_GLOBAL",
            max_num_nodes=LEAVES,
            discretize_numerical_columns=True,
            num_discretized_numerical_bins=BINS,
            validation_ratio=0.0,
            early_stopping="NONE",
            **settings,
        )


def committee_model(kind, *, n_estimators, seed):
    committee = importlib.import_module("committee")
    if kind == "stumps":
        return CommitteeModel(
            committee.AdaBoostClassifier(n_estimators=n_estimators, n_jobs=THREADS, random_state=seed)
        )
    names = {
        "classifier": committee.GradientBoostingClassifier,
        "regressor": committee.GradientBoostingRegressor,
    }
    return CommitteeModel(
        names[kind](
            n_estimators,
            learning_rate=RATE,
            max_leaf_nodes=LEAVES,
            max_bins=BINS,
            min_samples_leaf=20,  # as in LightGBM and scikit-learn
            subsample=1.0,
            colsample_bytree=1.0,
            colsample_bynode=1.0,
            early_stopping=False,
            n_jobs=THREADS,
            random_state=seed,
        )
    )


def sklearn_model(kind, *, n_estimators, seed):
    ensemble = importlib.import_module("sklearn.ensemble")
    if kind == "stumps":
        return Booster(ensemble.AdaBoostClassifier(n_estimators=n_estimators, random_state=seed))
    names = {
        "classifier": ensemble.HistGradientBoostingClassifier,
        "regressor": ensemble.HistGradientBoostingRegressor,
    }
    return Booster(
        names[kind](
            max_iter=n_estimators,
            learning_rate=RATE,
            max_leaf_nodes=LEAVES,
            max_bins=BINS,
            early_stopping=False,
            random_state=seed,
        )
    )


def lightgbm_maker(**changes):
    def model(kind, *, n_estimators, seed):
        lightgbm = importlib.import_module("lightgbm")
        names = {"classifier": lightgbm.LGBMClassifier, "regressor": lightgbm.LGBMRegressor}
        return Booster(
            names[kind](
                n_estimators=n_estimators,
                learning_rate=RATE,
                num_leaves=LEAVES,
                max_bin=BINS,
                n_jobs=THREADS,
                random_state=seed,
                verbose=-1,
                **changes,
            )
        )

    return model


def xgboost_maker(**changes):
    def model(kind, *, n_estimators, seed):
        xgboost = importlib.import_module("xgboost")
        names = {"classifier": xgboost.XGBClassifier, "regressor": xgboost.XGBRegressor}
        return Booster(
            names[kind](
                n_estimators=n_estimators,
                learning_rate=RATE,
                tree_method="hist",
                max_bin=BINS,
                n_jobs=THREADS,
                random_state=seed,
                **changes,
            )
        )

    return model


def catboost_model(kind, *, n_estimators, seed):
    catboost = importlib.import_module("catboost")
    names = {"classifier": catboost.CatBoostClassifier, "regressor": catboost.CatBoostRegressor}
    return Booster(
        names[kind](
            iterations=n_estimators,
            learning_rate=RATE,
            depth=DEPTH,
            border_count=BINS - 1,
            thread_count=THREADS,
            random_seed=seed,
            verbose=False,
            allow_writing_files=False,
        )
    )


LEAF_WISE, BY_DEPTH = {"grow_policy": "lossguide", "max_leaves": LEAVES, "max_depth": 0}, {"max_depth": DEPTH}
BOOSTERS = {
    peer.name: peer
    for peer in (
        Peer(
            "committee",
            "committee",
            f"{SAME}; subsample=1, colsample_bynode=1: all rows and columns, as in the others; "
            "AdaBoostClassifier with its defaults",
            (*GRADIENT, "stumps"),
            committee_model,
        ),
        Peer("LightGBM", "lightgbm", SAME, GRADIENT, lightgbm_maker()),
        Peer(
            "LightGBM quantised",
            "lightgbm",
            f"{SAME}; use_quantized_grad=True",
            GRADIENT,
            lightgbm_maker(use_quantized_grad=True),
        ),
        Peer(
            "XGBoost",
            "xgboost",
            f'{SAME}; tree_method="hist", grow_policy="lossguide"',
            GRADIENT,
            xgboost_maker(**LEAF_WISE),
        ),
        Peer(
            "XGBoost depth 6",
            "xgboost",
            f'rate {RATE}, depth {DEPTH}, {BINS} bins, {THREADS} threads; tree_method="hist"',
            GRADIENT,
            xgboost_maker(**BY_DEPTH),
        ),
        Peer(
            "scikit-learn",
            "scikit-learn",
            f"HistGradientBoosting, {SAME}; early_stopping=False; AdaBoostClassifier with its defaults, "
            "which has one thread",
            (*GRADIENT, "stumps"),
            sklearn_model,
        ),
        Peer(
            "CatBoost",
            "catboost",
            f"rate {RATE}, oblivious trees of depth {DEPTH}, {BINS - 1} borders, {THREADS} threads",
            GRADIENT,
            catboost_model,
        ),
        Peer(
            "YDF",
            "ydf",
            f"GradientBoostedTreesLearner, {SAME}; best-first, discretised, no validation rows; reads "
            "a dict of columns",
            GRADIENT,
            YdfBooster,
        ),
    )
}
