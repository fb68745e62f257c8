"""Reads model cards as huggingface_hub does, and runs the Python of their first blocks on the files beside them; answers in JSON."""

import json
import pathlib
import re
import sys

from common import write_json

import huggingface_hub  # noqa: I001 - after common, which keeps it off the network
import torch
import yaml
from huggingface_hub import ModelCard

# What the Hub itself checks needs the network; these are its lists, as far as our cards may use them.
RELATIONS = {"adapter", "finetune"}
LICENSES = {"apache-2.0", "mit"}


def metadata_of(text: str) -> dict:
    """The metadata after every check that works without the Hub: what huggingface_hub parses is what YAML says, and survives being written."""
    card = ModelCard(text, ignore_metadata_errors=False)
    data = card.data.to_dict()
    written = yaml.safe_load(text.split("---\n")[1])
    assert data == written, f"{data} is not {written}"
    assert ModelCard(f"---\n{card.data.to_yaml()}\n---\n{card.text}").data.to_dict() == data
    assert data.get("base_model_relation") in RELATIONS | {None}
    assert data.get("license") in LICENSES | {None}
    assert ("base_model" in data) == ("base_model_relation" in data)
    for repo in [data.get("base_model"), *data.get("datasets", [])]:
        if repo is not None:
            huggingface_hub.utils.validate_repo_id(repo)
    for tag in data["tags"]:
        assert isinstance(tag, str) and tag == tag.strip() and tag, tag
    return data


def run_python(text: str, folder: pathlib.Path, ids: list[int]) -> dict:
    """Runs the card's blocks in order, with the download of this repository answered by its folder; the logits of some tokens after each."""
    names: dict = {}
    huggingface_hub.snapshot_download = lambda repo: str(folder)
    answers = []
    for block in re.findall(r"```python\n(.*?)\n```", text, re.DOTALL):
        exec(compile(block.replace('"merged"', repr(str(folder / "merged"))), "card", "exec"), names)
        model = names.get("merged", names["model"])
        with torch.no_grad():
            logits = model(torch.tensor([ids])).logits[0, -1]
        answers.append(logits.float().tolist())
    return dict(logits=answers, words=len(names["tokenizer"]))


def main(place: pathlib.Path) -> None:
    answers = []
    for case in json.loads((place / "cases.json").read_text()):
        folder = place / case["folder"]
        # Not read_text, which would make one kind of line end of all.
        text = (folder / "README.md").read_bytes().decode()
        answer = dict(folder=case["folder"], metadata=metadata_of(text))
        if case.get("ids"):
            answer |= run_python(text, folder, case["ids"])
        answers.append(answer)
    write_json(place / "answers.json", answers)


main(pathlib.Path(sys.argv[1]))
