"""TRL's SFTTrainer and DPOTrainer themselves on the shipped model: rows in every format, their tokens and targets, three optimizer steps of each."""

import json
import logging

import datasets
from datasets import Dataset
from peft import get_peft_model
from trl import DPOConfig, DPOTrainer, SFTConfig, SFTTrainer

from chat_cases import template
from common import OUT, write_json
from trl_runs import ADAM, LORA, QUIET, Recorder, base_model, lora_config, set_adapter, tokenizer

STEPS = 3


def say(role: str, content: str, **more) -> dict:
    return dict(role=role, content=content, **more)


def call(direction: str) -> dict:
    return dict(type="function", function=dict(name="steer", arguments=dict(direction=direction, hard=direction == "left")))


TOOL = dict(
    type="function",
    function=dict(
        name="steer",
        description="Steers the car – até 3 lanes.",
        parameters=dict(
            type="object",
            properties=dict(direction=dict(type="string", enum=["left", "right"]), hard=dict(type="boolean", description="With force.")),
            required=["direction"],
        ),
    ),
)
# A list would get the union of all rows' keys, None where a row has none.
TOOLS = json.dumps([TOOL])

PLAYED = [
    [
        say("system", "You drive.\nAnswer with one call."),
        say("user", "car: distance 12, speed 30, free left"),
        say("assistant", "", tool_calls=[call("left")]),
        say("tool", "speed 20", name="steer"),
        say("assistant", "Once more. ", tool_calls=[call("right"), call("left")]),
        say("tool", "", name="steer"),
        say("tool", "you are home ☂", name="steer"),
        say("assistant", "Done."),
    ],
    [say("user", "ball at 3, paddle at 1"), say("assistant", "", tool_calls=[call("right")]), say("tool", "hit", name="steer")],
    [say("user", "dog: distance 4"), say("assistant", "<think>\nIt is near.\n</think>\n\nBrake!"), say("user", "And now?"), say("assistant", "Go  on")],
]
ASKED = [
    dict(prompt=[say("user", "What is 3 + 4?")], completion=[say("assistant", "7")]),
    dict(
        prompt=[say("system", "Be brief."), say("user", "Hi"), say("assistant", "Hello."), say("user", "Who?")],
        completion=[say("assistant", "A model."), say("user", "No."), say("assistant", "Yes.")],
    ),
]
CALLED = [
    dict(prompt=PLAYED[0][:2], completion=PLAYED[0][2:], tools=TOOLS, chat_template_kwargs=dict(enable_thinking=False)),
    dict(prompt=PLAYED[1][:1], completion=PLAYED[1][1:], tools=TOOLS, chat_template_kwargs=dict(enable_thinking=False)),
]
TEXTS = [
    dict(prompt="The sky is", completion=" blue."),
    dict(prompt="One, two,", completion=" three, four, five<|im_end|>"),
    # Tokens merge across the end of the prompt.
    dict(prompt="dis", completion="tance 12"),
]

MESSAGES = [dict(messages=messages, tools=TOOLS) for messages in PLAYED]

SFT = [
    dict(name="messages, the assistant's tokens", rows=MESSAGES, settings=dict(assistant_only_loss=True)),
    dict(name="messages, every token", rows=MESSAGES, settings=dict(assistant_only_loss=False)),
    dict(name="prompt and completion", rows=ASKED, settings=dict(assistant_only_loss=False)),
    dict(name="prompt and completion, the assistant's tokens", rows=ASKED, settings=dict(assistant_only_loss=True)),
    dict(name="prompt and completion with tools", rows=CALLED, settings=dict(assistant_only_loss=False)),
    dict(name="prompt and completion with tools, the assistant's tokens", rows=CALLED, settings=dict(assistant_only_loss=True)),
    dict(name="prompt and completion as texts", rows=TEXTS, settings=dict(assistant_only_loss=False)),
    dict(name="texts", rows=[dict(text="A car brakes."), dict(text="Stay, left, right<|im_end|>")], settings=dict(assistant_only_loss=False)),
    dict(name="cut at max_length, a row dropped", rows=ASKED, settings=dict(assistant_only_loss=False, max_length=30)),
    dict(name="clipped", rows=ASKED, settings=dict(assistant_only_loss=False, max_grad_norm=0.5)),
]

PAIRS = [
    dict(prompt=[say("user", "What is 3 + 4?")], chosen=[say("assistant", "7")], rejected=[say("assistant", "34, I think.")]),
    dict(prompt=[say("system", "Be brief."), say("user", "Hi")], chosen=[say("assistant", "Hello.")], rejected=[say("assistant", "What?")]),
    dict(
        prompt=[say("user", "car: distance 12, speed 30")],
        chosen=[say("assistant", "", tool_calls=[call("left")])],
        rejected=[say("assistant", "", tool_calls=[call("right")])],
    ),
]
PAIRS_WITH_TOOLS = [
    dict(
        prompt=PLAYED[0][:2],
        chosen=PLAYED[0][2:5],
        rejected=[PLAYED[0][2], say("tool", "speed 31", name="steer"), say("assistant", "No.")],
        tools=TOOLS,
        chat_template_kwargs=dict(enable_thinking=False),
    ),
    dict(
        prompt=PLAYED[1][:1],
        chosen=PLAYED[1][1:2],
        rejected=[say("assistant", "I stay.")],
        tools=TOOLS,
        chat_template_kwargs=dict(enable_thinking=False),
    ),
]
IMPLICIT = [dict(chosen=row["prompt"] + row["chosen"], rejected=row["prompt"] + row["rejected"]) for row in PAIRS]
PAIRS_OF_TEXTS = [
    dict(prompt="The sky is", chosen=" blue.", rejected=" a lie<|im_end|>"),
    # Tokens merge across the end of the prompt in one answer alone.
    dict(prompt="dis", chosen="tance 12", rejected=" is"),
]
IMPLICIT_TEXTS = [dict(chosen="The sky is blue.", rejected="The sky is green."), dict(chosen="One, two, three", rejected="One, two, five, six")]


