import re
import tomllib
from pathlib import Path

PAGE = Path(__file__).parents[2] / "docs" / "models.md"


def blocks(language):
    return re.findall(rf"```{language}\n(.*?)```", PAGE.read_text(encoding="utf-8"), re.DOTALL)


def test_every_python_block_of_the_page_runs(capsys):
    names = {}
    for block in blocks("python"):
        exec(block, names)
    assert "the budget of 2 calls is used up" in capsys.readouterr().out


def test_every_toml_block_of_the_page_is_toml():
    assert [tomllib.loads(block)["model"]["name"] for block in blocks("toml")] == ["openai"]
