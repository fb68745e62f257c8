"""What the page does around any environment: seeds, scenario lists, the check of a call, and how an episode goes on and ends."""

from __future__ import annotations

import functools
import inspect
import json
import math
import re
from dataclasses import dataclass
from decimal import ROUND_HALF_UP, Decimal
from typing import Any, Callable, Sequence, TypeVar

T = TypeVar("T")
MASK = 0xFFFFFFFF
SHOWN = 40


# Random numbers: every draw is a pure function of its keys.


def _rotate(value: int, by: int) -> int:
    return ((value << by) | (value >> (32 - by))) & MASK


def hash32(*keys: int) -> int:
    """A 32-bit unsigned hash of the keys, in order (MurmurHash3 over 32-bit blocks)."""
    state = 0x9747B28C
    for key in keys:
        block = _rotate((key & MASK) * 0xCC9E2D51 & MASK, 15) * 0x1B873593 & MASK
        state = (_rotate(state ^ block, 13) * 5 + 0xE6546B64) & MASK
    state ^= len(keys)
    state = (state ^ (state >> 16)) * 0x85EBCA6B & MASK
    state = (state ^ (state >> 13)) * 0xC2B2AE35 & MASK
    return state ^ (state >> 16)


def group_seeds(seed: int, step: int, groups: int) -> list[int]:
    """The environment seeds of one step, 31 bits each: every member of a group starts from the same scenario."""
    return [hash32(seed, step, group) >> 1 for group in range(groups)]


def split_by_hash(items: Sequence[T], salt: int, held_out: int | None = None) -> dict[str, list[T]]:
    """Holds out the items with the lowest hash of (salt, position): a fifth, unless a count is given."""
    count = math.floor(len(items) * 0.2 + 0.5) if held_out is None else held_out
    ranked = sorted(range(len(items)), key=lambda i: (hash32(salt, i), i))
    held = set(ranked[:count])
    return {
        "train": [item for i, item in enumerate(items) if i not in held],
        "heldout": [item for i, item in enumerate(items) if i in held],
    }


def pick_by_seed(items: Sequence[T], *seed: int) -> T:
    """The item that belongs to a seed."""
    return items[hash32(*seed) % len(items)]


# JSON as JavaScript writes it.


def js_number(value: float) -> str:
    """JSON.stringify of a number."""
    if isinstance(value, int) and abs(value) <= 2**53:
        return str(value)
    value = float(value)
    if not math.isfinite(value):
        return "null"
    digits = repr(value)
    if value == int(value) and abs(value) < 1e21:
        return format(abs(Decimal(digits)) if value == 0 else Decimal(digits).to_integral_value(), "f").removesuffix(".0")
    if "e" in digits and abs(value) >= 1e-6:
        return format(Decimal(digits), "f") if abs(value) < 1e21 else digits
    return re.sub(r"e([+-])0*", r"e\1", digits)


def js_fixed(value: float) -> str:
    """toFixed(1) of a number."""
    return str(Decimal(value).quantize(Decimal("0.1"), ROUND_HALF_UP))


def js_json(value: Any) -> str:
    """JSON.stringify of plain data."""
    if value is None or isinstance(value, bool):
        return json.dumps(value)
    if isinstance(value, (int, float)):
        return js_number(value)
    if isinstance(value, str):
        return re.sub(r"[\ud800-\udfff]", lambda match: f"\\u{ord(match[0]):04x}", json.dumps(value, ensure_ascii=False))
    if isinstance(value, dict):
        return "{" + ",".join(f"{js_json(str(key))}:{js_json(item)}" for key, item in value.items()) + "}"
    return "[" + ",".join(js_json(item) for item in value) + "]"


# The check of a call, in the page's words.


def refusal(name: str, given: dict[str, Any], tools: Sequence[dict[str, Any]]) -> str | None:
    """None when the call fits one of the tools, else a sentence for the model."""
    tool = next((each["function"] for each in tools if each["function"]["name"] == name), None)
    if tool is None:
        return f"There is no tool named {_shown(name)}. The tools are: {', '.join(each['function']['name'] for each in tools)}."
    parameters = tool["parameters"]
    properties = parameters.get("properties")
    for required in parameters.get("required") or []:
        if required not in given:
            return f"The tool {_shown(name)} needs the argument {_shown(required)}."
    for key, value in given.items():
        schema = (properties or {}).get(key)
        if schema is None:
            if properties is None or parameters.get("additionalProperties") not in (None, False):
                continue
            hint = f"Its arguments are: {', '.join(properties)}." if properties else "It has none."
            return f"The tool {_shown(name)} has no argument {_shown(key)}. {hint}"
        expected = _mismatch(value, schema)
        if expected is not None:
            return f"The argument {_shown(key)} of {_shown(name)} must be {expected}, not {_shown(value)}."
    return None


def _mismatch(value: Any, schema: Any) -> str | None:
    """None when the value fits, else what it must be."""
    if not isinstance(schema, dict):
        return None
    if value is None and schema.get("nullable") is True:
        return None
    choices = schema.get("anyOf") or schema.get("oneOf")
    if isinstance(choices, list) and choices:
        wrong = [_mismatch(value, choice) for choice in choices]
        if None not in wrong:
            return " or ".join(dict.fromkeys(str(each) for each in wrong))
    if "const" in schema and js_json(value) != js_json(schema["const"]):
        return _shown(schema["const"])
    if "enum" in schema and all(js_json(value) != js_json(choice) for choice in schema["enum"]):
        return f"one of {', '.join(js_json(choice) for choice in schema['enum'])}"
    kinds = schema["type"] if isinstance(schema.get("type"), list) else [schema["type"]] if "type" in schema else []
    if kinds and not any(_has_type(value, kind) for kind in kinds):
        return " or ".join(IN_WORDS.get(str(kind), str(kind)) for kind in kinds)
    size = _size_mismatch(value, schema)
    if size is not None:
        return size
    if isinstance(value, list) and "items" in schema:
        wrong = [each for each in (_mismatch(item, schema["items"]) for item in value) if each is not None]
        if wrong:
            return f"a list of which each item is {wrong[0]}"
    return _object_mismatch(value, schema) if isinstance(value, dict) else None


