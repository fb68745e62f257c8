"""For each model: log-probs, entropies, gradients and ten AdamW steps in torch, for LoRA (by PEFT itself) and full parameters."""

import torch
from peft import LoraConfig, get_peft_model, get_peft_model_state_dict
from safetensors.torch import save_file

from common import OUT, generator, write_json
from models import load

TEMPERATURES = [1.0, 0.7]
LORAS = {
    "all": dict(
        r=4,
        lora_alpha=8,
        use_rslora=False,
        target_modules=["q_proj", "k_proj", "v_proj", "o_proj", "gate_proj", "up_proj", "down_proj"],
    ),
    "qv": dict(r=4, lora_alpha=8, use_rslora=True, target_modules=["q_proj", "v_proj"]),
    "none": None,
}
STEPS = 10
# The scale of the loss: with "all" the clip is active, with "qv" it is not.
SCALE = {"all": 3.0, "qv": 0.02, "none": 0.5}
OPTIMIZER = dict(learning_rate=1e-3, adam_beta1=0.9, adam_beta2=0.999, adam_epsilon=1e-8, weight_decay=0.01, max_grad_norm=1.0)


def make_batch(name: str, vocab: int, context: int = 64) -> list[dict]:
    """Ragged sequences with random masks; the last three share a prompt of 12 tokens, as a GRPO group does."""
    random = generator(f"{name} batch")

    def ids(n: int) -> list[int]:
        return torch.randint(0, vocab, (n,), generator=random).tolist()

    batch = []
    for length in (3, 40, 17, 8, 29):
        mask = (torch.rand(length, generator=random) < 0.6).long().tolist()
        mask[0], mask[-1] = 0, 1
        batch.append(dict(ids=ids(length), mask=mask))
    prompt = ids(12)
    for length in (5, 21, 13):
        mask = (torch.rand(length, generator=random) < 0.7).long().tolist()
        mask[0] = 1
        batch.append(dict(ids=prompt + ids(length), mask=[0] * 12 + mask, promptLength=12))
    assert max(len(s["ids"]) for s in batch) <= context
    for sequence in batch:
        n = len(sequence["ids"])
        mask = torch.tensor(sequence["mask"], dtype=torch.float64)
        sequence["c"] = (torch.randn(n, generator=random, dtype=torch.float64) * mask).tolist()
        sequence["e"] = (torch.randn(n, generator=random, dtype=torch.float64) * 0.5 * mask).tolist()
    return batch


def pad(batch: list[dict], key: str, dtype: torch.dtype) -> torch.Tensor:
    """[batch, longest], zeros on the right."""
    longest = max(len(s["ids"]) for s in batch)
    return torch.tensor([s[key] + [0] * (longest - len(s[key])) for s in batch], dtype=dtype)


def score(model, batch: list[dict], temperature: float) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
    """Log-probs, entropies [batch, longest] (position 0 holds 0) and argmax, of softmax(logits / temperature)."""
    ids = pad(batch, "ids", torch.long)
    lengths = torch.tensor([len(s["ids"]) for s in batch])
    attention = (torch.arange(ids.shape[1])[None] < lengths[:, None]).long()
    logits = model(input_ids=ids, attention_mask=attention, use_cache=False).logits[:, :-1].double() / temperature
    logs = torch.log_softmax(logits, dim=-1)
    logprobs = logs.gather(-1, ids[:, 1:, None]).squeeze(-1)
    entropies = -(logs.exp() * logs).sum(-1)
    return tuple(torch.nn.functional.pad(x, (1, 0)) for x in (logprobs, entropies, logits.argmax(-1)))


def scores_to_lists(batch, logprobs, entropies, argmax) -> list[dict]:
    return [
        dict(
            logprobs=logprobs[i, : len(s["ids"])].tolist(),
            entropies=entropies[i, : len(s["ids"])].tolist(),
            argmax=argmax[i, : len(s["ids"])].tolist(),
        )
        for i, s in enumerate(batch)
    ]


def loss_of(model, batch: list[dict], temperature: float, scale: float) -> torch.Tensor:
    logprobs, entropies, _ = score(model, batch, temperature)
    tokens = sum(sum(s["mask"]) for s in batch)
    c, e = pad(batch, "c", torch.float64), pad(batch, "e", torch.float64)
    return ((c * logprobs).sum() + (e * entropies).sum()) * scale / tokens


def attach(model, name: str, lora: str):
    """PEFT's LoRA with random A and B, rounded to float32 so that both sides start from the same numbers."""
    peft = get_peft_model(model, LoraConfig(task_type="CAUSAL_LM", lora_dropout=0.0, **LORAS[lora])).double()
    random = generator(f"{name} {lora}")
    with torch.no_grad():
        for key, tensor in peft.named_parameters():
            if tensor.requires_grad:
                size = tensor.shape[1] ** -0.5 if "lora_A" in key else 0.1
                tensor.copy_(torch.randn(tensor.shape, generator=random) * size)
    return peft.eval()


