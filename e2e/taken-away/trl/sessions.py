"""Episodes on an OpenEnv server, by the `openenv` client: one session an episode, observations read as the page reads them."""

from __future__ import annotations

import math
import os
import re
import time
from contextlib import suppress
from typing import Any, Callable, Sequence
from urllib.parse import urlsplit

from openenv.core.env_client import EnvClient

import observations
from playground import EnvironmentFailed, PlaygroundEpisodes, Seen, hash32

# A reset that fails is tried again after 1, 2, 4 ... seconds; then the run stops, since there is nothing to learn from.
RESET_TRIES = 7
# Answers that look like a refused call but are not the model's doing.
BACKEND_FAULTS = ("timeout", "transport_error", "connection_error")
# A tool's own words stand behind "Error calling tool".
CLOSED = re.compile(r"(MCP (client|server) is not available\b|Server session was closed unexpectedly|Session terminated)")
# How official servers, by their kind, tell in a field that what they call is not there. Elsewhere the same words may be the model's.
MISSING_BACKENDS = {
    "julia": ("stderr", re.compile(r"Julia not found in PATH")),
    "websearch": ("content", re.compile(r"\[ERROR\] Search failed due to")),
}
FOREIGN_FIELDS = ("missing", "extra_forbidden")


class Refused(Exception):
    """The server's VALIDATION_ERROR: an answer for the model, the episode goes on."""


class Client(EnvClient[dict, dict, dict]):
    """The OpenEnv client on plain JSON; it keeps the last frame, as the client's own errors leave out the details."""

    _frame: dict[str, Any] = {}

    def _step_payload(self, action: dict[str, Any]) -> dict[str, Any]:
        return action

    def _parse_result(self, payload: dict[str, Any]) -> dict[str, Any]:
        return payload

    def _parse_state(self, payload: dict[str, Any]) -> dict[str, Any]:
        return payload

    async def _receive(self) -> dict[str, Any]:
        self._frame = await super()._receive()
        return self._frame


def backend_fault(fields: Any, entry: str | None) -> str | None:
    """Why a call failed without the model's doing, or None: such an episode has no reward. `entry` is the kind of environment."""
    if not isinstance(fields, dict):
        return None
    field, words = MISSING_BACKENDS.get(entry or "", ("", CLOSED))
    if isinstance(fields.get(field), str) and words.match(fields[field]):
        return f"The server could not do what was asked: {fields[field][:200]}"
    error = fields.get("error")
    if not isinstance(error, dict):
        return None
    kind, message = str(error.get("error_type") or ""), str(error.get("message") or "")
    is_fault = kind in BACKEND_FAULTS or (kind == "execution_error" and CLOSED.match(message) is not None)
    return f"The tool failed without the model's doing ({kind}): {message}" if is_fault else None


def headers_for(url: str) -> dict[str, str] | None:
    """The Hub token of HF_TOKEN for a Space, which may be private; nothing for any other server."""
    token = os.environ.get("HF_TOKEN")
    host = urlsplit(url).hostname or ""
    secure = url.startswith(("https://", "wss://"))
    return {"Authorization": f"Bearer {token}"} if token and secure and host.endswith(".hf.space") else None


