"""What is there after the service is started again, killed or not."""

import os
import shutil
import subprocess
import sys
import threading
import time
from contextlib import closing

import pytest

from jitrl.errors import StoreError
from jitrl.ports import Receipt
from jitrl.service.desk import Desk, Limits
from jitrl.service.errors import Conflict, Reused
from jitrl.service.once import Once
from jitrl.stores.running import RunningJournal

YES_NO = {"yes": 1.0, "no": 0.0}
LIMITS = Limits(deadline=30.0)


def opened(tmp_path):
    return Desk(tmp_path / "a.db", limits=LIMITS, is_kept=True)


def test_a_running_episode_goes_on_after_a_restart(tmp_path):
    with opened(tmp_path) as desk:
        desk.episodes.start("t", scope="s", key="k", principal="agent 1")
        desk.episodes.decide("k", "page 0", YES_NO, step=0)
        desk.episodes.reward("k", 0.25, is_trusted=True)
        desk.episodes.decide("k", "page 1", YES_NO, step=1)
    with opened(tmp_path) as desk:
        seat = desk.episodes.find("k")
        assert (seat.status, seat.steps, seat.task, seat.scope) == ("running", 2, "t", "s")
        assert desk.episodes.decide("k", "page 1", YES_NO, step=1).step == 1  # asked again
        desk.episodes.decide("k", "page 2", YES_NO, step=2)
        desk.outcome("k", 1.0, basis="test", is_trusted=True)
        rows = desk.rows()
        assert [(r.step, r.state.text, r.reward) for r in reversed(rows)] == [
            (0, "page 0", 0.25),
            (1, "page 1", 0.0),
            (2, "page 2", 1.0),
        ]
        assert rows[1].next_state.text == "page 2"
        assert desk.memory.store.episode("k").principal == "agent 1"
    with opened(tmp_path) as desk:
        assert (desk.episodes.find("k").status, len(desk.roster)) == ("terminated", 0)


def test_decisions_after_a_restart_are_those_of_an_episode_that_never_stopped(tmp_path):
    def learned(desk):
        for number in range(4):
            key = f"{number}"
            desk.episodes.start("t", key=key)
            chosen = desk.episodes.decide(key, "page", YES_NO).action
            desk.outcome(key, chosen == "no", basis="test", is_trusted=True)
        desk.episodes.start("t", key="k")
        desk.episodes.decide("k", "page", YES_NO)

    with opened(tmp_path) as desk:
        learned(desk)
        whole = desk.episodes.decide("k", "page", YES_NO)
    other = tmp_path / "other"
    other.mkdir()
    with opened(other) as desk:
        learned(desk)
    with opened(other) as desk:
        resumed = desk.episodes.decide("k", "page", YES_NO)
        assert resumed.decision.candidates == whole.decision.candidates


def test_decisions_after_a_restart_know_what_was_done_in_place_of_others(tmp_path):
    def played(folder, opens):
        folder.mkdir()
        with opened(folder) as desk:
            desk.episodes.start("t", key="k")
            desk.episodes.decide("k", "page", YES_NO)
            desk.episodes.took("k", "no")
            if not opens:
                return desk.episodes.decide("k", "page", YES_NO).decision.candidates
        with opened(folder) as desk:
            assert desk.episodes.step("k", 0)[1] == "no"
            return desk.episodes.decide("k", "page", YES_NO).decision.candidates

    assert played(tmp_path / "one", opens=True) == played(tmp_path / "two", opens=False)


def test_what_an_agent_said_of_itself_survives_a_restart_as_such(tmp_path):
    with opened(tmp_path) as desk:
        desk.episodes.start("t", key="k")
        desk.episodes.decide("k", "page", YES_NO)
        desk.episodes.reward("k", 0.5)
    with opened(tmp_path) as desk:
        desk.episodes.reward("k", 0.25)
        desk.episodes.close("k")
        (row,) = desk.rows()
        assert (row.reward, row.basis) == (0.75, "agent_self_report")


