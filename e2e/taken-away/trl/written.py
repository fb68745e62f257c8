"""A class of the page, written anew in Python: played by the page's rules, and what of it is still to be written."""

from __future__ import annotations

import ast
import math
import sys
from pathlib import Path
from random import Random
from typing import Any

from playground import PlaygroundEpisodes, Seen, hash32, js_json, tool

ANSWER = {"text", "reward", "done"}


class Written:
    """What every episode's instance has: `random`, drawn from the episode's seed, and `done`, which ends the episode where a method sets it."""

    random: Random
    done = False


class WrittenEpisodes(PlaygroundEpisodes):
    """Episodes of a class as the page plays them: a new instance each."""

    _class: type[Written] = Written
    _success_at = 1.0

    def reset(self, seed: int = 0, split: str | None = None, prompt: Any = None, **columns: Any) -> str:
        """Begins the episode of a seed; in evaluations of another scenario, where the class has such."""
        # A row has no column that is None: other environments' rows have it.
        self._facts = {"split": split or "train", **{name: value for name, value in columns.items() if value is not None}}
        return super().reset(seed)

    def _begin(self, seed: int) -> str:
        split = self._facts["split"]
        one = self._class.__new__(self._class)
        one.random = Random(hash32(seed, 0 if split == "train" else 1))
        one.done = False
        one.__init__()
        self._one, self._asked, self._own = one, False, None
        said = one.reset(**{"seed": seed, **self._facts})
        if said is not None and not isinstance(said, str):
            raise TypeError(f"reset returned {said!r} instead of a text or None")
        return said or ""

    def _play(self, call: tuple[str, dict[str, Any]]) -> Seen:
        method, arguments = call
        try:
            value = getattr(self._one, method)(**arguments)
        except Exception as error:
            # Told to the model, and the episode goes on, as in TRL; the page leaves out a full stop.
            return Seen(str({"error": str(error).removesuffix(".")}), None, self._one.done is True, tool_error=True)
        said = value if _is_answer(value, method) else {"text": value}
        return Seen(_text(said.get("text")), _number(said.get("reward"), method), self._one.done is True or said.get("done") is True)

    def _total(self, rewards: list[float]) -> float | None:
        # 0 when the model never got one call into the environment: that is its own doing.
        earned = None if self._accepted else 0.0
        if not hasattr(self._one, "get_reward"):
            return rewards[-1] if rewards else earned
        if not self._asked:
            self._own, self._asked = _number(self._one.get_reward(), "get_reward"), True
        return earned if self._own is None else self._own

    def _is_success(self, reward: float) -> bool:
        return reward >= self._success_at


def episodes_of(written: type[Written], tools: list[dict[str, Any]], methods: dict[str, str], success_at: float = 1.0, judges: bool = True) -> type[WrittenEpisodes]:
    """What TRL makes episodes of. `methods`: the class's method for each tool, by the name that the model calls."""

    def sent(method: str) -> Any:
        return lambda self, **arguments: (method, arguments)

    names = {f"call_{i}": tool(name)(sent(method)) for i, (name, method) in enumerate(methods.items())}
    facts = {"_tools": tools, "_class": written, "_success_at": success_at, "_judges": judges}
    return type("PlaygroundEnvironment", (WrittenEpisodes,), {**names, **facts})


def _text(value: Any) -> str:
    """As the page makes a text of what a method returned."""
    return "" if value is None else value if isinstance(value, str) else js_json(value)


def _is_answer(value: Any, where: str) -> bool:
    if not isinstance(value, dict) or not {"reward", "done"} & set(value):
        return False
    others = [str(key) for key in value if key not in ANSWER]
    if others:
        # Ends the script, as it ends the page's run: TRL would tell an exception to the model, and go on without the reward.
        sys.exit(f"{where} answered with {', '.join(others)} beside its reward or done: an answer has text, reward and done alone.")
    return True


def _number(value: Any, where: str) -> float | None:
    if value is None or (isinstance(value, float) and math.isnan(value)):
        return None
    if not isinstance(value, (int, float)) or not math.isfinite(value):
        raise TypeError(f"{where} gave the reward {value!r}, which is no finite number")
    return float(value)


def unwritten(folder: Path) -> list[str]:
    """What the methods say that are still to be written, of all environments of the folder."""
    said: list[str] = []
    for path in sorted(folder.glob("environment*.py")):
        for kind in ast.parse(path.read_text(encoding="utf-8")).body:
            methods = [each for each in getattr(kind, "body", []) if isinstance(each, ast.FunctionDef)]
            said += [sentence for method in methods if (sentence := _refusal(method.body[-1])) is not None]
    return said


def _refusal(last: ast.stmt) -> str | None:
    """The text of `raise NotImplementedError("...")`."""
    call = last.exc if isinstance(last, ast.Raise) else None
    if not isinstance(call, ast.Call) or not isinstance(call.func, ast.Name) or call.func.id != "NotImplementedError":
        return None
    return str(call.args[0].value) if call.args and isinstance(call.args[0], ast.Constant) else "a method is to be written"
