"""Runners: results of tasks, copies of runners, and errors of their parameters."""

import copy
import gc
import os
import pickle
import threading
import weakref

import numpy as np
import pytest
import runner_tasks
from every_runner import RUNNERS
from sklearn.linear_model import LogisticRegression
from sklearn.tree import DecisionTreeClassifier

from committee import GradientBoostingClassifier, RandomForestClassifier
from committee.running import Runner, runner


def test_results_come_in_the_order_of_the_tasks(run):
    assert run.gather([run.submit(runner_tasks.doubled, i) for i in range(20)]) == list(range(0, 40, 2))


def test_no_tasks_give_no_results(run):
    assert run.gather([]) == []
    assert list(run.as_completed([])) == []


def test_every_task_is_returned_once(run):
    tasks = [run.submit(runner_tasks.doubled, i) for i in range(7)]
    assert sorted(task.result() for task in run.as_completed(tasks)) == list(range(0, 14, 2))
    assert sorted(task.result() for task in run.as_completed(tasks)) == list(range(0, 14, 2))


def test_tasks_are_returned_in_the_order_of_completion(parallel, tmp_path):
    slow = parallel.submit(runner_tasks.wait_for, tmp_path / "go", name="slow")
    quick = parallel.submit(runner_tasks.doubled, 1, name="quick")
    ended = parallel.as_completed([slow, quick])
    assert next(ended).name == "quick"
    (tmp_path / "go").touch()
    assert next(ended).name == "slow"
    assert [task.name for task in parallel.as_completed([slow, quick])] == ["quick", "slow"]


def test_tasks_run_in_parallel(parallel, tmp_path):
    # The first task waits for a file that the second one creates.
    first = parallel.submit(runner_tasks.wait_then_touch, tmp_path / "a", tmp_path / "b")
    second = parallel.submit(runner_tasks.wait_then_touch, __file__, tmp_path / "a")
    assert parallel.gather([first, second]) == [str(tmp_path / "b"), str(tmp_path / "a")]


def test_a_task_knows_its_name_and_its_index(run):
    first, second = run.submit(runner_tasks.doubled, 1), run.submit(runner_tasks.doubled, 1, name="member 3")
    assert (first.name, second.name, second.index - first.index) == ("doubled", "member 3", 1)


def test_large_results_are_complete_and_writable(run):
    votes = np.random.default_rng(0).random((3, 100_000, 2))
    result = run.submit(runner_tasks.give_back, {"votes": votes, "order": np.asfortranarray(votes)}).result()
    np.testing.assert_array_equal(result["votes"], votes)
    np.testing.assert_array_equal(result["order"], votes)
    result["votes"] += 1.0


def test_keyword_arguments_reach_the_function(run):
    assert run.submit(sorted, [1, 3, 2], reverse=True, name="sorting").result() == [3, 2, 1]


@pytest.mark.parametrize(
    "estimator",
    [
        RandomForestClassifier(n_estimators=5, random_state=3),
        GradientBoostingClassifier(n_estimators=5, random_state=3),
        LogisticRegression(),
        DecisionTreeClassifier(random_state=3),
    ],
    ids=lambda estimator: type(estimator).__name__,
)
def test_fits_give_the_same_bits_on_every_runner(open_runners, estimator):
    rng = np.random.default_rng(5)
    X, y = rng.normal(size=(120, 4)), np.arange(120) % 3
    folds = [np.flatnonzero(np.arange(120) % 4 != fold) for fold in range(4)]
    here = [runner_tasks.fold_votes(estimator, (X, y), rows) for rows in folds]
    for each in open_runners.values():
        shared = each.put((X, y))
        tasks = [each.submit(runner_tasks.fold_votes, estimator, shared, rows) for rows in folds]
        for votes, expected in zip(each.gather(tasks), here, strict=True):
            np.testing.assert_array_equal(votes, expected)


def test_a_lent_runner_is_left_open(run):
    with runner(run) as lent:
        assert (lent.n_workers, lent.threads_per_worker) == (run.n_workers, run.threads_per_worker)
        shared = lent.put([1])
        assert lent.gather([lent.submit(runner_tasks.give_back, shared)]) == [[1]]
    assert run.submit(runner_tasks.doubled, 1).result() == 2


def test_a_copy_is_the_same_runner_and_a_pickle_is_another_one(run):
    assert copy.deepcopy(run) is run
    with pickle.loads(pickle.dumps(run)) as other:
        assert type(other) is type(run)
        assert other.submit(runner_tasks.doubled, 1).result() == 2


def test_a_deleted_runner_leaves_no_threads_or_processes(monkeypatch):
    for make in RUNNERS.values():
        run = make()
        process, _ = run.submit(runner_tasks.place).result()
        before = threading.active_count()
        gone = weakref.ref(run)
        del run
        gc.collect()
        assert gone() is None
        assert threading.active_count() <= before
        if process != os.getpid():
            with pytest.raises(ProcessLookupError):
                os.kill(process, 0)


@pytest.mark.parametrize(
    ("kind", "n_workers", "message"),
    [
        ("dask", None, 'runner must be "serial", "threads", "processes" or a Runner. Got \'dask\'.'),
        (None, None, 'runner must be "serial", "threads", "processes" or a Runner. Got None.'),
        ("serial", 2, "n_workers must be 1 or None for the serial runner. Got 2."),
        ("serial", True, "n_workers must be 1 or None for the serial runner. Got True."),
        ("processes", True, "n_workers must be an integer other than 0, or None. Got True."),
        ("threads", 0, "n_workers must be an integer other than 0, or None. Got 0."),
        ("threads", 1.5, "n_workers must be an integer other than 0, or None. Got 1.5."),
    ],
)
def test_bad_parameters_of_a_runner_are_refused_in_one_line(kind, n_workers, message):
    with pytest.raises(ValueError) as caught:
        runner(kind, n_workers=n_workers)
    assert str(caught.value) == message


def test_a_runner_has_its_own_number_of_workers(run):
    assert isinstance(run, Runner)
    with pytest.raises(ValueError, match="made by its name"):
        runner(run, n_workers=2)
