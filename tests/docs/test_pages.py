"""Pages that programs write are up to date; method pages cite papers."""

import importlib.util
import re
import sys
from pathlib import Path

import pytest

import askless
from askless.solve import METHODS

ROOT = Path(__file__).parents[2]
DOCS = ROOT / "docs"
METHOD_PAGES = sorted(
    path for path in (DOCS / "methods").glob("*.md") if path.stem != "index"
)


def load(path):
    spec = importlib.util.spec_from_file_location(path.stem, path)
    module = importlib.util.module_from_spec(spec)
    # Dataclasses look their module up.
    sys.modules[path.stem] = module
    spec.loader.exec_module(module)
    return module


def test_headlines_are_read_from_the_page_of_all_benchmarks(tmp_path):
    headlines = load(ROOT / "benchmarks" / "headlines.py")
    written = headlines.write_headlines(tmp_path / "headlines.md")
    assert written.read_text("utf-8") == (DOCS / "headlines.md").read_text("utf-8")
    page = (DOCS / "benchmarks.md").read_text("utf-8")
    assert all(headlines.read_figure(page, h) for h in headlines.HEADLINES)


def test_a_headline_follows_the_page(tmp_path):
    headlines = load(ROOT / "benchmarks" / "headlines.py")
    page = tmp_path / "benchmarks.md"
    page.write_text(
        "# All\n\n## Growing\n\n`python benchmarks/run.py grow`\n\n"
        "| what | askless | other | ratio |\n| --- | --- | --- | --- |\n"
        "| fit, seconds | 2 | 1,024 | 512 |\n"
    )
    written = headlines.write_headlines(tmp_path / "h.md", page).read_text("utf-8")
    assert re.findall(r"\*\*(.*?)\*\*", written) == ["512.00 x"]


@pytest.mark.parametrize("path", METHOD_PAGES, ids=lambda path: path.stem)
def test_every_method_page_ends_with_its_references(path):
    _, found, references = path.read_text("utf-8").partition("\n## References\n")
    assert found
    lines = references.strip().splitlines()
    assert all(line.startswith("* ") for line in lines)
    # A paper with its year, or the word that it is ours.
    assert all(re.search(r"\(\d{4}\)|[Oo]ur own|not a method", line) for line in lines)


def test_every_method_and_learner_has_a_page():
    pages = {path.stem for path in METHOD_PAGES}
    assert set(METHODS) <= pages


def test_the_picture_of_methods_names_methods_that_exist():
    drawn = load(DOCS / "draw_methods.py")
    methods = set(METHODS)
    for *_, name in drawn.SITUATIONS:
        assert name in methods or hasattr(askless, name) or name == 'objective="total"'
    policy = drawn.make_policy()
    picture = askless.show(policy, "svg", title="Which method?")
    assert picture == (DOCS / "images" / "methods.svg").read_text("utf-8")


@pytest.mark.parametrize("path", [ROOT / "README.md", *DOCS.glob("*.md")], ids=str)
def test_no_page_promises_more_than_holds(path):
    # A budget of a learner is a mean, and what is sure is sure for the known cases.
    text = " ".join(path.read_text("utf-8").split()).lower()
    assert "never wrong" not in text
    assert "hard budget for each" not in text
    assert "(certain)" not in text
