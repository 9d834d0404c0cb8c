"""A car that does not start: which checks find the repair in the fewest minutes.

The table was written for Askless and stands in this file; the module reads nothing
and knows nothing of who solves it.

How the table is written: by check. Each check names the outcome that most causes
show (``usual``), then for every other outcome the causes that show it. A cause in
``unknown`` can show either: two mechanics would see two things.

The car
-------
A four-cylinder petrol car of about 2005: manual gearbox with a switch at the clutch
pedal, fuel injection with an electric pump in the tank, one coil pack for all
cylinders, a timing belt, a chip in the key. It was parked, and now it does not start.
One cause is at work.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from askless.exceptions import InvalidTableError
from askless.problem import Costs, Table

__all__ = ["load_car"]


@dataclass(frozen=True)
class _Cause:
    """What can be wrong, the repair it asks for, and how common it is."""

    key: str
    name: str
    repair: str
    weight: float


@dataclass(frozen=True)
class _Check:
    """What can be looked at, its minutes, and what each cause shows.

    ``group`` names the work that comes first; ``minutes`` includes it. A cause is named
    by its key; several are separated by blanks, so that a line reads like a list.
    """

    name: str
    minutes: float
    usual: str
    shows: dict[str, str] = field(default_factory=dict)
    unknown: str = ""
    group: str | None = None


# The weights are our own estimates of how often a roadside mechanic meets each
# cause, out of about 100 cars. They come from no data.
_CAUSES = (
    # key             name                           repair                   weight
    _Cause("lights", "lights left on", "charge the battery", 12),
    _Cause("worn", "battery worn out", "new battery", 16),
    _Cause("alternator", "alternator does not charge", "new alternator", 6),
    _Cause("drain", "something draws current at rest", "trace the drain", 3),
    _Cause("clamps", "battery clamps corroded", "clean the clamps", 8),
    _Cause("strap", "engine earth strap corroded", "new earth strap", 2),
    _Cause("brushes", "starter brushes worn", "new starter", 5),
    _Cause("solenoid", "starter contacts burnt", "new starter", 3),
    _Cause("pinion", "starter pinion slips", "new starter", 1),
    _Cause("s_relay", "starter relay dead", "new fuse or relay", 2),
    _Cause("i_switch", "ignition switch worn", "new ignition switch", 2),
    _Cause("c_switch", "clutch switch dead", "new clutch switch", 2),
    _Cause("seized", "engine seized", "overhaul the engine", 0.5),
    _Cause("key", "key chip not read", "code a key", 4),
    _Cause("empty", "tank empty", "fill the tank", 6),
    _Cause("diesel", "diesel in the tank", "drain the tank", 2),
    _Cause("water", "water in the tank", "drain the tank", 1),
    _Cause("pump", "fuel pump dead", "new fuel pump", 6),
    _Cause("p_relay", "fuel pump relay dead", "new fuse or relay", 2),
    _Cause("p_fuse", "fuel pump fuse blown", "new fuse or relay", 1.5),
    _Cause("m_relay", "engine main relay dead", "new fuse or relay", 2),
    _Cause("filter", "fuel filter blocked", "new fuel filter", 2),
    _Cause("crank", "crankshaft sensor dead", "new crankshaft sensor", 4),
    _Cause("snapped", "timing belt snapped", "new timing belt", 2),
    _Cause("jumped", "timing belt jumped", "new timing belt", 1),
    _Cause("plugs", "spark plugs fouled", "new spark plugs", 4),
    _Cause("coil", "coil pack dead", "new coil pack", 3),
    _Cause("flooded", "cylinders flooded", "dry the cylinders", 4),
    _Cause("intake", "air intake blocked", "clear the air intake", 1),
    _Cause("ecu", "engine control unit dead", "new control unit", 0.5),
)

# Minutes of work that the checks of a group share: paid once, by the first of them.
_SHARED_MINUTES = {
    "bonnet": 2,  # open it, take the covers off
    "multimeter": 4,  # fetch it, reach the battery
    "scan tool": 5,  # find the socket, wait for the tool
    "plugs": 15,  # coil pack off, plugs out
    "fuel line": 8,  # let the pressure out, open the line
    "lift": 12,  # car on stands
}

# Causes under which the starter turns nothing, whatever else is right.
_STARTER_FAULTS = "brushes solenoid pinion s_relay i_switch c_switch seized"
# ... and those under which the battery has too little to give.
_FLAT = "lights alternator drain"
_DOES_NOT_TURN = f"{_FLAT} clamps {_STARTER_FAULTS}"
# Without power the control unit runs neither pump nor spark, and does not talk.
_NO_CONTROL = "m_relay ecu"
_PUMP_STILL = f"pump p_relay p_fuse {_NO_CONTROL}"

_CHECKS = (
    # --- from the driver's seat ---
    # Turn the key and watch. Slow: a tired battery, or current that comes back through
    # a bad earth. Fast: a snapped belt leaves valves open, nothing is compressed. A
    # belt that only jumped turns over as ever.
    _Check(
        "cranking",
        1,
        "normal",
        {"none": _DOES_NOT_TURN, "slow": "worn strap", "fast": "snapped"},
    ),
    # Headlights on, then turn the key. Dim before: a flat battery. Fading: the current
    # flows, but the battery or its clamps cannot carry it, or the starter is held
    # fast. Steady: the current never reaches the motor (or all is well).
    _Check(
        "headlights",
        1,
        "steady",
        {"dim": _FLAT, "fade": "worn clamps seized"},
    ),
    # Ignition on: the engine lamp is lit by the control unit, the key lamp flashes when
    # the chip is not read.
    _Check(
        "dashboard",
        1,
        "normal",
        {"dim": _FLAT, "no engine lamp": _NO_CONTROL, "key lamp": "key"},
    ),
    _Check("fuel gauge", 1, "some", {"empty": "empty"}),
    # Ignition on, ear to the rear seat: two seconds of hum fill the line. Some cars
    # keep the pump still until the key is read. Lights left on overnight leave too
    # little for it.
    _Check(
        "pump hum",
        1,
        "hum",
        {"silent": f"lights {_PUMP_STILL}"},
        unknown="key",
    ),
    # Ten seconds of cranking, then smell the tail pipe: unburnt fuel arrived, or not.
    # A slow crank pulls the voltage too low for the injectors to open; behind a
    # snapped belt the fuel stays in the cylinders; water does not smell.
    _Check(
        "exhaust smell",
        2,
        "none",
        {"petrol": "jumped plugs coil flooded intake", "diesel": "diesel"},
    ),
    # Crank with the pedal on the floor: injection is cut and air dries the cylinders.
    # Fouled plugs sometimes fire once they are dry.
    _Check("pedal to floor", 3, "no change", {"starts": "flooded"}, unknown="plugs"),
    _Check("spare key", 4, "no change", {"starts": "key"}),
    # Under the dashboard: a wire across the switch at the clutch pedal.
    _Check("bridge clutch switch", 8, "no change", {"turns": "c_switch"}),
    # Red lead to the battery, black lead to the engine block: so the strap is bypassed.
    # Corroded clamps: it depends on what the jaws bite, clamp or post.
    _Check(
        "jump start",
        10,
        "turns only",
        {"starts": f"{_FLAT} worn strap", "no change": _STARTER_FAULTS},
        unknown="clamps",
    ),
    # --- under the bonnet ---
    # A helper turns the key. Chatter: the solenoid pulls in, the voltage falls, it
    # lets go; after a night with the lights on it does not even pull in. One click: it
    # pulls in and no current, or no motion, follows. Whirr: the motor runs, the pinion
    # does not take the engine along.
    _Check(
        "starter sound",
        3,
        "turning",
        {
            "silent": "lights s_relay i_switch c_switch",
            "click": "clamps brushes solenoid seized",
            "chatter": "alternator drain",
            "whirr": "pinion",
        },
        group="bonnet",
    ),
    # An old battery often has a green crust as well.
    _Check(
        "battery clamps",
        3,
        "clean",
        {"corroded": "clamps"},
        unknown="worn",
        group="bonnet",
    ),
    _Check("air filter", 6, "clear", {"blocked": "intake"}, group="bonnet"),
    _Check("fuses", 6, "whole", {"blown": "p_fuse"}, group="bonnet"),
    # Exchange each relay with its twin: what was dead works, and the twin's job stops.
    _Check(
        "swap relays",
        8,
        "no change",
        {"works": "s_relay p_relay m_relay"},
        group="bonnet",
    ),
    # --- with the multimeter ---
    # At rest, on the posts themselves: below 12.0 V low, below 12.4 V weak.
    _Check(
        "battery voltage",
        6,
        "good",
        {"low": _FLAT, "weak": "worn"},
        group="multimeter",
    ),
    # Battery's minus post against the engine block, key turned. If it is the minus
    # clamp that is corroded, its loss is seen here too.
    _Check(
        "earth drop",
        9,
        "small",
        {"large": "strap"},
        unknown="clamps",
        group="multimeter",
    ),
    # Volts with the engine running, so after a jump start. A bad strap also stands
    # between the alternator and the battery.
    _Check(
        "charging",
        18,
        "not running",
        {"good": "lights worn drain", "low": "alternator strap"},
        unknown="clamps",
        group="multimeter",
    ),
    # Everything off; twenty minutes until the car is asleep. An alternator that died of
    # a shorted diode also draws current at rest.
    _Check(
        "current at rest",
        25,
        "normal",
        {"high": "drain"},
        unknown="alternator",
        group="multimeter",
    ),
    # --- with the scan tool ---
    # A dead crankshaft sensor looks like an engine that was never cranked, so nothing
    # is stored. The alternator failed on the road, where the control unit watches it.
    _Check(
        "trouble codes",
        7,
        "none",
        {
            "no link": f"lights {_NO_CONTROL}",
            "low voltage": "alternator",
            "key": "key",
            "camshaft": "snapped jumped",
            "ignition": "coil",
        },
        group="scan tool",
    ),
    # The engine speed that the control unit sees while the key is turned.
    _Check(
        "engine speed",
        8,
        "steady",
        {
            "no link": f"lights {_NO_CONTROL}",
            "zero": f"alternator drain clamps {_STARTER_FAULTS} crank",
        },
        group="scan tool",
    ),
    # --- with the plugs out ---
    # Wet: something came in and did not burn. Behind a snapped belt the inlet valves
    # stand still, and hardly anything comes in.
    _Check(
        "look of a plug",
        17,
        "dry",
        {
            "wet": "water jumped coil flooded intake",
            "oily": "diesel",
            "sooty": "plugs",
        },
        group="plugs",
    ),
    # One of the car's own plugs, wiped dry, held to the block while cranking. An
    # immobiliser cuts injection and spark.
    _Check(
        "spark",
        18,
        "strong",
        {
            "none": f"{_DOES_NOT_TURN} key crank coil {_NO_CONTROL}",
            "weak": "worn strap plugs",
        },
        group="plugs",
    ),
    # Slow cranking reads low as well, and so do cylinders whose oil film the fuel has
    # washed off, or that get no air.
    _Check(
        "compression",
        25,
        "good",
        {
            "none": f"{_DOES_NOT_TURN} snapped",
            "low": "worn strap jumped flooded intake",
        },
        group="plugs",
    ),
    # --- at the fuel line ---
    # Both with the ignition switched on and off a few times, so that the pump runs.
    _Check(
        "fuel pressure",
        15,
        "good",
        {"none": f"lights empty {_PUMP_STILL}", "low": "filter"},
        group="fuel line",
    ),
    _Check(
        "fuel sample",
        12,
        "petrol",
        {
            "nothing": f"lights empty {_PUMP_STILL}",
            "diesel": "diesel",
            "water": "water",
        },
        group="fuel line",
    ),
    # --- under the car ---
    # Volts at the small terminal of the starter while the key is turned. Behind
    # corroded clamps they may hold until the solenoid pulls, or be gone at once.
    _Check(
        "starter feed",
        16,
        "volts",
        {"none": "lights s_relay i_switch c_switch"},
        unknown="clamps",
        group="lift",
    ),
    # A tap wakes worn brushes once more, and burnt contacts now and then.
    _Check(
        "tap the starter",
        14,
        "no change",
        {"turns": "brushes"},
        unknown="solenoid",
        group="lift",
    ),
)


def _outcomes_of(check: _Check) -> dict[str, str | None]:
    """Return cause key -> outcome of one check; None where unknown."""
    seen: dict[str, str | None] = {cause.key: check.usual for cause in _CAUSES}
    named: list[tuple[str, str | None]] = [
        (key, outcome) for outcome, keys in check.shows.items() for key in keys.split()
    ]
    named += [(key, None) for key in check.unknown.split()]
    for key, outcome in named:
        # A misspelt key, or a cause named twice, would change the table in silence.
        if seen.get(key) != check.usual:
            raise InvalidTableError(
                "Each cause must be known and named once in a check. Got "
                f"{key!r} in check {check.name!r}. Correct the table of the car."
            )
        seen[key] = outcome
    return seen


def _car_costs() -> Costs:
    """Return the minutes of each check, and what is saved when its work is done."""
    groups: dict[str, list[str]] = {}
    discounted: dict[str, float] = {}
    for check in _CHECKS:
        if check.group is not None:
            groups.setdefault(check.group, []).append(check.name)
            discounted[check.name] = check.minutes - _SHARED_MINUTES[check.group]
    return Costs(
        {check.name: check.minutes for check in _CHECKS},
        groups=groups,
        discounted=discounted,
    )


def load_car() -> Table:
    """Return the table of a car that does not start.

    Thirty causes, twenty-three repairs and twenty-eight checks. A case is a cause, a
    class is the repair it asks for, a cost is in minutes. Checks that need the same
    work first (bonnet open, car lifted, plugs out, ...) form a group: the first pays
    for that work, the later ones do not.

    Returns
    -------
    Table
        The causes (cases), checks (tests), minutes (costs) and how common each cause
        is (prior).

    Notes
    -----
    Written for Askless from how such a car works. The weights of the causes and the
    minutes are our own estimates and come from no data. A few outcomes are unknown:
    there a mechanic can see either. Every two causes that ask for different repairs
    are told apart by a check that is known for both.

    Examples
    --------
    >>> table = load_car()
    >>> table.n_cases, table.n_tests, len(table.classes)
    (30, 28, 23)

    Looking at the battery clamps takes 3 minutes, 2 of them to open the bonnet. Once
    it is open, the fuses take 4 more instead of 6:

    >>> table.costs.costs["battery clamps"], table.costs.costs["fuses"]
    (3.0, 6.0)
    >>> table.costs.discounted["fuses"]
    4.0
    """
    columns = [_outcomes_of(check) for check in _CHECKS]
    return Table(
        [[column[cause.key] for column in columns] for cause in _CAUSES],
        [cause.repair for cause in _CAUSES],
        costs=_car_costs(),
        prior=[cause.weight for cause in _CAUSES],
        tests=[check.name for check in _CHECKS],
        cases=[cause.name for cause in _CAUSES],
    )
