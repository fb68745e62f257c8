"""Runs the installed TRL's own loss and advantage code on the CPU, with a stand-in for the trainer around it."""

import ast
import collections
import inspect
import textwrap
import types

import torch
from trl import GRPOConfig
from trl.trainer import grpo_trainer
from trl.trainer.grpo_trainer import GRPOTrainer

from common import OUT, generator, write_json

LOSS_TYPES = ["grpo", "bnpo", "dr_grpo", "dapo"]
# epsilon_high null = the same as epsilon.
VARIANTS = [
    dict(epsilon=0.2, epsilon_high=None, beta=0.0),
    dict(epsilon=0.2, epsilon_high=0.28, beta=0.0),
    dict(epsilon=0.2, epsilon_high=None, beta=0.04),
    dict(epsilon=0.1, epsilon_high=0.3, beta=0.5),
]

GOLDEN = dict(
    name="golden",
    logps=[[-1.0, -0.5, -2.0, -0.1], [-0.7, -1.2, -0.3, -9.0]],
    old=[[-1.1, -0.9, -1.5, -0.1], [-0.5, -1.6, -0.3, -9.0]],
    ref=[[-1.2, -0.4, -1.8, -0.3], [-0.9, -1.0, -0.3, -8.0]],
    completion_mask=[[1, 1, 1, 1], [1, 1, 0, 0]],
    tool_mask=[[1, 1, 0, 1], [1, 1, 1, 1]],
    entropies=[[1.0, 0.2, 2.0, 0.4], [0.9, 1.5, 0.1, 3.0]],
    advantages=[1.5, -0.5],
    max_completion_length=8,
)


def random_input(name: str, batch: int, tokens: int, on_policy: bool) -> dict:
    """Log-probs around their old values, far enough for clipping on both sides; one sequence without a trained token."""
    random = generator(name)
    old = -torch.rand(batch, tokens, generator=random, dtype=torch.float64) * 3
    lengths = torch.randint(1, tokens + 1, (batch,), generator=random)
    tool_mask = (torch.rand(batch, tokens, generator=random) < 0.7).long()
    tool_mask[0] = 0
    noise = lambda scale: torch.randn(batch, tokens, generator=random, dtype=torch.float64) * scale  # noqa: E731
    return dict(
        name=name,
        logps=(old + noise(0.3)).tolist(),
        old=None if on_policy else old.tolist(),
        ref=(old + noise(0.5)).tolist(),
        completion_mask=(torch.arange(tokens)[None] < lengths[:, None]).long().tolist(),
        tool_mask=tool_mask.tolist(),
        entropies=torch.rand(batch, tokens, generator=random, dtype=torch.float64).tolist(),
        advantages=torch.randn(batch, generator=random, dtype=torch.float64).tolist(),
        max_completion_length=tokens + 2,
    )


def stand_in(loss_type: str, variant: dict, data: dict, logps: torch.Tensor, entropies: torch.Tensor):
    """What `_compute_loss` reads of its trainer: one process, one micro-batch, no vLLM."""
    accelerator = types.SimpleNamespace(
        num_processes=1,
        sync_gradients=True,
        gather=lambda x: x,
        gather_for_metrics=lambda x: x,
        reduce=lambda x, reduction: x,
    )
    return types.SimpleNamespace(
        _get_per_token_logps_and_entropies=lambda *_, **__: (logps, entropies, None),
        aux_loss_enabled=False,
        top_entropy_quantile=1.0,
        off_policy_mask_threshold=None,
        importance_sampling_level="token",
        beta=variant["beta"],
        epsilon_low=variant["epsilon"],
        epsilon_high=variant["epsilon"] if variant["epsilon_high"] is None else variant["epsilon_high"],
        loss_type=loss_type,
        max_completion_length=data["max_completion_length"],
        args=types.SimpleNamespace(use_bias_correction_kl=False, delta=None, steps_per_generation=1),
        use_vllm=False,
        _entropy_bonus_enabled=False,
        model=types.SimpleNamespace(training=True),
        current_gradient_accumulation_steps=1,
        accelerator=accelerator,
        _metrics={"train": collections.defaultdict(list)},
    )


