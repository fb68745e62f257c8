"""Logs the run of this folder to trackio. Needs `pip install trackio`; afterwards: `trackio show --project grpo-playground`."""

import csv
import json
import pathlib

import trackio

FOLDER = pathlib.Path(__file__).resolve().parent


def main() -> None:
    run = json.loads((FOLDER / "run.json").read_text(encoding="utf-8"))
    trackio.init(project=run["project"], name=run["name"], config=run["config"], auto_log_gpu=False, auto_log_cpu=False)
    with open(FOLDER / "metrics.csv", newline="", encoding="utf-8") as table:
        for row in csv.DictReader(table):
            step = int(row.pop("step"))
            # An empty cell is a metric that the step does not define.
            trackio.log({name: float(value) for name, value in row.items() if value != ""}, step=step)
    trackio.finish()


if __name__ == "__main__":
    main()
