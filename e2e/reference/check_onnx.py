"""`check_onnx.py FOLDER...`: onnx's own checker, shape inference included, over every .onnx file; one JSON line {file: error or null}.

The checker knows the standard operators. Nodes of other domains pass if the model imports their opset, so their shapes are
unknown to it; operators outside com.microsoft are refused here.
"""

import json
import pathlib
import sys

import onnx

DOMAINS = {"", "ai.onnx", "com.microsoft"}


def check(path: pathlib.Path) -> str | None:
    try:
        model = onnx.load(path)
        onnx.checker.check_model(model, full_check=True)
        imported = {opset.domain for opset in model.opset_import}
        used = {node.domain for node in model.graph.node}
        if not used <= imported:
            return f"domains {sorted(used - imported)} are used but not imported"
        if not used <= DOMAINS:
            return f"operators of the domains {sorted(used - DOMAINS)}"
        unused = {i.name for i in model.graph.input} - {name for node in model.graph.node for name in node.input}
        if unused:
            return f"inputs that no node reads: {sorted(unused)}"
        return None
    except Exception as error:  # noqa: BLE001 - whatever the checker raises is the answer
        return f"{type(error).__name__}: {error}"


def main() -> None:
    files = sorted(path for folder in sys.argv[1:] for path in pathlib.Path(folder).rglob("*.onnx"))
    print(json.dumps({str(path): check(path) for path in files}))


if __name__ == "__main__":
    main()
