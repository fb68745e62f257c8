"""`trl_timed.py FOLDER OUT STEPS [wait]`: runs a folder's train.py and tells the seconds of each step; with `wait` each step waits for a line of input."""

import json
import pathlib
import runpy
import sys
import time

import torch
import transformers
import trl
from transformers import TrainerCallback
from trl import GRPOTrainer


class Clock(TrainerCallback):
    """From before a step samples to after its optimizer has stepped; what is written to logs and files afterwards does not count."""

    def __init__(self, wait: bool):
        self.wait = wait
        self.start = 0.0

    def on_step_begin(self, args, state, control, **_):
        if self.wait:
            sys.stdin.readline()
        self.start = time.perf_counter()

    def on_step_end(self, args, state, control, **_):
        tell(dict(step=state.global_step, seconds=time.perf_counter() - self.start))


def tell(answer: dict) -> None:
    print(f"@bench {json.dumps(answer)}", flush=True)


def main() -> None:
    folder, out, steps = sys.argv[1:4]
    clock = Clock("wait" in sys.argv[4:])
    train = GRPOTrainer.train

    def timed(trainer: GRPOTrainer):
        trainer.add_callback(clock)
        if clock.wait:
            tell(dict(trl=trl.__version__, transformers=transformers.__version__, torch=torch.__version__, threads=torch.get_num_threads()))
        return train(trainer)

    GRPOTrainer.train = timed
    sys.argv = ["train.py", "--output-dir", out, "--steps", steps]
    runpy.run_path(str(pathlib.Path(folder) / "train.py"), run_name="__main__")


if __name__ == "__main__":
    main()
