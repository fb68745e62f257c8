"""reasoning-gym as a typed environment: one question, one answer, the library's own score from 0 to 1."""

from __future__ import annotations

from typing import Any, Optional
from uuid import uuid4

import reasoning_gym
from openenv.core.env_server import Action, Environment, Observation, State
from pydantic import Field


class ReasoningAction(Action):
    """The answer."""

    answer: str = Field(description="The final answer")


class ReasoningObservation(Observation):
    """The question, later the score."""

    question: Optional[str] = None
    score: Optional[float] = None


class ReasoningEnvironment(Environment):
    """A sum of two small numbers; the seed picks it."""

    SUPPORTS_CONCURRENT_SESSIONS = True

    def __init__(self) -> None:
        super().__init__()
        self._state = State(episode_id=str(uuid4()))
        self._tasks = self._task = None

    def reset(self, seed: Optional[int] = None, episode_id: Optional[str] = None, **_: Any) -> ReasoningObservation:
        """A data set of one task."""
        self._state = State(episode_id=episode_id or str(uuid4()))
        self._tasks = reasoning_gym.create_dataset("basic_arithmetic", size=1, seed=seed or 0, min_terms=2, max_terms=2, min_digits=1, max_digits=1)
        self._task = self._tasks[0]
        return ReasoningObservation(question=self._task["question"])

    def step(self, action: ReasoningAction, timeout_s: Optional[float] = None, **_: Any) -> ReasoningObservation:
        """The library scores the answer."""
        if self._tasks is None:
            raise RuntimeError("call reset first")
        self._state.step_count += 1
        score = self._tasks.score_answer(action.answer, self._task)
        return ReasoningObservation(score=score, reward=score, done=True)

    @property
    def state(self) -> State:
        return self._state


PARTS = (ReasoningEnvironment, ReasoningAction, ReasoningObservation)