KILLED = """
import os, sys
from jitrl.service.desk import Desk
desk = Desk(sys.argv[1], is_kept=True)
desk.episodes.start("t", key="k")
for step in range(3):
    desk.episodes.decide("k", f"page {step}", {"yes": 1.0, "no": 0.0}, step=step)
print("answered", flush=True)
os._exit(9)
"""


def test_a_killed_process_loses_no_step_that_was_answered(tmp_path):
    command = [sys.executable, "-c", KILLED, str(tmp_path / "a.db")]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout) == (9, "answered\n"), done.stderr
    with opened(tmp_path) as desk:
        assert desk.episodes.find("k").steps == 3


def test_steps_that_a_power_cut_took_leave_an_agent_that_goes_on_and_nothing_is_learned(tmp_path):
    with opened(tmp_path) as desk:
        desk.episodes.start("t", key="k")
        for step in range(2):
            desk.episodes.decide("k", f"page {step}", YES_NO, step=step)
    (file,) = (tmp_path / "a.running").glob("*.episode")
    file.write_bytes(file.read_bytes()[:-5])
    with opened(tmp_path) as desk:
        assert desk.episodes.find("k").steps == 1
        answer = desk.episodes.decide("k", "page 2", YES_NO, step=2)
        assert (answer.action, answer.degraded) == ("yes", "deadline")
        desk.outcome("k", True, basis="test", is_trusted=True)
        assert (desk.rows(), desk.episodes.find("k").status) == ([], "aborted")


@pytest.mark.parametrize("torn", [b"\0\0\0\x40\1\2", bytes(600)])
def test_what_came_after_a_torn_end_is_there_after_the_next_restart(tmp_path, torn):
    with opened(tmp_path) as desk:
        desk.episodes.start("t", key="k")
        desk.episodes.decide("k", "page 0", YES_NO)
    (file,) = (tmp_path / "a.running").glob("*.episode")
    file.write_bytes(file.read_bytes() + torn)
    with opened(tmp_path) as desk:
        desk.episodes.decide("k", "page 1", YES_NO, step=1)
        desk.episodes.reward("k", 5.0, is_trusted=True)
        desk.episodes.decide("k", "page 2", YES_NO, step=2)
    with opened(tmp_path) as desk:
        assert desk.episodes.find("k").steps == 3
        desk.outcome("k", True, basis="test", is_trusted=True)
        assert [row.reward for row in reversed(desk.rows())] == [0.0, 5.0, 1.0]


class SlowToBegin(RunningJournal):
    """A journal on a disk that takes its time."""

    is_asked = threading.Event()

    def begin(self, *about):
        self.is_asked.set()
        time.sleep(0.2)
        super().begin(*about)


def test_a_run_that_two_callers_start_at_once_begins_with_its_beginning(tmp_path):
    journal = SlowToBegin(tmp_path / "a.running")
    with Desk(tmp_path / "a.db", limits=LIMITS) as desk, closing(journal):
        desk.roster._journal = journal
        first = threading.Thread(target=desk.episodes.start, args=("t",), kwargs={"key": "k"})
        first.start()
        assert journal.is_asked.wait(30.0)
        assert not desk.episodes.start("t", key="k").is_new
        desk.episodes.decide("k", "page", YES_NO, step=0)
        first.join()
        (kept,) = journal.kept()
        assert (kept.key, len(kept.steps)) == ("k", 1)


def test_an_episode_that_was_stored_when_the_process_died_is_not_begun_again(tmp_path):
    with opened(tmp_path) as desk:
        desk.episodes.start("t", key="k")
        desk.episodes.decide("k", "page", YES_NO)
        (file,) = (tmp_path / "a.running").glob("*.episode")
        shutil.copy(file, tmp_path / "kept")
        desk.episodes.close("k")
    shutil.copy(tmp_path / "kept", file)
    with opened(tmp_path) as desk:
        assert (desk.episodes.find("k").status, file.exists()) == ("terminated", False)


def test_running_episodes_belong_to_one_process_at_a_time(tmp_path):
    folder = tmp_path / "a.running"
    first = RunningJournal(folder)
    with pytest.raises(StoreError, match="another service"):
        RunningJournal(folder)
    first.close()
    RunningJournal(folder).close()


