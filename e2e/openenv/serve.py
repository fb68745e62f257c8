"""Serves one of our test environments with the real OpenEnv library: python serve.py {echo,catch,misbehave} --port N."""

from __future__ import annotations

import argparse
import importlib
import socket

import uvicorn
from openenv.core.env_server import ConcurrencyConfig, create_fastapi_app


class AnnouncingServer(uvicorn.Server):
    """Prints READY and the port once it accepts connections, for whoever started it."""

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        await super().startup(sockets)
        port = self.servers[0].sockets[0].getsockname()[1]
        print(f"READY {port}", flush=True)


def main() -> None:
    """Parse the command line and serve until killed."""
    cli = argparse.ArgumentParser(description=__doc__)
    cli.add_argument("environment", choices=("echo", "catch", "misbehave"))
    cli.add_argument("--port", type=int, default=8000, help="0 lets the system choose")
    cli.add_argument("--host", default="127.0.0.1")
    cli.add_argument("--max-sessions", type=int, default=16)
    args = cli.parse_args()
    environment, action, observation = importlib.import_module(f"{args.environment}_env").PARTS
    app = create_fastapi_app(
        environment,
        action,
        observation,
        concurrency_config=ConcurrencyConfig(max_concurrent_envs=args.max_sessions),
    )
    AnnouncingServer(uvicorn.Config(app, host=args.host, port=args.port, log_level="warning")).run()


if __name__ == "__main__":
    main()