def run_loss(loss_type: str, variant: dict, data: dict) -> dict:
    tensor = lambda key, dtype=torch.float64: torch.tensor(data[key], dtype=dtype)  # noqa: E731
    logps = tensor("logps").requires_grad_()
    completion_mask, tool_mask = tensor("completion_mask", torch.long), tensor("tool_mask", torch.long)
    empty = torch.zeros(completion_mask.shape[0], 0, dtype=torch.long)
    inputs = dict(
        prompt_ids=empty,
        prompt_mask=empty,
        completion_ids=torch.zeros_like(completion_mask),
        completion_mask=completion_mask,
        tool_mask=tool_mask,
        advantages=tensor("advantages"),
        ref_per_token_logps=tensor("ref"),
        num_items_in_batch=(completion_mask * tool_mask).sum(),
    )
    if data["old"] is not None:
        inputs["old_per_token_logps"] = tensor("old")
    trainer = stand_in(loss_type, variant, data, logps, tensor("entropies"))
    loss = GRPOTrainer._compute_loss(trainer, None, inputs)
    loss.backward()
    metrics = {key: values[0] for key, values in trainer._metrics["train"].items()}
    # A sequence without a trained token gives TRL's per-sequence extremes 0/0; JSON has no NaN.
    metrics = {key: None if value != value else value for key, value in metrics.items()}
    return dict(loss_type=loss_type, **variant, loss=loss.item(), gradient=logps.grad.tolist(), metrics=metrics)


REWARDS = [
    dict(num_generations=2, rewards=[1, 0]),
    dict(num_generations=4, rewards=[1, 0, 0, 0, 0.2, 0.5, 0.9, 0.4]),
    dict(num_generations=8, rewards=[1, 0, 0, 0, 0, 0, 0, 0]),
    dict(num_generations=4, rewards=[1, 1, 1, 1, 0, 0, 0, 1]),
    dict(num_generations=4, rewards=[None, 1, 0, 0.5, None, None, 2, 1, None, None, None, 3, None, None, None, None]),
    dict(num_generations=3, rewards=[-5, 1e-6, 3e-6, 1000, 1001, 1002]),
]


def advantages_code():
    """The branch of the trainer that turns rewards into advantages, cut out of TRL's source as it is installed."""
    tree = ast.parse(textwrap.dedent(inspect.getsource(GRPOTrainer._generate_and_score_completions)))
    body = tree.body[0].body
    start = next(i for i, node in enumerate(body) if isinstance(node, ast.If) and "multi_objective_aggregation" in ast.dump(node.test))
    statements = [body[start], body[start + 1]]
    assert ast.unparse(statements[1]).startswith("advantages = torch.nan_to_num(advantages"), "TRL's source has changed"
    return compile(ast.Module(body=statements, type_ignores=[]), "grpo_trainer.py", "exec")


def run_advantages(case: dict, scale_rewards: str, code) -> dict:
    rewards = torch.tensor([float("nan") if r is None else r for r in case["rewards"]], dtype=torch.float64)[:, None]
    scope = dict(
        vars(grpo_trainer),
        self=types.SimpleNamespace(
            multi_objective_aggregation="sum_then_normalize", scale_rewards=scale_rewards, reward_weights=torch.ones(1)
        ),
        rewards_per_func=rewards,
        unscorable_mask=torch.isnan(rewards).all(dim=1),
        num_generations=case["num_generations"],
        device=torch.device("cpu"),
    )
    exec(code, scope)  # noqa: S102 - TRL's own statements
    return dict(**case, scale_rewards=scale_rewards, advantages=scope["advantages"].tolist())


# The settings that we share with GRPOConfig by name and whose defaults we keep.
DEFAULTS = (
    "num_generations max_completion_length adam_beta1 adam_beta2 adam_epsilon weight_decay max_grad_norm temperature top_p top_k min_p "
    "loss_type epsilon epsilon_high beta num_iterations scale_rewards mask_truncated_completions seed warmup_steps"
).split()


def make_trl_cases() -> None:
    inputs = [GOLDEN, random_input("off-policy", 6, 11, False), random_input("on-policy", 5, 9, True)]
    losses = [
        dict(input=data, results=[run_loss(loss_type, variant, data) for loss_type in LOSS_TYPES for variant in VARIANTS])
        for data in inputs
    ]
    code = advantages_code()
    advantages = [run_advantages(case, scale, code) for case in REWARDS for scale in ("group", "batch", "none")]
    config = GRPOConfig(output_dir=str(OUT / "trl"), use_cpu=True, bf16=False, report_to=[])
    defaults = {key: getattr(config, key) for key in DEFAULTS}
    write_json(OUT / "trl.json", dict(losses=losses, advantages=advantages, defaults=defaults))
