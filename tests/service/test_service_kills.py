"""A service that is killed in the middle of episodes and of rounds of rules, and started again."""

import json
import random
import signal
import socket
import subprocess
import sys
import threading
import time
from http.client import HTTPConnection, HTTPException

import pytest

from jitrl.service.keys import Keys
from jitrl.service.tenants import KEYS
from jitrl.stores.sqlite import SQLiteStore

pytestmark = pytest.mark.server

TOOLS = ["attach page", "attach sheet", "attach text"]
RIGHT = "attach sheet"
ROUND = 4
SECONDS = 240  # for all there is to do, on a slow machine


class Service:
    """`jitrl serve` in a process of its own, at one address whenever it is started again."""

    def __init__(self, folder):
        folder.mkdir()
        _, self.key = Keys(folder / KEYS).add("agent", "shop", ["admin"])
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            self.port = free.getsockname()[1]
        rules = {"enabled": "true", "attempts": ROUND, "scores": "false"}
        self.command = [sys.executable, "-m", "jitrl", "serve", "--folder", str(folder)]
        self.command += ["--port", str(self.port), "--rate", "0", "--deadline", "60000"]
        self.command += [w for name, of in rules.items() for w in ("--set", f"rules.{name}={of}")]
        self.log = (folder / "log").open("wb")
        self.start()

    def start(self):
        self.process = subprocess.Popen(self.command, stdout=self.log, stderr=self.log)

    def end(self, how):
        self.process.send_signal(how)
        self.process.wait(60)

    def asked(self, path, body, **headers):
        """The answer, however often it must be asked for."""
        told = {"Authorization": f"Bearer {self.key}", "Content-Type": "application/json"}
        until = time.monotonic() + SECONDS
        while time.monotonic() < until:
            line = HTTPConnection("127.0.0.1", self.port, timeout=60)
            try:
                line.request("POST", path, json.dumps(body), told | headers)
                answer = line.getresponse()
                read = answer.read()
                if answer.status != 503:
                    assert answer.status in (200, 201), (path, answer.status, read)
                    return json.loads(read)
            except (OSError, HTTPException):
                pass
            finally:
                line.close()
            time.sleep(0.05)
        raise AssertionError(f"{path} was not answered")


def play(service, player, number):
    """An episode of a player, from its start to its outcome; what was answered."""
    chance = random.Random(f"{player}/{number}")
    key, task = f"{player}-{number}", f"send report {number % 3}"
    about = {"task": task, "goal": task, "scope": "mail", "key": key}
    service.asked("/v1/episodes", about)
    actions = []
    for step in range(3):
        asked = {
            "state": f"page {step} of {task}",
            "candidates": {tool: chance.gauss(0.0, 1.0) for tool in TOOLS},
            "step": step,
            "notes": True,
        }
        actions.append(service.asked(f"/v1/episodes/{key}/decide", asked)["action"])
    value = float(actions.count(RIGHT) >= 2)
    return key, actions, value, report(service, key, value)


def report(service, key, value):
    said = {"value": value, "basis": "test"}
    return service.asked(f"/v1/episodes/{key}/outcomes", said, **{"Idempotency-Key": key})


@pytest.mark.skipif(not hasattr(signal, "SIGKILL"), reason="the system has no SIGKILL")
def test_what_a_killed_service_had_answered_is_there_once_and_said_again_alike(tmp_path):
    service = Service(tmp_path / "served")
    played, is_over = list[tuple](), threading.Event()
    failed = []

    def player(name):
        number = 0
        try:
            while not is_over.is_set():
                played.append(play(service, name, number))
                number += 1
        except Exception as error:  # noqa: BLE001 - told by the test's own thread
            failed.append(error)

    players = [threading.Thread(target=player, args=(f"p{n}",), daemon=True) for n in range(3)]
    try:
        for each in players:
            each.start()
        for number, how in enumerate((signal.SIGKILL, signal.SIGKILL, signal.SIGTERM), 1):
            until = time.monotonic() + SECONDS
            while len(played) < 8 * number and time.monotonic() < until and not failed:
                time.sleep(random.Random(number).uniform(0.01, 0.1))
            service.end(how)
            service.start()
        is_over.set()
        for each in players:
            each.join(SECONDS)
        assert not failed
        for key, _, value, receipt in played:
            assert report(service, key, value) == receipt
        until, file = time.monotonic() + SECONDS, tmp_path / "served" / "shop.db"
        while not is_learned(file) and time.monotonic() < until:
            time.sleep(0.2)
    finally:
        is_over.set()
        service.end(signal.SIGTERM)
        service.log.close()
    with SQLiteStore(tmp_path / "served" / "shop.db") as store:
        stored = {episode.key: episode for episode in store.episodes()}
        for key, actions, value, _ in played:
            assert [step.action for step in stored[key].steps] == actions
            assert stored[key].outcome.value == value
        assert len(stored) == len(played)
        rounds = [(one.task, one.round) for one in store.contrasts()]
        assert len(rounds) == len(set(rounds))
        assert rounds
        assert set(rounds) == owed(stored.values())


def is_learned(file):
    """Whether all rounds that teach something were learned, which answers do not wait for."""
    with SQLiteStore(file, readonly=True) as store:
        return {(one.task, one.round) for one in store.contrasts()} == owed(store.episodes())


def owed(episodes):
    """The rounds that teach something."""
    by = {}
    for episode in episodes:
        by.setdefault(episode.task, []).append(episode.outcome.value)
    return {
        (task, first // ROUND + 1)
        for task, values in by.items()
        for first in range(0, len(values) - ROUND + 1, ROUND)
        if len(set(values[first : first + ROUND])) == 2
    }
