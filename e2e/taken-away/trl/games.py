"""How a built-in game of the page is played; its rules are in a module of their own."""

from __future__ import annotations

from typing import Any

from playground import PlaygroundEpisodes, Seen


class GameEpisodes(PlaygroundEpisodes):
    """Episodes of a built-in game. One that is left before its end was not won."""

    # The module with the rules.
    _game: Any = None
    _split = "train"

    def reset(self, seed: int = 0, split: str | None = None, **_: Any) -> str:
        """Begins the episode of a seed; in evaluations of a scenario that training never draws."""
        self._split = split or type(self)._split
        return super().reset(seed)

    def _begin(self, seed: int) -> str:
        self._state = self._game.begin(seed, self._split)
        return self._game.text(self._state)

    def _play(self, call: tuple[str, dict[str, Any]]) -> Seen:
        self._state = self._game.act(self._state, *call)
        reward = self._game.outcome(self._state)
        return Seen(self._game.text(self._state), reward, reward is not None)

    def _total(self, rewards: list[float]) -> float:
        return rewards[-1] if rewards else 0.0
