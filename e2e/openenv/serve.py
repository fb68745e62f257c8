"""Serves environments with the real OpenEnv library: python serve.py NAME --port N, where NAME_env.py (or a .py file of yours) holds PARTS."""

from __future__ import annotations

import argparse
import asyncio
import importlib
import socket
import sys
from pathlib import Path
from typing import Any, Optional

import uvicorn
from fastapi.middleware.cors import CORSMiddleware
from openenv.core.env_server import ConcurrencyConfig, create_fastapi_app

KNOWN = sorted(path.stem[: -len("_env")] for path in Path(__file__).parent.glob("*_env.py"))

HOW_TO = """
{name} is served at ws://{host}:{port}/ws by OpenEnv, for {sessions} sessions at once.
Paste into the page, as the environment's address:   http://localhost:{port}
The page must run on this machine. To stop: Ctrl-C.
"""


class AnnouncingServer(uvicorn.Server):
    """Prints READY, its port and its label once it accepts connections, for whoever started it."""

    def __init__(self, config: uvicorn.Config, label: str, how_to: str) -> None:
        super().__init__(config)
        self._label = label
        self._how_to = how_to

    async def startup(self, sockets: Optional[list[socket.socket]] = None) -> None:
        await super().startup(sockets)
        if not self.servers:
            return
        port = self.servers[0].sockets[0].getsockname()[1]
        print(f"READY {port} {self._label}".strip() + self._how_to.replace("{port}", str(port)), flush=True)


def parts_of(name: str) -> Any:
    """Environment, action and observation class of one of ours or of a file."""
    own = Path(name)
    if own.suffix == ".py" and own.is_file():
        sys.path.insert(0, str(own.resolve().parent))
        return importlib.import_module(own.stem).PARTS
    if name in KNOWN:
        return importlib.import_module(f"{name}_env").PARTS
    sys.exit(f"There is no environment {name!r}: choose one of {', '.join(KNOWN)}, or give the path of a .py file of your own that sets PARTS.")


async def serve_all(servers: list[AnnouncingServer]) -> None:
    """All in one process: the library takes seconds to import."""
    await asyncio.gather(*(server.serve() for server in servers))


def main() -> None:
    """Parse the command line and serve until killed."""
    cli = argparse.ArgumentParser(description=__doc__)
    cli.add_argument("environment", nargs="+", help=f"one of {', '.join(KNOWN)}, or a .py file of your own; NAME:N allows N sessions")
    cli.add_argument("--port", type=int, default=8000, help="of the first; 0 lets the system choose")
    cli.add_argument("--host", default="127.0.0.1")
    cli.add_argument("--max-sessions", type=int, default=16)
    args = cli.parse_args()
    servers = []
    for index, entry in enumerate(args.environment):
        name, _, count = entry.partition(":")
        sessions = int(count) if count else args.max_sessions
        app = create_fastapi_app(*parts_of(name), concurrency_config=ConcurrencyConfig(max_concurrent_envs=sessions))
        if name.endswith(".py"):
            # The page may read the descriptions of its fields, as when the file is started by itself; ours are as most servers are, without.
            app.add_middleware(CORSMiddleware, allow_origins=["*"])
        several = len(args.environment) > 1
        how_to = HOW_TO.replace("{name}", name).replace("{host}", args.host).replace("{sessions}", str(sessions))
        port = args.port + index if args.port else 0
        config = uvicorn.Config(app, host=args.host, port=port, log_level="warning")
        servers.append(AnnouncingServer(config, entry if several else "", "" if several else how_to.rstrip("\n")))
    if len(servers) == 1:
        servers[0].run()
    else:
        asyncio.run(serve_all(servers))


if __name__ == "__main__":
    main()
