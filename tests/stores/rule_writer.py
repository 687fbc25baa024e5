"""A writer process for the tests: adds rules, and commits episodes that could tell the shared one.

    python rule_writer.py MEMORY NAME OWN EPISODES CALLS

OWN rules come in one call, each with evidence of its own; then, in another, the shared rule; then
EPISODES episodes. All that is done CALLS times, with other rules and episodes, and told.
"""

import sys

from jitrl.stores.sqlite import SQLiteStore
from jitrl.testing.rule_samples import TEXTS, played, sample_contrast, sample_rule
from jitrl.types import Contrast, Rule

SHARED = sample_rule(TEXTS[1], evidence=("shared",))
GOALS = sample_contrast("shared")


def own(name: str, count: int) -> tuple[list[Rule], list[Contrast]]:
    """The rules of a writer, and what they rest on."""
    ids = [f"{name}.{i}" for i in range(count)]
    rules = [sample_rule(f"当出现{id}时，先核对编号", scope=name, evidence=(id,)) for id in ids]
    return rules, [sample_contrast(id, scope=name) for id in ids]


def main(memory: str, name: str, count: int, episodes: int, calls: int) -> None:
    with SQLiteStore(memory) as store:
        print("open", flush=True)
        for call in range(calls):
            scope = f"{name}.{call}"
            rules, contrasts = own(scope, count)
            assert len(store.add_rules(rules, contrasts, reason=name, principal=name)) == count
            store.add_rules([SHARED], [GOALS], reason=name, principal=name)
            for i in range(episodes):
                played(store, f"{scope}.{i}", [(SHARED.id, i % 2 == 0)], score=i % 4 / 3)
            print(scope, flush=True)


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2], *map(int, sys.argv[3:]))
