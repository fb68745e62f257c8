"""Rows of a dataset of prompts as the page reads them: prompts as conversations, and a part that is never trained on."""

from __future__ import annotations

import json
import math
from pathlib import Path
from typing import Any

from playground import hash32

# From so many rows on, one of ten is held out.
HELD_OUT_FROM = 50
HELD_OUT_ONE_OF = 10
_SPLIT = 0x5B117
_ORDER = 0x0DE4


def read_rows(path: Path) -> list[dict[str, Any]]:
    """Rows of a JSONL file."""
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines() if line.strip()]


def conversation(prompt: Any, system_prompt: str) -> list[dict[str, str]]:
    """A text is a message of the user; the run's system prompt stands before prompts that have none."""
    messages = [{"role": "user", "content": prompt}] if isinstance(prompt, str) else [_message(each) for each in prompt]
    if system_prompt and messages[0]["role"] != "system":
        messages.insert(0, {"role": "system", "content": system_prompt})
    return messages


def _message(given: dict[str, Any]) -> dict[str, Any]:
    """Without what a table writes for fields that a message does not have."""
    content = given.get("content") or ""
    text = content if isinstance(content, str) else "".join(part["text"] for part in content)
    more = {name: given[name] for name in ("name", "reasoning_content", "tool_calls") if given.get(name)}
    return {"role": given["role"], "content": text, **more}


def is_usable(row: dict[str, Any]) -> bool:
    """Whether the page trains on such a row."""
    prompt = row.get("prompt")
    has_answer = any(row.get(column) is not None for column in ("completion", "chosen", "rejected"))
    return bool(prompt) and not has_answer and (isinstance(prompt, list) or bool(prompt.strip()))


def is_held_out(messages: list[dict[str, Any]]) -> bool:
    """As the page decides it: by a hash of the prompt."""
    value = 0x811C9DC5
    said = [message for message in messages if message["role"] != "system"]
    text = json.dumps(said, ensure_ascii=False, separators=(",", ":"))
    units = text.encode("utf-16-le", "surrogatepass")
    for low, high in zip(units[::2], units[1::2]):
        value = ((value ^ (low | high << 8)) * 0x01000193) & 0xFFFFFFFF
    return hash32(_SPLIT, value) % HELD_OUT_ONE_OF == 0


def split_rows(rows: list[dict[str, Any]], system_prompt: str, hold_out: bool = True) -> dict[str, list[dict[str, Any]]]:
    """The rows that are trained on and those that are not, each with its prompt as a conversation."""
    used = [{**row, "prompt": conversation(row["prompt"], system_prompt)} for row in rows if is_usable(row)]
    held = [hold_out and len(used) >= HELD_OUT_FROM and is_held_out(row["prompt"]) for row in used]
    return {
        "train": [row for row, out in zip(used, held) if not out],
        "heldout": [row for row, out in zip(used, held) if out],
    }


class RowOrder:
    """Rows in the order of the page's run: shuffled anew each epoch, so that each comes once an epoch."""

    def __init__(self, length: int, seed: int) -> None:
        self._length = length
        self._seed = seed
        self._epoch = -1
        self._places: list[int] = []

    def row_of(self, prompt: int) -> int:
        """Index of the row of prompt number `prompt`, from 0."""
        epoch, place = divmod(prompt, self._length)
        if epoch != self._epoch:
            self._epoch, self._places = epoch, list(range(self._length))
            for draw, i in enumerate(range(self._length - 1, 0, -1)):
                j = math.floor(hash32(self._seed, _ORDER, epoch, draw) / 0x1_0000_0000 * (i + 1))
                self._places[i], self._places[j] = self._places[j], self._places[i]
        return self._places[place]
