"""Learning rates as transformers' get_scheduler gives them, step by step."""

import torch
from transformers import get_scheduler

from common import OUT, write_json

CASES = [(total, warmup) for total in (1, 7, 50) for warmup in (0, 1, 5) if warmup <= total]


def factors(kind: str, warmup: int, total: int) -> list[float]:
    """Factor on the learning rate at optimizer steps 0 … total − 1."""
    optimizer = torch.optim.SGD([torch.zeros(1, requires_grad=True)], lr=1.0)
    name = "constant_with_warmup" if kind == "constant" and warmup else kind
    schedule = get_scheduler(name, optimizer, num_warmup_steps=warmup, num_training_steps=total)
    values = []
    for _ in range(total):
        values.append(schedule.get_last_lr()[0])
        optimizer.step()
        schedule.step()
    return values


def make_schedule_cases() -> None:
    cases = [
        dict(type=kind, warmup_steps=warmup, total=total, factors=factors(kind, warmup, total))
        for kind in ("linear", "cosine", "constant")
        for total, warmup in CASES
    ]
    write_json(OUT / "schedules.json", cases)
