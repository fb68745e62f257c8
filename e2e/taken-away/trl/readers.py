"""Observations of known environments in words, as the page words them; None leaves the observation's own text."""

from __future__ import annotations

import re
from functools import wraps
from typing import Any, Callable

from observations import Frame, board_rows, board_text, fold_rows, number
from playground import js_fixed, js_json, js_number

# TRL's limit for the accessibility tree, characters.
TREE = 2000
# Longest text of one field that a reader does not know, characters.
LONGEST = 4000

Reader = Callable[[Frame], "str | None"]


def with_rest(known: str) -> Callable[[Reader], Reader]:
    """The reader with every field that is neither empty nor named in `known` after its text; where it reads nothing, None."""

    def wrap(read: Reader) -> Reader:
        @wraps(read)
        def whole(frame: Frame) -> str | None:
            text = read(frame)
            if text is None:
                return None
            more = [(name, value) for name, value in frame.fields.items() if name not in known.split() and value not in (None, "", [], {})]
            return "\n".join([text, *(_field(name, value) for name, value in more)])

        return whole

    return wrap


def _field(name: str, value: Any) -> str:
    rows = board_rows(value)
    if rows is not None:
        return f"{name}:\n{board_text(rows)}"
    text = value if isinstance(value, str) else js_json(value)
    return f"{name}: {text[:LONGEST] + '...' if len(text) > LONGEST else text}"


def _text(value: Any) -> str | None:
    return value if isinstance(value, str) and value != "" else None


@with_rest("info_state legal_actions game_phase current_player_id opponent_last_action")
def openspiel_catch(frame: Frame) -> str | None:
    """OpenSpiel's 10 by 5 grid: rows and columns of ball and paddle, and on which side the ball is."""
    fields = frame.fields
    cells = fields.get("info_state")
    if not isinstance(cells, list) or len(cells) != 50:
        return None
    lit = [at for at, cell in enumerate(cells) if number(cell) == 1]
    falling = next((at for at in lit if at < 45), None)
    below = [at - 45 for at in lit if at >= 45]
    if not below or len(lit) > 2:
        return None
    if falling is None:
        landed = None if not frame.done or frame.reward is None else "caught" if frame.reward > 0 else "missed"
        return "The ball has landed." if landed is None else f"The ball has landed: {landed}."
    ball, paddle = falling % 5, below[0]
    off = abs(ball - paddle)
    side = "above the paddle" if off == 0 else f"{off} column{'s' if off > 1 else ''} to the {'left' if ball < paddle else 'right'}"
    return f"Ball: row {falling // 5 + 1} of 10, column {ball + 1} of 5. Paddle: column {paddle + 1}. The ball is {side}."


@with_rest("board legal_actions next_player")
def connect4(frame: Frame) -> str | None:
    """The board as lines of X, O and dots, and the open columns."""
    fields = frame.fields
    cells = board_rows(fields.get("board"))
    if cells is None:
        return None
    board = board_text(cells, {"0": ".", "1": "X", "-1": "O"})
    legal = fields.get("legal_actions")
    return f"{board}\nOpen columns: {', '.join(map(_joined, legal))}" if isinstance(legal, list) else board


def _joined(value: Any) -> str:
    return "" if value is None else value if isinstance(value, str) else js_json(value)


@with_rest("fen legal_moves is_check result")
def chess(frame: Frame) -> str | None:
    """FEN, the side to move, and the legal moves."""
    fields = frame.fields
    fen = fields.get("fen")
    if not isinstance(fen, str):
        return None
    black = fen.split(" ")[1:2] == ["b"]
    lines = [f"Board (FEN): {fen}", f"To move: {'black' if black else 'white'}{', in check' if fields.get('is_check') is True else ''}"]
    if isinstance(fields.get("legal_moves"), list):
        lines.append(f"Legal moves: {' '.join(map(_joined, fields['legal_moves']))}")
    if _text(fields.get("result")):
        lines.append(f"Result: {fields['result']}")
    return "\n".join(lines)


