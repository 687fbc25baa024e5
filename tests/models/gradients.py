"""A run with trained weights, in a process: `gradients.py FOLDER MODEL METHOD KILL_AFTER`.

Three protocols of one stage, four attempts each.
"""

import os
import signal
import sys
from functools import partial
from pathlib import Path

from jitrl import config
from jitrl.run import experiment
from jitrl.run.compose import compose


def settings(model, method, **run):
    return config.Settings(
        environment=config.Environment(
            name="toy", options={"world": "protocol", "tasks": 3, "size": 1}
        ),
        model=config.Model(options={"path": str(model), "history": 0, "temperature": 8.0}),
        run=config.Run(
            agent="gradient",
            options={"method": method, "layers": 1, "epochs": 2, "batch": 4, "rate": 0.01},
            attempts=run.pop("attempts", 4),
            **run,
        ),
    )


def stop(after, progress):
    if progress.done == after:
        os.kill(os.getpid(), getattr(signal, "SIGKILL", signal.SIGTERM))


if __name__ == "__main__":
    folder, model, method, kill_after = sys.argv[1:]
    chosen = settings(model, method)
    experiment.run(chosen, Path(folder), compose(chosen), watch=partial(stop, int(kill_after)))
