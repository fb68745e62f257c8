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

LOSS_TYPES = ["grpo", "bnpo", "dr_grpo", "dapo", "cispo", "sapo", "vespo", "luspo"]
# Changes of GRPOConfig's defaults; each runs with every loss type. epsilon_high null = the same as epsilon.
VARIANTS = [
    dict(),
    dict(epsilon_high=0.28),
    dict(epsilon_high=1.2),
    dict(beta=0.04, use_bias_correction_kl=False),
    dict(epsilon=0.1, epsilon_high=0.3, beta=0.5),
    dict(epsilon_high=0.5, delta=1.25),
    dict(importance_sampling_level="sequence"),
    dict(importance_sampling_level="sequence", epsilon=0.02, beta=0.1),
    dict(top_entropy_quantile=0.4, beta=0.1),
    dict(off_policy_mask_threshold=0.05),
    dict(entropy_coef=0.01),
    dict(entropy_coef=0.02, top_entropy_quantile=0.5),
    dict(sapo_temperature_pos=0.7, sapo_temperature_neg=1.4, vespo_k_pos=1.5, vespo_lambda_neg=2.5),
]
# With the sampler's own log-probs, as TRL has them from vLLM.
MISMATCH = [
    dict(vllm_importance_sampling_mode=mode, vllm_importance_sampling_clip_min=low, vllm_importance_sampling_clip_max=high)
    for mode, low, high in [
        ("token_truncate", None, 1.1),
        ("token_mask", 0.9, 1.2),
        ("sequence_truncate", 0.95, 1.05),
        ("sequence_mask", None, 1.05),
    ]
]
# Every option that the loss reads.
OPTIONS = (
    "epsilon epsilon_high beta delta use_bias_correction_kl importance_sampling_level top_entropy_quantile entropy_coef use_adaptive_entropy "
    "entropy_coef_min entropy_coef_max entropy_coef_delta entropy_target off_policy_mask_threshold vllm_importance_sampling_correction "
    "vllm_importance_sampling_mode vllm_importance_sampling_clip_max vllm_importance_sampling_clip_min sapo_temperature_neg sapo_temperature_pos "
    "vespo_k_pos vespo_lambda_pos vespo_k_neg vespo_lambda_neg"
).split()

GOLDEN = dict(
    name="golden",
    logps=[[-1.0, -0.5, -2.0, -0.1], [-0.7, -1.2, -0.3, -9.0]],
    old=[[-1.1, -0.9, -1.5, -0.1], [-0.5, -1.6, -0.3, -9.0]],
    ref=[[-1.2, -0.4, -1.8, -0.3], [-0.9, -1.0, -0.3, -8.0]],
    sampler=[[-1.05, -0.95, -1.5, -0.1], [-0.6, -1.5, -0.3, -9.0]],
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
        sampler=(old + noise(0.1)).tolist(),
        completion_mask=(torch.arange(tokens)[None] < lengths[:, None]).long().tolist(),
        tool_mask=tool_mask.tolist(),
        # TRL takes the quantile in float32.
        entropies=torch.rand(batch, tokens, generator=random).double().tolist(),
        advantages=torch.randn(batch, generator=random, dtype=torch.float64).tolist(),
        max_completion_length=tokens + 2,
    )


def settings_of(variant: dict) -> dict:
    config = GRPOConfig(output_dir=str(OUT / "trl"), use_cpu=True, bf16=False, report_to=[], **variant)
    return {key: getattr(config, key) for key in OPTIONS}


def stand_in(loss_type: str, settings: dict, data: dict, logps: torch.Tensor, entropies: torch.Tensor):
    """What `_compute_loss` reads of its trainer: one process, one micro-batch."""
    accelerator = types.SimpleNamespace(
        num_processes=1,
        sync_gradients=True,
        gather=lambda x: x,
        gather_for_metrics=lambda x: x,
        reduce=lambda x, reduction: x,
        pad_across_processes=lambda x, dim, pad_index: x,
    )
    trainer = types.SimpleNamespace(
        _get_per_token_logps_and_entropies=lambda *_, **__: (logps, entropies, None),
        aux_loss_enabled=False,
        epsilon_low=settings["epsilon"],
        loss_type=loss_type,
        max_completion_length=data["max_completion_length"],
        args=types.SimpleNamespace(steps_per_generation=1, **settings),
        use_vllm=False,
        _entropy_bonus_enabled=settings["entropy_coef"] != 0,
        _last_world_entropy=float("inf"),
        model=types.SimpleNamespace(training=True),
        current_gradient_accumulation_steps=1,
        accelerator=accelerator,
        get_off_policy_mask=GRPOTrainer.get_off_policy_mask,
        get_gamma_weights=GRPOTrainer.get_gamma_weights,
        _metrics={"train": collections.defaultdict(list)},
        **{key: value for key, value in settings.items() if key != "epsilon"},
    )
    if trainer.epsilon_high is None:
        trainer.epsilon_high = trainer.epsilon_low
    trainer.get_high_entropy_mask = types.MethodType(GRPOTrainer.get_high_entropy_mask, trainer)
    return trainer


def cut_out(wanted: str, mark: str):
    """A statement of the method that scores completions, cut out of TRL's source as it is installed."""
    tree = ast.parse(textwrap.dedent(inspect.getsource(GRPOTrainer._generate_and_score_completions)))
    found = [node for node in ast.walk(tree) if isinstance(node, ast.If) and wanted in ast.dump(node.test) and mark in ast.unparse(node)]
    assert len(found) == 1, f"TRL's source has changed: {len(found)} places that test {wanted}"
    return compile(ast.Module(body=found, type_ignores=[]), "grpo_trainer.py", "exec")


