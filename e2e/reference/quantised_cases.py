"""For each repository, as float32, int8 and int4: the weights the page must compute with, and torch's numbers on exactly those."""

import numpy as np
import torch

from common import OUT, generator, write_json
from engine_cases import LORAS, TEMPERATURES, attach, make_batch, scores_to_lists, to_file, trainable
from hub_models import HUB, make_hub_models
from models import load_folder
from quantise import dequantise, dequantised_state, is_quantised, quantise

PRECISIONS = ["float32", "int8", "int4"]
LORA = "all"
SCALE = 1.0
# Longer than a head's chunk of rows, a cache bucket of 128 and a micro-batch's usual row.
LONG = 300
PROMPTS = [12, 7]
GREEDY_TOKENS = 12


def make_edges() -> None:
    """Blocks in which a quantiser may differ in a bit: no scale, ties, halves between codes, extremes."""
    random = generator("edges")
    steps = torch.arange(32.0)
    blocks = torch.stack(
        [
            torch.zeros(32),
            -torch.zeros(32),
            (steps % 2) * 2 - 1,
            1 - (steps % 2) * 2,
            # Half-way between two codes of int4, with either sign of the scale.
            torch.where(steps == 0, -8.0, steps / 2 - 7.5),
            torch.where(steps == 0, 8.0, steps / 2 - 7.5),
            # The same of int8.
            torch.where(steps == 31, 127.0, steps - 15.5),
            torch.where(steps == 31, -127.0, steps - 15.5),
            torch.where(steps == 7, 1.0, 0.0),
            torch.where(steps == 30, -1e-6, 0.0),
            torch.randn(32, generator=random) * 2.0**-100,
            torch.randn(32, generator=random) * 2.0**120,
            torch.full((32,), 0.1),
            torch.full((32,), -0.3),
        ]
    )
    plain, halves = torch.randn((2, 500, 64), generator=random)
    weight = torch.cat([blocks.reshape(7, 64), plain, halves.half().float()])
    tensors = {"weight": weight}
    for precision in ("int4", "int8"):
        codes, scales = quantise(weight.numpy(), precision)
        tensors[f"{precision}.codes"] = torch.from_numpy(codes.reshape(weight.shape).astype(np.float32))
        tensors[f"{precision}.scales"] = torch.from_numpy(scales)
        tensors[f"{precision}.weight"] = torch.from_numpy(dequantise(codes, scales, precision))
    to_file(tensors, OUT / "quantised" / "edges.safetensors")


def score_one(model, sequence: dict, temperatures: list[float]) -> list[tuple[torch.Tensor, torch.Tensor, torch.Tensor]]:
    """Log-probs, entropies and argmax [1, tokens] of one sequence alone, no padding, by temperature."""
    ids = torch.tensor([sequence["ids"]])
    logits = model(input_ids=ids, use_cache=False).logits[:, :-1].double()
    out = []
    for temperature in temperatures:
        logs = torch.log_softmax(logits / temperature, dim=-1)
        logprobs = logs.gather(-1, ids[:, 1:, None]).squeeze(-1)
        entropies = -(logs.exp() * logs).sum(-1)
        out.append(tuple(torch.nn.functional.pad(x, (1, 0)) for x in (logprobs, entropies, logits.argmax(-1))))
    return out


def scores_of(model, batch: list[dict]) -> dict[str, list[dict]]:
    """Scores of every sequence by temperature, as engine_cases lists them."""
    with torch.no_grad():
        by_sequence = [score_one(model, sequence, TEMPERATURES) for sequence in batch]
    return {
        str(temperature): [scores_to_lists([sequence], *scores[t])[0] for sequence, scores in zip(batch, by_sequence, strict=True)]
        for t, temperature in enumerate(TEMPERATURES)
    }


def gradients_of(model, batch: list[dict], parameters: dict[str, torch.nn.Parameter], temperature: float) -> tuple[float, dict]:
    """The loss of engine_cases, sequence by sequence, and its gradient by every parameter."""
    tokens = sum(sum(sequence["mask"]) for sequence in batch)
    model.zero_grad()
    total = 0.0
    for sequence in batch:
        ((logprobs, entropies, _),) = score_one(model, sequence, [temperature])
        c, e = torch.tensor(sequence["c"]).double(), torch.tensor(sequence["e"]).double()
        loss = ((c * logprobs[0]).sum() + (e * entropies[0]).sum()) * SCALE / tokens
        loss.backward()
        total += loss.item()
    return total, {key: parameter.grad for key, parameter in parameters.items()}


