"""The smallest OpenEnv server of your own: guess a number from 1 to 8 in four tries, with hints."""

import random
from typing import Any, Optional
from uuid import uuid4

import uvicorn
from fastapi.middleware.cors import CORSMiddleware
from openenv.core.env_server import Action, Environment, Observation, State, create_fastapi_app
from pydantic import Field


class GuessAction(Action):
    """What the model does: each field is an argument of its tool, described to it in these words. The page must be able to read them: see CORS below."""

    message: str = Field(description="Your guess, a number from 1 to 8")


class GuessObservation(Observation):
    """What the model reads. `reward` and `done` are there already."""

    text: str = ""


class GuessEnvironment(Environment):
    """One object is one episode's world: the page opens a socket for each episode."""

    # Without this a server has one session only, and the episodes of a group must queue.
    SUPPORTS_CONCURRENT_SESSIONS = True

    def __init__(self) -> None:
        super().__init__()
        self._state = State(episode_id=str(uuid4()))
        self._secret = 1

    def reset(self, seed: Optional[int] = None, episode_id: Optional[str] = None, **_: Any) -> GuessObservation:
        """The same seed must give the same task: GRPO compares episodes that began alike."""
        self._state = State(episode_id=episode_id or str(uuid4()))
        self._secret = random.Random(seed).randint(1, 8)
        return GuessObservation(text="I think of a number from 1 to 8. You have four guesses.")

    def step(self, action: GuessAction, timeout_s: Optional[float] = None, **_: Any) -> GuessObservation:
        """Answer one call: a text to read, a reward, and whether the episode is over."""
        self._state.step_count += 1
        over = self._state.step_count == 4
        if not action.message.strip().isdigit():
            return GuessObservation(text="That is not a number.", reward=0.0, done=over)
        guess = int(action.message)
        if guess == self._secret:
            return GuessObservation(text="Right!", reward=1.0, done=True)
        return GuessObservation(text="Higher." if guess < self._secret else "Lower.", reward=0.0, done=over)

    @property
    def state(self) -> State:
        return self._state


PARTS = (GuessEnvironment, GuessAction, GuessObservation)

if __name__ == "__main__":
    app = create_fastapi_app(*PARTS, max_concurrent_envs=16)
    # Lets a page of another origin read /schema. Without it the tool has neither your descriptions nor fields with a default.
    app.add_middleware(CORSMiddleware, allow_origins=["*"])
    uvicorn.run(app, host="127.0.0.1", port=8000)
