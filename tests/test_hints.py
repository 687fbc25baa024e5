"""Every command to install something that the product prints names an extra that exists."""

import ast
import re
import tomllib
from pathlib import Path

import jitrl

ROOT = Path(jitrl.__file__).parent
EXTRA = re.compile(r"jitrl\[([^\]]+)\]")


def extras():
    """Those of pyproject.toml, without those that a place here makes for development."""
    project = tomllib.loads((ROOT.parents[1] / "pyproject.toml").read_text(encoding="utf-8"))
    return set(project["project"]["optional-dependencies"])


def texts():
    """Every text in the source, joined as Python joins it, with where it is."""
    for path in sorted(ROOT.rglob("*.py")):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Constant) and isinstance(node.value, str):
                yield path.relative_to(ROOT), node.value
            elif isinstance(node, ast.JoinedStr):
                parts = [p.value if isinstance(p, ast.Constant) else "{}" for p in node.values]
                yield path.relative_to(ROOT), "".join(map(str, parts))
    for path in [*ROOT.rglob("*.html"), *ROOT.rglob("*.toml")]:
        yield path.relative_to(ROOT), path.read_text(encoding="utf-8")


def test_each_hint_names_an_extra_that_exists():
    found = [(str(at), name) for at, text in texts() for name in EXTRA.findall(text)]
    wrong = [
        (at, name)
        for at, name in found
        if not set(name.split(",")) <= extras() | {"EXTRA", "{}", "a-b"} and "\\" not in name
    ]
    assert not wrong
    assert len({name for _, name in found}) > 12


def test_each_extra_of_the_docs_exists():
    wrong = []
    for path in sorted((ROOT.parents[1] / "docs").rglob("*.md")):
        text = path.read_text(encoding="utf-8")
        named = re.findall(r"pip install (?:-e )?'?(?:jitrl|\.)\[([^\]]+)\]", text)
        wrong += [(path.name, n) for n in named if not set(n.split(",")) <= extras() | {"NAME"}]
    assert not wrong
