"""Twenty questions: name the thing somebody thinks of with few yes-or-no questions.

The table was written for Askless and stands in this file; the module reads nothing
and knows nothing of who solves it. A line of ``_YES`` lists the things for which most
people would say yes; for all the others they would say no.
"""

from __future__ import annotations

from askless.exceptions import InvalidTableError
from askless.problem import Table

__all__ = ["load_questions"]

_NAMES = """
    dog cat horse cow pig goat lion elephant mouse rabbit bat whale dolphin
    eagle owl penguin chicken duck snake crocodile turtle frog goldfish salmon
    bee butterfly ant spider snail octopus
    apple carrot rose oak bread cheese egg
    chair table bed lamp mirror television telephone book pencil scissors key
    spoon cup shoe coat glove umbrella football hammer guitar piano drum
    bicycle car bus boat aeroplane
"""
_THINGS = _NAMES.split()

_MAMMALS = "dog cat horse cow pig goat lion elephant mouse rabbit bat whale dolphin"
_BIRDS = "eagle owl penguin chicken duck"
_INSECTS = "bee butterfly ant"

_YES = {
    "Is it an animal?": f"""{_MAMMALS} {_BIRDS} snake crocodile turtle frog goldfish
        salmon {_INSECTS} spider snail octopus""",
    "Is it a mammal?": _MAMMALS,
    "Does it have feathers?": _BIRDS,
    "Does it lay eggs?": f"""{_BIRDS} snake crocodile turtle frog goldfish salmon
        {_INSECTS} spider snail octopus""",
    "Can it fly?": "bat eagle owl duck bee butterfly aeroplane",
    "Is it at home in water?": """whale dolphin penguin duck crocodile turtle frog
        goldfish salmon octopus boat""",
    "Does it stand on four legs?": """dog cat horse cow pig goat lion elephant mouse
        rabbit crocodile turtle frog chair table bed""",
    "Does it have more than four legs or arms?": f"{_INSECTS} spider octopus",
    "Does it live by hunting?": """cat lion bat dolphin eagle owl penguin snake
        crocodile salmon spider octopus""",
    "Is it kept on farms?": "horse cow pig goat rabbit chicken duck bee",
    "Is it kept as a pet?": "dog cat mouse rabbit snake turtle goldfish",
    "Does it have horns or tusks?": "cow goat elephant",
    "Is it venomous?": "snake bee spider",
    "Is it known for being awake at night?": "mouse bat owl",
    "Does it give milk, or come from milk?": "cow goat cheese",
    "Is it a plant, or part of one?": "apple carrot rose oak",
    "Is it sold in a food shop?": "salmon apple carrot bread cheese egg",
    "Is it heavier than a person?": """horse cow pig lion elephant whale dolphin
        crocodile oak piano car bus boat aeroplane""",
    "Is it lighter than an apple?": """mouse bat frog goldfish bee butterfly ant spider
        snail carrot rose egg pencil scissors key spoon glove""",
    "Does it stay in one room?": "chair table bed lamp mirror television piano",
    "Does it need electricity?": "lamp television telephone",
    "Is it mostly metal?": "scissors key spoon hammer bicycle car bus aeroplane",
    "Do you sit or lie on it?": "horse chair bed bicycle car bus boat aeroplane",
    "Does it have wheels?": "bicycle car bus aeroplane",
    "Do you wear it?": "shoe coat glove",
    "Does it make music?": "television telephone guitar piano drum",
    "Do you use it at meals?": "chair table spoon cup",
    "Does it show words or pictures?": "mirror television telephone book",
    "Would you take it out in the rain?": "dog shoe coat umbrella bus boat",
    "Does it come in pairs?": "shoe glove scissors",
    "Is it round?": "apple egg football drum",
}


def _answers() -> list[list[str]]:
    """Return yes or no for each thing (row) and question (column)."""
    columns = [set(things.split()) for things in _YES.values()]
    misspelt = set().union(*columns) - set(_THINGS)
    if misspelt:
        raise InvalidTableError(
            f"Every answer must be about a listed thing. Got {sorted(misspelt)}. "
            "Correct the table of questions."
        )
    return [["yes" if thing in c else "no" for c in columns] for thing in _THINGS]


def load_questions() -> Table:
    """Return the table of a game of twenty questions.

    Sixty-four animals, plants and things, thirty-one questions of cost 1, all things
    equally likely. Each thing is its own class, so solving the table is naming the
    thing.

    Returns
    -------
    Table
        The things (cases) and the questions (tests).

    Notes
    -----
    Written for Askless. No two things have the same answers. A yes-or-no question
    halves 64 things at best, so no policy needs fewer than 6 questions on average.

    Examples
    --------
    >>> table = load_questions()
    >>> table.n_cases, table.n_tests, len(table.classes)
    (64, 31, 64)
    >>> table.test_names[0]
    'Is it an animal?'
    """
    return Table(_answers(), _THINGS, tests=list(_YES), cases=_THINGS)
