"""What the runs of real TRL trainers share: the shipped model with a given LoRA, and a recorder of every optimizer step."""

import pathlib

import torch
from peft import LoraConfig
from safetensors.torch import save_file
from transformers import AutoModelForCausalLM, AutoTokenizer, PrinterCallback, TrainerCallback

from common import OUT, TINY, generator

# Every linear layer, r 4, factor 2.
LORA = dict(
    r=4,
    lora_alpha=8,
    use_rslora=False,
    target_modules=["q_proj", "k_proj", "v_proj", "o_proj", "gate_proj", "up_proj", "down_proj"],
)
# A step of Adam is the gradient's sign where epsilon is small: a gradient that is 0 up to rounding would then move weights at random.
ADAM = dict(adam_beta1=0.9, adam_beta2=0.99, adam_epsilon=1e-3, weight_decay=0.01)
# What every trainer is told: CPU, float32, one micro-batch an optimizer step, nothing written, nothing asked of the Hub.
QUIET = dict(
    use_cpu=True,
    bf16=False,
    gradient_checkpointing=False,
    gradient_accumulation_steps=1,
    report_to=[],
    save_strategy="no",
    logging_steps=1,
    disable_tqdm=True,
    **ADAM,
)


def base_model():
    return AutoModelForCausalLM.from_pretrained(TINY, dtype=torch.float32, attn_implementation="sdpa")


def tokenizer():
    return AutoTokenizer.from_pretrained(TINY)


def lora_config() -> LoraConfig:
    return LoraConfig(task_type="CAUSAL_LM", lora_dropout=0.0, **LORA)


def trainable(model) -> dict[str, torch.nn.Parameter]:
    """The policy's LoRA by the names that a saved file has."""
    return {key.replace(".default", ""): p for key, p in model.named_parameters() if ".default." in key}


def set_adapter(model, zero: bool = False, name: str = "trl-runs") -> None:
    """A and B from the name alone; B is not zero, so that A has gradients and the policy is not the base model's. `zero`: a fresh B."""
    random = generator(name)
    with torch.no_grad():
        for key, tensor in sorted(trainable(model).items()):
            values = torch.randn(tensor.shape, generator=random)
            tensor.copy_(values * tensor.shape[1] ** -0.5 if "lora_A" in key else values * (0.0 if zero else 0.1))


def save(tensors: dict[str, torch.Tensor], path: pathlib.Path) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    save_file({key: t.detach().float().contiguous().clone() for key, t in tensors.items()}, path, {"format": "pt"})


class Recorder(TrainerCallback):
    """The loss and the gradient (before clipping) of each optimizer step, and the weights after it."""

    def __init__(self):
        self.trainer = None
        self.losses, self.gradients, self.weights = [], [], []

    def watch(self, trainer) -> "Recorder":
        self.trainer = trainer
        compute = trainer.compute_loss

        def recorded(*args, **kwargs):
            result = compute(*args, **kwargs)
            self.losses.append((result[0] if isinstance(result, tuple) else result).item())
            return result

        trainer.compute_loss = recorded
        clip = trainer._clip_grad_norm

        def clipped(model):
            self.gradients.append({key: p.grad.clone() for key, p in trainable(model).items()})
            return clip(model)

        trainer._clip_grad_norm = clipped
        trainer.remove_callback(PrinterCallback)
        trainer.add_callback(self)
        return self

    def on_step_end(self, args, state, control, **kwargs):
        self.weights.append({key: p.detach().clone() for key, p in trainable(self.trainer.model).items()})

    def write(self, folder: str) -> dict:
        """Tensors to files of `folder`, everything else as JSON."""
        for step, (gradient, weights) in enumerate(zip(self.gradients, self.weights, strict=True), start=1):
            save(gradient, OUT / folder / f"gradient-{step}.safetensors")
            save(weights, OUT / folder / f"after-{step}.safetensors")
        # The last entry sums up the run.
        logs = [{key: None if value != value else value for key, value in entry.items()} for entry in self.trainer.state.log_history[:-1]]
        assert len(logs) == len(self.losses) == len(self.weights), (len(logs), len(self.losses), len(self.weights))
        return dict(folder=folder, losses=self.losses, logs=logs)
