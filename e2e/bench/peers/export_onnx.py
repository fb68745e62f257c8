"""`export_onnx.py FOLDER`: FOLDER/onnx/model.onnx, float32 with a KV cache, by optimum, as transformers.js reads it."""

import os
import pathlib
import shutil
import sys

os.environ["HF_HUB_OFFLINE"] = "1"
os.environ.setdefault("OMP_WAIT_POLICY", "PASSIVE")

import optimum.version  # noqa: E402
import torch  # noqa: E402
import transformers  # noqa: E402
from optimum.exporters.onnx import main_export  # noqa: E402


def main() -> None:
    folder = pathlib.Path(sys.argv[1])
    out = folder / "exporting"
    shutil.rmtree(out, ignore_errors=True)
    # The exporter checks its graph against the model itself.
    main_export(str(folder), str(out), task="text-generation-with-past", dtype="fp32", device="cpu", do_validation=True, local_files_only=True)
    shutil.rmtree(folder / "onnx", ignore_errors=True)
    (folder / "onnx").mkdir()
    for path in out.glob("model.onnx*"):
        path.rename(folder / "onnx" / path.name)
    shutil.rmtree(out)
    print(f"optimum {optimum.version.__version__}, transformers {transformers.__version__}, torch {torch.__version__}")


if __name__ == "__main__":
    main()
