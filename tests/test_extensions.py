"""Methods that a lower layer declares and a higher layer implements."""

import inspect
import pydoc
import subprocess
import sys

import pytest
from study_cases import small_learners, small_tables

from committee import Study
from committee.evaluating.comparison import Comparison
from committee.extensions import extension
from committee.reporting import critical_difference_diagram


def test_a_method_of_a_higher_layer_has_its_signature_and_its_docstring():
    assert list(inspect.signature(Study.report).parameters)[:3] == ["study", "folder", "scoring"]
    study = Study(small_learners(), small_tables(), resamples=1, cv=None)
    assert list(inspect.signature(study.report).parameters)[:2] == ["folder", "scoring"]
    documentation = pydoc.render_doc(Study.report, renderer=pydoc.plaintext)
    assert "tables and a page" in documentation
    assert "report(study" in pydoc.render_doc(Study, renderer=pydoc.plaintext)


def test_a_study_writes_its_own_report(tmp_path):
    study = Study(small_learners(), small_tables(), resamples=1, cv=None)
    with pytest.raises(ValueError, match="no cell has finished"):
        study.report(tmp_path)
    report = study.run().report(tmp_path, scoring=["accuracy"], formats=["svg"], title="Small")
    assert report.page.read_text().startswith("# Small\n")
    assert tmp_path / "accuracy_matrix.svg" in report.files


def test_a_comparison_draws_its_critical_difference_diagram():
    compared = Comparison.of([[0.1, 0.2, 0.4], [0.3, 0.4, 0.5]], ["rf", "tree", "stump"])
    expected = critical_difference_diagram(compared, test="wilcoxon_holm").to_dict()
    assert compared.plot(test="wilcoxon_holm").to_dict() == expected


def test_the_higher_layer_is_imported_on_first_use():
    code = (
        "import sys; from committee import Study; assert 'committee.reporting' not in sys.modules; "
        "Study.report; assert 'committee.reporting' in sys.modules"
    )
    subprocess.run([sys.executable, "-c", code], check=True)


def import_missing():
    raise ModuleNotFoundError("No module named 'altair'", name="altair")


def test_a_missing_extra_is_named():
    class Result:
        plot = extension(import_missing, extra="plot")

    with pytest.raises(ImportError, match=r"^Result\.plot needs altair\. Install committee\[plot\]\.$"):
        Result().plot()


def test_without_an_extra_the_import_error_is_passed_on():
    class Result:
        plot = extension(import_missing)

    with pytest.raises(ModuleNotFoundError, match="No module named 'altair'"):
        Result().plot()
