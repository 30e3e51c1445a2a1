"""What a task sees of its caller: threads, settings, warnings, and who hears of its progress."""

import pytest
import runner_tasks
import sklearn

from committee.running import n_threads, receiving, resources, runner
from committee.running.progress import within


def test_workers_times_threads_are_no_more_than_the_cores(open_runners):
    for name, each in open_runners.items():
        assert (each.n_workers, each.threads_per_worker) == ((1, 4) if name == "serial" else (2, 2))


@pytest.mark.parametrize("n_workers", [None, -1, 1, 2, 3, 64])
def test_more_workers_than_cores_are_not_made(monkeypatch, n_workers):
    monkeypatch.setattr(resources, "usable_cores", lambda: 4)
    for kind in ("threads", "processes"):
        with runner(kind, n_workers=n_workers) as run:
            assert run.n_workers * run.threads_per_worker <= 4


def test_whatever_takes_threads_in_a_task_takes_its_share(parallel):
    asked, of_libraries, of_joblib, most_of_joblib = parallel.submit(runner_tasks.told_threads).result()
    assert asked == {None: 2, -1: 2, 1: 1, 64: 2}
    assert max(of_libraries, of_joblib, most_of_joblib) <= 2


def test_the_caller_gets_its_threads_back(monkeypatch):
    monkeypatch.setattr(resources, "usable_cores", lambda: 2)
    before = runner_tasks.told_threads()
    with runner("threads", n_workers=2) as run:
        for _ in range(3):
            assert run.submit(runner_tasks.told_threads).result()[1:] == (1, 1, 1)
    assert runner_tasks.told_threads() == before
    assert n_threads(64) == 64


@pytest.mark.parametrize("kind", ["serial", "threads", "processes"])
def test_a_runner_in_a_task_has_the_cores_of_the_task(parallel, kind):
    n_workers, threads_per_worker, inside = parallel.submit(runner_tasks.workers_inside, kind).result()
    assert n_workers * threads_per_worker <= 2
    assert inside <= threads_per_worker


def test_context_variables_of_the_caller_are_seen_in_its_process(open_runners):
    token = runner_tasks.told.set("something")
    tasks = [open_runners[name].submit(runner_tasks.context) for name in ("serial", "threads")]
    runner_tasks.told.reset(token)
    assert [task.result() for task in tasks] == ["something", "something"]


def test_the_configuration_of_scikit_learn_is_seen(run):
    with sklearn.config_context(assume_finite=True, enable_metadata_routing=True):
        config = run.submit(sklearn.get_config).result()
    assert (config["assume_finite"], config["enable_metadata_routing"]) == (True, True)
    assert run.submit(sklearn.get_config).result() == sklearn.get_config()


def test_warnings_are_errors_where_the_caller_says_so(run):
    with pytest.raises(UserWarning, match="It is late"):
        run.submit(runner_tasks.warn).result()


def test_warnings_are_ignored_where_the_caller_says_so(run):
    import warnings

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        assert run.submit(runner_tasks.warn).result() == "no error"


def test_what_a_task_tells_of_its_progress_reaches_the_caller(run):
    events = []
    with receiving(events.append), within("the committee"):
        tasks = [run.submit(runner_tasks.work, name=f"member {i}") for i in range(2)]
    run.gather(tasks)
    for i in range(2):
        told = [event for event in events if event.within == ("the committee", f"member {i}")]
        assert [event.n_done for event in told] == [0, 1, 2, 2]
        assert (told[-1].what, told[-1].name, told[-1].is_over) == ("rounds", "Work", True)


def test_a_receiver_may_end_a_task(run):
    def refuse(event):
        raise ValueError("Enough.")

    with receiving(refuse):
        task = run.submit(runner_tasks.work, name="member 3")
    with pytest.raises(ValueError, match=r"'member 3', failed. ValueError: Enough"):
        task.result()
    assert run.submit(runner_tasks.doubled, 1).result() == 2
