"""The page's hash and scenario lists (src/core/random.ts, src/env/builtin/scenarios.ts): a seed means the same on both sides."""

from __future__ import annotations

from typing import List, Optional, Sequence, TypeVar

T = TypeVar("T")
MASK = 0xFFFFFFFF


def _rotate(value: int, by: int) -> int:
    return ((value << by) | (value >> (32 - by))) & MASK


def hash32(*keys: int) -> int:
    """A 32-bit unsigned hash of the keys, in order (MurmurHash3 over 32-bit blocks)."""
    state = 0x9747B28C
    for key in keys:
        block = (key & MASK) * 0xCC9E2D51 & MASK
        block = _rotate(block, 15) * 0x1B873593 & MASK
        state = (_rotate(state ^ block, 13) * 5 + 0xE6546B64) & MASK
    state ^= len(keys)
    state = (state ^ (state >> 16)) * 0x85EBCA6B & MASK
    state = (state ^ (state >> 13)) * 0xC2B2AE35 & MASK
    return state ^ (state >> 16)


def train_part(items: Sequence[T], salt: int, held_out: Optional[int] = None) -> List[T]:
    """What is left when the items with the lowest hash of (salt, position) are held out (a fifth, unless a count is given)."""
    # The page rounds halves up, Python rounds them to even.
    count = int(len(items) * 0.2 + 0.5) if held_out is None else held_out
    ranked = sorted(range(len(items)), key=lambda i: (hash32(salt, i), i))
    held = set(ranked[:count])
    return [item for i, item in enumerate(items) if i not in held]


def pick(items: Sequence[T], *seed: int) -> T:
    """The item that belongs to a seed."""
    return items[hash32(*seed) % len(items)]
