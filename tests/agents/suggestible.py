"""A model that does what notes say, as far as it listens; and lives played with it."""

import re

import numpy as np

from jitrl.envs.toy import Toy
from jitrl.run.loop import Trial, play
from jitrl.types import Candidate, Proposal

WORLD = {"world": "protocol", "size": 2, "choices": 3, "seed": 4}


class Suggestible:
    """Logits of 0, plus ``weight`` nats for each word of the notes for an action (or against it).

    It understands what the agents write in English, and nothing else of the prompt.
    """

    name = "suggestible"

    def __init__(self, weight=6.0):
        self.weight, self.notes = weight, []

    def propose(self, prompt, rng):
        self.notes.append(prompt.notes)
        said = heard(prompt)
        return Proposal(
            tuple(Candidate(a, self.weight * said.get(a, 0.0)) for a in prompt.actions),
            "made-up",
            self.name,
        )


def heard(prompt):
    """Action to how much speaks for it here."""
    found = {}

    def add(action, value):
        found[action] = found.get(action, 0.0) + value

    here, turn = prompt.observation, len(prompt.history)
    for block in prompt.notes.split("\n\n"):
        lines = re.findall(r"^\d+\. At (.+): (\S+)$", block, re.MULTILINE)
        if "Result: succeeded" in block:
            for place, action in lines:
                add(action, float(place == here))
        elif lines and lines[-1][0] == here:
            add(lines[-1][1], -1.0)
        for n, action in re.findall(r"^(\d+)\. (\S+)$", block, re.MULTILINE):
            add(action, float(int(n) == turn + 1))
        for led in re.findall(r"(?:led there was|led to success): ([^.]+)\.", block):
            path = led.split("; ")
            if turn < len(path):
                add(path[turn], 1.0)
        for place, action in re.findall(r"It ended at (.+?) with (\S+);", block):
            add(action, -float(place == here))
        for action, place in re.findall(r"Do not take (\S+) at (.+?):", block):
            add(action, -float(place == here))
        for action in re.findall(r"Here this worked before: (\S+)\.", block):
            add(action, 2.0)
        for action, gain in re.findall(
            r"^- (\S+): .*advantage ([+-][\d.e-]+)", block, re.MULTILINE
        ):
            add(action, float(np.sign(float(gain))))
        for action in re.findall(r"right next action is: (\S+)", block):
            add(action, 1.0)
        for action in re.findall(r"^- When .*, take (\S+)\.$", block, re.MULTILINE):
            add(action, 1.0)
    return found


def lived(agent, model, attempts, *, seed=0, world=None, tasks=1, first=0, until=None):
    """Episodes of ``attempts`` at each task in turn, learned one after the other."""
    world = world or Toy(**WORLD, tasks=tasks)
    out = []
    for attempt in range(first, first + attempts):
        for i, task in enumerate(world.tasks()):
            acting = agent.episode(until=until)
            episode = play(Trial(task, i, attempt, seed), world, model, acting)
            acting.learn(episode)
            out.append(episode)
    return out


def scores(episodes):
    """Their scores."""
    return [episode.info["score"] for episode in episodes]


def actions(episodes):
    """What was done in each."""
    return [[step.action for step in episode.steps] for episode in episodes]