def pairs(name: str, rows: list, adapter: str = "moved", **settings) -> dict:
    """`adapter`: 'fresh' has B = 0; 'moved' has another B, with the base model as reference; 'loaded' the same B with itself as reference."""
    return dict(name=name, rows=rows, adapter=adapter, settings=dict(beta=0.1, label_smoothing=0.0, loss_type="sigmoid") | settings)


LOSSES = [
    dict(loss_type="sigmoid"),
    dict(loss_type="ipo"),
    dict(loss_type="hinge"),
    dict(loss_type="robust", label_smoothing=0.2),
    dict(loss_type="sigmoid", beta=0.5),
    dict(loss_type="nca_pair"),
    dict(loss_type="apo_zero"),
    dict(loss_type="apo_down"),
    dict(loss_type="sppo_hard"),
]
DPO = (
    [pairs(" ".join(map(str, losses.values())), PAIRS, **losses) for losses in LOSSES]
    + [pairs(f"a fresh LoRA, {t}", PAIRS, "fresh", loss_type=t, label_smoothing=0.2 if t == "robust" else 0.0) for t in ("sigmoid", "ipo", "hinge", "robust")]
    + [
        pairs("a loaded LoRA", PAIRS, "loaded"),
        pairs("tools", PAIRS_WITH_TOOLS),
        pairs("no prompt", IMPLICIT),
        pairs("texts", PAIRS_OF_TEXTS),
        pairs("texts without a prompt", IMPLICIT_TEXTS),
        pairs("cut at max_length", PAIRS, max_length=40),
    ]
)


def config_of(example: dict) -> dict:
    return (
        QUIET
        | dict(output_dir=str(OUT / "trl-stage"), per_device_train_batch_size=len(example["rows"]), max_steps=STEPS, learning_rate=1e-3, max_grad_norm=1e9)
        | example["settings"]
    )


def written(example: dict, config, recorder: Recorder, folder: str, batch: list) -> dict:
    keys = "learning_rate lr_scheduler_type warmup_steps weight_decay max_grad_norm max_length".split() + list(example["settings"])
    settings = {key: getattr(config, key) for key in keys} | example["settings"]
    return example | dict(settings=settings, batch=batch) | recorder.write(folder)


def run_sft(example: dict, number: int) -> dict:
    config = SFTConfig(**config_of(example))
    tok = tokenizer()
    if config.assistant_only_loss:
        # TRL knows templates by their exact text, and takes this one for Qwen3's; the shipped model has an older text of it.
        tok.chat_template = template("qwen3_training.jinja")
    trainer = SFTTrainer(model=base_model(), args=config, processing_class=tok, train_dataset=Dataset.from_list(example["rows"]), peft_config=lora_config())
    set_adapter(trainer.model)
    recorder = Recorder().watch(trainer)
    batch = [dict(ids=row["input_ids"], labels=row["labels"]) for row in trainer.train_dataset]
    trainer.train()
    return written(example, config, recorder, f"trl-stage/sft-{number}", batch)


def run_dpo(example: dict, tok, number: int) -> dict:
    config = DPOConfig(**config_of(example))
    model, given = base_model(), dict(peft_config=lora_config())
    if example["adapter"] == "loaded":
        model, given = get_peft_model(model, lora_config()), {}
        set_adapter(model)
    trainer = DPOTrainer(model=model, args=config, processing_class=tok, train_dataset=Dataset.from_list(example["rows"]), **given)
    set_adapter(trainer.model, zero=example["adapter"] == "fresh")
    recorder = Recorder().watch(trainer)
    batch = [{key: row[f"{key}_ids"] for key in ("prompt", "chosen", "rejected")} for row in trainer.train_dataset]
    trainer.train()
    return written(example, config, recorder, f"trl-stage/dpo-{number}", batch)


def make_trl_stage_cases() -> None:
    # Prompts whose last token merges with the answer's first are told of.
    logging.getLogger("trl").setLevel(logging.ERROR)
    datasets.disable_progress_bars()
    tok = tokenizer()
    sft = [run_sft(example, number) for number, example in enumerate(SFT)]
    dpo = [run_dpo(example, tok, number) for number, example in enumerate(DPO)]
    write_json(OUT / "trl-stage.json", dict(lora=LORA, adam=ADAM, sft=sft, dpo=dpo))
