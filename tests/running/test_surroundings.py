"""The surroundings of a task: threads, settings, warnings, and the receiver of its progress."""

import pytest
import runner_tasks
import sklearn

from committee.running import n_threads, receiving, resources, runner
from committee.running.progress import within


def test_workers_times_threads_are_at_most_the_cores(open_runners):
    for name, each in open_runners.items():
        assert (each.n_workers, each.threads_per_worker) == ((1, 4) if name == "serial" else (2, 2))


@pytest.mark.parametrize("n_workers", [None, -1, 1, 2, 3, 64])
def test_there_are_at_most_as_many_workers_as_cores(monkeypatch, n_workers):
    monkeypatch.setattr(resources, "usable_cores", lambda: 4)
    for kind in ("threads", "processes"):
        with runner(kind, n_workers=n_workers) as run:
            assert run.n_workers * run.threads_per_worker <= 4


def test_all_libraries_in_a_task_use_at_most_its_threads(parallel):
    counts, of_libraries, of_joblib, most_of_joblib = parallel.submit(runner_tasks.thread_counts).result()
    assert counts == {None: 2, -1: 2, 1: 1, 64: 2}
    assert max(of_libraries, of_joblib, most_of_joblib) <= 2


def test_the_threads_of_the_caller_are_restored(monkeypatch):
    monkeypatch.setattr(resources, "usable_cores", lambda: 2)
    before = runner_tasks.thread_counts()
    with runner("threads", n_workers=2) as run:
        for _ in range(3):
            assert run.submit(runner_tasks.thread_counts).result()[1:] == (1, 1, 1)
    assert runner_tasks.thread_counts() == before
    assert n_threads(64) == 64


@pytest.mark.parametrize("kind", ["serial", "threads", "processes"])
def test_a_runner_in_a_task_has_the_cores_of_the_task(parallel, kind):
    n_workers, threads_per_worker, inside = parallel.submit(runner_tasks.workers_inside, kind).result()
    assert n_workers * threads_per_worker <= 2
    assert inside <= threads_per_worker


def test_tasks_in_the_same_process_get_the_context_variables(open_runners):
    token = runner_tasks.setting.set("something")
    tasks = [open_runners[name].submit(runner_tasks.context) for name in ("serial", "threads")]
    runner_tasks.setting.reset(token)
    assert [task.result() for task in tasks] == ["something", "something"]


def test_tasks_get_the_configuration_of_scikit_learn(run):
    with sklearn.config_context(assume_finite=True, enable_metadata_routing=True):
        config = run.submit(sklearn.get_config).result()
    assert (config["assume_finite"], config["enable_metadata_routing"]) == (True, True)
    assert run.submit(sklearn.get_config).result() == sklearn.get_config()


def test_warnings_are_errors_in_tasks_if_they_are_in_the_caller(run):
    with pytest.raises(UserWarning, match="It is late"):
        run.submit(runner_tasks.warn).result()


def test_warnings_are_ignored_in_tasks_if_they_are_in_the_caller(run):
    import warnings

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        assert run.submit(runner_tasks.warn).result() == "no error"


def test_the_progress_of_a_task_reaches_the_caller(run):
    events = []
    with receiving(events.append), within("the committee"):
        tasks = [run.submit(runner_tasks.work, name=f"member {i}") for i in range(2)]
    run.gather(tasks)
    for i in range(2):
        received = [event for event in events if event.within == ("the committee", f"member {i}")]
        assert [event.n_done for event in received] == [0, 1, 2, 2]
        assert (received[-1].what, received[-1].name, received[-1].is_over) == ("rounds", "Work", True)


def test_a_receiver_may_end_a_task(run):
    def refuse(event):
        raise ValueError("Enough.")

    with receiving(refuse):
        task = run.submit(runner_tasks.work, name="member 3")
    with pytest.raises(ValueError, match=r"'member 3', failed. ValueError: Enough"):
        task.result()
    assert run.submit(runner_tasks.doubled, 1).result() == 2