def _size_mismatch(value: Any, schema: dict[str, Any]) -> str | None:
    is_number = _has_type(value, "number")
    if not is_number and not isinstance(value, str):
        return None
    low = schema.get("minimum" if is_number else "minLength")
    high = schema.get("maximum" if is_number else "maxLength")
    low = low if _has_type(low, "number") else None
    high = high if _has_type(high, "number") else None
    size = value if is_number else len(value)
    if (low is None or size >= low) and (high is None or size <= high):
        return None
    if low is None:
        bounds = f"at most {js_number(high)}"
    else:
        bounds = f"at least {js_number(low)}" if high is None else f"from {js_number(low)} to {js_number(high)}"
    return f"a number {bounds}" if is_number else f"a string of length {bounds}"


def _object_mismatch(value: dict[str, Any], schema: dict[str, Any]) -> str | None:
    properties = schema.get("properties") or {}
    for name in schema.get("required") or []:
        if name not in value:
            return f"an object with {_shown(name)}"
    for name, child in value.items():
        if name not in properties:
            if schema.get("additionalProperties") is False:
                return f"an object without {_shown(name)}"
            continue
        expected = _mismatch(child, properties[name])
        if expected is not None:
            return f"an object in which {_shown(name)} is {expected}"
    return None


IN_WORDS = {
    "string": "a string",
    "boolean": "true or false",
    "number": "a number",
    "integer": "an integer",
    "array": "a list",
    "object": "an object",
    "null": "null",
}


def _has_type(value: Any, kind: Any) -> bool:
    is_number = isinstance(value, (int, float)) and not isinstance(value, bool)
    tests = {
        "string": isinstance(value, str),
        "boolean": isinstance(value, bool),
        "number": is_number,
        "integer": is_number and math.isfinite(value) and value == int(value),
        "array": isinstance(value, list),
        "object": isinstance(value, dict),
        "null": value is None,
    }
    return tests.get(str(kind), True)


def _shown(value: Any) -> str:
    text = js_json(value)
    return f"{text[:SHOWN]}…" if len(text) > SHOWN else text


# Episodes.


class EnvironmentFailed(Exception):
    """The environment failed, not the model: the episode has no reward."""


@dataclass
class Seen:
    """What one call brought. A reward of None was not given, which is not 0."""

    text: str
    reward: float | None
    done: bool
    tool_error: bool = False


def tool(name: str) -> Callable[[Callable[..., Any]], Callable[..., str]]:
    """Makes a method a tool that the model calls by `name`: the call is checked as on the page, then what the method returns is sent."""

    def decorate(method: Callable[..., Any]) -> Callable[..., str]:
        parameters = inspect.signature(method).parameters
        takes_all = any(each.kind is inspect.Parameter.VAR_KEYWORD for each in parameters.values())

        @functools.wraps(method)
        def call(self: "PlaygroundEpisodes", /, **arguments: Any) -> str:
            known = {key: value for key, value in arguments.items() if takes_all or key in parameters}
            return self._call(name, arguments, lambda: method(self, **known))

        # TRL offers and calls tools by the function's own name.
        call.__name__ = name
        return call

    return decorate


class PlaygroundEpisodes:
    """Plays episodes by the page's rules. TRL takes every public method for a tool, so all but `reset` and the tools begin with `_`."""

    _tools: Sequence[dict[str, Any]] = ()
    # Read by the model when it calls after the end; train.py makes it too long to be added, so that TRL ends the episode.
    _end = "The episode is over."
    # Whether it has a reward of its own.
    _judges = True

    def __init__(self) -> None:
        self._rewards: list[float | None] = []
        self._accepted = False
        self._failure: str | None = None
        self._over = False
        self._given: dict[str, Any] = {}

    def reset(self, seed: int = 0, **_: Any) -> str:
        """Begins the episode of a seed; TRL appends the text to the prompt."""
        self._rewards = []
        self._accepted = False
        self._failure = None
        self._over = False
        return self._begin(int(seed))

    def _call(self, name: str, arguments: dict[str, Any], make: Callable[[], Any]) -> str:
        if self._over or self._failure is not None:
            return self._end
        wrong = refusal(name, arguments, self._tools)
        if wrong is not None:
            self._rewards.append(None)
            return f"Error: {wrong}"
        self._given = arguments
        try:
            seen = self._play(make())
        except EnvironmentFailed as error:
            self._failure = str(error)
            self._finish()
            return self._end
        self._rewards.append(seen.reward)
        self._accepted = self._accepted or not seen.tool_error
        if not seen.done:
            return seen.text
        self._over = True
        self._finish()
        return self._end

    def _reward(self) -> float | None:
        """The episode's reward; None when it cannot be scored."""
        return None if self._failure is not None else self._total([each for each in self._rewards if each is not None])

    def _begin(self, seed: int) -> str:
        raise NotImplementedError

    def _play(self, call: Any) -> Seen:
        raise NotImplementedError

    def _total(self, rewards: list[float]) -> float | None:
        raise NotImplementedError

    def _is_success(self, reward: float) -> bool:
        return reward >= 1

    def _finish(self) -> None:
        """Releases what an episode holds."""
