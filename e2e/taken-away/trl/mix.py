"""Several environments in one run: which of them gets each prompt, and with which words and row it begins, as on the page."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from playground import PlaygroundEpisodes
from prompts import RowOrder, conversation
from round_robin import RoundRobin

# Chooses the environment of a row, also in TRL.
COLUMN = "environment"
Row = dict[str, Any]
# Rows that are trained on, and those that are not.
Split = dict[str, list[Row]]


class Answers(PlaygroundEpisodes):
    """No environment: a prompt of a dataset, one answer, and reward functions to judge it."""

    _judges = False

    def reset(self, **_: Any) -> None:
        """Nothing is added to the prompt."""

    def _reward(self) -> None:
        return None


@dataclass
class Member:
    """One environment of the run."""

    # As it is measured, and as rows name it; the page also takes the name by which it was chosen.
    name: str
    chosen_as: str
    kind: type
    tools: list[dict[str, Any]]
    system_prompt: str
    user_prompt: str
    weight: float
    # Whether it has scenarios that training never draws.
    held_out: bool


class Prompts:
    """The prompt of every group, a pure function of its number in the run. `own`: rows of members that have a dataset; `chosen`: of the run's."""

    def __init__(self, members: list[Member], seed: int, own: dict[str, Split] | None = None, chosen: Split | None = None) -> None:
        self._members = members
        self._turns = RoundRobin([member.weight for member in members])
        self._own = {name: _Rows(rows, seed) for name, rows in (own or {}).items()}
        self._chosen = _Rows(chosen, seed) if chosen is not None else None

    @property
    def split(self) -> str:
        """The split that evaluations draw from: "heldout" where all have such scenarios."""
        by_rows = self._chosen is not None and self._chosen.has_heldout
        every = all(self._own[each.name].has_heldout if each.name in self._own else each.held_out for each in self._members)
        return "heldout" if by_rows or every else "train"

    def evaluated(self, episodes: int) -> int:
        """How many groups an evaluation has: of the run's dataset each row at most once, as one that is played again says nothing new."""
        return episodes if self._chosen is None else min(episodes, self._chosen.count(self.split))

    def groups(self, seeds: list[int], first: int, split: str = "train") -> list[Row]:
        """A row for each group from number `first` on."""
        return [self._group(first + i, seed, split) for i, seed in enumerate(seeds)]

    def _group(self, prompt: int, seed: int, split: str) -> Row:
        row = self._chosen.of(prompt, split) if self._chosen is not None else None
        named = member_of(self._members, row.get(COLUMN)) if row is not None else None
        at, rank = self._turns.turn(prompt)
        member = named or self._members[at]
        if row is not None:
            row = {**row, "prompt": conversation(row["prompt"], member.system_prompt)}
        elif member.name in self._own:
            row = self._own[member.name].of(rank, split)
        else:
            row = {"prompt": conversation([{"role": "user", "content": member.user_prompt}], member.system_prompt)}
        return {**row, COLUMN: member.name, "seed": seed, **({"split": split} if split == "heldout" else {})}


class _Rows:
    """Rows of a dataset in the order of a run."""

    def __init__(self, rows: Split, seed: int) -> None:
        self._rows = rows
        self._order = RowOrder(len(rows["train"]), seed)

    @property
    def has_heldout(self) -> bool:
        return len(self._rows["heldout"]) > 0

    def count(self, split: str) -> int:
        """How many different rows a split has."""
        return len(self._heldout if split == "heldout" else self._rows["train"])

    @property
    def _heldout(self) -> list[Row]:
        return self._rows["heldout"] or self._rows["train"]

    def of(self, prompt: int, split: str) -> Row:
        if split == "heldout":
            rows = self._heldout
            return rows[prompt % len(rows)]
        return self._rows["train"][self._order.row_of(prompt)]


def member_of(members: list[Member], name: Any) -> Member | None:
    """By the name under which it is measured, or as it was chosen."""
    return next((each for each in members if each.name == name), None) or next((each for each in members if each.chosen_as == name), None)


def known_rows(rows: list[Row], members: list[Member]) -> list[Row]:
    """Without rows that name no environment of the run, where some name one."""
    if all(row.get(COLUMN) is None for row in rows):
        return rows
    return [row for row in rows if member_of(members, row.get(COLUMN)) is not None]


def table(rows: list[Row]) -> list[Row]:
    """Rows with the same columns: datasets takes those of the first row alone."""
    columns = dict.fromkeys(column for row in rows for column in row)
    return [{column: row.get(column) for column in columns} for row in rows]
