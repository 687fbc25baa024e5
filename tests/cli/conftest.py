import json
from pathlib import Path
from typing import NamedTuple

import pytest

from jitrl.cli import main
from jitrl.cli.shared.output import people

RUN_TESTS = Path(__file__).parents[1] / "run"


class Done(NamedTuple):
    code: int
    out: str
    err: str

    @property
    def data(self):
        return json.loads(self.out)


@pytest.fixture
def jitrl(tmp_path, monkeypatch, capsys):
    """Runs a command line in an empty folder where the agent `tabular` is installed."""
    installed, here = tmp_path / "installed", tmp_path / "here"
    info = installed / "jitrl_tabular-1.0.dist-info"
    info.mkdir(parents=True)
    here.mkdir()
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: jitrl-tabular\nVersion: 1.0\n")
    (info / "entry_points.txt").write_text("[jitrl.agents]\ntabular = tabular:Tabular\n")
    monkeypatch.syspath_prepend(installed)
    monkeypatch.syspath_prepend(RUN_TESTS)
    monkeypatch.chdir(here)

    def call(*args):
        people.cache_clear()  # a console keeps the width that it was made with
        with pytest.raises(SystemExit) as end:
            main([str(arg) for arg in args])
        out, err = capsys.readouterr()
        return Done(end.value.code or 0, out, err)

    return call
