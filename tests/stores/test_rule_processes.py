"""Many processes on one rulebook: no rule twice, none torn, no use lost."""

import random
import subprocess
import sys
import time
from pathlib import Path

from rule_writer import SHARED

from jitrl.stores.sqlite import SQLiteStore

WRITER = Path(__file__).with_name("rule_writer.py")


def start(memory: Path, *args: object) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [sys.executable, WRITER, memory, *map(str, args)],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


def torn(store: SQLiteStore, count: int) -> list[object]:
    """What no reader may see: a part of a call, or a rule without what it rests on."""
    found: list[object] = []
    rules = store.rules()
    known = {c.id for c in store.contrasts()}  # at least those of then
    found += [r for r in rules if not r.reason or not known.issuperset(r.evidence)]
    of = [r.scope for r in rules if r.id != SHARED.id]
    found += [scope for scope in set(of) if of.count(scope) != count]
    episodes = {e.key for e in store.summaries()}
    found += episodes.difference(u.use.episode for u in store.rule_uses().get(SHARED.id, ()))
    return found


def test_eight_processes_add_each_rule_once_and_a_ninth_sees_no_part(tmp_path: Path) -> None:
    memory = tmp_path / "memory.db"
    names = [f"w{i}" for i in range(8)]
    with SQLiteStore(memory) as store:
        writers = [start(memory, name, 25, 50, 1) for name in names]
        seen = []
        while any(writer.poll() is None for writer in writers):
            seen += torn(store, 25)
            time.sleep(0.05)
        for writer in writers:
            _, errors = writer.communicate()
            assert writer.returncode == 0, errors
        assert not seen
        assert len(store.rules()) == 201
        assert len(store.contrasts()) == 201
        (uses,) = store.rule_uses().values()
        assert sorted(u.use.episode for u in uses) == sorted(
            f"{name}.0.{i}" for name in names for i in range(50)
        )
        counts = store.rule_counts(0.6)[SHARED.id]
        assert (counts.uses, counts.wins, counts.held, counts.held_wins) == (200, 96, 200, 96)
        assert store.rule(SHARED.id).principal in names
        assert len(store.rule_history(SHARED.id)) == 1
        assert store.head() == 8 + 1 + 400
        assert store.check() == []


def test_killing_writers_leaves_each_call_whole_or_not_at_all(tmp_path: Path) -> None:
    memory = tmp_path / "memory.db"
    rng = random.Random(1)
    acknowledged = set[str]()
    with SQLiteStore(memory) as store:
        for i in range(8):
            writer = start(memory, f"w{i}", 300, 1, 1_000_000)
            assert writer.stdout is not None
            assert writer.stdout.readline() == "open\n"
            time.sleep(rng.uniform(0.1, 0.3))
            assert writer.poll() is None
            writer.kill()
            said, _ = writer.communicate()
            acknowledged.update(line for line in said.splitlines(True) if line.endswith("\n"))
            assert not torn(store, 300)
        scopes = {f"{rule.scope}\n" for rule in store.rules() if rule.id != SHARED.id}
        episodes = {f"{episode.key.rpartition('.')[0]}\n" for episode in store.summaries()}
        assert acknowledged
        assert acknowledged <= episodes <= scopes
        assert store.check() == []
