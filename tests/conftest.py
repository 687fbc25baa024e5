from functools import partial

import hypothesis
import msgspec
import pytest
from tabular import Tabular

from jitrl import config
from jitrl.agents.corrected import Corrected
from jitrl.agents.static import Static
from jitrl.envs.toy import Toy
from jitrl.evaluators.environment import EnvironmentRewards
from jitrl.models.scripted import Scripted
from jitrl.run.experiment import Parts
from jitrl.stores.sqlite import SQLiteStore

hypothesis.settings.register_profile("untimed", deadline=None)
hypothesis.settings.load_profile("untimed")

AGENTS = {
    "static": lambda store, evaluator, memory: Static(store, evaluator),
    "tabular": Tabular,
    "jitrl": Corrected,
}


@pytest.fixture
def settings():
    """Settings with `run` changed as the keywords say."""

    def made(**run):
        return msgspec.structs.replace(config.Settings(), run=config.Run(**run))

    return made


@pytest.fixture
def parts():
    """A two-stage protocol of ten tasks, a scripted model, and an agent by name."""

    def made(agent="tabular", model=None, tasks=10, environment=None):
        return Parts(
            environment=environment or partial(Toy, "protocol", tasks=tasks, size=2),
            proposer=lambda meter: model or Scripted(noise=1.0, meter=meter),
            agent=lambda store, evaluator, memory, meter: AGENTS[agent](store, evaluator, memory),
            evaluator=lambda meter: EnvironmentRewards(),
            store=SQLiteStore,
        )

    return made
