"""Reward functions that judge some episodes only: those of some environments, or those whose row has what they compare with."""

from __future__ import annotations

import functools
from typing import Any, Callable, Sequence

Reward = Callable[..., list[float | None]]


def in_environments(function: Reward, names: Sequence[str]) -> Reward:
    """The function for episodes of these environments; None, which is no opinion, for the others."""
    return _limited(function, lambda columns, count: [each in names for each in columns.get("environment") or [None] * count])


def with_column(function: Reward, column: str) -> Reward:
    """The function for episodes whose row has this column; None for the others."""
    return _limited(function, lambda columns, count: [each is not None for each in columns.get(column) or [None] * count])


def _limited(function: Reward, chosen: Callable[[dict[str, Any], int], list[bool]]) -> Reward:
    @functools.wraps(function)
    def limited(completions: list[Any], **columns: Any) -> list[float | None]:
        count = len(completions)
        at = [i for i, is_chosen in enumerate(chosen(columns, count)) if is_chosen]
        if not at:
            return [None] * count

        def spread(values: Sequence[Any]) -> list[Any]:
            given = dict(zip(at, values))
            return [given.get(i) for i in range(count)]

        own = {name: [value[i] for i in at] if isinstance(value, list) and len(value) == count else value for name, value in columns.items()}
        log_extra = columns.get("log_extra")
        if log_extra is not None:
            own["log_extra"] = lambda name, values: log_extra(name, spread(values))
        return spread(function(completions=[completions[i] for i in at], **own))

    # TRL names a function's metrics by it.
    limited.__name__ = getattr(function, "__name__", type(function).__name__)
    return limited
