"""The interview: in a terminal, through a pipe, with a program, and after a crash."""

import json
import os

import pytest

import askless
from askless.run import replay_log
from tests.cli.conftest import make_runner
from tests.cli.terminal import Terminal

needs_terminal = pytest.mark.skipif(os.name == "nt", reason="no pseudo terminals there")


@pytest.fixture
def house(folder):
    """Return the file of a policy with categories, a number and outcomes 0 and 1."""
    table = askless.Table(
        {
            "lamp": ["dark", "dark", "dark", "dark", "dim"],
            "volts": [0.0, 4.0, 230.0, 230.0, 230.0],
            "bell": ["0", "0", "0", "1", "1"],
        },
        ["mains", "transformer", "fuse", "bulb", "dimmer"],
        costs={"lamp": 1, "volts": 2, "bell": 5},
        prior=[1, 2, 3, 4, 11],
        thresholds=True,
    )
    # The same order of tests whatever becomes of the solver.
    policy = askless.solve(table, method="greedy").policy
    policy.save(folder / "house.json")
    return folder / "house.json"


@pytest.fixture
def ask(run):
    """Return a function that pipes lines into the interview."""

    def run_ask(*args, lines, code=0):
        typed = "".join(f"{line}\n" for line in lines)
        from askless.cli import main

        result = make_runner().invoke(
            main, ["ask", *map(str, args)], input=typed, prog_name="askless"
        )
        unexpected = result.exception
        if unexpected and not isinstance(unexpected, SystemExit):
            raise unexpected
        assert result.exit_code == code, result.stdout + result.stderr
        return result

    return run_ask


@pytest.fixture
def terminal_of(folder):
    """Return a function that runs Askless in a terminal; all are closed afterwards."""
    opened = []

    def open_terminal(*args):
        opened.append(Terminal(*args, folder=folder))
        return opened[-1]

    yield open_terminal
    for terminal in opened:
        terminal.clean_up()


# In a terminal.


@needs_terminal
def test_every_kind_of_answer_in_a_terminal(house, folder, terminal_of):
    terminal = terminal_of("ask", house)
    question = terminal.expect("dim ")
    assert "1. lamp?  costs 1" in question
    assert "Spent 0, at most 8 more.  Likely: dimmer 52.4 %, bulb 19 %" in question
    assert "Why: it settles the decision in 52.4 %, and else leaves at most 4 of 5" in (
        question
    )
    terminal.type("h")
    terminal.expect("don't know   the test was run")
    terminal.type("what if dim")
    terminal.expect("If dim: Then the decision is dimmer (100 %), for 1.")
    terminal.type("w 1")
    terminal.expect("If dark: Then volts? for 2. Spent 1, at most 7 more.")
    terminal.type("green")
    terminal.expect("shows one of 'dark', 'dim'. Got 'green', which is none of them.")
    terminal.type("y")
    terminal.expect("'lamp' costs 1; 5 decisions are possible")
    # By number, then by the beginning of a name.
    terminal.type("1")
    terminal.expect("2. volts?  costs 2")
    terminal.expect("Type a number.")
    terminal.type("u")
    terminal.expect("1. lamp?")
    terminal.type("DAR")
    terminal.expect("2. volts?")
    terminal.type("warm")
    terminal.expect("'volts' shows a number. Got 'warm'.")
    # A value. It is compared twice and asked for once.
    terminal.type("231.5")
    assert "volts" not in terminal.expect("3. bell?  costs 5")
    choices = terminal.expect("=> bulb")
    assert "#1  0" in choices
    # Outcomes that look like numbers are meant as outcomes.
    terminal.type("1")
    terminal.expect("=> bulb  (100 % of the known cases that fit)")
    terminal.expect("Spent 8; every test would have cost 8: saved 0.")
    terminal.type("undo")
    terminal.expect("3. bell?")
    terminal.type("#1")
    terminal.expect("=> fuse  (100 % of the known cases that fit)")
    terminal.type("u")
    terminal.expect("3. bell?")
    terminal.type("?")
    terminal.expect("% of the known cases that fit)")
    terminal.expect("1 test was not answered")
    terminal.expect("bell: not clear  (paid 5)")
    # All the way back; once more is refused.
    for expected in ("3. bell?", "2. volts?", "1. lamp?"):
        terminal.type("undo")
        terminal.expect(expected)
    terminal.type("undo")
    terminal.expect("There must be an answer to take back.")
    terminal.type("skip")
    terminal.expect("=> dimmer  (52.4 % of the known cases that fit)")
    terminal.expect("lamp: skipped")
    terminal.type("")
    terminal.expect("Log: house.log.jsonl")
    assert terminal.finish() == 0
    session = replay_log(folder / "house.log.jsonl", askless.load(house))
    assert session.log == [{"test": "lamp", "skipped": True}]
    assert (session.decision, session.spent) == ("dimmer", 0.0)


