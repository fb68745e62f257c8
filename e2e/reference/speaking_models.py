"""A small Qwen2 and a small Qwen3 that call echo's tool with words of their own: a random model earns no reward, so the page teaches it nothing.

Taught by imitation on the prompts that the page shows, until most calls parse; which words they say stays open, and with it the reward.
"""

import torch
from transformers import AutoTokenizer

from chat_cases import function
from common import OUT, TINY, generator
from hub_models import COMMON, QWEN2, QWEN3, as_on_the_hub, shape
from models import randomise

FOLDER = OUT / "speaking"
WORDS = "apple bird boat book bread cloud door fire fish flower garden gold green hand house lake".split()
ECHO = function("echo_message", "Echo back the provided message.", dict(message=dict(type="string")), ["message"])
STEPS = 90
BATCH = 8

# Neither has the shipped model's sizes. The heads of the Qwen3 do not add up to its hidden size.
MODELS = {
    "qwen2": (QWEN2, shape(96, 2, 6, 2, 160, 1024, tie_word_embeddings=False), torch.bfloat16),
    "qwen3": (QWEN3, shape(64, 2, 4, 2, 192, 1024, head_dim=32, tie_word_embeddings=True), torch.float32),
}


def lesson(tokenizer, random: torch.Generator) -> tuple[list[int], int]:
    """Ids of a prompt with its call, and where the call begins."""

    def words() -> str:
        count = int(torch.randint(1, 3, (), generator=random))
        return " ".join(WORDS[i] for i in torch.randint(0, len(WORDS), (count,), generator=random).tolist())

    messages = [dict(role="system", content="Echo the message."), dict(role="user", content=f'message "{words()}"')]
    prompt = tokenizer.apply_chat_template(messages, tools=[ECHO], add_generation_prompt=True, enable_thinking=False, tokenize=False)
    call = '<tool_call>\n{"name": "echo_message", "arguments": {"message": "%s"}}\n</tool_call><|im_end|>' % words()
    before, after = (tokenizer(text, add_special_tokens=False).input_ids for text in (prompt, call))
    return before + after, len(before)


def teach(model: torch.nn.Module, tokenizer, name: str) -> float:
    """Returns the last loss over the calls' tokens, nats."""
    random = generator(f"{name} lessons")
    optimizer = torch.optim.AdamW(model.parameters(), lr=4e-3, weight_decay=0.0)
    schedule = torch.optim.lr_scheduler.LambdaLR(optimizer, lambda step: min(1, (step + 1) / 10, (STEPS - step) / 30))
    for _ in range(STEPS):
        lessons = [lesson(tokenizer, random) for _ in range(BATCH)]
        longest = max(len(ids) for ids, _ in lessons)
        ids = torch.tensor([ids + [0] * (longest - len(ids)) for ids, _ in lessons])
        labels = torch.tensor([[-100] * start + ids[start:] + [-100] * (longest - len(ids)) for ids, start in lessons])
        # Padding stands on the right, where no token that counts looks at it.
        first = min(start for _, start in lessons) - 1
        logits = model(input_ids=ids, use_cache=False, logits_to_keep=longest - first).logits
        loss = torch.nn.functional.cross_entropy(logits[:, :-1].flatten(0, 1), labels[:, first + 1 :].flatten(), ignore_index=-100)
        optimizer.zero_grad()
        loss.backward()
        torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimizer.step()
        schedule.step()
    return loss.item()


def make_speaking_models() -> list[str]:
    """Writes every repository and returns their names."""
    tokenizer = AutoTokenizer.from_pretrained(TINY)
    for name, ((model_class, config_class), differs, dtype) in MODELS.items():
        differs = {**differs, "bos_token_id": None, "eos_token_id": tokenizer.eos_token_id, "pad_token_id": tokenizer.pad_token_id}
        model = model_class(config_class(**{**COMMON, **differs})).float()
        randomise(model, f"{name} speaking")
        loss = teach(model, tokenizer, name)
        model.eval().to(dtype).save_pretrained(FOLDER / name)
        tokenizer.save_pretrained(FOLDER / name)
        if name == "qwen2":
            as_on_the_hub(FOLDER / name)
        print(f"  {name} speaks: loss {loss:.3f}")
    return list(MODELS)


if __name__ == "__main__":
    make_speaking_models()
