"""Pictures say what the policy says, are well formed, and let nothing touch."""

import re
import shutil
import subprocess
import xml.etree.ElementTree as ElementTree
from itertools import pairwise
from xml.sax.saxutils import unescape

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import askless
from askless.exceptions import InvalidOptionError
from askless.export import FORMATS, show
from askless.export._colours import BASE
from askless.export._layout import shorten, text_width, tidy
from askless.policy import Forest, Sequence
from tests.strategies import solved, tables, tables_with_policies

SVG = "{http://www.w3.org/2000/svg}"
DRAWN = ["svg", "dot", "mermaid"]


@pytest.fixture(scope="module")
def car():
    return askless.solve(askless.datasets.load_car()).policy


def svg_boxes(text):
    """Return (left, top, right, bottom, lines of text) of each box of an SVG."""
    root = ElementTree.fromstring(text)
    boxes = []
    for group in root.findall(f"{SVG}g"):
        frame = group.find(f"{SVG}rect[@class]")
        if frame is None or "box" not in frame.attrib["class"]:
            continue
        x, y, width, height = (
            float(frame.attrib[name]) for name in ("x", "y", "width", "height")
        )
        lines = [t.text or "" for t in group.findall(f"{SVG}text")]
        boxes.append((x, y, x + width, y + height, lines))
    return boxes


@settings(max_examples=60)
@given(drawn=tables_with_policies(kinds=("solved", "random")))
def test_an_svg_has_a_box_for_each_node(drawn):
    _, tree = drawn
    boxes = svg_boxes(show(tree, "svg"))
    assert len(boxes) == tree.n_nodes
    for node, (*_, lines) in enumerate(boxes):
        text = " ".join(lines)
        assert f"spent {tree.spent[node]:.6g} ·" in text
    for i, a in enumerate(boxes):
        for b in boxes[i + 1 :]:
            assert a[2] <= b[0] or b[2] <= a[0] or a[3] <= b[1] or b[3] <= a[1]


@settings(max_examples=60)
@given(table=tables(), format=st.sampled_from(DRAWN), depth=st.integers(0, 3))
def test_depth_cuts_every_picture_alike(table, format, depth):
    tree = solved(table)
    shown = show(tree, format, max_depth=depth)
    n_boxes = int((tree.node_depth <= depth).sum())
    if format == "svg":
        assert len(svg_boxes(shown)) == n_boxes
    elif format == "dot":
        assert len(re.findall(r"^  \d+ \[", shown, re.MULTILINE)) == n_boxes
    else:
        assert len(re.findall(r"^  n\d+[\[(]", shown, re.MULTILINE)) == n_boxes


def test_the_margin_has_the_figures(car):
    text = show(car, "svg", title="The car", budget=20)
    words = [e.text for e in ElementTree.fromstring(text).iter(f"{SVG}text")]
    assert "The car" in words
    for name, value in [
        ("expected cost", f"{car.expected_cost:.4g}"),
        ("at worst", f"{car.worst_cost:g}"),
        ("every test", f"{car.prices.cost_of_all():g}"),
    ]:
        assert words[words.index(name) + 1] == value
    over = 100 * car.node_weight[(car.test < 0) & (car.spent > 20)].sum()
    over /= car.node_weight[car.test < 0].sum()
    assert words[words.index("budget") + 1] == f"20, {over:.3g} % over"
    enough = car.worst_cost
    assert f"{enough:g}, kept" in show(car, "svg", budget=enough)
    marked = re.findall(r'class="over"[^>]*>spent ([\d.]+)', text)
    assert len(marked) == int((car.spent > 20).sum())
    assert all(float(spent) > 20 for spent in marked)


def test_a_picture_has_no_reference_outside(car):
    text = show(car, "svg").replace("http://www.w3.org/2000/svg", "")
    assert not re.search(r"https?:|href|url\(|<script|<image", text)


@settings(max_examples=200)
@given(
    parents=st.lists(st.integers(0, 30), max_size=60),
    heights=st.lists(st.floats(1, 50), min_size=61, max_size=61),
)
def test_tidy_boxes_never_touch(parents, heights):
    # Any choice of parents along the way down gives a preorder.
    parent, path = [-1], [0]
    for choice in parents:
        del path[choice % len(path) + 1 :]
        parent.append(path[-1])
        path.append(len(parent) - 1)
    heights = heights[: len(parent)]
    at, whole = tidy(parent, heights, 3)
    depth = [0] * len(parent)
    for node in range(1, len(parent)):
        depth[node] = depth[parent[node]] + 1
    assert min(y - h / 2 for y, h in zip(at, heights, strict=True)) >= -1e-6
    assert max(y + h / 2 for y, h in zip(at, heights, strict=True)) <= whole + 1e-6
    for column in set(depth):
        nodes = [n for n in range(len(parent)) if depth[n] == column]
        for a, b in pairwise(nodes):
            assert at[b] - heights[b] / 2 - (at[a] + heights[a] / 2) >= 3 - 1e-6
    for node in set(parent) - {-1}:
        children = [n for n in range(len(parent)) if parent[n] == node]
        assert at[node] == pytest.approx((at[children[0]] + at[children[-1]]) / 2)


