"""What the model reads of an OpenEnv observation: its text where it has one, the tool's result, else compact JSON with boards as lines."""

from __future__ import annotations

import math
import re
from dataclasses import dataclass, replace
from typing import Any, Sequence

from pictures import without_images
from playground import js_json

MAX_TEXT = 20_000
LONGEST_SIDE = 40
# Where environments put the task of an episode in its metadata, and what else they say there.
TASKS = ("question", "prompt", "task", "instruction", "instructions", "goal", "problem")
REMARKS = ("text", "message")
BOARD_NAME = re.compile(r"(board|grid|map|cells|maze)", re.I)


@dataclass
class Frame:
    """An observation: its own fields, and what the envelope says."""

    fields: dict[str, Any]
    reward: float | None
    done: bool
    metadata: dict[str, Any]


def number(value: Any) -> float | None:
    """A finite number, else None; NaN and infinities are no rewards."""
    is_number = isinstance(value, (int, float)) and not isinstance(value, bool)
    return float(value) if is_number and math.isfinite(value) else None


def read_frame(data: dict[str, Any]) -> Frame:
    """Reads the data of an observation frame; reward and done stand beside the observation, in home-made servers inside it."""
    data = _finite(data)
    nested = data.get("observation")
    if nested is not None and not isinstance(nested, dict):
        raise ValueError("its observation is not an object")
    inside = data if nested is None else nested
    reward = data["reward"] if "reward" in data else inside.get("reward")
    done = data["done"] if "done" in data else inside.get("done")
    if reward is not None and not isinstance(reward, (bool, int, float)):
        raise ValueError("its reward is not a number")
    if done is not None and not isinstance(done, bool):
        raise ValueError("its done is neither true nor false")
    metadata = data.get("metadata")
    metadata = inside.get("metadata") if metadata is None else metadata
    envelope = ("reward", "done", "metadata") if nested is not None else ("reward", "done", "metadata", "observation")
    fields = {key: value for key, value in inside.items() if key not in envelope}
    given = float(reward) if isinstance(reward, bool) else number(reward)
    return Frame(fields, given, bool(done), metadata if isinstance(metadata, dict) else {})


def _finite(value: Any) -> Any:
    """The value with None for NaN and infinities, which Python servers write and JSON does not know."""
    if isinstance(value, dict):
        return {key: _finite(item) for key, item in value.items()}
    if isinstance(value, list):
        return [_finite(item) for item in value]
    return None if isinstance(value, float) and not math.isfinite(value) else value


def without_pictures(frame: Frame) -> Frame:
    """The frame with placeholders for its pictures, which a text-only model cannot see."""
    return replace(frame, fields=without_images(frame.fields), metadata=without_images(frame.metadata))


def text_of(frame: Frame, seen: str) -> tuple[str, bool, str]:
    """The text, whether a tool failed, and what is to be handed to the next call of the same episode."""
    fields = frame.fields
    if isinstance(fields.get("tool_name"), str) and ("result" in fields or "error" in fields):
        error = fields.get("error")
        if error is not None:
            message = (_as_text(error.get("message")) or _as_text(error.get("error_type"))) if isinstance(error, dict) else _as_text(error)
            return f"Error: {message}", True, seen
        if not _has_text(fields):
            text, failed = _tool_result(fields.get("result"))
            return (f"Error: {text}" if failed else text), failed, seen
    if _has_text(fields):
        return _as_text(fields["text"]), False, seen
    whole = _conversation(fields)
    if whole is not None:
        return _as_text(_news(whole, seen)), False, whole
    text = _fields_text({**fields, "text": None} if fields.get("text") == "" else fields)
    task = _first_text(frame.metadata, TASKS)
    if not text:
        return _as_text(task or _first_text(frame.metadata, REMARKS)), False, task or seen
    # A server may repeat the task at each step.
    if task in ("", seen):
        return text, False, seen
    return _as_text(f"{task}\n{text}"), False, task


def _has_text(fields: dict[str, Any]) -> bool:
    return isinstance(fields.get("text"), str) and fields["text"] != ""


def _first_text(fields: dict[str, Any], keys: Sequence[str]) -> str:
    return next((fields[key] for key in keys if isinstance(fields.get(key), str) and fields[key]), "")


