"""Makes what the reference tests compare us with: `python e2e/reference/make.py` fills .cache/reference, the same each time."""

import shutil
import time

from common import OUT, TINY, write_json

import torch  # noqa: I001 - after common, which sets the number of threads
import peft
import transformers
import trl

from adapter_cases import make_adapter_cases
from chat_cases import make_chat_cases
from dpo_cases import make_dpo_cases
from engine_cases import make_engine_cases
from models import make_models
from quantised_cases import make_quantised_cases
from safetensors_cases import make_safetensors_cases
from reward_cases import make_reward_cases
from schedule_cases import make_schedule_cases
from speaking_models import make_speaking_models
from trl_cases import make_trl_cases
from trl_stage_cases import make_trl_stage_cases
from trl_step_cases import make_trl_step_cases


def main() -> None:
    started = time.time()
    transformers.utils.logging.set_verbosity_error()
    transformers.utils.logging.disable_progress_bar()
    shutil.rmtree(OUT, ignore_errors=True)
    for make in (make_safetensors_cases, make_schedule_cases, make_trl_cases, make_dpo_cases, make_reward_cases, make_chat_cases):
        make()
        print(f"{make.__name__}: {time.time() - started:.1f} s so far")
    names = make_models()
    for name in names:
        make_engine_cases(name)
    if "tiny-qwen3" not in names:
        print(f"No shipped model under {TINY.name}: the tests that need it will fail until `npm run pretrain` has made it.")
    repos = make_quantised_cases()
    make_adapter_cases()
    print(f"make_quantised_cases and make_adapter_cases: {time.time() - started:.1f} s so far")
    make_speaking_models()
    make_trl_step_cases()
    make_trl_stage_cases()
    print(f"make_trl_step_cases and make_trl_stage_cases: {time.time() - started:.1f} s so far")
    versions = {module.__name__: module.__version__ for module in (torch, transformers, peft, trl)}
    write_json(OUT / "manifest.json", dict(models=names, repos=repos, versions=versions))
    print(f"References by {versions} in {time.time() - started:.1f} s")


if __name__ == "__main__":
    main()