@given(text=st.text(max_size=30), width=st.floats(5, 200))
def test_shortened_text_fits(text, width):
    kept = shorten(text, 10, width)
    if kept == text:
        assert text_width(text, 10) <= max(width, text_width("…", 10))
    else:
        assert text_width(text, 10) > width
        assert text_width(kept, 10) <= max(width, text_width("…", 10))
        assert kept.endswith("…")
        assert text.startswith(kept[:-1])


def luminance(colour):
    parts = [int(colour[i : i + 2], 16) / 255 for i in (1, 3, 5)]
    r, g, b = (p / 12.92 if p <= 0.04 else ((p + 0.055) / 1.055) ** 2.4 for p in parts)
    return 0.2126 * r + 0.7152 * g + 0.0722 * b


def contrast(a, b):
    low, high = sorted([luminance(a), luminance(b)])
    return (high + 0.05) / (low + 0.05)


@pytest.mark.parametrize("theme", ["LIGHT", "DARK"])
def test_text_stands_out_on_every_ground(theme):
    from askless.export import _svg
    from askless.export._colours import SHADES, blend

    colours = getattr(_svg, theme)
    grounds = [colours["ground"], colours["box"]]
    grounds += [blend(shade, colours["ground"], 0.16) for shade in SHADES]
    for ground in grounds:
        for ink in ("ink", "soft", "over"):
            assert contrast(colours[ink], ground) >= 4.5, (ink, ground)


def test_first_colours_differ_for_every_kind_of_sight():
    # How red, green and blue look without one kind of cone (Machado and others).
    sights = [
        np.eye(3),
        np.array(
            [[0.152, 1.053, -0.205], [0.115, 0.786, 0.099], [-0.004, -0.048, 1.052]]
        ),
        np.array(
            [[0.367, 0.861, -0.228], [0.280, 0.673, 0.047], [-0.012, 0.043, 0.969]]
        ),
        np.array(
            [[1.256, -0.077, -0.179], [-0.078, 0.931, 0.148], [0.005, 0.691, 0.304]]
        ),
    ]
    rgb = np.array([[int(c[i : i + 2], 16) for i in (1, 3, 5)] for c in BASE])
    for sight in sights:
        seen = rgb @ sight.T
        for i in range(len(seen)):
            for j in range(i):
                assert np.linalg.norm(seen[i] - seen[j]) > 30


def test_dot_is_read_by_graphviz(car, tmp_path):
    dot = shutil.which("dot")
    if dot is None:
        pytest.skip("needs Graphviz")
    text = show(car, "dot", title='A "car"\\')
    drawn = subprocess.run(
        [dot, "-Tplain"], input=text.encode(), capture_output=True, check=True
    ).stdout.decode()
    assert drawn.count("\nnode ") == car.n_nodes
    assert drawn.count("\nedge ") == car.n_nodes - 1


def test_mermaid_escapes_what_it_would_read():
    table = askless.Table(
        [['say "#1"', 1], ["a<b>", 2]], ["x;y", "`z`"], tests=["q|u", "n"]
    )
    text = show(solved(table), "mermaid")
    body = text.replace("<br/>", "").replace(":::", "")
    quoted = re.findall(r'"([^"]*)"', body)
    assert len(quoted) >= 5, "a test, two outcomes and two classes"
    for inside in quoted:
        assert not re.search(r'[<>`"\\]|#(?!\d+;)', inside)


def test_mermaid_says_when_a_tree_is_too_large(rng):
    from tests.export.grown import grow_to_depth, mixed_tests

    tree = grow_to_depth(rng, mixed_tests(rng, 5), ("a", "b"), 12, 700)
    assert "Choose max_depth." in show(tree, "mermaid")
    assert "Choose max_depth." not in show(tree, "mermaid", max_depth=1)