def test_what_was_said_under_a_key_is_known_after_a_restart(tmp_path):
    path = tmp_path / "a.said"
    receipt = Receipt("k", 3, 1)
    once = Once(path)
    with once.saying("1", b"what") as said:
        assert said.receipt is None
        said.receipt = receipt
    once.close()
    once = Once(path)
    with once.saying("1", b"what") as said:
        assert said.receipt == receipt
    with pytest.raises(Conflict), once.saying("1", b"else"):
        pass
    once.close()


def test_what_failed_under_a_key_may_be_said_again(tmp_path):
    once = Once(tmp_path / "a.said")
    with pytest.raises(StoreError), once.saying("1", b"what"):
        raise StoreError("no room")
    with once.saying("1", b"what") as said:
        assert said.receipt is None
        with pytest.raises(Conflict, match="being done"), once.saying("1", b"what"):
            pass
    once.close()


def test_no_file_is_left_open_when_a_desk_is_closed(tmp_path):
    if not os.path.isdir("/proc/self/fd"):
        pytest.skip("needs Linux")
    opened(tmp_path).close()
    before = len(os.listdir("/proc/self/fd"))
    for _ in range(3):
        with opened(tmp_path) as desk:
            desk.episodes.start("t", key="k")
            desk.episodes.decide("k", "page", YES_NO)
    assert len(os.listdir("/proc/self/fd")) == before


def test_an_episode_with_a_lost_step_is_not_learned_after_two_restarts(tmp_path):
    with opened(tmp_path) as desk:
        desk.episodes.start("t", key="k")
        for number in range(3):
            desk.episodes.decide("k", f"page {number}", YES_NO, step=number)
            if number == 1:
                (file,) = (tmp_path / "a.running").glob("*.episode")
                before = file.read_bytes()
    file.write_bytes(before)  # as a power cut leaves it
    with opened(tmp_path) as desk:
        assert desk.episodes.decide("k", "page 3", YES_NO, step=3).degraded
    with opened(tmp_path) as desk:
        assert desk.outcome("k", 1.0, basis="test", is_trusted=True).rows == 0
        assert desk.memory.store.episode("k").status == "aborted"


def test_a_lost_step_is_known_once_the_episode_goes_on_after_it(tmp_path):
    with opened(tmp_path) as desk:
        desk.episodes.start("t", key="k")
        desk.episodes.decide("k", "page 0", YES_NO, step=0)
    with opened(tmp_path) as desk:
        desk.episodes.decide("k", "page 2", YES_NO, step=2)  # 1 was lost
        desk.episodes.decide("k", "page 1", YES_NO, step=1)
    with opened(tmp_path) as desk:
        assert desk.episodes.find("k").steps == 2
        desk.episodes.close("k")
        assert desk.memory.store.episode("k").status == "aborted"


DYING = """
import os, sys
from jitrl.ports import Receipt
from jitrl.service.desk import Desk
from jitrl.service.once import Once

class Dying(Once):
    def _keep(self, key, what, came):
        if isinstance(came, Receipt):
            os._exit(9)
        super()._keep(key, what, came)

desk = Desk(sys.argv[1], is_kept=True)
desk.once.close()
desk.once = Dying(desk.once.path)
desk.episodes.start("t", key="k", principal="agent")
desk.episodes.decide("k", "page", {"yes": 1.0, "no": 0.0}, step=0)
desk.episodes.reward("k", 0.5)
desk.outcome("k", 0.25, principal="agent", once="1")
"""


def test_a_report_that_a_kill_left_unanswered_counts_its_rewards_when_it_is_said_again(tmp_path):
    command = [sys.executable, "-c", DYING, str(tmp_path / "a.db")]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 9, done.stderr
    with opened(tmp_path) as desk:
        assert desk.memory.store.episode("k").outcome.value == 0.75
        again = desk.outcome("k", 0.25, principal="agent", once="1")
        assert (again.duplicate, desk.memory.store.episode("k").outcome.value) == (True, 0.75)
        assert desk.outcome("k", 0.25, principal="agent", once="1") == again
        desk.outcome("k", 0.25, principal="agent", once="2")  # a correction is the whole
        assert desk.memory.store.episode("k").outcome.value == 0.25


