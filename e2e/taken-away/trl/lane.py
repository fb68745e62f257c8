"""Lane: something stands on the road: stop while there is room, else change to the free lane."""

from __future__ import annotations

from typing import Any, NamedTuple

from playground import pick_by_seed, split_by_hash

TURNS = 3
KINDS = ("pedestrian", "child", "dog", "cat", "deer", "cyclist", "horse", "cow")
SPEEDS = (40, 50, 60, 70)
# Distance and speed always differ by this or more.
MARGIN = 20


class Scenario(NamedTuple):
    """What stands there, how far, how fast we are, and which lane is free."""

    what: str
    distance: int
    speed: int
    free: str


class State(NamedTuple):
    """`outcome` is None while the car drives."""

    scenario: Scenario
    turn: int
    outcome: str | None


FAR = split_by_hash(
    [
        Scenario(what, distance, speed, free)
        for what in KINDS
        for speed in SPEEDS
        for distance in range(speed + MARGIN, 100)
        for free in ("left", "right", "none")
    ],
    1,
)
NEAR = split_by_hash(
    [
        Scenario(what, distance, speed, free)
        for what in KINDS
        for speed in SPEEDS
        for distance in range(10, speed - MARGIN + 1)
        for free in ("left", "right")
    ],
    2,
)


def begin(seed: int, split: str) -> State:
    """The first state that belongs to a seed: far one time in three."""
    scenarios = FAR if pick_by_seed(range(3), seed, 3) == 0 else NEAR
    return State(pick_by_seed(scenarios[split], seed, 4), 0, None)


def text(state: State) -> str:
    """What the model reads."""
    what, distance, speed, free = state.scenario
    ends = {
        None: f"{what}: distance {distance}, speed {speed}, free {free}",
        "stopped": f"{what}: stopped in time",
        "passed": f"{what}: passed",
        "braked-too-late": f"{what}: hit, no room to stop",
        "hit-beside": "car: hit, lane not free",
        "hit-from-behind": "car: hit from behind, there was room to stop",
        "too-slow": f"{what}: hit, no time left",
    }
    return ends[state.outcome]


def act(state: State, name: str, arguments: dict[str, Any]) -> State:
    """A turn is over; the third one that decides nothing ends in a hit."""
    scenario = state.scenario
    far = scenario.distance > scenario.speed
    ended: str | None = None
    if name == "emergency_stop":
        ended = "stopped" if far else "braked-too-late"
    elif name == "lane_change":
        beside = scenario.free != arguments["direction"]
        ended = "hit-beside" if beside else "hit-from-behind" if far else "passed"
    turn = state.turn + 1
    return State(scenario, turn, ended or ("too-slow" if turn >= TURNS else None))


def outcome(state: State) -> float | None:
    """1 when nobody was hit, 0 when somebody was; None while the car drives."""
    return None if state.outcome is None else float(state.outcome in ("stopped", "passed"))
