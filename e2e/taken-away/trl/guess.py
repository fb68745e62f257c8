"""Guess: a secret number in a small range, three guesses. Each answer says higher or lower and what range is left."""

from __future__ import annotations

from typing import Any, NamedTuple

from playground import pick_by_seed, split_by_hash

TURNS = 3
SIZES = (6, 7)
LARGEST = 9


class State(NamedTuple):
    """`low` and `high` are what is left; `last` is None before the first guess."""

    low: int
    high: int
    secret: int
    turn: int = 0
    last: int | None = None


# Of every size of a range one game in five is held out.
_PARTS = [
    split_by_hash([State(low, low + size - 1, low + i) for low in range(LARGEST + 2 - size) for i in range(size)], 30 + size)
    for size in SIZES
]
SCENARIOS = {split: [state for part in _PARTS for state in part[split]] for split in ("train", "heldout")}


def begin(seed: int, split: str) -> State:
    """The first state that belongs to a seed."""
    return pick_by_seed(SCENARIOS[split], seed, 8)


def text(state: State) -> str:
    """What the model reads."""
    low, high, secret, turn, last = state
    if last == secret:
        return "right"
    if turn >= TURNS:
        return f"no guess left, it was {secret}"
    said = "" if last is None else "higher, " if last < secret else "lower, "
    return f"{said}from {low} to {high}"


def act(state: State, name: str, arguments: dict[str, Any]) -> State:
    """A guess: the range shrinks to what is left."""
    low, high, secret, turn, _ = state
    number = arguments["number"]
    if number == secret:
        return State(secret, secret, secret, turn + 1, number)
    if number < secret:
        return State(max(low, number + 1), high, secret, turn + 1, number)
    return State(low, min(high, number - 1), secret, turn + 1, number)


def outcome(state: State) -> float | None:
    """1 when the number was found, 0 when the guesses are used up; None while there are some."""
    return 1.0 if state.last == state.secret else 0.0 if state.turn >= TURNS else None
