"""Pictures in observations become words: base64 files, and pixels as nested or flat arrays of integers."""

from __future__ import annotations

import base64
import binascii
import re
import struct
from typing import Any

from playground import js_fixed

IMAGE_WORDS = ("screenshot", "image", "pixel", "frame", "screen", "png", "camera", "render", "view", "rgb")
HEADS = (("iVBORw0KGgo", "png"), ("/9j/", "jpeg"), ("R0lGOD", "gif"), ("UklGR", "webp"))
LARGEST_FILE = 1 << 20
DEEPEST = 48
SMALLEST_SIDE = 8
# Boards and tables are no larger than this, or hold no value as high as BRIGHT; a picture is larger, or does.
LARGEST_BOARD = 40
BRIGHT = 128
# Triples of bytes with sides of at least this are a picture whatever their name.
SURELY_PICTURE = 64


def without_images(value: Any, name: str = "", depth: int = 0, siblings: dict[str, Any] | None = None) -> Any:
    """The value with a placeholder for each picture; nests of more than 48 levels are cut off."""
    if isinstance(value, str):
        return _from_base64(value, name)
    if not isinstance(value, (dict, list)):
        return value
    if depth >= DEEPEST:
        return "[nested too deeply]"
    if isinstance(value, list):
        size = _nested(value, name) or _flat(value, name, siblings)
        return [without_images(item, name, depth + 1) for item in value] if size is None else placeholder(*size)
    named = "image" if value.get("type") == "image" else None
    return {key: without_images(item, named or key, depth + 1, value) for key, item in value.items()}


def names_image(name: str) -> bool:
    """Whether a name says by a whole word that its field holds a picture: screenImage and camera_images, but not dataframe."""
    words = re.split(r"[^a-z]+", re.sub(r"([a-z])(?=[A-Z])", r"\1 ", name).lower())
    return any(word in IMAGE_WORDS or re.sub(r"s$", "", word) in IMAGE_WORDS for word in words)


def placeholder(width: int, height: int) -> str:
    """What a text-only model reads in a picture's place."""
    return f"[image {width}×{height}, not shown to a text-only model]"


def _from_base64(text: str, name: str) -> str:
    plain = text[text.index(",") + 1 :] if text.startswith("data:image/") and "," in text else text
    kind = next((kind for head, kind in HEADS if plain.startswith(head)), None)
    if kind is None or len(plain) < 64 or (not names_image(name) and re.search(r"\s", plain[:200])):
        return text
    large = len(plain) * 3 / 4 > LARGEST_FILE
    size = _size_of(_decoded(plain[:65_536] if large else plain), kind)
    if large:
        what = "image" if size is None else f"image {size[0]}×{size[1]}"
        return f"[{what} of {js_fixed(len(plain) * 3 / 4e6)} MB, too large to keep]"
    return "[image that could not be read]" if size is None else placeholder(*size)


def _decoded(text: str) -> bytes:
    try:
        return base64.b64decode(re.sub(r"\s", "", text), validate=True)
    except (binascii.Error, ValueError):
        return b""


def _size_of(data: bytes, kind: str) -> tuple[int, int] | None:
    """Width and height as the file's header says, or None when it does not."""
    try:
        if kind == "png":
            size = struct.unpack_from(">II", data, 16)
        elif kind == "gif":
            size = struct.unpack_from("<HH", data, 6)
        else:
            size = _webp_size(data) if kind == "webp" else _jpeg_size(data)
    except struct.error:
        return None
    return size if size is not None and size[0] > 0 and size[1] > 0 else None


def _jpeg_size(data: bytes) -> tuple[int, int] | None:
    at = 2
    while at + 9 < len(data):
        if data[at] != 0xFF:
            return None
        marker, length = data[at + 1], struct.unpack_from(">H", data, at + 2)[0]
        if 0xC0 <= marker <= 0xCF and marker not in (0xC4, 0xC8, 0xCC):
            height, width = struct.unpack_from(">HH", data, at + 5)
            return width, height
        at += 2 + length
    return None


def _webp_size(data: bytes) -> tuple[int, int] | None:
    if len(data) < 30:
        return None
    kind = data[12:16]
    if kind == b"VP8X":
        return int.from_bytes(data[24:27], "little") + 1, int.from_bytes(data[27:30], "little") + 1
    if kind == b"VP8 ":
        width, height = struct.unpack_from("<HH", data, 26)
        return width & 0x3FFF, height & 0x3FFF
    if kind != b"VP8L":
        return None
    bits = struct.unpack_from("<I", data, 21)[0]
    return (bits & 0x3FFF) + 1, ((bits >> 14) & 0x3FFF) + 1


def _nested(value: list[Any], name: str) -> tuple[int, int] | None:
    """Size of [height][width][3 or 4] or [height][width] under a picture's name; large ones of three or four channels under any."""
    if len(value) < SMALLEST_SIDE or not isinstance(value[0], list) or len(value[0]) < SMALLEST_SIDE:
        return None
    width = len(value[0])
    if not all(isinstance(row, list) and len(row) == width for row in value):
        return None
    first = value[0][0]
    if isinstance(first, list):
        if len(first) not in (3, 4) or (not names_image(name) and min(width, len(value)) < SURELY_PICTURE):
            return None
        if not all(isinstance(pixel, list) and len(pixel) >= 3 for row in value for pixel in row):
            return None
        used = [channel for row in value for pixel in row for channel in pixel[:3]]
    else:
        used = [pixel for row in value for pixel in row] if names_image(name) else [None]
    return (width, len(value)) if _is_picture(used, width, len(value)) else None


def _is_picture(values: list[Any], width: int, height: int) -> bool:
    """Whether the values are bytes, and those of a picture rather than of a board or table."""
    return all(map(_is_byte, values)) and (min(width, height) > LARGEST_BOARD or any(value >= BRIGHT for value in values))


def _flat(value: list[Any], name: str, siblings: dict[str, Any] | None) -> tuple[int, int] | None:
    """Size of a flat list under a picture's name beside NAME_shape: [height, width, 3] or [height, width]."""
    shape = (siblings or {}).get(f"{name}_shape")
    if not names_image(name) or not isinstance(shape, list) or len(shape) not in (2, 3):
        return None
    height, width, channels = [*shape, 1][:3]
    whole = all(isinstance(side, int) and not isinstance(side, bool) for side in (height, width))
    if not whole or channels not in (1, 3, 4) or not value or height * width * channels != len(value):
        return None
    used = [each for i, each in enumerate(value) if channels != 4 or i % 4 != 3]
    return (width, height) if _is_picture(used, width, height) else None


def _is_byte(value: Any) -> bool:
    is_number = isinstance(value, (int, float)) and not isinstance(value, bool)
    return is_number and value == int(value) and 0 <= value <= 255