def sampler_ratio(settings: dict, old: torch.Tensor, sampler: torch.Tensor, completion_mask: torch.Tensor, tool_mask: torch.Tensor) -> torch.Tensor:
    scope = dict(
        vars(grpo_trainer),
        self=types.SimpleNamespace(use_vllm=True, **settings),
        completion_mask=completion_mask,
        tool_mask=tool_mask,
        old_per_token_logps=old,
        sampling_per_token_logps=sampler,
    )
    exec(cut_out("vllm_importance_sampling_correction", "per_token_logps_diff"), scope)  # noqa: S102 - TRL's own statements
    return scope["vllm_importance_sampling_ratio"]


def run_loss(loss_type: str, variant: dict, data: dict, with_sampler: bool) -> dict:
    settings = settings_of(variant)
    tensor = lambda key, dtype=torch.float64: torch.tensor(data[key], dtype=dtype)  # noqa: E731
    logps, entropies = tensor("logps").requires_grad_(), tensor("entropies").requires_grad_()
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
    trainer = stand_in(loss_type, settings, data, logps, entropies)
    if with_sampler:
        trainer.use_vllm = True
        inputs["sampling_per_token_logps"] = tensor("sampler")
        inputs["importance_sampling_ratio"] = sampler_ratio(settings, tensor("old"), tensor("sampler"), completion_mask, tool_mask)
    loss = GRPOTrainer._compute_loss(trainer, None, inputs)
    loss.backward()
    metrics = {key: values[0] for key, values in trainer._metrics["train"].items()}
    # A sequence without a trained token gives TRL's per-sequence extremes 0/0; JSON has no NaN.
    metrics = {key: None if value != value else value for key, value in metrics.items()}
    by_entropy = torch.zeros_like(logps) if entropies.grad is None else entropies.grad
    return dict(
        loss_type=loss_type,
        changes=variant,
        with_sampler=with_sampler,
        settings=settings,
        loss=loss.item(),
        gradient=logps.grad.tolist(),
        entropy_gradient=by_entropy.tolist(),
        metrics=metrics,
    )


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


# Several reward functions: [functions][completions], their weights.
SEVERAL = [
    dict(num_generations=4, columns=[[1, 0, 0, 1, 0, 0, 0, 1], [10, 30, 20, 40, 5, 5, 5, 5]], weights=[1, 1]),
    dict(num_generations=4, columns=[[1, None, 0, 1, None, 0, 0, 1], [0.5, None, None, 0.1, 0.2, 0.3, 0.9, 0.4]], weights=[2, 0.5]),
    dict(num_generations=2, columns=[[1, 1, 0, 1], [3, 3, 3, 3], [0, 1, 1, 0]], weights=[1, 1, -1]),
]


def run_several(case: dict, aggregation: str, code) -> dict:
    rewards = torch.tensor([[float("nan") if r is None else r for r in column] for column in case["columns"]], dtype=torch.float64).T
    scope = dict(
        vars(grpo_trainer),
        self=types.SimpleNamespace(
            multi_objective_aggregation=aggregation,
            scale_rewards="group",
            reward_weights=torch.tensor(case["weights"], dtype=torch.float64),
            reward_funcs=case["columns"],
        ),
        rewards_per_func=rewards,
        unscorable_mask=torch.isnan(rewards).all(dim=1),
        num_generations=case["num_generations"],
        device=torch.device("cpu"),
    )
    exec(code, scope)  # noqa: S102 - TRL's own statements
    return dict(**case, aggregation=aggregation, advantages=scope["advantages"].tolist())


# The settings that we share with GRPOConfig by name and whose defaults we keep.
DEFAULTS = (
    "num_generations max_completion_length adam_beta1 adam_beta2 adam_epsilon weight_decay max_grad_norm temperature top_p top_k min_p "
    "loss_type num_iterations scale_rewards multi_objective_aggregation mask_truncated_completions seed warmup_steps steps_per_generation"
).split() + OPTIONS


def make_trl_cases() -> None:
    inputs = [GOLDEN, random_input("off-policy", 6, 11, False), random_input("on-policy", 5, 9, True)]
    losses = [
        dict(
            input=data,
            results=[run_loss(loss_type, variant, data, False) for loss_type in LOSS_TYPES for variant in VARIANTS]
            # VESPO takes the modes by token alone.
            + [
                run_loss(loss_type, variant, data, True)
                for loss_type in LOSS_TYPES
                for variant in MISMATCH
                if data["old"] is not None and (loss_type != "vespo" or variant["vllm_importance_sampling_mode"].startswith("token"))
            ],
        )
        for data in inputs
    ]
    code = advantages_code()
    advantages = [run_advantages(case, scale, code) for case in REWARDS for scale in ("group", "batch", "none")]
    several = [run_several(case, how, code) for case in SEVERAL for how in ("sum_then_normalize", "normalize_then_sum")]
    config = GRPOConfig(output_dir=str(OUT / "trl"), use_cpu=True, bf16=False, report_to=[])
    defaults = {key: getattr(config, key) for key in DEFAULTS}
    write_json(OUT / "trl.json", dict(losses=losses, advantages=advantages, several=several, defaults=defaults))
