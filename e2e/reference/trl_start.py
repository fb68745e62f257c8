"""`trl_start.py FOLDER OUT`: the LoRA weights that TRL begins with ("default") and compares with ("ref"), as a folder's train.py sets them.

The script runs up to the training itself; OUT gets start.safetensors.
"""

import pathlib
import runpy
import sys

from safetensors.torch import save_file
from trl import GRPOTrainer


def main() -> None:
    folder, out = map(pathlib.Path, sys.argv[1:])

    def keep(trainer: GRPOTrainer) -> None:
        weights = {name: parameter.detach().clone() for name, parameter in trainer.model.named_parameters() if "lora_" in name}
        save_file(weights, out / "start.safetensors")
        sys.exit()

    GRPOTrainer.train = keep
    sys.argv = ["train.py", "--output-dir", str(out)]
    runpy.run_path(str(folder / "train.py"), run_name="__main__")


if __name__ == "__main__":
    main()
