"""Commands that write to a memory file while a service decides, is rewarded and told outcomes."""

import threading
import time

import pytest

import jitrl
from jitrl.cli import main
from jitrl.config import Settings
from jitrl.config_groups import Rules
from jitrl.service.desk import Desk
from jitrl.service.seats import Limits
from jitrl.stores.sqlite import SQLiteStore

TOOLS = {"attach page": 0.3, "attach sheet": 0.0, "attach text": 0.1}


class Player(threading.Thread):
    """Plays episode after episode; what it was answered is in ``played``, by key."""

    def __init__(self, desk, name):
        super().__init__(daemon=True)
        self.desk, self.called, self.played = desk, name, {}
        self.is_over, self.failed = threading.Event(), None

    def run(self):
        try:
            number = 0
            while not self.is_over.is_set():
                self.play(number)
                number += 1
        except Exception as error:  # noqa: BLE001 - told by the test's own thread
            self.failed = error

    def play(self, number):
        key, made, at = f"{self.called}-{number}", [], self.desk.episodes
        at.start(f"send report {number % 3}", scope="mail", key=key)
        for step in range(3):
            page = f"page {step} for {key} {number % 3}" if step == 1 else f"page {step}"
            began = time.monotonic()
            notes = at.ask(key, page, TOOLS, step=step, notes=True).result(30.0)
            assert notes.decision is not None
            made.append((began, notes.action, notes.decision))
        at.reward(key, 0.25, step=2, is_trusted=True)
        value = float(made[0][1] == "attach sheet")
        self.desk.outcome(key, value, basis="test", is_trusted=True, once=key)
        self.played[key] = made, value


def told(*args):
    """Have a command done."""
    with pytest.raises(SystemExit) as end:
        main([*map(str, args)])
    assert end.value.code == 0, args


def test_nothing_is_lost_doubled_or_seen_too_long_and_what_is_purged_is_gone(tmp_path):
    file, lines = tmp_path / "shop.db", tmp_path / "others.jsonl"
    with jitrl.open(tmp_path / "other.db") as other, other.episode("t", key="theirs") as episode:
        episode.decide("page 0", TOOLS)
        episode.finish(True)
    told("memory", "export", tmp_path / "other.db", lines)
    settings = Settings(rules=Rules(enabled=True, attempts=4))
    gone, taken = [], []
    with Desk(file, model=settings, limits=Limits(deadline=30.0), is_kept=True) as desk:
        players = [Player(desk, f"p{n}") for n in range(2)]
        for player in players:
            player.start()

        def known(least):
            while not all(len(p.played) >= least or p.failed for p in players):
                time.sleep(0.01)
            return [key for p in players for key in list(p.played)]

        for number in range(3):
            keys = [key for key in known(4 * (number + 1)) if key not in gone]
            told("memory", "quarantine", file, "--episode", keys[0], "--reason", "odd")
            since = time.monotonic()
            told("memory", "snapshot", file, f"s{number}")
            told(
                "rules", "add", file, f"When page {number} is open, attach text", "--scope", "mail"
            )
            told("memory", "import", file, lines)
            told("memory", "rollback", file, f"s{number}", "--reason", "as it was")
            told(
                "memory", "purge", file, "--subject", f"text=for {keys[-1]} ", "--principal", "dpo"
            )
            gone.append(keys[-1])
            known(4 * (number + 1) + 3)
            taken.append((keys[0], since, time.monotonic()))
            told("memory", "restore", file, "--episode", keys[0])
        for player in players:
            player.is_over.set()
            player.join(60)
        assert [player.failed for player in players] == [None, None]
    played = {key: of for player in players for key, of in player.played.items()}
    with SQLiteStore(file) as store:
        assert store.check() == []
        stored = {episode.key: episode for episode in store.episodes()}
        assert set(stored) == set(played) - set(gone) | {"theirs"}
        owners = {row.id: key for key in stored for row in store.rows(key)}
        for key, (made, value) in played.items():
            if key in gone:
                continue
            assert [step.action for step in stored[key].steps] == [action for _, action, _ in made]
            assert stored[key].outcome.value == value
            assert [step.reward for step in stored[key].steps] == [None, None, 0.25]
        for one in store.decisions():
            assert all(row in owners for near in one.decision.neighbors for row in near.rows)
        rounds = [(one.task, one.round) for one in store.contrasts()]
        assert len(rounds) == len(set(rounds))
    for key, since, until in taken:
        made = [d for of, _ in played.values() for at, _, d in of if since < at < until]
        assert made
        assert not [
            d for d in made for near in d.neighbors for r in near.rows if owners.get(r) == key
        ]
    with jitrl.open(file, rules={"attempts": 4}) as memory:
        for one in list(memory.store.decisions())[::5]:
            memory.explain(one.id, most=0)
    everything = b"".join(p.read_bytes() for p in tmp_path.rglob("*") if p.is_file())
    for key in gone:
        assert f"for {key} ".encode() not in everything
