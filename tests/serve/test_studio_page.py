"""The studio in a browser: typed, dropped, moved, cancelled, saved, asked."""

import json

import pytest

from tests.export.chromium import find_chromium
from tests.serve.service import Thread
from tests.serve.test_studio import hard_table, readme_file
from tests.serve.visitor import Visitor

pytest.importorskip("starlette", reason="needs the extra serve")

STATE = "document.querySelector('#state').innerText"


@pytest.fixture(scope="module")
def server(car):
    find_chromium()
    with Thread([("car", car)]) as server:
        yield server


@pytest.fixture(scope="module")
def browser():
    with Visitor(height=1400) as page:
        yield page


@pytest.fixture
def page(browser, server):
    browser.resize(1280, 1400)
    browser.errors.clear()
    browser.requests.clear()
    browser.visit(f"{server.address}/studio?lang=en")
    browser.wait_for(f"{STATE}.startsWith('Proved')")
    yield browser
    assert browser.errors == []
    own = (server.address, "data:image/svg", "blob:")
    assert [r for r in browser.requests if not r.startswith(own)] == []


def figures(page):
    return [
        page.run(f"document.querySelector('#{name}').innerText")
        for name in ("expected", "worst", "bound")
    ]


def type_into(page, name, text):
    page.run(
        f"(() => {{ const e = document.querySelector('[name={name}]');"
        f"e.value = {json.dumps(text)};"
        "e.dispatchEvent(new Event('input', {bubbles: true})); })()"
    )


def test_the_table_of_the_readme_and_a_bound_that_moves(page):
    assert page.run("sheet.elements.table.value") == readme_file("bike.csv")
    assert page.run("sheet.elements.costs.value") == readme_file("bike.costs.csv")
    assert figures(page) == ["2.4", "4", "2.4"]
    bounds = page.run("document.querySelector('#over-time').dataset.bounds").split()
    assert len(set(bounds)) > 1
    shown = page.run("document.querySelector('#picture img').naturalWidth")
    assert shown > 100
    assert "chain?" in page.run("document.querySelector('#text').textContent")


def test_a_slider_changes_the_policy(page):
    page.run(
        "(() => { const e = document.querySelector('[data-name=pressure]');"
        "e.value = 6; e.dispatchEvent(new Event('input', {bubbles: true})); })()"
    )
    page.wait_for(
        f"{STATE}.startsWith('Proved') && figures() !== '2.4'".replace(
            "figures()", "document.querySelector('#expected').innerText"
        )
    )
    dearer = float(figures(page)[0])
    assert dearer > 2.4
    page.run(
        "(() => { const e = document.querySelector('[data-name=\"patch the tube\"]');"
        "e.value = e.max; e.dispatchEvent(new Event('input', {bubbles: true})); })()"
    )
    page.wait_for(
        f"{STATE}.startsWith('Proved') &&"
        f"document.querySelector('#expected').innerText !== '{dearer:g}'"
    )
    # 40 % of all, twice as many now: 80 of 140.
    shares = page.run(
        "[...document.querySelectorAll('#weights output')].map((e) => e.innerText)"
    )
    assert shares == ["21.4 %", "7.1 %", "3.6 %", "57.1 %", "10.7 %"]


def test_what_is_wrong_is_shown_in_its_cell(page):
    type_into(page, "table", "lamp,prior,cause\ndark,lots,fuse\ndim,1\n")
    page.wait_for("!document.querySelector('#wrong').hidden")
    said = page.run("document.querySelector('#problems').innerText")
    assert "Table, line 2, column 2: a number, at least 0 (lots)" in said
    assert "Table, line 3: as many cells" in said
    cells = page.run("[...document.querySelectorAll('.bad')].map((e) => e.textContent)")
    assert any(cell.startswith("lots") for cell in cells)
    assert page.run("document.querySelector('#as-read').open")
    assert page.run("document.querySelector('#result').hidden")
    assert page.run("document.querySelector('#sliders').offsetHeight") == 0
    type_into(page, "table", "lamp,cause\ndark,fuse\ndim,bulb\n")
    type_into(page, "costs", "")
    page.wait_for(
        f"document.querySelector('#wrong').hidden && {STATE}.startsWith('Pro')"
    )
    assert figures(page) == ["1", "1", "1"]


def test_files_are_dropped(page):
    page.run(
        "(() => { const d = new DataTransfer();"
        "d.items.add(new File(['lamp,cause\\ndark,fuse\\ndim,bulb\\n'], 'lamp.csv'));"
        "d.items.add(new File(['test,cost\\nlamp,7\\n'], 'lamp.costs.csv'));"
        "document.querySelector('.drop').dispatchEvent(new DragEvent('drop',"
        "{dataTransfer: d, bubbles: true, cancelable: true})); })()"
    )
    page.wait_for("document.querySelector('#expected').innerText === '7'")


def test_a_search_is_stopped_and_another_begun(page, server):
    type_into(page, "costs", "")
    type_into(page, "table", hard_table())
    page.wait_for(
        f"{STATE}.startsWith('Searching') && document.querySelector('[data-name=t0]')"
        "&& Number(document.querySelector('#over-time').dataset.points) > 2"
    )
    bounds = page.run("document.querySelector('#over-time').dataset.bounds").split()
    assert float(bounds[-1]) >= float(bounds[0])
    page.click("#stop")
    assert page.run(STATE).startswith("Stopped.")
    # What was found first can be kept.
    assert not page.run("document.querySelector('#save button').disabled")
    type_into(page, "table", "lamp,cause\ndark,fuse\ndim,bulb\n")
    page.wait_for(f"{STATE}.startsWith('Proved')")


def test_a_policy_is_saved_and_its_interview_opened(page, server):
    assert page.run("document.querySelector('#download').href").startswith("blob:")
    page.run("document.querySelector('#save').elements.name.value = 'bike'")
    page.click("#save .main")
    page.wait_for("document.querySelector('#saved a') !== null")
    page.follow("#saved a")
    page.follow("form.card button")
    while page.is_question:
        page.follow(".choice")
    assert "Decision" in page.text
    # A name that is taken is refused.
    page.visit(f"{server.address}/studio?lang=en")
    page.wait_for(f"{STATE}.startsWith('Proved')")
    page.run("document.querySelector('#save').elements.name.value = 'bike'")
    page.click("#save .main")
    page.wait_for("document.querySelector('#saved').innerText.includes('twice')")


def test_without_scripts_the_page_says_so(page, server):
    page.allow_scripts(False)
    page.visit(f"{server.address}/studio?lang=de")
    assert "Das Studio braucht Skripte" in page.text
    page.allow_scripts(True)


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("width", [360, 1280])
def test_axe_finds_no_barrier(page, server, scheme, width):
    page.prefer(scheme)
    page.resize(width, 1000)
    page.visit(f"{server.address}/studio?lang=de")
    page.wait_for(f"{STATE}.startsWith('Bewiesen')")
    assert page.find_barriers() == []
    assert not page.is_too_wide
    type_into(page, "table", "lamp,prior,cause\ndark,lots,fuse\n")
    page.wait_for("!document.querySelector('#wrong').hidden")
    page.run("document.querySelector('details').open = true")
    assert page.find_barriers() == []
    page.prefer("light")