@with_rest("grid width height step wind_dir humidity burning_count burned_count reward_hint remaining_water remaining_breaks")
def wildfire(frame: Frame) -> str | None:
    """The grid, what burns, wind and what is left; reward_hint is the reward itself and is not told."""
    fields = frame.fields
    grid, width = fields.get("grid"), fields.get("width")
    cells = fold_rows(grid, width, fields.get("height"))
    if cells is None:
        return None
    burning = " ".join(f"{at % int(width)},{at // int(width)}" for at, cell in enumerate(grid) if number(cell) == 2) or "nothing"
    wind, water, breaks = (_string(fields, name) for name in ("wind_dir", "remaining_water", "remaining_breaks"))
    return f"{board_text(cells)}\nBurning (column,row): {burning}\nWind: {wind}. Water left: {water}. Firebreaks left: {breaks}."


def _string(fields: dict[str, Any], name: str) -> str:
    """JavaScript's String of a field."""
    if name not in fields:
        return "undefined"
    value = fields[name]
    return value if isinstance(value, str) else js_json(value)


@with_rest("grid observation episode_score episode_steps episode_fruits episode_kills alive")
def snake(frame: Frame) -> str | None:
    """The grid as lines; the same once more as thousands of numbers is left out."""
    cells = board_rows(frame.fields.get("grid"))
    if cells is None:
        return None
    dead = "\nThe snake is dead." if frame.fields.get("alive") is False else ""
    return board_text(cells, {"0": ".", "1": "#", "2": "*", "3": "O", "4": "o", "5": "o"}) + dead


def _pair(value: Any) -> tuple[float, float] | None:
    is_pair = isinstance(value, list) and len(value) == 2 and all(number(each) is not None for each in value)
    return (value[0], value[1]) if is_pair else None


@with_rest("legal_actions current_position previous_position")
def maze(frame: Frame) -> str | None:
    """Where one is, which ways are open, and the maze itself where the server tells metadata."""
    at, ways = _pair(frame.fields.get("current_position")), frame.fields.get("legal_actions")
    if at is None or not isinstance(ways, list):
        return None
    moves = [number(each) for each in ways]
    open_ways = [way for value, way in enumerate(("up", "down", "left", "right")) if value in moves]
    line = f"You are at column {js_number(at[0])}, row {js_number(at[1])}."
    line += f" Open: {', '.join(open_ways)}." if open_ways else ""
    goal = _pair(frame.metadata.get("exit_cell"))
    if goal is not None:
        line += " This is the exit." if goal == at else f" The exit is at column {js_number(goal[0])}, row {js_number(goal[1])}."
    walls = board_rows(frame.metadata.get("maze"))
    if walls is None:
        return line
    marks = {goal: "E", at: "@"}
    marked = [[marks.get((x, y), cell) for x, cell in enumerate(row)] for y, row in enumerate(walls)]
    return f"{line}\n{board_text(marked, {'0': '.', '1': '#'})}"


@with_rest("question score correct_answer dataset_metadata")
def answered(frame: Frame) -> str | None:
    """The question; after the answer, its score."""
    fields = frame.fields
    if not frame.done and isinstance(fields.get("question"), str):
        return fields["question"]
    score = number(fields.get("score"))
    return f"Score: {js_number(score)}" if frame.done and score is not None else None


@with_rest("context question")
def dipg_safety(frame: Frame) -> str | None:
    """The context, then the question."""
    return "\n\n".join(part for part in map(_text, map(frame.fields.get, ("context", "question"))) if part) or None


@with_rest("prompt answer_to_defend item_id components error")
def sophistry(frame: Frame) -> str | None:
    """The prompt, or the parts of the score."""
    fields = frame.fields
    if _text(fields.get("prompt")):
        return fields["prompt"]
    if _text(fields.get("error")):
        return f"Error: {fields['error']}"
    components = fields.get("components")
    return f"Score: {js_json(components)}" if isinstance(components, (dict, list)) else None


