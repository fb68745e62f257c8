"""Small random Qwen2 and Qwen3 models, saved by transformers' save_pretrained, with weights that leave nothing trivial."""

import json
import pathlib
import shutil

import torch
from transformers import AutoModelForCausalLM, Qwen2Config, Qwen2ForCausalLM, Qwen3Config, Qwen3ForCausalLM

from common import OUT, TINY, generator

SHAPE = dict(
    vocab_size=160,
    hidden_size=64,
    intermediate_size=96,
    num_attention_heads=4,
    num_key_value_heads=2,
    max_position_embeddings=256,
    rms_norm_eps=1e-6,
    bos_token_id=None,
    eos_token_id=0,
    pad_token_id=0,
)

# name → (class, config class, what differs)
MODELS = {
    "qwen3-tied": (Qwen3ForCausalLM, Qwen3Config, dict(head_dim=16, num_hidden_layers=2, tie_word_embeddings=True, rope_theta=1e6)),
    # head_dim × heads differs from hidden_size, as in Qwen3-0.6B.
    "qwen3-untied": (Qwen3ForCausalLM, Qwen3Config, dict(head_dim=32, num_hidden_layers=3, tie_word_embeddings=False, rope_theta=1e4)),
    "qwen2-bias": (Qwen2ForCausalLM, Qwen2Config, dict(num_hidden_layers=3, tie_word_embeddings=False, rope_theta=1e4)),
    "qwen2-tied": (Qwen2ForCausalLM, Qwen2Config, dict(num_hidden_layers=2, tie_word_embeddings=True, rope_theta=1e6)),
}


def randomise(model: torch.nn.Module, name: str) -> None:
    """Weights at which logits spread, norms scale unevenly and biases matter; a fresh model's norms are all ones."""
    random = generator(name)
    with torch.no_grad():
        for key, tensor in model.named_parameters():
            if key.endswith("norm.weight"):
                tensor.uniform_(0.5, 1.5, generator=random)
            elif key.endswith("bias"):
                tensor.normal_(0, 0.5, generator=random)
            elif "embed_tokens" in key or "lm_head" in key:
                tensor.normal_(0, 0.3, generator=random)
            else:
                tensor.normal_(0, tensor.shape[1] ** -0.5, generator=random)


def make_models() -> list[str]:
    """Writes every model's folder and returns their names."""
    names = []
    for name, (model_class, config_class, differs) in MODELS.items():
        model = model_class(config_class(**SHAPE, **differs)).float()
        randomise(model, name)
        folder = OUT / "models" / name
        model.save_pretrained(folder)
        names.append(name)
    # Models on the Hub were saved by transformers 4, with rope_theta at the top level.
    path = OUT / "models" / "qwen2-tied" / "config.json"
    config = json.loads(path.read_text())
    config["rope_theta"] = config.pop("rope_parameters")["rope_theta"]
    config["torch_dtype"] = config.pop("dtype")
    path.write_text(json.dumps(config, indent=2))
    if (TINY / "model.safetensors").exists():
        folder = OUT / "models" / "tiny-qwen3"
        folder.mkdir(parents=True, exist_ok=True)
        for file in ("config.json", "model.safetensors"):
            shutil.copyfile(TINY / file, folder / file)
        names.append("tiny-qwen3")
    return names


def load(name: str) -> torch.nn.Module:
    return load_folder(OUT / "models" / name)


def load_folder(folder: pathlib.Path) -> torch.nn.Module:
    """The saved weights in float64 (transformers still normalises in float32)."""
    model = AutoModelForCausalLM.from_pretrained(folder, dtype=torch.float64, attn_implementation="sdpa").eval()
    # torch gives a pad token's row no gradient; here any id may stand in a sequence.
    model.get_input_embeddings().padding_idx = None
    return model
