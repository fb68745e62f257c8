"""`training.py FOLDER`: LoRA training in PyTorch eager on one thread. Each line of input is a list of sequences; each answer the seconds and the loss of a step."""

import json
import os
import sys
import time

os.environ["OMP_NUM_THREADS"] = "1"

import torch  # noqa: E402
from peft import LoraConfig, get_peft_model  # noqa: E402
from transformers import AutoModelForCausalLM  # noqa: E402

torch.set_num_threads(1)


def main() -> None:
    model = AutoModelForCausalLM.from_pretrained(sys.argv[1], dtype=torch.float32)
    lora = LoraConfig(task_type="CAUSAL_LM", r=16, lora_alpha=32, lora_dropout=0.0, target_modules="all-linear")
    model = get_peft_model(model, lora).train()
    trainable = [p for p in model.parameters() if p.requires_grad]
    optimizer = torch.optim.AdamW(trainable, lr=1e-5, betas=(0.9, 0.999), eps=1e-8, weight_decay=0.0)
    tell(dict(threads=torch.get_num_threads(), trainable=sum(p.numel() for p in trainable), attention=model.config._attn_implementation))
    for line in sys.stdin:
        ids = torch.tensor(json.loads(line))
        start = time.perf_counter()
        logits = model(input_ids=ids, use_cache=False).logits
        loss = torch.nn.functional.cross_entropy(logits[:, :-1].flatten(0, 1), ids[:, 1:].flatten())
        loss.backward()
        torch.nn.utils.clip_grad_norm_(trainable, 1.0)
        optimizer.step()
        optimizer.zero_grad(set_to_none=True)
        tell(dict(seconds=time.perf_counter() - start, loss=loss.item()))


def tell(answer: dict) -> None:
    print(f"@bench {json.dumps(answer)}", flush=True)


if __name__ == "__main__":
    main()
