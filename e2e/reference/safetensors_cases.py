"""Files by the safetensors library itself: one in every dtype that we read, one that our writer must equal byte for byte."""

import torch
from safetensors.torch import save_file

from common import OUT, generator, write_json


def make_safetensors_cases() -> None:
    folder = OUT / "safetensors"
    folder.mkdir(parents=True, exist_ok=True)
    random = generator("safetensors")
    values = torch.cat([torch.randn(60, generator=random), torch.tensor([0.0, -0.0, 65504.0, 6e-8, 1e-5, -3e4])])
    mixed = {
        "f16": values.to(torch.float16),
        "bf16": values.to(torch.bfloat16).reshape(6, 11),
        "f32": values.clone(),
        "one": torch.tensor(2.5, dtype=torch.bfloat16),
        "none": torch.zeros(0, 3, dtype=torch.float16),
    }
    save_file(mixed, folder / "mixed.safetensors", {"format": "pt", "note": "é ≤"})
    widened = {name: dict(dims=list(t.shape), values=t.float().reshape(-1).tolist()) for name, t in mixed.items()}
    named = {
        name: torch.randn(shape, generator=random)
        for name, shape in {
            "model.layers.10.b": (3,),
            "model.layers.2.b": (1, 5),
            "model.layers.2.a": (),
            "7": (2,),
            'quote " and \\ and é': (1,),
            "Z": (0, 4),
        }.items()
    }
    save_file(named, folder / "written.safetensors", {"format": "pt"})
    written = {name: dict(dims=list(t.shape), values=t.reshape(-1).tolist()) for name, t in named.items()}
    write_json(folder / "cases.json", dict(mixed=widened, written=written))
