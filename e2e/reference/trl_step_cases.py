"""TRL's GRPOTrainer itself, whole steps on the shipped model: completions and rewards are given, each optimizer step is recorded."""

import logging
import types
import warnings

import torch
from datasets import Dataset
from peft import get_peft_model
from trl import GRPOConfig, GRPOTrainer

from common import OUT, generator, write_json
from trl_runs import ADAM, LORA, QUIET, Recorder, base_model, lora_config, save, set_adapter, tokenizer, trainable

LOSS_TYPES = ["grpo", "bnpo", "dr_grpo", "dapo", "cispo", "sapo", "vespo", "luspo"]
G = 4
PROMPTS = ["car: distance 12, speed 30, free left", "ball at 3, paddle at 1"]
SUFFIX = "\n<|im_start|>user\n<tool_response>\nspeed 20\n</tool_response><|im_end|>\n<|im_start|>assistant\n<think>\n\n</think>\n\n"
MAX_COMPLETION_LENGTH = 96
LEARNING_RATE = 2e-3

# By completion; null = no opinion.
REWARDS = {
    "usual": [[1, 0, 0.5, 0.25, 0, 0, 2, 1]],
    "two": [[1, 0, 0.5, 0.25, 0, 0, 2, 1], [10, 30, None, 20, 5, 40, 5, 15]],
    "equal": [[1, 1, 1, 1, 0, 0, 0, 0]],
    "one unscorable": [[1, 0, None, 0.25, 0, 0, 2, 1]],
}


def case(name: str, rewards: str = "usual", sampler: bool = False, **changes) -> dict:
    return dict(name=name, rewards=rewards, sampler=sampler, changes=changes)


# Two passes over the completions, unless told otherwise: in the second one the ratio is not 1.
CASES = (
    [case(loss_type, loss_type=loss_type) for loss_type in LOSS_TYPES]
    + [case(f"one pass, {loss_type}", loss_type=loss_type, num_iterations=1) for loss_type in ("grpo", "dapo", "luspo")]
    + [case(f"one ρ a sequence, {t}", loss_type=t, importance_sampling_level="sequence") for t in LOSS_TYPES if t != "vespo"]
    + [
        case("GSPO's clip range", loss_type="grpo", importance_sampling_level="sequence", epsilon=0.003, epsilon_high=0.004),
        case("DAPO's clip range", epsilon_high=0.28),
        case("cispo with its cap", loss_type="cispo", epsilon_high=5.0),
        case("delta", epsilon_high=0.5, delta=1.05),
        case("beta, its KL corrected", beta=0.1),
        case("beta, its KL as it is", beta=0.1, use_bias_correction_kl=False),
        case("beta, one ρ a sequence", beta=0.1, importance_sampling_level="sequence", loss_type="grpo"),
        case("equal rewards, beta", "equal", beta=0.1),
        case("equal rewards", "equal"),
        case("top_entropy_quantile", top_entropy_quantile=0.37),
        case("top_entropy_quantile and beta", top_entropy_quantile=0.37, beta=0.1, loss_type="grpo"),
        case("entropy_coef", entropy_coef=0.05),
        case("entropy_coef of the undecided", entropy_coef=0.05, top_entropy_quantile=0.37, loss_type="grpo"),
        case("use_adaptive_entropy", use_adaptive_entropy=True, entropy_coef=0.05, entropy_target=9.0, num_iterations=3),
        case("use_adaptive_entropy above its target", use_adaptive_entropy=True, entropy_coef=0.05, entropy_target=0.01, num_iterations=3),
        case("mask_truncated_completions", mask_truncated_completions=True),
        case("mask_truncated_completions, grpo", mask_truncated_completions=True, loss_type="grpo"),
        case("mask_truncated_completions, dr_grpo", mask_truncated_completions=True, loss_type="dr_grpo"),
        case("steps_per_generation, grpo", steps_per_generation=2, num_iterations=1, loss_type="grpo"),
        case("steps_per_generation and num_iterations, bnpo", steps_per_generation=2, loss_type="bnpo"),
        case("steps_per_generation, dr_grpo, beta", steps_per_generation=2, num_iterations=1, loss_type="dr_grpo", beta=0.1),
        case("steps_per_generation, dapo", steps_per_generation=2, num_iterations=1),
        case("steps_per_generation, cispo", steps_per_generation=2, num_iterations=1, loss_type="cispo"),
        case("off_policy_mask_threshold", off_policy_mask_threshold=0.05, num_iterations=3),
        case("off_policy_mask_threshold, the sampler's log-probs", sampler=True, off_policy_mask_threshold=0.02),
        case("scale_rewards batch", scale_rewards="batch"),
        case("scale_rewards none", scale_rewards="none"),
        case("two reward functions", "two", reward_weights=[1.0, 0.1]),
        case("normalize_then_sum", "two", reward_weights=[1.0, 0.5], multi_objective_aggregation="normalize_then_sum"),
        case("temperature", temperature=0.7),
        case("temperature, beta, entropy_coef", temperature=1.4, beta=0.1, entropy_coef=0.05),
        case("max_grad_norm", max_grad_norm=0.05),
        case("an unscorable completion", "one unscorable", num_iterations=1),
        case("an unscorable completion, grpo", "one unscorable", num_iterations=1, loss_type="grpo"),
    ]
    + [
        case(f"{mode}, {loss_type}", sampler=True, loss_type=loss_type, vllm_importance_sampling_mode=mode, **limits)
        for mode, limits in [
            ("token_truncate", dict(vllm_importance_sampling_clip_max=1.1)),
            ("token_mask", dict(vllm_importance_sampling_clip_min=0.9, vllm_importance_sampling_clip_max=1.2)),
            ("sequence_truncate", dict(vllm_importance_sampling_clip_min=0.8, vllm_importance_sampling_clip_max=1.1)),
            ("sequence_mask", dict(vllm_importance_sampling_clip_max=1.3)),
        ]
        for loss_type in (["dapo", "grpo", "vespo"] if mode.startswith("token") else ["dapo", "grpo"])
    ]
    + [case("the sampler's log-probs with beta", sampler=True, beta=0.1, vllm_importance_sampling_clip_max=1.3)]
)


