"""Test that commands read tables and models from URLs, and write to object stores."""

import pytest
from file_server import serving


@pytest.fixture
def host(folder, model):
    files = {f"/bucket/{name}": (folder / name).read_bytes() for name in ("flowers.csv", "flowers.committee")}
    with serving(files) as host:
        yield host


def s3(host, name):
    return f"s3://key:secret@bucket/{name}?scheme=http&endpoint_override={host}&region=eu-west-1"


def test_a_model_and_a_table_come_from_the_web(committee, model, host):
    expected = committee("predict", model, "flowers.csv", "--keep", "row").out
    table = f"http://{host}/bucket/flowers.csv"
    assert committee("predict", f"http://{host}/bucket/{model}", table, "--keep", "row").out == expected
    assert committee("verify", f"http://{host}/bucket/{model}").code == 0


def test_predictions_are_written_to_an_object_store(committee, model, host):
    predict = ("predict", s3(host, model), s3(host, "flowers.csv"), "--out", s3(host, "p.csv"))
    assert committee(*predict).code == 0
    committee(*predict).complains(5, "s3://bucket/p.csv exists", "--force")
    assert committee(*predict, "--force").code == 0
    inputs = ("predict", s3(host, model), s3(host, "p.csv"), "--force", "--out")
    committee(*inputs, s3(host, "p.csv")).complains(3, "s3://bucket/p.csv is an input itself")


def test_a_model_is_written_to_an_object_store(committee, host):
    fit = (
        "fit",
        s3(host, "flowers.csv"),
        "--target",
        "kind",
        "--estimators",
        "c45",
        "--folds",
        "2",
        "--quiet",
    )
    assert committee(*fit, "--out", s3(host, "m.committee")).code == 0
    assert committee("inspect", s3(host, "m.committee"), "--json").json["target"] == "kind"


def test_wrong_urls_are_reported_in_one_line(committee, model, host):
    committee("predict", model, f"http://{host}/no.csv").complains(
        5, f"There is no file http://{host}/no.csv."
    )
    out = f"http://{host}/p.csv"
    committee("predict", model, "flowers.csv", "--out", out).complains(3, "http and https are only read")
