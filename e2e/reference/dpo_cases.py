"""Runs the installed TRL's own DPO losses on the CPU: the statements of DPOTrainer that turn log-probs into a loss."""

import ast
import inspect
import math
import textwrap
import types

import torch
import torch.nn.functional as F
from trl.trainer.dpo_trainer import DPOTrainer

from common import OUT, generator, write_json

LOSS_TYPES = ["sigmoid", "hinge", "ipo", "robust", "nca_pair", "apo_zero", "apo_down", "sppo_hard"]
SETTINGS = [dict(beta=0.1, label_smoothing=0.0), dict(beta=0.5, label_smoothing=0.2)]


def loss_statements():
    """From the log-ratios to the loss, as they stand in TRL's source."""
    body = ast.parse(textwrap.dedent(inspect.getsource(DPOTrainer._compute_loss))).body[0].body
    names = [node.targets[0].id if isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Name) else None for node in body]
    start = names.index("chosen_logratios")
    end = next(i for i, node in enumerate(body) if isinstance(node, ast.For) and "loss_types" in ast.unparse(node.iter))
    return compile(ast.Module(body=body[start : end + 1], type_ignores=[]), "dpo_trainer.py", "exec")


def run(loss_type: str, settings: dict, masks: torch.Tensor, logps: list, refs: list, code) -> dict:
    rows = torch.tensor(logps, dtype=torch.float64, requires_grad=True)
    sums = (rows * masks).sum(dim=1)
    ref_sums = (torch.tensor(refs, dtype=torch.float64) * masks).sum(dim=1)
    chosen, rejected = sums.chunk(2, dim=0)
    ref_chosen, ref_rejected = ref_sums.chunk(2, dim=0)
    scope = dict(
        F=F,
        math=math,
        torch=torch,
        device=torch.device("cpu"),
        completion_mask=masks,
        shift_completion_mask=masks,
        chosen_logps=chosen,
        rejected_logps=rejected,
        ref_chosen_logps=ref_chosen,
        ref_rejected_logps=ref_rejected,
        self=types.SimpleNamespace(
            f_divergence_type="reverse_kl", loss_types=[loss_type], loss_weights=[1.0], use_weighting=False, ld_alpha=None, **settings
        ),
    )
    exec(code, scope)  # noqa: S102 - TRL's own statements
    scope["loss"].backward()
    return dict(loss_type=loss_type, **settings, loss=scope["loss"].item(), gradient=rows.grad.tolist())


def make_dpo_cases() -> None:
    code = loss_statements()
    cases = []
    for name, pairs, tokens in (("few", 2, 5), ("more", 5, 9)):
        random = generator(f"dpo {name}")
        lengths = torch.randint(1, tokens + 1, (2 * pairs,), generator=random)
        masks = (torch.arange(tokens)[None] < lengths[:, None]).long()
        refs = -torch.rand(2 * pairs, tokens, generator=random, dtype=torch.float64) * 3
        logps = refs + torch.randn(2 * pairs, tokens, generator=random, dtype=torch.float64) * 0.7
        results = [run(loss_type, settings, masks, logps.tolist(), refs.tolist(), code) for loss_type in LOSS_TYPES for settings in SETTINGS]
        cases.append(dict(name=name, masks=masks.tolist(), logps=logps.tolist(), refs=refs.tolist(), results=results))
    write_json(OUT / "dpo.json", cases)
