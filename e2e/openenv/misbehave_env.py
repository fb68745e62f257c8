"""A typed environment that does on request what a client must survive: raise, dawdle, lie in numbers, flood, die."""

from __future__ import annotations

import os
import time
from typing import Any, Optional
from uuid import uuid4

from openenv.core.env_server import Action, Environment, Observation, State
from pydantic import Field, field_validator


class MisbehaveAction(Action):
    """The message chooses the misbehaviour: !raise, !sleep:SECONDS, !while:FILE, !nan, !big:BYTES, !die, !done, !meta, or the refused word `bad`."""

    message: str = Field(min_length=1)

    @field_validator("message")
    @classmethod
    def refuse_bad(cls, value: str) -> str:
        """A ValueError here is what the library cannot write as JSON, so the whole session is lost."""
        if value == "bad":
            raise ValueError("this message is refused")
        return value


class MisbehaveObservation(Observation):
    """The message, or what took its place."""

    text: str = ""


class MisbehaveEnvironment(Environment):
    """Well-behaved messages are answered in capitals with reward 0.5."""

    SUPPORTS_CONCURRENT_SESSIONS = True

    def __init__(self) -> None:
        super().__init__()
        self._state = State(episode_id=str(uuid4()))

    def reset(self, seed: Optional[int] = None, episode_id: Optional[str] = None, **_: Any) -> MisbehaveObservation:
        """A plain start."""
        self._state = State(episode_id=episode_id or str(uuid4()))
        return MisbehaveObservation(text="what now?")

    def step(self, action: MisbehaveAction, timeout_s: Optional[float] = None, **_: Any) -> MisbehaveObservation:
        """Obey the provocation before the colon."""
        self._state.step_count += 1
        what, _, amount = action.message.partition(":")
        if what == "!die":
            os._exit(9)
        if what == "!raise":
            raise RuntimeError("asked to fail")
        if what == "!sleep":
            time.sleep(float(amount))
        while what == "!while" and os.path.exists(amount):
            time.sleep(0.02)
        if what == "!nan":
            return MisbehaveObservation(text="not a number", reward=float("nan"))
        if what == "!big":
            return MisbehaveObservation(text="x" * int(amount), reward=0.5)
        metadata = {"turn": self._state.step_count} if what == "!meta" else {}
        return MisbehaveObservation(text=action.message.upper(), reward=0.5, done=what == "!done", metadata=metadata)

    @property
    def state(self) -> State:
        return self._state


PARTS = (MisbehaveEnvironment, MisbehaveAction, MisbehaveObservation)