def test_plot_draws_every_box(car):
    pyplot = pytest.importorskip("matplotlib.pyplot")
    axes = car.plot(max_depth=2, budget=3)
    texts = [text.get_text() for text in axes.texts]
    names = {
        car.tests[car.test[n]].name for n in range(car.n_nodes) if car.test[n] >= 0
    }
    assert sum(t.startswith("spent ") for t in texts) == (car.node_depth <= 2).sum()
    assert names & set(texts)
    expected, worst = f"{car.expected_cost:.4g}", f"{car.worst_cost:.4g}"
    assert axes.get_title() == f"expected cost {expected}, at worst {worst}"
    own = pyplot.figure().add_subplot()
    assert car.plot(own) is own
    pyplot.close("all")


def test_notebooks_show_a_picture_that_is_not_too_large(car, rng):
    from tests.export.grown import grow_to_depth, mixed_tests

    shown = car._repr_html_()
    assert (
        len(svg_boxes(re.search(r"<svg.*</svg>", shown, re.DOTALL)[0])) == car.n_nodes
    )
    large = grow_to_depth(rng, mixed_tests(rng, 5), ("a", "b"), 12, 900)
    boxes = svg_boxes(re.search(r"<svg.*</svg>", large._repr_html_(), re.DOTALL)[0])
    assert len(boxes) < 200
    assert "first tree" in Forest.from_trees([car, car])._repr_html_()
    table = askless.Table([[0], [1]], ["even", "<b>"], tests=["last bit"])
    assert "<pre>1. last bit?" in Sequence.from_table(table)._repr_html_()


@pytest.mark.parametrize("format", sorted(set(FORMATS) - {"text", "json"}))
def test_a_sequence_is_refused_with_a_remedy(format):
    table = askless.Table([[0], [1]], ["even", "odd"], tests=["last bit"])
    with pytest.raises(InvalidOptionError, match=r"Got a sequence. Show it as text"):
        show(Sequence.from_table(table), format)


@pytest.mark.parametrize("format", [*DRAWN, "rules"])
def test_one_tree_of_a_forest_is_chosen(car, format):
    forest = Forest.from_trees([car, car])
    assert show(forest, format, tree=1) == show(car, format)
    with pytest.raises(InvalidOptionError, match=r"Got a forest of 2. Choose one"):
        show(forest, format)
    with pytest.raises(InvalidOptionError, match=r"tree must be from 0 to 1. Got 2"):
        show(forest, format, tree=2)


def test_options_are_checked(car):
    with pytest.raises(InvalidOptionError, match=r"takes max_depth.*Got 'maxdepth'"):
        show(car, "text", maxdepth=1)
    with pytest.raises(InvalidOptionError, match=r"The budget must be >= 0"):
        show(car, "svg", budget=-1)
    with pytest.raises(InvalidOptionError, match=r"max_depth must be >= 0"):
        show(car, "dot", max_depth=-1)


@pytest.mark.parametrize("format", ["png", "pdf"])
def test_png_and_pdf_are_drawn_alike_every_time(car, format):
    pytest.importorskip("matplotlib")
    start = {"png": b"\x89PNG\r\n", "pdf": b"%PDF-"}[format]
    drawn = show(car, format, title="costs $3 and $5", budget=3, max_depth=2)
    assert drawn.startswith(start)
    assert drawn == show(car, format, title="costs $3 and $5", budget=3, max_depth=2)
    assert len(drawn) < len(show(car, format))


def test_a_png_says_on_the_page_what_the_svg_says(car):
    pytest.importorskip("matplotlib")
    from askless.export._picture import draw_one
    from askless.export._plot import Page

    page = Page(draw_one(car, "PNG", None, title="Car", max_nodes=20))
    drawn = [text.get_text() for text in page.draw().axes[0].texts]
    svg = show(car, "svg", title="Car", max_nodes=20)
    assert f'viewBox="0 0 {page.width:.0f} {page.height:.0f}"' in svg
    shown = re.findall(r"<text[^>]*>(?:<title>[^<]*</title>)?([^<]*)</text>", svg)
    assert sorted(map(unescape, shown)) == sorted(drawn)


def test_a_png_that_nobody_could_read_is_refused(rng):
    pytest.importorskip("matplotlib")
    from tests.export.grown import grow_to_depth, mixed_tests

    tree = grow_to_depth(rng, mixed_tests(rng, 7), ("a", "b"), 11, 4500)
    with pytest.raises(InvalidOptionError, match=r"small enough.*max_nodes"):
        show(tree, "png", max_nodes=None)
    with pytest.raises(InvalidOptionError, match="PNG must be made from one tree"):
        show(Forest.from_trees([tree, tree]), "png")
