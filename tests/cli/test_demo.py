"""``askless demo``: every part is there, and every number is the library's."""

import re

import numpy as np
import pytest

from askless import Sequence, evaluate, load, show, solve
from askless.cli.demos._car import pick_case
from askless.cli.demos._clinic import N_PATIENTS, compare_trees
from askless.datasets import load_car, make_clinic


@pytest.fixture(scope="module")
def car():
    table = load_car()
    solution = solve(table)
    return table, solution, evaluate(solution.policy, table)


def row(text, start):
    line = next(line for line in text.splitlines() if line.strip().startswith(start))
    return [float(n) for n in re.findall(r"\d+\.\d+", line.strip()[len(start) :])]


def test_the_car_is_solved_compared_and_saved(folder, run, car):
    table, solution, result = car
    result_of_demo = run("demo")
    shown = result_of_demo.stdout
    assert result_of_demo.stderr == ""
    assert show(solution.policy) in shown
    in_order = evaluate(Sequence.from_table(table), table)
    every = table.prices.cost_of_all()
    for start, mean, worst in (
        ("every check", every, every),
        ("checks in order until settled", in_order.expected_cost, in_order.worst_cost),
        ("the flowchart", result.expected_cost, result.worst_cost),
    ):
        assert row(shown, start) == [round(mean, 1), round(worst, 1)]
    assert f"{solution.lower_bound:.4g} minutes" in " ".join(shown.split())
    assert "saved in car.json" in shown
    assert load("car.json").expected_cost == pytest.approx(solution.expected_cost)


def test_the_interview_is_the_sessions(folder, run, car):
    table, solution, result = car
    case = pick_case(table, result)
    session = solution.policy.start()
    while session.test is not None:
        session.answer(table.rows()[session.test][case])
    shown = run("demo").stdout
    assert f"Its secret: {table.cases[case]}." in shown
    assert session.why() in shown
    assert session.decision == table.case_classes[case]
    for entry in session.log:
        line = (
            rf"{entry['test']} +{entry['paid']:g} +\d+ repairs, .* {entry['outcome']}"
        )
        assert re.search(line, shown), line


def test_the_case_that_is_followed_is_sure_and_not_cheap(car):
    table, _, result = car
    case = pick_case(table, result)
    assert not table.is_unknown[:, case].any()
    assert result.case_cost[case] > np.median(result.case_cost)


def test_the_clinics_trees_are_compared_honestly(folder, run):
    clinic = make_clinic(N_PATIENTS, random_state=0)
    candidates = compare_trees(clinic)
    shown = run("demo").stdout
    best = min(candidates, key=lambda c: c.choosing.total_cost)
    for candidate in candidates:
        result = candidate.judging
        numbers = [result.expected_cost, result.mistake_cost, result.total_cost]
        start = f"{candidate.name} *" if candidate is best else f"{candidate.name} "
        expected = [*numbers, 100 * result.error]
        assert row(shown, start) == pytest.approx(expected, abs=0.0501)
    every = clinic.costs.price_list(best.tree.tests).cost_of_all()
    assert row(shown, "nobody: all bought")[0] == every
    assert show(best.tree, max_depth=1) in shown
    # What the tour is to show: knowing the prices pays.
    assert best.judging.total_cost < candidates[0].judging.total_cost
    assert best.judging.total_cost < candidates[-1].judging.total_cost
    assert best.judging.expected_cost < every / 2


def test_the_trees_carry_the_true_names_and_prices():
    clinic = make_clinic(300, random_state=1)
    for candidate in compare_trees(clinic):
        tree = candidate.tree
        assert tree.test_names == clinic.test_names
        assert tree.prices.full.tolist() == list(clinic.costs.costs.values())


def test_the_tour_ends_with_commands_that_work(folder, run):
    shown = run("demo").stdout
    commands = re.findall(r"^  askless (.*)$", shown, re.MULTILINE)
    assert len(commands) == 4
    for command in commands:
        run(*command.split())


def test_the_folder_is_made_and_named(folder, run):
    shown = run("demo", "--folder", "new/tour").stdout
    path = folder / "new" / "tour" / "car.json"
    assert path.exists()
    assert f"saved in {path.relative_to(folder)}" in shown
    assert f"askless show {path.relative_to(folder)}" in shown


def test_a_file_of_somebody_else_is_kept(folder, run):
    (folder / "car.json").write_text('{"wheels": 4}')
    shown = run("demo").stdout
    assert (folder / "car.json").read_text() == '{"wheels": 4}'
    assert "saved in car-2.json" in shown
    run("demo")
    assert len(list(folder.iterdir())) == 2


def test_it_fits_a_terminal_of_80_columns(folder, run):
    env = {"FORCE_COLOR": "1", "TERM": "xterm", "COLUMNS": "80"}
    shown = run("demo", env=env).stdout
    assert "\x1b[" in shown
    plain = re.sub(r"\x1b\[[0-9;?]*[A-Za-z]", "", shown)
    assert max(len(line.rstrip()) for line in plain.splitlines()) <= 80
    assert "╭" in plain