class ServerEpisodes(PlaygroundEpisodes):
    """Episodes on a server. What is known of it stands in `_found`, as the page's discovery left it."""

    _url = ""
    _found: dict[str, Any] = {}
    _reader: Callable[[observations.Frame], str | None] | None = None

    def __init__(self) -> None:
        super().__init__()
        self._client: Any = None
        self._seen_text = ""
        self._seed = 0
        self._replies = 0

    def _begin(self, seed: int) -> str:
        for tries in range(RESET_TRIES):
            try:
                return self._start(seed)
            except Exception as error:
                self._finish()
                if tries == RESET_TRIES - 1:
                    advice = "Is it running, and does it allow as many sessions as README.md says?"
                    raise RuntimeError(f"No episode could be begun at {self._url}: {error}. {advice}") from error
                time.sleep(2**tries)
        raise AssertionError

    def _start(self, seed: int) -> str:
        self._finish()
        self._seed, self._replies, self._seen_text = seed, 0, ""
        seconds = max(60.0, float(self._found.get("step_seconds") or 0))
        self._client = Client(base_url=self._url, message_timeout_s=seconds, headers=headers_for(self._url)).sync()
        self._client.connect()
        payload = self._client.reset(**self._found["reset_data"], seed=seed, episode_id=f"trl-seed{seed}")
        seen = self._read(payload)
        if seen.done:
            metadata = observations.read_frame(payload).metadata
            why = f": {metadata.get('error')}" if metadata.get("status") == "error" else ""
            raise RuntimeError(f"it was already done after reset{why}")
        return seen.text or self._task_in_state()

    def _play(self, call: "Step") -> Seen:
        try:
            seen = [self._step(call.action)]
        except Refused as refused:
            return Seen(f"Error: {refused}", None, False, tool_error=True)
        while call.then is not None and len(seen) <= call.times and not seen[-1].done:
            seen.append(self._own_step(call.then))
        opponent = self._quirk("no-opponent")
        if opponent is not None and not seen[-1].done and self._is_opponents_turn(opponent["turn"]):
            seen.append(self._opponent(opponent))
        rewards = [each.reward for each in seen if each.reward is not None]
        reward = self._summed(rewards) if rewards else None
        return Seen(seen[-1].text, reward, seen[-1].done, seen[0].tool_error)

    def _step(self, action: dict[str, Any]) -> Seen:
        try:
            payload = self._client.step(action)
        except Exception as error:
            self._refuse_or_fail(error)
        fault = backend_fault(payload.get("observation"), self._found.get("entry"))
        if fault is not None:
            raise EnvironmentFailed(fault)
        return self._read(payload, words_of(action))

    def _refuse_or_fail(self, error: Exception) -> None:
        """Raises what an error of the client means."""
        frame = self._client.async_client._frame
        data = frame.get("data") if isinstance(frame, dict) and frame.get("type") == "error" else None
        if isinstance(data, dict) and data.get("code") == "VALIDATION_ERROR" and isinstance(error, RuntimeError):
            errors = [each for each in data.get("errors") or [] if isinstance(each, dict)][:10]
            lines = [f"{'.'.join(map(str, each.get('loc') or []))}: {each.get('msg', '')}".removeprefix(": ")[:300] for each in errors]
            sentence = "; ".join(lines) or str(data.get("message") or "Invalid message")
            # The call fits the tool that the model was shown, so the tool is wrong and 0 would blame the model.
            if not any(each.get("type") in FOREIGN_FIELDS for each in errors):
                raise Refused(sentence) from error
            raise EnvironmentFailed(f"The server wants other fields than its tool has: {sentence}") from error
        raise EnvironmentFailed(f"{type(error).__name__}: {error}") from error

    def _own_step(self, action: dict[str, Any]) -> Seen:
        """A step that is not the model's, which the server must accept."""
        try:
            return self._step(action)
        except Refused as refused:
            raise EnvironmentFailed(f"The server refused a step of our own: {refused}") from refused

    def _is_opponents_turn(self, turn: dict[str, Any]) -> bool:
        """Whether the server says that the other side is to move; servers up to 0.3.1 say it in the state alone."""
        name = turn["field"]
        told = next((each[name] for each in (self._fields, self._metadata) if each.get(name) is not None), None)
        if told is None:
            try:
                told = self._client.state().get(name)
            except Exception as error:
                raise EnvironmentFailed(f"The server told no state: {error}") from error
        if observations.number(told) is None:
            raise EnvironmentFailed(f"The server did not say whose turn it is ({name}).")
        return told != turn["own"]

    def _opponent(self, quirk: dict[str, Any]) -> Seen:
        """A random legal move for the other side, fixed by the seed; what it wins, the policy loses."""
        legal = self._fields.get(quirk["legal"])
        if not isinstance(legal, list) or not legal:
            raise EnvironmentFailed("The server did not say which moves are legal.")
        draw = hash32(self._seed, 0, 0, self._replies) / 0x1_0000_0000
        self._replies += 1
        seen = self._own_step({quirk["field"]: legal[math.floor(draw * len(legal))]})
        return Seen(seen.text, None if seen.reward is None else -seen.reward, seen.done, seen.tool_error)

    def _read(self, payload: dict[str, Any], said: Sequence[str] = ()) -> Seen:
        """One observation as text, reward and done; `said` are the words of the action that it answers."""
        try:
            frame = observations.read_frame(payload)
            self._fields, self._metadata = frame.fields, frame.metadata
            shown = observations.without_pictures(frame)
            plain, tool_error, self._seen_text = observations.text_of(shown, self._seen_text)
            reader = type(self)._reader
            text = reader(shown) if reader is not None else None
            text = plain if text is None else text
        except Exception as error:
            raise EnvironmentFailed(f"An observation could not be read: {error}") from error
        return Seen(text, self._reward_of(frame, text, said), frame.done, tool_error)

    def _reward_of(self, frame: observations.Frame, text: str, said: Sequence[str]) -> float | None:
        invalid = self._quirk("invalid-move")
        if invalid is not None and is_said_by_server(invalid["pattern"], text, said):
            return None if frame.reward is None else 0.0
        field = self._found["reward"].get("field")
        value = frame.fields.get(field)
        return frame.reward if field is None else float(value) if isinstance(value, bool) else observations.number(value)

    def _task_in_state(self) -> str:
        """The task where an old server leaves it out of the reset observation: the named fields of the state and no others."""
        quirk = self._quirk("task-in-state")
        if quirk is None:
            return ""
        state = self._client.state()
        parts = [state[field] for field in quirk["fields"] if isinstance(state.get(field), str) and state[field]]
        if not parts:
            raise RuntimeError("it gave no task: reset said nothing, and neither did the state")
        return "\n".join(parts)

    def _quirk(self, kind: str) -> dict[str, Any] | None:
        return next((each for each in self._found["quirks"] if each["kind"] == kind), None)

    def _summed(self, rewards: list[float]) -> float:
        return rewards[-1] if self._found["reward"]["take"] == "last" else sum(rewards)

    def _total(self, rewards: list[float]) -> float | None:
        # 0 when the model never got one call into the environment: that is its own doing.
        if not rewards:
            return None if self._accepted else 0.0
        floor = self._found["reward"].get("floor")
        total = float(self._summed(rewards))
        return total if floor is None else max(float(floor), total)

    def _is_success(self, reward: float) -> bool:
        return reward >= self._found["reward"]["success_at"]

    def _finish(self) -> None:
        client, self._client = self._client, None
        if client is not None:
            with suppress(Exception):
                client.close()