@needs_terminal
def test_an_interview_survives_kill_9(house, folder, terminal_of):
    answers = ["dark", "240", "1"]
    whole = terminal_of("ask", house, "--log", "whole.jsonl")
    for answer in answers:
        whole.type(answer)
    whole.expect("=> bulb")
    whole.type("")
    assert whole.finish() == 0

    terminal = terminal_of("ask", house, "--log", "cut.jsonl")
    terminal.type("dark")
    terminal.type("undo")
    terminal.type("dark")
    terminal.expect("2. volts?")
    terminal.kill()
    # What was being written when it was killed is half a line.
    with open(folder / "cut.jsonl", "a") as file:
        file.write('{"test": "volts", "outc')

    for answer, expected in (("240", "3. bell?"), ("1", "=> bulb")):
        terminal = terminal_of("ask", house, "--resume", "cut.jsonl")
        assert "lamp: dark  (paid 1)" in terminal.expect("paid 1)")
        terminal.type(answer)
        terminal.expect(expected)
        terminal.kill()
    terminal = terminal_of("ask", house, "--resume", "cut.jsonl")
    terminal.expect("=> bulb  (100 % of the known cases that fit)")
    terminal.press(b"\x04")  # Ctrl-D
    assert terminal.finish() == 0

    policy = askless.load(house)
    first, second = (
        replay_log(folder / name, policy) for name in ("whole.jsonl", "cut.jsonl")
    )
    assert (first.log, first.decision, first.spent) == (
        second.log,
        second.decision,
        second.spent,
    )
    ends = [
        (folder / name).read_text().splitlines()[-1]
        for name in ("whole.jsonl", "cut.jsonl")
    ]
    assert (
        json.loads(ends[0]) == json.loads(ends[1]) == {"decision": "bulb", "spent": 8}
    )


@needs_terminal
@pytest.mark.parametrize(("leave", "code"), [(b"q\n", 0), (b"\x03", 130)])
def test_leaving_says_how_to_go_on(house, folder, terminal_of, leave, code):
    terminal = terminal_of("ask", house)
    terminal.type("dark")
    terminal.press_until(
        f"To go on: askless ask {house} --resume house.log.jsonl", leave
    )
    assert terminal.finish() == code
    assert len((folder / "house.log.jsonl").read_text().splitlines()) == 2


# Through a pipe.


def test_a_pipe_gets_questions_and_a_decision(house, ask, folder):
    shown = ask(house, lines=["dark", "0"]).stdout
    assert "=> mains  (100 % of the known cases that fit)\n   Spent 3" in shown
    assert "\x1b" not in shown
    assert "> " not in shown.replace("=> ", "").replace("x > ", "").replace(
        "volts > ", ""
    )
    assert sorted(path.name for path in folder.iterdir()) == ["house.json"]


def test_a_forest_does_not_claim_to_be_certain_after_a_skip(ask, folder):
    clinic = askless.datasets.make_clinic(200, random_state=0)
    forest = askless.BudgetForestClassifier(
        clinic.costs, budget=200, n_estimators=3, max_depth=3, random_state=0
    )
    policy = forest.fit(clinic.to_frame(), clinic.y).policy_
    policy.save(folder / "forest.json")
    shown = ask("forest.json", lines=["skip"] * 40).stdout
    assert "(as far as the answers go)" in shown
    result = policy.run(lambda row, test: row[test], clinic.to_frame().iloc[0])
    assert result.decision == policy.predict(clinic.to_frame().iloc[:1])[0]
    assert result.spent == policy.cost(clinic.to_frame().iloc[:1])[0]


def test_a_pipe_that_ends_too_soon_is_an_error(house, ask):
    result = ask(house, "--log", "x.jsonl", lines=["dark"], code=1)
    assert "To go on: askless ask" in result.stderr
    assert "Got the end of the input before 'volts'" in result.stderr
    again = ask(house, "--resume", "x.jsonl", lines=["0"])
    assert "So far:\n   lamp: dark  (paid 1)\n" in again.stdout
    assert "=> mains" in again.stdout


def test_a_log_replays_to_the_same_end(house, ask, run):
    shown = ask(
        house, "--log", "x.jsonl", "--case", "no. 7", lines=["dark", "0"]
    ).stdout
    again = run("ask", house, "--replay", "x.jsonl").stdout
    assert again.strip() in shown
    assert again.strip().startswith("=> mains")
    described = json.loads(run("ask", house, "--replay", "x.jsonl", "--json").stdout)
    assert (described["decision"], described["spent"]) == ("mains", 3.0)
    with open("x.jsonl") as file:
        assert json.loads(file.readline())["case"] == "no. 7"
    ask(house, "--log", "y.jsonl", lines=["dark"], code=1)
    assert "   Next: volts?" in run("ask", house, "--replay", "y.jsonl").stdout


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ('"paid": 1.0', '"paid": 0.5', "Got paid 0.5 in line 2"),
        ('"decision": "mains"', '"decision": "fuse"', "Got decision 'fuse' in line"),
        ('"dark"', '"dim"', "where the policy has decided"),
        ("askless-log", "a-log", "must begin with its format"),
        ('"version": 1', '"version": 2', "must be of version 1"),
        ('{"test": "lamp"', "[1", "must be a JSON object. Got another in line 2"),
        ("sha256:", "sha256:0", "Got another policy"),
    ],
)
def test_a_log_that_was_changed_is_refused(house, ask, run, old, new, message):
    ask(house, "--log", "x.jsonl", lines=["dark", "0"])
    with open("x.jsonl") as file:
        text = file.read()
    assert old in text
    with open("x.jsonl", "w") as file:
        file.write(text.replace(old, new, 1))
    for option in ("--replay", "--resume"):
        assert message in run("ask", house, option, "x.jsonl", code=1).stderr