def sample_completions(tok) -> list[dict]:
    """Two groups of episodes by the policy: a turn of its own, what a tool said, another turn. Some end early, one is cut off."""
    model = get_peft_model(base_model(), lora_config()).eval()
    set_adapter(model)
    random = generator("trl steps")
    ends = {tok.eos_token_id, tok.pad_token_id}

    def turn(ids: list[int], most: int) -> list[int]:
        start = len(ids)
        ids = list(ids)
        while len(ids) < start + most and (len(ids) == start or ids[-1] not in ends):
            logits = model(input_ids=torch.tensor([ids]), use_cache=False).logits[0, -1].double()
            ids.append(torch.multinomial(torch.softmax(logits, -1), 1, generator=random).item())
        return ids[start:]

    episodes = []
    for group, text in enumerate(PROMPTS):
        prompt = tok(f"<|im_start|>user\n{text}<|im_end|>\n<|im_start|>assistant\n<think>\n\n</think>\n\n", add_special_tokens=False)["input_ids"]
        for member in range(G):
            first = turn(prompt, 6 + 3 * member)
            # The end of a turn is the model's own in a rollout; where it ran too long it is written for it.
            completion, mask = list(first), [1] * len(first)
            if member != 1:
                suffix = tok(("" if first[-1] in ends else "<|im_end|>") + SUFFIX, add_special_tokens=False)["input_ids"]
                second = turn(prompt + completion + suffix, 5 + 2 * member)
                completion, mask = completion + suffix + second, mask + [0] * len(suffix) + [1] * len(second)
            if (group, member) not in ((0, 2), (1, 1)) and completion[-1] not in ends:
                completion, mask = completion + [tok.eos_token_id], mask + [1]
            episodes.append(dict(prompt_ids=prompt, completion_ids=completion, mask=mask, terminated=completion[-1] in ends))
    assert len({tuple(e["prompt_ids"] + e["completion_ids"]) for e in episodes}) == len(episodes)
    assert 0 < sum(not e["terminated"] for e in episodes) < 4
    # The policy's own log-probs with noise stand for a sampler that computes otherwise.
    for episode in episodes:
        ids = torch.tensor([episode["prompt_ids"] + episode["completion_ids"]])
        with torch.no_grad():
            logs = torch.log_softmax(model(input_ids=ids, use_cache=False).logits[0, :-1], -1).gather(-1, ids[0, 1:, None])[:, 0]
        own = logs[len(episode["prompt_ids"]) - 1 :]
        noise = torch.randn(own.shape, generator=random) * 0.1
        episode["logprobs"] = [value if m else 0.0 for value, m in zip((own + noise).tolist(), episode["mask"], strict=True)]
    return episodes