def greedy(model, name: str, vocab: int) -> list[dict]:
    """Continuations by the likeliest token: ids, log-probs, entropies and the five best of each step."""
    out = []
    for length in PROMPTS:
        prompt = torch.randint(0, vocab, (length,), generator=generator(f"{name} prompt {length}")).tolist()
        steps, ids = [], list(prompt)
        for _ in range(GREEDY_TOKENS):
            with torch.no_grad():
                logs = torch.log_softmax(model(input_ids=torch.tensor([ids]), use_cache=False).logits[0, -1].double(), dim=-1)
            top = logs.topk(6)
            # A tie that float32 may decide either way would test nothing.
            assert (top.values[:-1] - top.values[1:]).min() > 1e-5, f"{name}: choose another prompt"
            steps.append(
                dict(
                    id=top.indices[0].item(),
                    logprob=top.values[0].item(),
                    entropy=-(logs.exp() * logs).sum().item(),
                    top=[dict(id=i, prob=p) for i, p in zip(top.indices[:5].tolist(), top.values[:5].exp().tolist(), strict=True)],
                )
            )
            ids.append(steps[-1]["id"])
        out.append(dict(prompt=prompt, steps=steps))
    return out


def make_batch_with_long(name: str, vocab: int) -> list[dict]:
    """engine_cases' ragged batch and one long sequence, a third of it trained."""
    random = generator(f"{name} long")
    mask = (torch.rand(LONG, generator=random) < 0.35).long()
    mask[0], mask[-1] = 0, 1
    long = dict(ids=torch.randint(0, vocab, (LONG,), generator=random).tolist(), mask=mask.tolist())
    for key, size in (("c", 1.0), ("e", 0.5)):
        long[key] = (torch.randn(LONG, generator=random, dtype=torch.float64) * size * mask).tolist()
    return [*make_batch(name, vocab), long]


def make_quantised_case(name: str, precision: str, batch: list[dict]) -> dict:
    model = load_folder(HUB / name)
    state = dequantised_state(model.state_dict(), precision)
    folder = OUT / "hub-cases" / name / precision
    if precision != "float32":
        # A tied head is the embedding itself.
        kept = {key for key, _ in model.named_parameters()}
        to_file({key: tensor for key, tensor in state.items() if key in kept and is_quantised(key)}, folder / "weights.safetensors")
    model.load_state_dict(state)
    base = scores_of(model, batch)
    tuned = attach(model, name, LORA)
    parameters = trainable(tuned, LORA)
    to_file(parameters, folder / "adapter.safetensors")
    gradients = {}
    for temperature in TEMPERATURES:
        loss, tensors = gradients_of(tuned, batch, parameters, temperature)
        file = f"gradients-{temperature}.safetensors"
        to_file(tensors, folder / file)
        norm = torch.sqrt(sum((tensor**2).sum() for tensor in tensors.values())).item()
        gradients[str(temperature)] = dict(loss=loss, norm=norm, file=f"hub-cases/{name}/{precision}/{file}")
    return dict(
        precision=precision,
        folder=f"hub-cases/{name}/{precision}",
        base=base,
        scores=scores_of(tuned, batch),
        gradients=gradients,
        greedy=greedy(tuned, f"{name} {precision}", model.config.vocab_size),
    )


def make_quantised_cases() -> list[str]:
    make_edges()
    names = make_hub_models()
    for name in names:
        vocab = load_folder(HUB / name).config.vocab_size
        batch = make_batch_with_long(name, vocab)
        cases = [make_quantised_case(name, precision, batch) for precision in PRECISIONS]
        lora = dict(LORAS[LORA])
        write_json(OUT / "hub-cases" / f"{name}.json", dict(repo=name, vocab=vocab, lora=lora, scale=SCALE, batch=batch, cases=cases))
    return names