def _news(whole: str, seen: str) -> str:
    """What of a conversation came after `seen`, which it begins with, or whose last lines it begins with."""
    if whole.startswith(seen):
        return whole[len(seen) :].strip()
    at = seen.find("\n")
    while at >= 0:
        end = seen[at + 1 :]
        if end.strip() and (whole == end or whole.startswith(f"{end}\n")):
            return whole[len(end) :].strip()
        at = seen.find("\n", at + 1)
    return whole


def _as_text(value: Any) -> str:
    text = "" if value is None else value if isinstance(value, str) else js_json(value)
    return f"{text[:MAX_TEXT]} [cut: {len(text)} characters]" if len(text) > MAX_TEXT else text


def _tool_result(result: Any) -> tuple[str, bool]:
    """An MCP tool's result as text, and whether the tool said that it failed."""
    if not isinstance(result, dict):
        return _as_text(result), False
    failed = _either(result, "is_error", "isError") is True
    if result.get("data") is not None:
        return _as_text(result["data"]), failed
    structured = _either(result, "structured_content", "structuredContent")
    if isinstance(structured, dict):
        return _as_text(structured["result"] if list(structured) == ["result"] else structured), failed
    if isinstance(result.get("content"), list):
        return _as_text("\n".join(_part_text(part) for part in result["content"] if isinstance(part, dict))), failed
    return _as_text(result), failed


def _either(fields: dict[str, Any], one: str, other: str) -> Any:
    return fields.get(other) if fields.get(one) is None else fields[one]


def _part_text(part: dict[str, Any]) -> str:
    if isinstance(part.get("text"), str):
        return part["text"]
    data = part.get("data")
    return data if isinstance(data, str) and data.startswith("[") else f"[{_as_text(part.get('type')) or 'content'}]"


def _conversation(fields: dict[str, Any]) -> str | None:
    """TextArena repeats the whole game in every message."""
    prompt, messages = fields.get("prompt"), fields.get("messages")
    if not isinstance(prompt, str) or not isinstance(messages, list):
        return None
    said = [each["content"] for each in messages if isinstance(each, dict) and isinstance(each.get("content"), str)]
    return "\n".join(said) if said else prompt


def _fields_text(fields: dict[str, Any]) -> str:
    boards: list[str] = []
    rest: dict[str, Any] = {}
    for name, value in fields.items():
        cells = board_rows(value) or fold_rows(value, fields.get("width"), fields.get("height")) if BOARD_NAME.search(name) else None
        if cells is None:
            rest[name] = value
        else:
            boards.append(f"{name}:\n{board_text(cells)}")
    given = {name: value for name, value in rest.items() if value is not None}
    return _as_text("\n".join([_as_text(given), *boards] if given else boards))


def board_rows(value: Any) -> list[list[str]] | None:
    """The rows of a board, or None: at least 2 by 2 short cells, all rows of one length."""
    if not isinstance(value, list) or not 2 <= len(value) <= LONGEST_SIDE or not isinstance(value[0], list):
        return None
    width = len(value[0])
    if not 2 <= width <= LONGEST_SIDE or not all(isinstance(row, list) and len(row) == width for row in value):
        return None
    if not all(isinstance(cell, (bool, int, float, str)) for row in value for cell in row):
        return None
    cells = [[cell if isinstance(cell, str) else js_json(cell) for cell in row] for row in value]
    return cells if all(len(cell) <= 6 for row in cells for cell in row) else None


def fold_rows(value: Any, width: Any, height: Any) -> list[list[str]] | None:
    """A flat list cut into rows, or None when it does not have width × height cells."""
    sides = all(number(side) is not None and side == int(side) and side > 0 for side in (width, height))
    if not sides or not isinstance(value, list) or len(value) != width * height:
        return None
    width, height = int(width), int(height)
    return board_rows([value[row * width : (row + 1) * width] for row in range(height)])


def board_text(cells: Sequence[Sequence[str]], symbols: dict[str, str] | None = None) -> str:
    """One line a row; cells of several characters are padded, so that columns stay columns."""
    shown = [[(symbols or {}).get(cell, cell) for cell in row] for row in cells]
    width = max(len(cell) for row in shown for cell in row)
    return "\n".join(" ".join(cell.rjust(width) for cell in row) for row in shown)
