"""Catch: a ball falls one row a move; the paddle must stand under it when it lands. The reward comes only at the end."""

from __future__ import annotations

from typing import Any, NamedTuple

from playground import pick_by_seed, split_by_hash

COLUMNS = "abcdef"
MOVES = {"left": -1, "stay": 0, "right": 1}


class State(NamedTuple):
    """`height` is the number of moves until the ball lands; ball and paddle are columns."""

    height: int
    ball: int
    paddle: int


# Of the 18 starts of a ball column, 4 are held out.
_PARTS = [
    split_by_hash([State(height, ball, paddle) for height in (5, 6, 7) for paddle in range(6)], 10 + ball, 4)
    for ball in range(6)
]
SCENARIOS = {split: [state for part in _PARTS for state in part[split]] for split in ("train", "heldout")}


def begin(seed: int, split: str) -> State:
    """The first state that belongs to a seed."""
    return pick_by_seed(SCENARIOS[split], seed, 5)


def text(state: State) -> str:
    """What the model reads."""
    return f"height {state.height}, ball {COLUMNS[state.ball]}, paddle {COLUMNS[state.paddle]}"


def act(state: State, name: str, arguments: dict[str, Any]) -> State:
    """One move: the paddle shifts (walls stop it), the ball falls one row."""
    paddle = min(len(COLUMNS) - 1, max(0, state.paddle + MOVES[arguments["to"]]))
    return State(state.height - 1, state.ball, paddle)


def outcome(state: State) -> float | None:
    """1 when the ball landed on the paddle, 0 when beside it; None while it falls."""
    return None if state.height > 0 else float(state.ball == state.paddle)
