"""``askless show``: text that is safe in pipes, and the bytes of the file."""

import json

import pytest
from sklearn.ensemble import RandomForestClassifier

import askless
from askless import load, show
from askless.export import FORMATS


def test_text_is_the_librarys(policy, run):
    assert run("show", policy).stdout == show(load(policy)) + "\n"
    assert run("show", policy, "--as", "text").stdout == show(load(policy)) + "\n"


def test_options_of_text_are_passed_on(policy, run):
    loaded = load(policy)
    assert run("show", policy, "--ascii").stdout == show(loaded, ascii=True) + "\n"
    shallow = run("show", policy, "--max-depth", "1").stdout
    assert shallow == show(loaded, max_depth=1) + "\n"
    stderr = run("show", policy, "--max-depth", "-1", code=1).stderr
    assert "max_depth must be >= 0" in stderr


def test_json_is_the_file(policy, run):
    result = run("show", policy, "--as", "json")
    assert result.stdout_bytes == policy.read_bytes()


@pytest.mark.parametrize("format", ["text", "json"])
def test_output_goes_to_a_file(policy, run, format):
    result = run("show", policy, "--as", format, "-o", "out.txt")
    assert result.stdout == "Wrote out.txt\n"
    written = (policy.parent / "out.txt").read_text("utf-8")
    assert written.rstrip("\n") == show(load(policy), format).rstrip("\n")
    assert written.endswith("\n")
    run("show", policy, "-o", "out.txt")


def test_the_policy_is_not_written_over(policy, run):
    before = policy.read_bytes()
    stderr = run("show", policy, "-o", policy, code=1).stderr
    assert "The output must be another file than the policy." in stderr
    assert policy.read_bytes() == before


def test_an_output_in_no_folder_is_refused(policy, run):
    stderr = run("show", policy, "-o", "no/where.txt", code=1).stderr
    assert "The folder of a file must be there and writable." in stderr


def test_an_edited_file_is_shown_when_asked(policy, run):
    policy.write_text(policy.read_text().replace('"fuse"', '"blown fuse"'))
    assert (
        "The digest of a policy file must match" in run("show", policy, code=1).stderr
    )
    assert "=> blown fuse" in run("show", policy, "--edited").stdout


def test_a_missing_file_ends_with_1(folder, run):
    stderr = run("show", "no.json", code=1).stderr
    assert "A policy file must be there and readable." in stderr


@pytest.mark.parametrize(
    ("option", "formats"),
    [
        (["--ascii"], "text"),
        (["--max-depth", "0"], "dot, mermaid, pdf, png, svg, text"),
        (["--dialect", "sqlite"], "sql"),
        (["--key", "id"], "sql"),
        (["--budget", "0"], "dot, html, mermaid, pdf, png, svg"),
    ],
)
def test_options_are_for_the_formats_that_take_them(policy, run, option, formats):
    stderr = run("show", policy, "--as", "json", *option, code=2).stderr
    assert f"{option[0]} is for --as {formats}." in " ".join(stderr.split())


def test_c_is_for_ensembles(policy, run):
    stderr = " ".join(run("show", policy, "--as", "c", code=1).stderr.split())
    assert "C must be made from an ensemble. Got a tree. Show it as python" in stderr


@pytest.mark.parametrize("format", ["c", "javascript", "onnx", "python", "sql"])
def test_an_ensemble_is_written_as_code(folder, run, format):
    X, y = [[0, 5], [1, 5], [2, 6], [3, 7]], ["a", "a", "b", "b"]
    forest = RandomForestClassifier(5, random_state=0).fit(X, y)
    ensemble = askless.AdaptiveEnsemble(forest, costs=[1, 2]).fit().policy_
    ensemble.save(folder / "ensemble.json")
    run("show", "ensemble.json", "--as", format, "-o", "out")
    shown = show(ensemble, format)
    content = shown if isinstance(shown, bytes) else f"{shown.rstrip()}\n".encode()
    assert (folder / "out").read_bytes() == content


@pytest.mark.parametrize("format", sorted(set(FORMATS) - {"c"}))
def test_every_format_of_a_tree_can_be_written(policy, run, format):
    run("show", policy, "--as", format, "-o", "out")
    shown = show(load(policy), format)
    content = shown if isinstance(shown, bytes) else f"{shown.rstrip()}\n".encode()
    written = (policy.parent / "out").read_bytes()
    assert written == content
    if format not in ("text", "json"):
        printed = run("show", policy, "--as", format).stdout_bytes
        assert printed.rstrip() == content.rstrip()


def test_options_of_pictures_and_code_are_passed_on(policy, run):
    loaded = load(policy)
    options = ["--title", "Lamp", "--budget", "3", "--max-depth", "1"]
    shown = run("show", policy, "--as", "svg", *options).stdout
    assert shown == show(loaded, "svg", title="Lamp", budget=3, max_depth=1)
    options = ["--dialect", "sqlite", "--table", "lamps", "--key", "a", "--key", "b"]
    shown = run("show", policy, "--as", "sql", *options).stdout
    wanted = show(loaded, "sql", dialect="sqlite", table="lamps", key=["a", "b"])
    assert shown == wanted


def test_an_unknown_format_ends_with_2(policy, run):
    assert "'txt' is not one of" in run("show", policy, "--as", "txt", code=2).stderr


def test_decisions_stand_out_on_a_terminal(policy, run):
    shown = run("show", policy, env={"FORCE_COLOR": "1", "TERM": "xterm"}).stdout
    assert "\x1b[1;32m=> fuse" in shown


def test_a_policy_with_a_cost_changed_by_hand_is_worked_out_again(policy, run, lamp):
    text = policy.read_text()
    changed = text.replace('"cost":5.0', '"cost":50.0')
    assert changed != text
    policy.write_text(changed)
    run("show", policy, code=1)
    assert "socket?  50" in run("show", policy, "--edited").stdout
    found = run("evaluate", policy, lamp / "lamp.csv", "--edited", "--json").stdout
    assert json.loads(found)["worst_cost"] == 51.0
    # It may take its own place, and is then a policy like any other.
    run("show", policy, "--edited", "--as", "json", "-o", policy)
    assert "socket?  50" in run("show", policy).stdout
    assert load(policy).worst_cost == 51.0
    run("show", policy, "--as", "json", "-o", policy, code=1)
