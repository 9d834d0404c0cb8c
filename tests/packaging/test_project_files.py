"""The files around the package agree with it, and with each other."""

import re
import tomllib

import pytest
import yaml

from askless.policy._file import MAX_BYTES
from askless.problem._tests import MAX_LEVELS
from askless.run import _journal
from tests.packaging.scripts import ROOT, load_script

fragments = load_script("fragments")
requires = load_script("requires")

PYPROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
PROJECT = PYPROJECT["project"]


def read(name):
    return (ROOT / name).read_text(encoding="utf-8")


def version():
    return re.search(r"version: '([\d.]+)'", read("meson.build"))[1]


def make_targets():
    return set(re.findall(r"^([a-z][a-z-]*):", read("Makefile"), re.MULTILINE))


def pythons():
    found = [c.rpartition(" ")[2] for c in PROJECT["classifiers"]]
    return sorted(c for c in found if re.fullmatch(r"3\.\d+", c))


# The workflows.

WORKFLOWS = sorted(ROOT.glob(".github/workflows/*.yml"))


@pytest.mark.parametrize("path", WORKFLOWS, ids=lambda path: path.name)
def test_a_workflow_can_be_read_and_its_jobs_have_steps(path):
    workflow = yaml.safe_load(path.read_text(encoding="utf-8"))
    # YAML takes the word `on` for true.
    assert workflow[True]
    assert workflow["permissions"] == {"contents": "read"}
    for name, job in workflow["jobs"].items():
        assert job["steps"], f"{name} does nothing"
        for step in job["steps"]:
            assert ("run" in step) != ("uses" in step), f"{name}: {step}"


def commands_of_workflows():
    for path in WORKFLOWS:
        workflow = yaml.safe_load(path.read_text(encoding="utf-8"))
        for job in workflow["jobs"].values():
            for step in job["steps"]:
                yield from step.get("run", "").splitlines()


def test_workflows_call_targets_that_exist():
    called = {
        word
        for command in commands_of_workflows()
        if command.startswith("make ")
        for word in command.split()[1:]
        if "=" not in word
    }
    assert called <= make_targets()
    # What a change must pass, and what is too long for every change.
    wanted = {"check", "test", "debug-test", "minimal-test", "docs", "dist-test"}
    assert wanted <= called


def test_a_missing_target_would_be_found():
    assert "nowhere" not in make_targets()
    assert {"test", "demo", "bench-quick"} <= make_targets()


def test_every_version_of_python_is_tested_and_built():
    checks = yaml.safe_load(read(".github/workflows/checks.yml"))
    matrix = checks["jobs"]["test"]["strategy"]["matrix"]
    assert matrix["python"] == pythons()
    built = PYPROJECT["tool"]["cibuildwheel"]["build"]
    assert built == [f"cp{python.replace('.', '')}-*" for python in pythons()]
    assert PROJECT["requires-python"] == f">={pythons()[0]}"


def test_wheels_are_built_on_every_system():
    wheels = yaml.safe_load(read(".github/workflows/wheels.yml"))
    systems = wheels["jobs"]["wheels"]["strategy"]["matrix"]["system"]
    for name in ("ubuntu", "arm", "macos", "windows"):
        assert any(name in system for system in systems)
    test = PYPROJECT["tool"]["cibuildwheel"]["test-command"]
    assert (ROOT / test.removeprefix("python {project}/")).exists()


@pytest.mark.parametrize(
    "path", sorted(ROOT.glob(".github/ISSUE_TEMPLATE/*.yml")), ids=lambda p: p.name
)
def test_a_template_of_issues_can_be_read(path):
    form = yaml.safe_load(path.read_text(encoding="utf-8"))
    if path.name == "config.yml":
        assert form["contact_links"]
    else:
        assert form["name"]
        assert form["description"]
        assert [field["attributes"]["label"] for field in form["body"]]


# Names, numbers and kinds that stand in two places.


def test_kinds_of_notes_are_those_of_the_change_log():
    kinds = [kind["directory"] for kind in PYPROJECT["tool"]["towncrier"]["type"]]
    told = re.findall(r"^\| `(\w+)` \|", read("changes/README.md"), re.MULTILINE)
    assert sorted(kinds) == sorted(fragments.KINDS) == sorted(told)


def test_the_change_log_has_the_line_that_releases_go_below():
    line = PYPROJECT["tool"]["towncrier"]["start_string"]
    assert read("CHANGELOG.md").count(line) == 1


def test_the_citation_is_of_this_version_and_names_the_five_papers():
    citation = yaml.safe_load(read("CITATION.cff"))
    assert citation["version"] == version()
    assert citation["license"] == PROJECT["license"]
    assert citation["repository-code"] == PROJECT["urls"]["Repository"]
    assert len(citation["references"]) == 5
    for paper in citation["references"]:
        assert 2000 < paper["year"] < 2030
        assert all(author["family-names"] for author in paper["authors"])


def test_the_limits_that_are_promised_are_those_of_the_code():
    security = read("SECURITY.md")
    assert f"{MAX_BYTES // 2**20} MiB ({MAX_BYTES:,} bytes)" in security
    assert f"| {_journal.MAX_BYTES // 2**20} MiB |" in security
    assert f"| outcomes of a test | {MAX_LEVELS:,} |" in security


@pytest.mark.parametrize("name", ["README.md", "CONTRIBUTING.md", "docs/benchmarks.md"])
def test_pages_name_targets_that_exist(name):
    named = re.findall(r"(?:`|^)make ((?:[a-z-]+ ?)+)", read(name), re.MULTILINE)
    words = {word for command in named for word in command.split()}
    assert words <= make_targets()


def test_no_page_passes_an_option_through_make():
    # `make bench --quick` is an option of make itself.
    for path in (*ROOT.glob("*.md"), *ROOT.glob("docs/**/*.md")):
        assert not re.search(r"make [a-z-]+ (-- )?--", path.read_text("utf-8")), path


# The requirements.


def test_the_oldest_version_of_a_requirement():
    assert requires.lowest("numpy>=1.26") == "numpy==1.26"
    assert requires.lowest("a-b>=2.1; sys_platform == 'linux'") == (
        "a-b==2.1; sys_platform == 'linux'"
    )


@pytest.mark.parametrize("text", ["numpy", "numpy<2", "numpy>=1,<2"])
def test_a_requirement_without_an_oldest_version_is_refused(text):
    with pytest.raises(SystemExit, match="must be a name and its oldest version"):
        requires.lowest(text)


def test_every_requirement_has_an_oldest_version():
    for part in ("package", *PROJECT["optional-dependencies"]):
        for requirement in requires.requirements(part):
            assert "==" in requires.lowest(requirement)
