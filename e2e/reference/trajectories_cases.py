"""`trajectories_cases.py FOLDER`: what pyarrow, datasets, huggingface_hub, transformers and trackio make of a run's exported files.

Of these, what is in FOLDER is read: dataset/ (README.md, data/*.parquet), trajectories.parquet, trajectories.jsonl, metrics.csv,
trainer_state.json, trackio/. Answers one JSON object; what a library warns its users of is an error.
With a dataset, FOLDER/made/ gets it as `datasets` writes it, and TRL's table of completions.
"""

import csv
import json
import math
import os
import pathlib
import subprocess
import sys
import tempfile
import warnings

os.environ["HF_HUB_OFFLINE"] = "1"
os.environ["HF_DATASETS_OFFLINE"] = "1"
os.environ["HF_DATASETS_DISABLE_PROGRESS_BARS"] = "1"
CACHE = tempfile.TemporaryDirectory()
os.environ["HF_DATASETS_CACHE"] = f"{CACHE.name}/datasets"
os.environ["TRACKIO_DIR"] = f"{CACHE.name}/trackio"
ROOT = pathlib.Path(__file__).resolve().parents[2]


def plain(value):
    """NaN as null, as the page's JSON has it."""
    if isinstance(value, float) and math.isnan(value):
        return None
    if isinstance(value, list):
        return [plain(each) for each in value]
    if isinstance(value, dict):
        return {key: plain(each) for key, each in value.items()}
    return value


def arrow(path: pathlib.Path) -> dict:
    import pyarrow.parquet as parquet

    file = parquet.ParquetFile(path)
    metadata = file.metadata
    table = file.read()
    table.validate(full=True)
    types = {field.name: str(field.type) for field in table.schema}
    codecs = {metadata.row_group(0).column(i).compression for i in range(metadata.num_columns)}
    groups = [metadata.row_group(i).num_rows for i in range(metadata.num_row_groups)]
    return dict(types=types, rows=plain(table.to_pylist()), groups=groups, codecs=sorted(codecs), metrics=metrics_of(table))


def metrics_of(table) -> dict:
    """The run's metrics computed anew, from the columns alone, by step."""
    import numpy as np

    run = json.loads(next(run for run in table.column("run").to_pylist() if run))
    scale = run["config"]["grpo"]["scale_rewards"]
    steps: dict[int, list] = {}
    for row in table.select(["step", "group", "reward", "advantage", "mask", "train_mask", "sampler_logprobs", "train_logprobs", "entropies"]).to_pylist():
        steps.setdefault(row["step"], []).append(row)
    return {str(step): step_metrics(np, rows, scale) for step, rows in steps.items()}


def step_metrics(np, rows: list, scale: str) -> dict:
    reward = np.array([math.nan if row["reward"] is None else row["reward"] for row in rows], dtype=np.float64)
    group = np.array([row["group"] for row in rows])
    mean = np.array([np.nanmean(reward[group == g]) for g in group])
    std = {
        "group": lambda: np.array([np.nanstd(reward[group == g], ddof=1) for g in group]),
        "batch": lambda: np.nanstd(reward, ddof=1),
        "none": lambda: 1 - 1e-4,
    }[scale]()
    advantage = np.nan_to_num((reward - mean) / (std + 1e-4))
    masks = [np.array(row["mask"], dtype=bool) for row in rows]
    trained = [(row, np.array(row["train_mask"], dtype=bool)) for row in rows if any(row["train_mask"])]
    difference = np.concatenate([np.abs(np.array(row["train_logprobs"]) - np.array(row["sampler_logprobs"]))[mask] for row, mask in trained])
    entropy = np.concatenate([np.array(row["entropies"])[mask] for row, mask in trained])
    return {
        "reward": float(np.nanmean(reward)),
        "reward_std": float(np.nanstd(reward, ddof=1)),
        "completions/mean_length": float(np.mean([mask.sum() for mask in masks])),
        "sampling/sampling_logp_difference/mean": float(difference.mean()),
        "entropy": float(entropy.mean()),
        "largest difference of an advantage": float(np.abs(advantage - [row["advantage"] for row in rows]).max()),
    }


def loaded(*args, made: pathlib.Path | None = None, **kwargs) -> dict:
    from datasets import load_dataset

    dataset = load_dataset(*args, split="train", **kwargs)
    if made:
        dataset.to_parquet(made / "rewritten.parquet")
        dataset.to_json(made / "rewritten.jsonl")
    return dict(features={name: str(feature) for name, feature in dataset.features.items()}, rows=plain(dataset.to_list()))


