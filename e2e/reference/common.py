"""What every maker shares: where results go, one thread, seeds from names, and JSON that keeps every digit."""

import json
import os
import pathlib
import warnings
import zlib

# Spinning OpenMP threads make torch many times slower on a shared machine. Both must stand before torch is imported.
os.environ.setdefault("OMP_WAIT_POLICY", "PASSIVE")
os.environ.setdefault("OMP_NUM_THREADS", "1")
# Names of arguments that transformers will rename one day; the versions are pinned.
warnings.filterwarnings("ignore", category=FutureWarning)
# Nothing here may ask the Hub for anything.
os.environ["HF_HUB_OFFLINE"] = "1"

import torch  # noqa: E402

torch.set_num_threads(1)

ROOT = pathlib.Path(__file__).resolve().parents[2]
OUT = ROOT / ".cache" / "reference"
TINY = ROOT / "public" / "models" / "tiny-qwen3"


def generator(name: str) -> torch.Generator:
    """A random stream that depends on the name alone."""
    return torch.Generator().manual_seed(zlib.crc32(name.encode()))


def write_json(path: pathlib.Path, value) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(value, ensure_ascii=False), encoding="utf-8")
