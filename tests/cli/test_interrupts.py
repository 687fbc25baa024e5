import signal
import sys
import time

import pytest

from jitrl.cli.shared.interrupts import heard


class InterruptedAsItGoes:
    def __del__(self):
        signal.raise_signal(signal.SIGINT)


def wait_interrupted(seconds):
    InterruptedAsItGoes()
    time.sleep(seconds)


@pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")
def test_ctrl_c_is_heard_though_python_forgot_it_where_it_struck():
    hook = sys.unraisablehook
    began = time.monotonic()
    with pytest.raises(KeyboardInterrupt), heard():
        wait_interrupted(60)
    assert time.monotonic() < began + 25
    assert sys.unraisablehook is hook


def test_other_forgotten_errors_are_told_as_before(monkeypatch):
    told = []
    monkeypatch.setattr(sys, "unraisablehook", told.append)

    class Broken:
        def __del__(self):
            raise ValueError("broken")

    with heard():
        Broken()
    assert [unraisable.exc_type for unraisable in told] == [ValueError]
