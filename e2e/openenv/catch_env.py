"""Catch as a typed environment: a ball falls one row per move over six columns, the paddle must stand under it."""

from __future__ import annotations

from typing import Any, Literal, Optional
from uuid import uuid4

from openenv.core.env_server import Action, Environment, Observation, State
from pydantic import Field

from seeded import pick, train_part

COLUMNS = "abcdef"
STARTS = [
    (height, ball, paddle)
    for ball in range(6)
    for height, paddle in train_part([(h, p) for h in (5, 6, 7) for p in range(6)], 10 + ball, 4)
]
MOVES = {"left": -1, "stay": 0, "right": 1}


class CatchAction(Action):
    """One move of the paddle."""

    to: Literal["left", "stay", "right"] = Field(description="Where to move the paddle")


class CatchObservation(Observation):
    """The board in words."""

    text: str = Field(description="Ball and paddle")


class CatchEnvironment(Environment):
    """1.0 when the ball lands on the paddle, 0.0 otherwise; 0.0 on the way down."""

    SUPPORTS_CONCURRENT_SESSIONS = True

    def __init__(self) -> None:
        super().__init__()
        self._state = State(episode_id=str(uuid4()))
        self._height = self._ball = self._paddle = 0

    def _observe(self, reward: Optional[float], done: bool) -> CatchObservation:
        text = f"height {self._height}, ball {COLUMNS[self._ball]}, paddle {COLUMNS[self._paddle]}"
        return CatchObservation(text=text, reward=reward, done=done)

    def reset(self, seed: Optional[int] = None, episode_id: Optional[str] = None, **_: Any) -> CatchObservation:
        """Drop a new ball; the seed fixes height (5-7), ball and paddle."""
        self._state = State(episode_id=episode_id or str(uuid4()))
        self._height, self._ball, self._paddle = pick(STARTS, seed or 0, 5)
        return self._observe(None, False)

    def step(self, action: CatchAction, timeout_s: Optional[float] = None, **_: Any) -> CatchObservation:
        """Move, let the ball fall one row, and judge when it lands."""
        if self._height == 0:
            raise RuntimeError("the ball has landed: call reset first")
        self._state.step_count += 1
        self._paddle = max(0, min(len(COLUMNS) - 1, self._paddle + MOVES[action.to]))
        self._height -= 1
        landed = self._height == 0
        return self._observe(1.0 if landed and self._ball == self._paddle else 0.0, landed)

    @property
    def state(self) -> State:
        return self._state


PARTS = (CatchEnvironment, CatchAction, CatchObservation)
