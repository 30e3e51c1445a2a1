"""A file is replaced atomically or stays unchanged."""

import errno
import os
import stat
import subprocess
import sys

import numpy as np
import pytest

import committee
from committee import DecisionTreeClassifier, RandomForestClassifier, VotingClassifier
from committee.saving.format import container
from committee.saving.format.file_replacement import replace_file


@pytest.fixture
def old(tmp_path):
    """Return the path of an existing file."""
    path = tmp_path / "model.committee"
    DecisionTreeClassifier(max_depth=3).save(path)
    return path


def assert_unchanged(path):
    assert committee.load(path).max_depth == 3
    assert list(path.parent.iterdir()) == [path]


def test_an_existing_file_is_replaced_and_keeps_its_permissions(old):
    old.chmod(0o640)
    DecisionTreeClassifier(max_depth=7).save(str(old))
    assert committee.load(str(old)).max_depth == 7
    assert stat.S_IMODE(old.stat().st_mode) == 0o640
    assert list(old.parent.iterdir()) == [old]


def test_a_new_file_has_the_usual_permissions(tmp_path):
    (tmp_path / "usual").touch()
    DecisionTreeClassifier().save(tmp_path / "model")
    assert (tmp_path / "model").stat().st_mode == (tmp_path / "usual").stat().st_mode


def test_the_file_is_a_safetensors_file(old):
    from safetensors import safe_open

    with safe_open(old, framework="np") as file:
        assert file.metadata()["format"] == "committee"


def test_the_same_model_gives_the_same_file_and_safetensors_reads_it(tmp_path):
    from safetensors.numpy import load_file

    X, y = np.arange(60.0).reshape(20, 3) % 7, np.arange(20) % 3
    for name in "ab":
        VotingClassifier(
            [("tree", DecisionTreeClassifier()), ("forest", RandomForestClassifier(5))]
        ).set_params(random_state=0).fit(X, y).save(tmp_path / name)
    assert (tmp_path / "a").read_bytes() == (tmp_path / "b").read_bytes()
    arrays = {
        "odd": np.array([True]),
        "wide": np.arange(6.0).reshape(2, 3),
        "none": np.zeros((0, 2), np.int16),
    }
    container.write_container(tmp_path / "c", {}, arrays)
    for name, array in load_file(tmp_path / "c").items():
        np.testing.assert_array_equal(array, arrays[name], strict=True)


def test_a_full_disk_leaves_the_old_file(old, monkeypatch):
    def write(path, metadata, arrays):
        path.write_bytes(b"half of it")
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr(container, "write_safetensors", write)
    message = r"^Cannot save to .*model.committee: No space left on device\. What was there .* unchanged\.$"
    with pytest.raises(OSError, match=message):
        DecisionTreeClassifier().save(old)
    assert_unchanged(old)


def test_a_limit_on_the_size_of_files_leaves_the_old_file(old):
    """The operating system limits the files of a process to 16 KB."""
    program = (
        "import resource, signal, sys, numpy as np\n"
        "from committee import RandomForestClassifier\n"
        "rng = np.random.default_rng(0)\n"
        "forest = RandomForestClassifier(20).fit(rng.normal(size=(500, 3)), rng.integers(0, 2, 500))\n"
        "signal.signal(signal.SIGXFSZ, signal.SIG_IGN)\n"
        f"resource.setrlimit(resource.RLIMIT_FSIZE, ({2**14}, {2**14}))\n"
        "try:\n"
        "    forest.save(sys.argv[1])\n"
        "except OSError as error:\n"
        "    print(error)\n"
    )
    finished = subprocess.run(
        [sys.executable, "-c", program, str(old)], capture_output=True, text=True, check=True
    )
    assert finished.stdout.startswith("Cannot save to ")
    assert "too large" in finished.stdout.lower()
    assert_unchanged(old)


@pytest.mark.parametrize("step", ["fsync", "replace"])
def test_a_failure_of_the_last_steps_leaves_the_old_file(old, step, monkeypatch):
    def fail(*arguments):
        raise OSError(errno.EIO, os.strerror(errno.EIO))

    monkeypatch.setattr(os, step, fail)
    with pytest.raises(OSError, match="Input/output error"):
        DecisionTreeClassifier().save(old)
    monkeypatch.undo()
    assert_unchanged(old)


def test_an_interruption_leaves_the_old_file(old, monkeypatch):
    def write(path, metadata, arrays):
        path.write_bytes(b"half of it")
        raise KeyboardInterrupt

    monkeypatch.setattr(container, "write_safetensors", write)
    with pytest.raises(KeyboardInterrupt):
        RandomForestClassifier().save(old)
    monkeypatch.undo()
    assert_unchanged(old)


@pytest.mark.skipif(os.geteuid() == 0, reason="root can write to every folder")
def test_a_read_only_folder_is_named(old):
    old.parent.chmod(0o555)
    try:
        with pytest.raises(PermissionError, match=r"^Cannot save in .*: Permission denied\.$"):
            DecisionTreeClassifier().save(old)
    finally:
        old.parent.chmod(0o755)
    assert_unchanged(old)


def test_a_temporary_file_that_cannot_be_made_raises(old, monkeypatch):
    def refuse(*arguments, **named):
        raise PermissionError(errno.EACCES, os.strerror(errno.EACCES))

    monkeypatch.setattr("tempfile.mkstemp", refuse)
    with pytest.raises(PermissionError, match=r"^Cannot save in .*: Permission denied\.$"):
        DecisionTreeClassifier().save(old)
    assert_unchanged(old)


def test_a_path_that_is_a_folder_raises(tmp_path):
    with pytest.raises(IsADirectoryError, match=r"is a folder\. Give the file a name in it\.$"):
        DecisionTreeClassifier().save(tmp_path)
    for read in (committee.load, committee.verify, committee.predictor):
        with pytest.raises(IsADirectoryError, match=r"is a folder\. Name the file in it\.$"):
            read(tmp_path)


def test_a_folder_that_does_not_exist_raises(tmp_path):
    with pytest.raises(FileNotFoundError, match=r"^There is no folder .*nowhere to save in\. .*first\.$"):
        DecisionTreeClassifier().save(tmp_path / "nowhere" / "model")
    with pytest.raises(FileNotFoundError, match=r"^There is no file .*model\.$"):
        committee.load(tmp_path / "model")


def test_a_reader_sees_the_old_file_or_the_new_one(tmp_path):
    path = tmp_path / "note"
    path.write_text("old")
    seen = []

    def write(temporary):
        temporary.write_text("new")
        seen.append(path.read_text())

    replace_file(path, write)
    assert (seen, path.read_text()) == (["old"], "new")


def test_a_symbolic_link_remains_and_its_file_is_replaced(old, tmp_path):
    link = tmp_path / "latest"
    link.symlink_to(old)
    DecisionTreeClassifier(max_depth=7).save(link)
    assert link.is_symlink()
    assert committee.load(old).max_depth == committee.load(link).max_depth == 7


def test_a_pipe_is_neither_replaced_nor_waited_for(tmp_path):
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    with pytest.raises(OSError, match=r"is not a file but a device or the like"):
        DecisionTreeClassifier().save(pipe)
    with pytest.raises(OSError, match=r"pipe is not a regular file\.$"):
        committee.load(pipe)
    assert stat.S_ISFIFO(pipe.stat().st_mode)
