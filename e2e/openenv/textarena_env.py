"""TextArena's GuessTheNumber as a typed environment, the conversation as TextArena tells it."""

from __future__ import annotations

from typing import Any, Dict, List, Optional
from uuid import uuid4

import textarena
from openenv.core.env_server import Action, Environment, Observation, State
from pydantic import Field


class ArenaAction(Action):
    """What the player says."""

    message: str = Field(min_length=1, description="What to say; only what stands in [brackets] is a move")


class ArenaObservation(Observation):
    """What was said since the last move, and all of it as OpenEnv's own TextArena server tells it."""

    prompt: str = ""
    messages: List[Dict[str, Any]] = Field(default_factory=list)


class ArenaEnvironment(Environment):
    """The game's own reward comes at its end."""

    SUPPORTS_CONCURRENT_SESSIONS = True

    def __init__(self) -> None:
        super().__init__()
        self._state = State(episode_id=str(uuid4()))
        # Raw: without the wrappers that repeat the whole game at every turn.
        self._game = textarena.make("GuessTheNumber-v0-raw")
        self._said: List[Dict[str, Any]] = []

    def _observe(self, reward: Optional[float], done: bool) -> ArenaObservation:
        _, news = self._game.get_observation()
        self._said += [{"sender_id": sender, "content": text, "category": kind.name} for sender, text, kind in news or []]
        return ArenaObservation(prompt=self._said[0]["content"], messages=list(self._said), reward=reward, done=done)

    def reset(self, seed: Optional[int] = None, episode_id: Optional[str] = None, **_: Any) -> ArenaObservation:
        """A new game with this seed."""
        self._state = State(episode_id=episode_id or str(uuid4()))
        self._said = []
        self._game.reset(num_players=1, seed=seed or 0)
        return self._observe(None, False)

    def step(self, action: ArenaAction, timeout_s: Optional[float] = None, **_: Any) -> ArenaObservation:
        """One move; an invalid one may end the game."""
        if not self._said:
            raise RuntimeError("call reset first")
        self._state.step_count += 1
        done, _ = self._game.step(action.message)
        rewards = self._game.close()[0] if done else None
        return self._observe((rewards or {}).get(0), done)

    @property
    def state(self) -> State:
        return self._state


PARTS = (ArenaEnvironment, ArenaAction, ArenaObservation)