@with_rest("")
def question(frame: Frame) -> str | None:
    """The question and the company, which every tool asks for: new servers tell them in metadata."""
    asked, company = frame.metadata.get("question"), frame.metadata.get("company")
    return f"{asked}\n{company}" if isinstance(asked, str) and isinstance(company, str) else None


def _without_traceback(stderr: str) -> str:
    """A Python traceback's last error; the lines before it are the server's own interpreter."""
    if "Traceback (most recent call last):" not in stderr:
        return stderr
    errors = list(re.finditer(r"^[A-Za-z_][\w.]*(?:Error|Exception|Exit|Interrupt|Iteration|Warning)\b", stderr, re.M | re.A))
    return stderr[errors[-1].start() if errors else 0 :]


@with_rest("result stdout stderr exit_code available_variables context_length iteration max_iterations")
def program(frame: Frame) -> str | None:
    """What a program printed, its errors, and its exit code where it is not 0."""
    fields = frame.fields
    result = fields["result"] if isinstance(fields.get("result"), dict) else fields
    stdout, stderr, code = result.get("stdout"), result.get("stderr"), number(result.get("exit_code"))
    if not isinstance(stdout, str) and not isinstance(stderr, str):
        return None
    parts = [stdout.rstrip() if isinstance(stdout, str) else ""]
    if _text(stderr):
        parts.append(f"stderr: {_without_traceback(stderr).rstrip()}")
    if code is not None and code != 0:
        parts.append(f"exit code {js_number(code)}")
    return "\n".join(part for part in parts if part) or "(no output)"


@with_rest(
    "problem_id problem_description reference_code gpu_info turn max_turns feedback compilation_success compilation_error "
    "correctness_pass max_diff speedup"
)
def kernel(frame: Frame) -> str | None:
    """The task, which is repeated with every answer, at the first turn; the feedback afterwards."""
    return next((part for part in map(_text, map(frame.fields.get, ("feedback", "compilation_error", "problem_description"))) if part), None)


@with_rest("text url screenshot goal axtree_txt pruned_html error last_action_error html open_pages_urls active_page_index app_state")
def page(frame: Frame) -> str | None:
    """Goal, error of the last action, and the accessibility tree."""
    fields = frame.fields
    last = fields.get("last_action_error")
    wrong = _text(last if isinstance(last, str) else fields.get("error"))
    tree = _text(fields.get("axtree_txt")) or _text(fields.get("text"))
    parts = []
    if _text(fields.get("goal")):
        parts.append(f"Goal: {fields['goal']}")
    if last is not False and wrong:
        parts.append(f"Error: {wrong}")
    if tree:
        parts.append(f"Page structure:\n{tree[:TREE] + '...' if len(tree) > TREE else tree}")
    if not parts and _text(fields.get("url")):
        parts.append(f"Page: {fields['url']}")
    return "\n\n".join(parts) or None


@with_rest(
    "scene_description speed_kmh location rotation goal_distance goal_direction current_lane nearby_actors collision_detected collision_intensity "
    "collided_with scenario_name simulation_time step_number done_reason rubric_reward camera_image"
)
def carla(frame: Frame) -> str | None:
    """Speed, who is near, and a collision."""
    fields = frame.fields
    speed = number(fields.get("speed_kmh"))
    if speed is None:
        return None
    lines = [f"Speed: {js_fixed(speed)} km/h."]
    near = fields.get("nearby_actors")
    actors = [each for each in near if isinstance(each, dict)] if isinstance(near, list) else []
    lines += [f"- {_word(each.get('type'), 'actor')} at {_word(each.get('distance'), '?')}m" for each in actors]
    if not actors:
        lines.append("No nearby actors detected.")
    if fields.get("collision_detected") is True:
        lines.append(f"COLLISION detected with {_word(fields.get('collided_with'), 'unknown')}!")
    return "\n".join(lines)


def _word(value: Any, otherwise: str) -> str:
    return value if isinstance(value, str) else otherwise if number(value) is None else js_number(value)
