"""MCP tools that do on request what a client must survive: fail, dawdle, flood, answer in JSON."""

from __future__ import annotations

import asyncio
from typing import Any, Dict, Optional
from uuid import uuid4

from fastmcp import FastMCP
from openenv.core.env_server import MCPEnvironment, Observation, State
from openenv.core.env_server.mcp_types import CallToolAction, CallToolObservation


class ToolsEnvironment(MCPEnvironment):
    """Five tools without a reward; nothing ends the episode."""

    SUPPORTS_CONCURRENT_SESSIONS = True

    def __init__(self) -> None:
        server = FastMCP("tools")
        self._state = State(episode_id=str(uuid4()))

        @server.tool
        def echo(message: str, times: int = 1) -> str:
            """Send the message back."""
            return " ".join([message] * times)

        @server.tool
        def measure(message: str) -> Dict[str, Any]:
            """Say how long a message is."""
            return {"message": message, "length": len(message)}

        @server.tool
        def fail() -> str:
            """Always raises."""
            raise RuntimeError("the tool failed")

        @server.tool
        async def dawdle(seconds: float) -> str:
            """Take a while."""
            await asyncio.sleep(seconds)
            return "done"

        @server.tool
        def flood(characters: int) -> str:
            """Answer at length."""
            return "x" * characters

        super().__init__(server)

    def reset(self, seed: Optional[int] = None, episode_id: Optional[str] = None, **_: Any) -> Observation:
        """A plain start; what it says is in the metadata only, as MCP environments do it."""
        self._state = State(episode_id=episode_id or str(uuid4()))
        return Observation(done=False, reward=0.0, metadata={"message": "Use the tools."})

    def _step_impl(self, action: Any, timeout_s: Optional[float] = None, **_: Any) -> Observation:
        return Observation(metadata={"error": "use list_tools or call_tool"})

    @property
    def state(self) -> State:
        return self._state


PARTS = (ToolsEnvironment, CallToolAction, CallToolObservation)