def reward_function(name: str, values: list):
    def function(completions, **_):
        return values

    function.__name__ = name
    return function


def run(example: dict, episodes: list[dict], tok, number: int) -> dict:
    changes = dict(num_iterations=2, max_grad_norm=1e9) | example["changes"]
    steps = changes["num_iterations"] * changes.get("steps_per_generation", 1)
    config = GRPOConfig(
        output_dir=str(OUT / "trl-step"),
        per_device_train_batch_size=len(episodes) // changes.get("steps_per_generation", 1),
        num_generations=G,
        max_completion_length=MAX_COMPLETION_LENGTH,
        learning_rate=LEARNING_RATE,
        lr_scheduler_type="linear",
        max_steps=steps,
        shuffle_dataset=False,
        **QUIET,
        **({"steps_per_generation": 1} | changes),
    )

    def rollout(prompts, trainer):
        assert prompts == [text for text in PROMPTS for _ in range(G)]
        return dict(
            prompt_ids=[e["prompt_ids"] for e in episodes],
            completion_ids=[e["completion_ids"] for e in episodes],
            env_mask=[e["mask"] for e in episodes],
            logprobs=[e["logprobs"] for e in episodes] if example["sampler"] else None,
        )

    rewards = REWARDS[example["rewards"]]
    trainer = GRPOTrainer(
        model=base_model(),
        args=config,
        processing_class=tok,
        train_dataset=Dataset.from_dict(dict(prompt=PROMPTS)),
        reward_funcs=[reward_function(name, values) for name, values in zip(("first", "second"), rewards)],
        rollout_func=rollout,
        peft_config=lora_config(),
    )
    set_adapter(trainer.model)
    if example["sampler"]:
        # What TRL does with a sampler's log-probs it does for vLLM alone, which is not here; the rollouts are given anyhow.
        trainer.use_vllm, trainer._last_loaded_step = True, 0
        trainer.vllm_generation = types.SimpleNamespace(sync_weights=lambda: None)
    recorder = Recorder().watch(trainer)
    known = {tuple(e["completion_ids"]): i for i, e in enumerate(episodes)}
    shares = []

    def which(row: list[int]) -> int:
        return next(i for ids, i in known.items() if tuple(row[: len(ids)]) == ids and set(row[len(ids) :]) <= {tok.pad_token_id})

    prepare = trainer._prepare_inputs

    def prepared(batch):
        inputs = prepare(batch)
        shares.append(sorted(which(row) for row in inputs["completion_ids"].tolist()))
        return inputs

    trainer._prepare_inputs = prepared
    trainer.train()
    return dict(
        **example,
        settings={key: getattr(config, key) for key in SETTINGS},
        rewards_by_function=rewards,
        advantages=list(trainer._logs["advantages"]),
        shares=shares,
        **recorder.write(f"trl-step/{number}"),
    )


# Everything that both sides must have alike.
SETTINGS = (
    "num_generations max_completion_length learning_rate lr_scheduler_type warmup_steps adam_beta1 adam_beta2 adam_epsilon weight_decay max_grad_norm "
    "temperature loss_type importance_sampling_level epsilon epsilon_high delta beta use_bias_correction_kl top_entropy_quantile entropy_coef "
    "use_adaptive_entropy entropy_coef_min entropy_coef_max entropy_coef_delta entropy_target off_policy_mask_threshold "
    "vllm_importance_sampling_correction vllm_importance_sampling_mode vllm_importance_sampling_clip_max vllm_importance_sampling_clip_min "
    "sapo_temperature_neg sapo_temperature_pos vespo_k_pos vespo_lambda_pos vespo_k_neg vespo_lambda_neg num_iterations steps_per_generation "
    "scale_rewards reward_weights multi_objective_aggregation mask_truncated_completions"
).split()


def make_trl_step_cases() -> None:
    warnings.filterwarnings("ignore", category=UserWarning)
    # Of settings that nobody should choose, and of the completion that nothing scores.
    logging.getLogger("trl").setLevel(logging.ERROR)
    tok = tokenizer()
    episodes = sample_completions(tok)
    model = get_peft_model(base_model(), lora_config())
    set_adapter(model)
    save(trainable(model), OUT / "trl-step" / "initial.safetensors")
    results = [run(example, episodes, tok, number) for number, example in enumerate(CASES)]
    write_json(OUT / "trl-step.json", dict(lora=LORA, adam=ADAM, episodes=episodes, cases=results))
