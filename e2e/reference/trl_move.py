"""Uses the environments of exported folders as TRL does: python trl_move.py JOBS.json ANSWERS.json, a list of jobs in one process."""

import importlib
import inspect
import json
import pathlib
import sys

OURS = ("environment", "playground", "sessions", "observations", "pictures", "readers", "games", "game", "written")


def answer(job: dict) -> dict:
    """What the folder's Python says to one job."""
    for name in OURS:
        sys.modules.pop(name, None)
    sys.path[0] = job["folder"]
    environment = importlib.import_module("environment")
    playground = importlib.import_module("playground")
    kind = environment.PlaygroundEnvironment
    if job.get("split"):
        kind._split = job["split"]
    player = kind()
    methods = [
        getattr(player, name)
        for name, _ in inspect.getmembers(kind, predicate=inspect.isfunction)
        if name not in ("reset", "get_reward") and not name.startswith("_")
    ]
    tools = {method.__name__: method for method in methods}
    return dict(
        episodes=[play(player, tools, episode) for episode in job.get("episodes", [])],
        plans=plans(kind, tools, job.get("plans", [])),
        readings=[read(kind, frames) for frames in job.get("readings", [])],
        methods={name: described(method) for name, method in tools.items()} if job.get("schemas") else {},
        tools=environment.TOOLS,
        prompts=[environment.SYSTEM_PROMPT, environment.USER_PROMPT],
        seeds=playground.group_seeds(*job.get("seeds", [1, 1, 1])),
    )


def play(player, tools: dict, episode: dict) -> dict:
    """One episode: what reset said, what each call brought, and the reward."""
    start = player.reset(prompt=[], seed=episode["seed"])
    results = []
    for call in episode["calls"]:
        try:
            results.append(str(tools[call["name"]](**call["arguments"])))
        except Exception as error:  # noqa: BLE001 - as TRL does
            results.append(str({"error": str(error)}))
    return dict(start=start, results=results, reward=player._reward(), over=player._over, failure=player._failure)


def plans(kind, tools: dict, calls: list) -> list:
    """What would be sent for each call, or the refusal."""
    sent = []

    def record(self, step):
        sent.append(dict(action=step.action, then=step.then, times=step.times))
        return sys.modules["playground"].Seen("", None, False)

    whole = kind._play
    kind._play = record
    for call in calls:
        count = len(sent)
        text = tools[call["name"]](**call["arguments"])
        if len(sent) == count:
            sent.append(text)
    kind._play = whole
    return sent


def read(kind, frames: list) -> list:
    """Each frame of an episode as the model reads it, or what is wrong with it."""
    player = kind()
    seen = []
    for frame in frames:
        try:
            each = player._read(json.loads(frame["data"]), frame["said"])
            seen.append(dict(text=each.text, reward=each.reward, done=each.done, toolError=each.tool_error))
        except Exception as error:  # noqa: BLE001 - the test compares it
            seen.append(str(error))
    return seen


def described(method) -> object:
    """The schema that transformers makes of a method, or why it cannot."""
    from transformers.utils import get_json_schema

    try:
        return get_json_schema(method)
    except Exception as error:  # noqa: BLE001 - the test reads which
        return str(error)


if __name__ == "__main__":
    jobs_path, answers_path = map(pathlib.Path, sys.argv[1:])
    jobs = json.loads(jobs_path.read_text(encoding="utf-8"))
    answers_path.write_text(json.dumps([answer(job) for job in jobs]), encoding="utf-8")
