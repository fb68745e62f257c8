"""Symmetric blocks of 32 along a linear's inputs, in float32 step by step as the page computes them, so that codes agree to the bit."""

import numpy as np
import torch

BLOCK = 32
ZERO_POINT = {"int4": 8, "int8": 128}


def quantise(weight: np.ndarray, precision: str) -> tuple[np.ndarray, np.ndarray]:
    """Codes uint8 [rows, blocks, 32] and scales float32 [rows, blocks] of a float32 [rows, columns]."""
    assert weight.dtype == np.float32 and weight.shape[1] % BLOCK == 0
    x = weight.reshape(weight.shape[0], -1, BLOCK)
    if precision == "int4":
        # GGML's q4_0: the first of the largest elements gets code 0, so that it is exact.
        at = np.abs(x).argmax(-1, keepdims=True)
        scales = np.take_along_axis(x, at, -1) / np.float32(-8)
        offset, lowest, highest = np.float32(8.5), 0, 15
    else:
        scales = np.abs(x).max(-1, keepdims=True) / np.float32(127)
        offset, lowest, highest = np.float32(0.5), 1 - 128, 255 - 128
    with np.errstate(divide="ignore", invalid="ignore"):
        inverse = np.where(scales == 0, np.float32(0), np.float32(1) / scales)
    codes = np.clip(np.floor(x * inverse + offset), lowest, highest)
    if precision == "int8":
        codes = codes + np.float32(128)
    assert codes.dtype == scales.dtype == inverse.dtype == np.float32
    return codes.astype(np.uint8), scales[..., 0]


def dequantise(codes: np.ndarray, scales: np.ndarray, precision: str) -> np.ndarray:
    """float32 [rows, columns]."""
    values = (codes.astype(np.float32) - np.float32(ZERO_POINT[precision])) * scales[..., None]
    return values.reshape(codes.shape[0], -1)


def is_quantised(name: str) -> bool:
    """All matrices: the linears of the layers, the embedding, and an untied head. Norms and biases stay float32."""
    return name.endswith(("_proj.weight", "embed_tokens.weight", "lm_head.weight"))


def dequantised_state(state: dict[str, torch.Tensor], precision: str) -> dict[str, torch.Tensor]:
    """The state dict of what the page computes with: every quantised tensor there and back."""
    out = {}
    for name, tensor in state.items():
        if precision != "float32" and is_quantised(name):
            weight = tensor.float().numpy()
            out[name] = torch.from_numpy(dequantise(*quantise(weight, precision), precision))
        else:
            out[name] = tensor.float()
    return out