def make_completions(folder: pathlib.Path) -> None:
    """TRL's table as TRL writes it, of texts and of conversations, for the page to read."""
    import pandas

    call = {"type": "function", "function": {"name": "move", "arguments": {"to": "left"}}}
    other = {"type": "function", "function": {"name": "say", "arguments": {"word": "a"}}}
    asked = [[{"role": "user", "content": text}] for text in ("A?", "A?", "B?")]
    said = [
        [{"role": "assistant", "content": "", "tool_calls": [call]}, {"role": "tool", "name": "move", "content": "moved"}, {"role": "assistant", "content": "one"}],
        [{"role": "assistant", "content": "two", "tool_calls": [other]}],
        [{"role": "assistant", "content": "three"}],
    ]
    rewards = {"format": [1.0, 0.0, math.nan], "length": [0.5, math.nan, math.nan]}
    texts = dict(prompt=["A?", "A?", "B?"], completion=["one", "two", "three"])
    for name, columns in dict(texts=texts, messages=dict(prompt=asked, completion=said)).items():
        table = {"step": [5, 5, 5], **columns, **rewards, "advantage": [0.7, -0.7, 0.0]}
        pandas.DataFrame(table).to_parquet(folder / f"completions_{name}.parquet")


def card(path: pathlib.Path) -> dict:
    from datasets.utils.metadata import MetadataConfigs
    from huggingface_hub import DatasetCard, DatasetCardData

    read = DatasetCard.load(path, ignore_metadata_errors=False)
    data = DatasetCardData(**read.data.to_dict())
    configs = MetadataConfigs.from_dataset_card_data(data)
    return dict(data=data.to_dict(), configs=dict(configs), text=read.text)


def decoded(rows: list) -> list:
    """prompt and completion as transformers decodes the ids; nothing for a model that is not in this repository."""
    from transformers import AutoTokenizer

    run = json.loads(next(row["run"] for row in rows if row["run"]))
    folder = ROOT / "public" / run["config"]["model"]
    if not folder.is_dir():
        return []
    tokenizer = AutoTokenizer.from_pretrained(folder)

    def text(ids):
        return tokenizer.decode(ids, skip_special_tokens=True)

    return [[text(row["ids"][: row["prompt_length"]]), text(row["ids"][row["prompt_length"] :])] for row in rows]


def in_trackio(folder: pathlib.Path) -> dict:
    """The documented command, then what trackio has stored."""
    from trackio.sqlite_storage import SQLiteStorage

    subprocess.run([sys.executable, "-W", "error::UserWarning", "open_in_trackio.py"], cwd=folder, check=True, stdout=subprocess.DEVNULL)
    project = json.loads((folder / "run.json").read_text(encoding="utf-8"))["project"]
    runs = list(SQLiteStorage.get_runs(project))
    logs = [[{key: value for key, value in log.items() if key != "timestamp"} for log in SQLiteStorage.get_logs(project, run)] for run in runs]
    return dict(runs=runs, logs=logs, configs=[SQLiteStorage.get_run_config(project, run) for run in runs])


def trainer_state(path: pathlib.Path) -> dict:
    from transformers import TrainerState

    state = TrainerState.load_from_json(str(path))
    return dict(global_step=state.global_step, max_steps=state.max_steps, log_history=state.log_history)


def table(path: pathlib.Path) -> list:
    with open(path, newline="", encoding="utf-8") as file:
        return [{key: float(value) if value else None for key, value in row.items()} for row in csv.DictReader(file)]


def check(folder: pathlib.Path) -> dict:
    found: dict = {}
    dataset = folder / "dataset"
    if dataset.is_dir():
        made = folder / "made"
        made.mkdir(exist_ok=True)
        make_completions(made)
        found["dataset"] = loaded(str(dataset), made=made)
        found["card"] = card(dataset / "README.md")
        found["parquet"] = arrow(next((dataset / "data").glob("*.parquet")))
        found["decoded"] = decoded(found["parquet"]["rows"])
    for name, read in {"trajectories.parquet": arrow, "metrics.csv": table, "trainer_state.json": trainer_state, "trackio": in_trackio}.items():
        if (folder / name).exists():
            found[name] = read(folder / name)
    lines = folder / "trajectories.jsonl"
    if lines.exists():
        found["lines"] = [json.loads(line) for line in lines.read_text(encoding="utf-8").removesuffix("\n").split("\n")]
        found["jsonl"] = loaded("json", data_files=str(lines))
    return found


def main() -> None:
    answer = check(pathlib.Path(sys.argv[1]))
    sys.stdout.write(json.dumps(answer, ensure_ascii=False, allow_nan=False))


if __name__ == "__main__":
    with warnings.catch_warnings():
        # Names that a library will drop from another one are theirs to change.
        warnings.filterwarnings("error", category=UserWarning)
        main()
