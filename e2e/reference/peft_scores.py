"""`python -W error peft_scores.py JOBS ANSWERS`: what PEFT and transformers make of folders that we wrote; a warning is an error.

A job names a base model's folder and the precision at which the page keeps it, and an adapter's folder or none: a merged model is a base
alone. Paths count from .cache/reference. The answer holds log-probs, entropies and argmax of its sequences, or the error.
"""

import json
import logging
import os
import pathlib
import sys
import warnings

from common import OUT, ROOT, write_json

import torch  # noqa: I001 - after common, which sets the number of threads
from peft import AutoPeftModelForCausalLM, PeftModel
from peft.tuners.lora import LoraLayer
from safetensors import safe_open
from transformers import AutoModelForCausalLM, AutoTokenizer
from transformers.utils.logging import disable_progress_bar

from engine_cases import scores_to_lists
from models import load_folder
from quantise import dequantised_state
from quantised_cases import score_one


class Complaints(logging.Handler):
    """transformers says by its log what PEFT says by warnings: weights that are missing or not used."""

    def __init__(self) -> None:
        super().__init__(logging.WARNING)
        self.lines: list[str] = []

    def emit(self, record: logging.LogRecord) -> None:
        self.lines.append(record.getMessage())


def adapter_facts(model: PeftModel) -> dict:
    """What PEFT made of adapter_config.json."""
    config = model.peft_config["default"]
    layers = [module for module in model.modules() if isinstance(module, LoraLayer)]
    return dict(
        scalings=sorted({module.scaling["default"] for module in layers}),
        layers=len(layers),
        base=config.base_model_name_or_path,
        revision=config.revision,
        trainable=sum(p.numel() for p in model.parameters() if p.requires_grad),
    )


def load_job(job: dict) -> tuple[torch.nn.Module, dict]:
    if job.get("by_name"):
        # As people load an adapter: the base by the name that the adapter gives, from the folder that the site is served from.
        before = os.getcwd()
        os.chdir(ROOT / "public")
        try:
            model = AutoPeftModelForCausalLM.from_pretrained(OUT / job["adapter"])
        finally:
            os.chdir(before)
        return model.double().eval(), adapter_facts(model)
    folder = OUT / job["base"]
    model = load_folder(folder)
    if job["precision"] != "float32":
        model.load_state_dict(dequantised_state(model.state_dict(), job["precision"]))
    if job.get("adapter"):
        model = PeftModel.from_pretrained(model, OUT / job["adapter"]).double().eval()
        return model, adapter_facts(model)
    _, info = AutoModelForCausalLM.from_pretrained(folder, output_loading_info=True)
    with safe_open(folder / "model.safetensors", "pt") as file:
        names = sorted(file.keys())
        dtypes = sorted({str(file.get_tensor(name).dtype) for name in names})
    facts = dict(loading={key: sorted(map(str, value)) for key, value in info.items() if value}, names=names, dtypes=dtypes)
    if (folder / "tokenizer.json").exists():
        facts["words"] = len(AutoTokenizer.from_pretrained(folder))
    return model, facts


def answer(job: dict, complaints: Complaints) -> dict:
    complaints.lines.clear()
    try:
        model, facts = load_job(job)
        with torch.no_grad():
            scores = [scores_to_lists([s], *score_one(model, s, [1.0])[0])[0] for s in job["sequences"]]
    except Exception as error:  # noqa: BLE001 - whatever is raised is the answer
        return dict(error=f"{type(error).__name__}: {error}")
    return dict(error="; ".join(complaints.lines) or None, facts=facts, scores=scores)


def main() -> None:
    jobs, answers = map(pathlib.Path, sys.argv[1:])
    # The imports above may have put exceptions before -W error.
    warnings.simplefilter("error")
    # PEFT 0.21 asks transformers 5.24 for this at every adapter it attaches, its own ones too: nothing that a file could avoid.
    warnings.filterwarnings("ignore", "`is_gradient_checkpointing` is deprecated", FutureWarning)
    complaints = Complaints()
    for name in ("transformers", "peft"):
        logging.getLogger(name).addHandler(complaints)
    disable_progress_bar()
    write_json(answers, {job["name"]: answer(job, complaints) for job in json.loads(jobs.read_text())})


if __name__ == "__main__":
    main()