def trainable(model, lora: str) -> dict[str, torch.nn.Parameter]:
    """Trainable parameters by the name that a saved file gives them."""
    if LORAS[lora] is None:
        return dict(model.named_parameters())
    named = {key.replace(".default", ""): p for key, p in model.named_parameters() if p.requires_grad}
    assert named.keys() == get_peft_model_state_dict(model).keys()
    return named


def to_file(tensors: dict[str, torch.Tensor], path) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    save_file({key: t.detach().float().contiguous().clone() for key, t in tensors.items()}, path, {"format": "pt"})


def make_case(name: str, lora: str, temperature: float, batch: list[dict]) -> dict:
    model = load(name) if LORAS[lora] is None else attach(load(name), name, lora)
    folder = OUT / "cases" / name / f"{lora}-{temperature}"
    parameters = trainable(model, lora)
    to_file(parameters, folder / "initial.safetensors")
    with torch.no_grad():
        current = scores_to_lists(batch, *score(model, batch, temperature))
    optimizer_params = dict(OPTIMIZER)
    if LORAS[lora] is None:
        # Decay differs by parameter kind in trainers of full models; here it is off, so that no convention is tested.
        optimizer_params["weight_decay"] = 0.0
        if name == "tiny-qwen3":
            # All weights of a trained model at 1e-3: the path is chaotic, and after some steps two float32 runs part by themselves.
            optimizer_params["learning_rate"] = 1e-4
    if LORAS[lora] is None or temperature != 1.0:
        # Adam's first step is the gradient's sign: with the default epsilon, torch's own float32 and float64 differ by 3e-4
        # where a gradient of a large model happens to be 0 up to rounding.
        optimizer_params["adam_epsilon"] = 1e-6
    optimizer = torch.optim.AdamW(
        parameters.values(),
        lr=optimizer_params["learning_rate"],
        betas=(optimizer_params["adam_beta1"], optimizer_params["adam_beta2"]),
        eps=optimizer_params["adam_epsilon"],
        weight_decay=optimizer_params["weight_decay"],
    )
    losses, norms = [], []
    for step in range(STEPS):
        optimizer.zero_grad()
        loss = loss_of(model, batch, temperature, SCALE[lora])
        loss.backward()
        if step == 0:
            to_file({key: p.grad for key, p in parameters.items()}, folder / "gradients.safetensors")
        norm = torch.nn.utils.clip_grad_norm_(parameters.values(), optimizer_params["max_grad_norm"])
        optimizer.step()
        losses.append(loss.item())
        norms.append(norm.item())
        # Every step of an adapter is kept, so that a difference shows where it began; of a full model the two ends.
        if LORAS[lora] is not None or step in (0, STEPS - 1):
            to_file(parameters, folder / f"after-{step + 1}.safetensors")
    return dict(
        name=lora,
        folder=f"cases/{name}/{lora}-{temperature}",
        lora=LORAS[lora],
        temperature=temperature,
        scale=SCALE[lora],
        scores=current,
        optimizer=optimizer_params,
        losses=losses,
        norms=norms,
    )


def make_distributions(model, name: str, vocab: int) -> dict:
    """The whole next-token distribution after each prefix of one sequence, for the sampler: log-probs [tokens, vocab]."""
    ids = torch.randint(0, vocab, (24,), generator=generator(f"{name} sampler"))
    with torch.no_grad():
        logits = model(input_ids=ids[None], use_cache=False).logits[0].double()
    to_file(
        {f"temperature-{t}": torch.log_softmax(logits / t, dim=-1) for t in TEMPERATURES}, OUT / "cases" / name / "next.safetensors"
    )
    return dict(ids=ids.tolist(), file=f"cases/{name}/next.safetensors")


def make_engine_cases(name: str) -> None:
    model = load(name)
    vocab = model.config.vocab_size
    batch = make_batch(name, vocab)
    with torch.no_grad():
        base = {str(t): scores_to_lists(batch, *score(model, batch, t)) for t in TEMPERATURES}
    cases = [make_case(name, lora, t, batch) for lora in LORAS for t in TEMPERATURES]
    sampler = make_distributions(model, name, vocab)
    write_json(OUT / "cases" / f"{name}.json", dict(model=name, batch=batch, base=base, cases=cases, sampler=sampler))
    for case in cases:
        print(f"  {name} {case['folder'].split('/')[-1]}: losses {case['losses'][0]:.4f} → {case['losses'][-1]:.4f},"
              f" gradient norm {case['norms'][0]:.3f}")
