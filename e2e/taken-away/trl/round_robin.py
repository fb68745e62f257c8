"""Who of several environments gets the next prompt, by weight: smooth weighted round-robin, as on the page."""

from __future__ import annotations

from typing import Sequence


class RoundRobin:
    """In every window of as many prompts as the weights sum to (whole numbers), each member comes exactly as often as it weighs."""

    def __init__(self, weights: Sequence[float]) -> None:
        self._weights = list(weights)
        self._total = sum(weights)
        self._credit = [0.0 for _ in weights]
        self._counts = [0 for _ in weights]
        self._turns: list[tuple[int, int]] = []

    def turn(self, prompt: int) -> tuple[int, int]:
        """The member whose turn prompt number `prompt` is, from 0, and how many prompts it had before."""
        while len(self._turns) <= prompt:
            self._next()
        return self._turns[prompt]

    def _next(self) -> None:
        self._credit = [credit + weight for credit, weight in zip(self._credit, self._weights)]
        # The first of several that are due.
        best = self._credit.index(max(self._credit))
        self._credit[best] -= self._total
        self._turns.append((best, self._counts[best]))
        self._counts[best] += 1
