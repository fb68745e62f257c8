"""Echo as an MCP environment: one tool, `echo_message`; the reward grows with the length of what is said, up to 1."""

from __future__ import annotations

from typing import Any, Optional
from uuid import uuid4

from fastmcp import FastMCP
from openenv.core.env_server import MCPEnvironment, Observation, State
from openenv.core.env_server.mcp_types import CallToolAction, CallToolObservation
from pydantic import Field

from seeded import pick, train_part

WORDS = """
    apple bird boat book bread cloud door fire fish flower garden gold
    green hand house lake leaf light moon music night paper rain red
    river road snow star stone sun table tree water white wind winter
""".split()
ONE = train_part(WORDS, 20)
TWO = train_part([f"{a} {b}" for a in WORDS for b in WORDS if a != b], 21)


def reward_of(said: str) -> float:
    """Grows with every character, up to 1 for two of the longest words: the idea of TRL's echo example."""
    return min(len(said) / 13, 1.0)


class EchoReady(Observation):
    """What reset answers: the message to repeat, in quotes."""

    text: str = Field(description="The message to repeat")


class EchoEnvironment(MCPEnvironment):
    """One call ends the episode, also one that is refused (reward 0)."""

    SUPPORTS_CONCURRENT_SESSIONS = True

    def __init__(self) -> None:
        server = FastMCP("echo")
        self._state = State(episode_id=str(uuid4()))
        self._wanted = ""

        @server.tool
        def echo_message(message: str) -> str:
            """Echo back the provided message."""
            return message

        super().__init__(server)

    def reset(self, seed: Optional[int] = None, episode_id: Optional[str] = None, **_: Any) -> Observation:
        """Pick the message that belongs to this seed."""
        self._state = State(episode_id=episode_id or str(uuid4()))
        self._wanted = pick(pick((ONE, TWO), seed or 0, 6), seed or 0, 7)
        return EchoReady(text=f'message "{self._wanted}"', done=False, reward=None)

    async def step_async(self, action: Any, timeout_s: Optional[float] = None, **kwargs: Any) -> Observation:
        """Run the tool, then score the message: the library itself gives tool calls no reward."""
        observation = await super().step_async(action, timeout_s=timeout_s, **kwargs)
        if isinstance(action, CallToolAction):
            self._state.step_count += 1
            refused = not isinstance(observation, CallToolObservation) or observation.error is not None
            observation.reward = 0.0 if refused else reward_of(str(action.arguments.get("message")))
            observation.done = True
        return observation

    def _step_impl(self, action: Any, timeout_s: Optional[float] = None, **_: Any) -> Observation:
        raise ValueError("this environment takes tool calls only")

    @property
    def state(self) -> State:
        return self._state


PARTS = (EchoEnvironment, CallToolAction, CallToolObservation)