def test_a_log_is_never_written_over(house, ask, run):
    ask(house, "--log", "x.jsonl", lines=["dim"])
    result = ask(house, "--log", "x.jsonl", lines=["dim"], code=1)
    assert "must be written to a new file" in result.stderr
    result = ask(house, "--log", "no/x.jsonl", lines=["dim"], code=1)
    assert "folder of a log must be there" in result.stderr
    assert "readable" in run("ask", house, "--replay", "no.jsonl", code=1).stderr
    run("ask", house, "--replay", "x.jsonl", "--resume", "x.jsonl", code=2)


# With a program.


def test_a_program_gets_a_line_for_each_step(house, ask):
    lines = [
        '{"answer": "dark"}',
        '{"what_if": 4}',
        '{"skip": true}',
        '{"undo": true}',
        '{"answer": 231}',
        '"#1"',
        '{"undo": true}',
        '{"unsure": true}',
    ]
    shown = ask(house, "--json", "--log", "x.jsonl", lines=lines).stdout
    events = [json.loads(line) for line in shown.splitlines()]
    kinds = [event["event"] for event in events]
    assert kinds == [
        "question", "question", "what if", "question", "question", "question",
        "decision", "question", "decision",
    ]  # fmt: skip
    first = events[0]
    assert (first["test"], first["price"], first["left_at_worst"]) == ("lamp", 1.0, 8.0)
    assert first["outcomes"] == ["dark", "dim"]
    assert first["likely"][0] == {"decision": "dimmer", "share": pytest.approx(11 / 21)}
    assert first["branches"][1]["decision"] == "dimmer"
    assert (events[2]["if"], events[2]["decision"]) == (4, "transformer")
    assert (events[6]["decision"], events[6]["certainty"]) == ("fuse", 1.0)
    last = events[-1]
    assert last["n_unanswered"] == 1
    assert last["spent"] == 8.0
    assert last["certainty"] == pytest.approx(max(3 / 7, 4 / 7))
    policy = askless.load(house)
    assert replay_log("x.jsonl", policy).log == last["path"]


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ('{"answer": "green"}', "Got 'green'"),
        ('{"answer": [1]}', "must be text, a number or a boolean"),
        ('{"say": 1}', "must have one of answer"),
        ("{}", "must have one of answer"),
        ("[1]", "none of them"),
        ("green", "none of them"),
        ('{"undo": true}', "an answer to take back"),
    ],
)
def test_a_wrong_line_is_told_and_changes_nothing(house, ask, line, message):
    shown = ask(house, "--json", lines=[line, "", "dim"]).stdout
    events = [json.loads(part) for part in shown.splitlines()]
    assert [event["event"] for event in events] == ["question", "error", "decision"]
    assert message in events[1]["message"]
    assert events[2]["path"] == [{"test": "lamp", "outcome": "dim", "paid": 1.0}]


def test_a_program_may_leave(house, ask):
    ask(house, "--json", lines=["quit"], code=1)
    ask(house, "--json", lines=["dim", "quit"])
    ask(house, "--json", lines=[], code=1)


def test_answers_that_no_case_shows_are_said_to_be_so(ask, folder):
    table = askless.Table(
        {
            "pain": ["sharp", "sharp", "crushing", "dull"],
            "trigger": ["breath", "touch", "exertion", "meal"],
        },
        ["anti-inflammatory", "rest", "nitro", "antacid"],
        costs={"pain": 1, "trigger": 5},
        prior=[3, 1, 2, 4],
    )
    askless.solve(table).policy.save(folder / "chest.json")
    shown = ask("chest.json", lines=["sharp", "what if exertion", "exertion"]).stdout
    assert "exertion      0 %  no case here; taken as breath" in shown
    assert "But no case shows that together with the answers before." in shown
    end = shown[shown.index("No case fits") :]
    assert end.startswith("No case fits all answers so far. Look again at: trigger ")
    assert "The policy goes on with trigger as showing breath, not exertion." in end
    assert "=> anti-inflammatory  (75 % if what no case shows is left out)" in end
    assert "100 %" not in end
