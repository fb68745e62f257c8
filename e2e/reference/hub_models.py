"""Repositories as the Hub has them, by transformers' save_pretrained: random Qwen2.5 and Qwen3; and configs that must be refused."""

import json
import pathlib

import torch
from safetensors.torch import load_file, save_file
from transformers import (
    AutoTokenizer,
    GPT2Config,
    LlamaConfig,
    MistralConfig,
    Qwen2Config,
    Qwen2ForCausalLM,
    Qwen3Config,
    Qwen3ForCausalLM,
    Qwen3MoeConfig,
)

from common import OUT, TINY
from models import randomise

HUB = OUT / "hub"
REFUSED = OUT / "hub-refused"
# Cuts the models below, of 1 to 4 MB, into several files with no tensor in two of them.
SHARD = "400KB"

QWEN2 = (Qwen2ForCausalLM, Qwen2Config)
QWEN3 = (Qwen3ForCausalLM, Qwen3Config)
COMMON = dict(max_position_embeddings=512, rms_norm_eps=1e-6, bos_token_id=1, eos_token_id=2, rope_theta=1e6)


def shape(hidden: int, layers: int, heads: int, kv_heads: int, ffn: int, vocab: int, **more) -> dict:
    return dict(
        hidden_size=hidden,
        num_hidden_layers=layers,
        num_attention_heads=heads,
        num_key_value_heads=kv_heads,
        intermediate_size=ffn,
        vocab_size=vocab,
        **more,
    )


# name → (classes, config, dtype of the file, sharded). No vocabulary is a multiple of 32, the block of the quantised formats.
REPOS = {
    "qwen2.5-f32-tied": (QWEN2, shape(128, 2, 4, 2, 192, 1003, tie_word_embeddings=True), torch.float32, False),
    "qwen2.5-bf16-untied-sharded": (QWEN2, shape(160, 3, 5, 1, 224, 1501, tie_word_embeddings=False), torch.bfloat16, True),
    # Heads that do not add up to the hidden size, as in Qwen3-0.6B.
    "qwen3-bf16-tied": (QWEN3, shape(128, 3, 4, 2, 288, 1234, head_dim=64, tie_word_embeddings=True), torch.bfloat16, False),
    "qwen3-f32-untied-sharded": (QWEN3, shape(160, 2, 6, 3, 160, 1111, head_dim=32, tie_word_embeddings=False), torch.float32, True),
    "qwen3-f16-tied": (QWEN3, shape(128, 2, 2, 1, 320, 1399, head_dim=64, tie_word_embeddings=True), torch.float16, False),
    # A vocabulary beyond what the head takes in one piece; as in Qwen3-0.6B the file holds the tied head a second time.
    "qwen3-bf16-wide-vocab-twice": (QWEN3, shape(64, 1, 2, 1, 96, 20011, head_dim=32, tie_word_embeddings=True), torch.bfloat16, False),
}


def as_on_the_hub(folder: pathlib.Path) -> None:
    """Qwen's own repositories were saved by transformers 4: rope_theta at the top level, torch_dtype, and settings that are off."""
    path = folder / "config.json"
    config = json.loads(path.read_text())
    config["rope_theta"] = config.pop("rope_parameters")["rope_theta"]
    config["torch_dtype"] = config.pop("dtype")
    config.pop("layer_types", None)
    config.update(use_sliding_window=False, sliding_window=32768, max_window_layers=21, rope_scaling=None, transformers_version="4.51.0")
    path.write_text(json.dumps(config, indent=2))


def make_hub_models() -> list[str]:
    """Writes every repository and returns their names."""
    # Any tokenizer makes a repository complete: no text is read here.
    tokenizer = AutoTokenizer.from_pretrained(TINY)
    for name, ((model_class, config_class), differs, dtype, sharded) in REPOS.items():
        model = model_class(config_class(**COMMON, **differs)).float()
        randomise(model, name)
        folder = HUB / name
        model.to(dtype).save_pretrained(folder, max_shard_size=SHARD if sharded else "1GB")
        tokenizer.save_pretrained(folder)
        assert (folder / "generation_config.json").exists()
        assert (folder / "model.safetensors.index.json").exists() == sharded, name
        if name.endswith("twice"):
            tensors = load_file(folder / "model.safetensors")
            tensors["lm_head.weight"] = tensors["model.embed_tokens.weight"].clone()
            save_file(tensors, folder / "model.safetensors", {"format": "pt"})
        if name in ("qwen2.5-bf16-untied-sharded", "qwen3-bf16-tied"):
            as_on_the_hub(folder)
    make_refused()
    return list(REPOS)


def make_refused() -> None:
    """A config.json a folder, each by transformers, of a model that the page must refuse by name."""
    small = {**COMMON, **shape(128, 2, 4, 2, 192, 1003)}
    yarn = dict(rope_type="yarn", factor=4.0, original_max_position_embeddings=128, rope_theta=1e6)
    without_theta = {key: value for key, value in small.items() if key != "rope_theta"}
    configs = {
        "mistral": MistralConfig(**small),
        "llama": LlamaConfig(**small),
        "gpt2": GPT2Config(n_embd=128, n_layer=2, n_head=4),
        "qwen3_moe": Qwen3MoeConfig(**small),
        "yarn": Qwen3Config(**without_theta, rope_parameters=yarn),
        "sliding": Qwen2Config(**small, use_sliding_window=True, sliding_window=64, max_window_layers=1),
        "attention-bias": Qwen3Config(**small, attention_bias=True),
        "awq": Qwen2Config(**small, quantization_config=dict(quant_method="awq", bits=4, group_size=128, zero_point=True)),
        "gelu": Qwen3Config(**small, hidden_act="gelu"),
    }
    for name, config in configs.items():
        config.save_pretrained(REFUSED / name)
    # The same as transformers 4 wrote it.
    config = json.loads((REFUSED / "yarn" / "config.json").read_text())
    rope = config.pop("rope_parameters")
    config["rope_theta"] = rope.pop("rope_theta")
    config["rope_scaling"] = rope
    (REFUSED / "yarn-4").mkdir()
    (REFUSED / "yarn-4" / "config.json").write_text(json.dumps(config, indent=2))