@pytest.mark.parametrize("is_trusted", [True, False])
def test_a_reward_said_again_after_a_restart_under_its_key_is_counted_once(tmp_path, is_trusted):
    with opened(tmp_path) as desk:
        desk.episodes.start("t", key="k", principal="agent")
        for page in ("0", "1"):
            desk.episodes.decide("k", page, YES_NO)
        desk.episodes.reward("k", 0.5, step=1, is_trusted=is_trusted, once="1")
    with opened(tmp_path) as desk:
        desk.episodes.reward("k", 0.5, step=1, is_trusted=is_trusted, once="1")
        with pytest.raises(Reused):
            desk.episodes.reward("k", 0.25, step=1, is_trusted=is_trusted, once="1")
        desk.episodes.reward("k", 0.25, step=1, is_trusted=is_trusted, once="2")
        desk.outcome("k", 0.0, principal="agent", is_trusted=is_trusted)
        assert sum(row.reward for row in desk.rows()) == 0.75


def blocked(file):
    """Have nothing more be written to a file, until it is put back."""
    os.rename(file, f"{file}.aside")
    os.mkdir(file)


def freed(file):
    os.rmdir(file)
    os.rename(f"{file}.aside", file)


def test_what_could_not_be_written_is_written_with_what_comes_next_or_once_a_minute(tmp_path):
    with opened(tmp_path) as desk:
        for key in ("k", "idle"):
            desk.episodes.start("t", key=key)
            desk.episodes.decide(key, "page 0", YES_NO, step=0)
        files = sorted((tmp_path / "a.running").glob("*.episode"))
        for file in files:
            blocked(file)
        for key in ("k", "idle"):
            desk.episodes.decide(key, "page 1", YES_NO, step=1)
        for file in files:
            freed(file)
        desk.episodes.decide("k", "page 2", YES_NO, step=2)
        desk.roster.sweep()
        shutil.copytree(tmp_path / "a.running", tmp_path / "b.running")
    with Desk(tmp_path / "b.db", limits=LIMITS, is_kept=True) as killed:
        assert [killed.episodes.find(key).steps for key in ("k", "idle")] == [3, 2]


@pytest.mark.parametrize("is_trusted", [True, False])
def test_what_is_said_of_a_step_and_cannot_be_kept_counts_for_nothing(tmp_path, is_trusted):
    with opened(tmp_path) as desk:
        desk.episodes.start("t", key="k", principal="agent")
        desk.episodes.decide("k", "page", YES_NO)
        (file,) = (tmp_path / "a.running").glob("*.episode")
        blocked(file)
        with pytest.raises(StoreError, match="say it again once there is room"):
            desk.episodes.took("k", "no")
        with pytest.raises(StoreError, match="say it again once there is room"):
            desk.episodes.reward("k", 0.5, is_trusted=is_trusted)
        freed(file)
        desk.episodes.reward("k", 0.25, is_trusted=is_trusted)
        desk.outcome("k", 0.5, principal="agent", is_trusted=is_trusted)
        (row,) = desk.rows()
        assert (row.action, row.reward) == ("yes", 0.75)


def test_a_run_whose_beginning_was_not_written_can_be_begun_again(tmp_path):
    with opened(tmp_path) as desk:
        desk.episodes.start("t", key="k")
        (file,) = (tmp_path / "a.running").glob("*.episode")
    file.write_bytes(b"")
    opened(tmp_path).close()
    assert not file.exists()
    file.write_bytes(b"\x00\x00\x00\x05torn")
    with opened(tmp_path) as desk:
        desk.episodes.start("t", key="k")
        desk.episodes.decide("k", "page", YES_NO)
    with opened(tmp_path) as desk:
        assert desk.episodes.find("k").steps == 1
