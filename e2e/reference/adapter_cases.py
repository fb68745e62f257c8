"""Adapters as PEFT saves them for the repositories: ones that fit, with the tensors they hold, and kinds that must be refused."""

import json

import torch
from peft import IA3Config, LoraConfig, get_peft_model

from common import OUT, write_json
from engine_cases import LORAS, attach, to_file, trainable
from hub_models import HUB
from models import load_folder

FOLDER = OUT / "adapters"
# name → (repository, LoRA of engine_cases, dtype of the file)
ADAPTERS = {
    "all": ("qwen3-bf16-tied", "all", torch.float32),
    "qv-rslora-bf16": ("qwen3-bf16-tied", "qv", torch.bfloat16),
    "qwen2.5-f16": ("qwen2.5-f32-tied", "all", torch.float16),
}
SMALL = dict(task_type="CAUSAL_LM", r=2, target_modules=["q_proj", "v_proj"])
REFUSED = {
    "dora": LoraConfig(**SMALL, use_dora=True),
    "bias": LoraConfig(**SMALL, bias="all"),
    "modules-to-save": LoraConfig(**SMALL, modules_to_save=["norm"]),
    "rank-pattern": LoraConfig(**SMALL, rank_pattern={"layers.1.self_attn.q_proj": 4}),
    "one-layer": LoraConfig(**SMALL, layers_to_transform=[1]),
    "embedding": LoraConfig(task_type="CAUSAL_LM", r=2, target_modules=["q_proj", "embed_tokens"]),
    "ia3": IA3Config(task_type="CAUSAL_LM", target_modules=["k_proj", "down_proj"], feedforward_modules=["down_proj"]),
}


def make_adapter_cases() -> None:
    cases = []
    for name, (repo, lora, dtype) in ADAPTERS.items():
        model = attach(load_folder(HUB / repo), repo, lora).to(dtype)
        model.save_pretrained(FOLDER / name)
        path = FOLDER / name / "adapter_config.json"
        config = json.loads(path.read_text())
        config["base_model_name_or_path"] = f"reference/{repo}"
        path.write_text(json.dumps(config, indent=2))
        to_file(trainable(model, lora), FOLDER / f"{name}.safetensors")
        cases.append(dict(name=name, repo=repo, lora=LORAS[lora]))
    for name, config in REFUSED.items():
        get_peft_model(load_folder(HUB / "qwen3-bf16-tied"), config).float().save_pretrained(FOLDER / "refused" / name)
    write_json(OUT / "adapters.json", dict(cases=cases, refused=list(REFUSED)))