class Step:
    """What the server gets for a call: an action, then `times` steps with the action `then`, which end early when it is done."""

    def __init__(self, action: dict[str, Any], then: dict[str, Any] | None = None, times: int = 0) -> None:
        # A field whose argument the model left out is left out of the action.
        self.action = {key: value for key, value in action.items() if value is not None}
        self.then = then
        self.times = times


def call_tool(name: str, arguments: dict[str, Any]) -> Step:
    """A call of a tool that the server itself offers (MCP)."""
    return Step({"type": "call_tool", "tool_name": name, "arguments": dict(arguments)})


def filled(template: str, unless: str | None = None, /, **arguments: Any) -> str:
    """A text with `{name}` (as it is) and `{name!r}` (as a Python literal) in it; a lone argument that fits `unless` is sent as it is."""
    lone = re.fullmatch(r"\W*\{(\w+)\}\W*", template)
    whole = arguments.get(lone[1]) if lone else None
    if unless is not None and isinstance(whole, str) and re.search(unless, whole):
        return whole.strip()
    put = lambda match: (literal if match[2] else plain)(arguments.get(match[1]))  # noqa: E731
    return re.sub(r"\{(\w+)(!r)?\}", put, template)


def plain(value: Any) -> str:
    """An argument as it is."""
    return value if isinstance(value, str) else "" if value is None else observations.js_json(value)


def literal(value: Any) -> str:
    """A text as Python source in single quotes, so that what a model writes cannot end the string."""
    if not isinstance(value, str):
        return plain(value)
    escape = lambda letter: {"\\": "\\\\", "'": "\\'", "\n": "\\n"}.get(letter) or (  # noqa: E731
        f"\\x{ord(letter):02x}" if ord(letter) < 0x20 or ord(letter) == 0x7F else letter
    )
    return f"'{''.join(map(escape, value))}'"


# Whether a move was invalid: only the server's own words say so.

PLAYER_LINE = re.compile(r"^[ \t]*\[player \d+\].*$", re.I | re.M)


def words_of(action: Any) -> list[str]:
    """The words of an action, as a server may repeat them."""
    if isinstance(action, str):
        return [action]
    items = action.values() if isinstance(action, dict) else action if isinstance(action, list) else []
    return [word for item in items for word in words_of(item)]


def is_said_by_server(pattern: str, text: str, said: Sequence[str]) -> bool:
    """Whether the server says of the move just made: "You attempted an ...", at the beginning of a line, after what the players said last."""
    for words in said:
        text = _without_words(text, words)
    players = list(PLAYER_LINE.finditer(text))
    own = text[players[-1].end() :] if players else text
    verdict = rf"^[ \t]*(?:\[game\][ \t]*)?(?:you|player \d+) attempted an? (?:{pattern})\b"
    return re.search(verdict, own, re.I | re.M) is not None


def _without_words(text: str, words: str) -> str:
    """The text without what was sent, wherever it is repeated as the player's: its lines could look like the server's."""
    literal = r"\s+".join(re.escape(word) for word in re.sub(r"^[\s\[(]+|[\s\])]+$", "", words).split())
    if not literal:
        return text
    return re.sub(rf"(\[player \d+\][\s\[(]*){literal}", lambda match: f"{match[1]} ", text, flags=re.I)
