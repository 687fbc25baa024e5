"""A run in a process of its own, to be killed: `bandits.py FOLDER CALLS KILL_AFTER MAX_CALLS`.

Ten bandits, four attempts each, one model call an episode. Each call appends a byte to CALLS.
"""

import os
import signal
import sys
from functools import partial
from pathlib import Path

from jitrl import config
from jitrl.envs.toy import Toy
from jitrl.errors import BudgetExceeded
from jitrl.evaluators.environment import EnvironmentRewards
from jitrl.models.callable import CallableModel
from jitrl.run import experiment
from jitrl.stores.sqlite import SQLiteStore

sys.path.append(str(Path(__file__).parents[1]))
from tabular import Tabular


def main(folder, calls, kill_after=0, max_calls=None):
    def rate(prompt):
        with Path(calls).open("ab") as file:
            file.write(b".")
        return dict.fromkeys(prompt.actions, 0.0)

    def watch(progress):
        if progress.done == int(kill_after):
            os.kill(os.getpid(), getattr(signal, "SIGKILL", signal.SIGTERM))

    settings = config.Settings(
        run=config.Run(attempts=4, order="task"),
        budget=config.Budget(max_calls=int(max_calls) if max_calls else None),
    )
    parts = experiment.Parts(
        environment=partial(Toy, "bandit", tasks=10),
        proposer=lambda meter: CallableModel(rate, meter=meter),
        agent=lambda store, evaluator, memory, meter: Tabular(store, evaluator, memory),
        evaluator=lambda meter: EnvironmentRewards(),
        store=SQLiteStore,
    )
    try:
        experiment.run(settings, Path(folder), parts, watch=watch)
    except BudgetExceeded as error:
        sys.exit(error.exit_code)


if __name__ == "__main__":
    main(*sys.argv[1:])
