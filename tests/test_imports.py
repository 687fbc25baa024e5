"""The rules of the house that can be read off the source, and how fast it starts."""

import ast
import graphlib
import json
import re
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

import jitrl

ROOT = Path(jitrl.__file__).parent
MODULES = sorted(path for path in ROOT.rglob("*.py"))
WORDS = frozenset({"types", "ports", "training", "errors", "functions", "extras", "language"})
"""What every part of the house may import."""
MAY_IMPORT = {
    "types": frozenset({"types"}),
    "errors": frozenset({"extras"}),
    "extras": frozenset(),
    "ports": frozenset({"types", "ports"}),
    "training": frozenset({"types"}),
    "functions": frozenset({"errors"}),
    "language": frozenset(),
    "core": frozenset({"types", "errors", "core"}),
    "presets": WORDS | {"core"},
    "redaction": WORDS | {"core", "registry", "redaction"},
    "memory": WORDS | {"core", "memory"},
    "agents": WORDS | {"core", "presets", "memory", "agents"},
    "envs": WORDS | {"core", "envs"},
    "models": WORDS | {"core", "models"},
    "stores": WORDS | {"core", "stores"},
    "evaluators": WORDS | {"core", "evaluators"},
    "integrations": WORDS | {"api", "config", "envs", "episode", "integrations", "registry"},
    "telemetry": frozenset({"types", "ports", "errors"}),
    "recorded": WORDS | {"stores", "integrations", "recorded"},
    # run plays, analysis reads what was played, study plays to compare, report shows comparisons.
    "run": WORDS
    | {"config", "core", "evaluators", "models", "presets", "redaction", "registry", "stores"}
    | {"run"},
    "analysis": WORDS
    | {"config", "core", "presets", "agents", "evaluators", "memory", "stores"}
    | {"run", "analysis"},
    "study": WORDS
    | {"config", "core", "presets", "registry", "agents", "memory", "models", "stores"}
    | {"run", "analysis", "study"},
    "report": WORDS | {"core", "analysis", "report"},
}
"""All that a part may import from this package; the others compose what they like."""


MAY_CATCH_ALL = {
    "run/experiment.py",
    "integrations/guided.py",
    "service/calls.py",
    "service/running.py",
    "service/lane.py",
}
"""An experiment, and a thread of a service, go on after a failure; others by the model's choice."""


def name(path):
    return path.relative_to(ROOT).as_posix()


def part(path):
    return path.relative_to(ROOT).parts[0].removesuffix(".py")


def tree(path):
    return ast.parse(path.read_text(encoding="utf-8"))


def imported(path):
    """Full names of all modules that a file imports, wherever in it."""
    found = []
    for node in ast.walk(tree(path)):
        if isinstance(node, ast.Import):
            found += [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{name(path)} imports relatively"
            if node.module == "jitrl":
                found += [f"jitrl.{alias.name}" for alias in node.names]
            else:
                found.append(node.module)
    return found


@pytest.mark.parametrize("path", MODULES, ids=name)
def test_a_module_imports_only_what_its_part_of_the_house_may(path):
    allowed = MAY_IMPORT.get(part(path))
    if allowed is None:
        return
    inside = {full.split(".")[1] for full in imported(path) if full.startswith("jitrl.")}
    assert inside <= allowed, f"{name(path)} imports {sorted(inside - allowed)}"


def test_parts_of_the_house_import_each_other_in_one_direction_only():
    graph = {}
    for path in MODULES:
        inside = {full.split(".")[1] for full in imported(path) if full.startswith("jitrl.")}
        graph.setdefault(part(path), set()).update(inside - {part(path)})
    graph["episode"].remove("api")  # a type alone
    graphlib.TopologicalSorter(graph).prepare()


@pytest.mark.parametrize("path", sorted((ROOT / "core").glob("*.py")), ids=name)
def test_the_core_needs_numpy_and_the_standard_library_alone(path):
    outside = {full.split(".")[0] for full in imported(path)} - {"jitrl", "numpy"}
    assert outside <= sys.stdlib_module_names


@pytest.mark.parametrize("path", sorted((ROOT / "core").glob("*.py")), ids=name)
def test_the_core_reads_no_clock_no_file_and_no_global_chance(path):
    forbidden = {
        "os",
        "io",
        "time",
        "datetime",
        "random",
        "logging",
        "sqlite3",
        "socket",
        "pathlib",
    }
    assert not forbidden & set(imported(path))
    source = path.read_text(encoding="utf-8")
    for call in ("open(", "np.random.seed", "np.random.rand", "np.random.choice"):
        assert call not in source


@pytest.mark.parametrize("path", MODULES, ids=name)
def test_a_module_names_its_subject_and_keeps_to_400_lines(path):
    source = path.read_text(encoding="utf-8")
    if not source:
        return
    assert ast.get_docstring(tree(path)), f"{name(path)} has no docstring"
    assert source.count("\n") <= 400
    assert path.stem not in {"utils", "helpers", "common", "base", "manager", "misc"}


@pytest.mark.parametrize("path", MODULES, ids=name)
def test_only_the_command_line_prints(path):
    if part(path) == "cli":
        return
    calls = [node.func for node in ast.walk(tree(path)) if isinstance(node, ast.Call)]
    assert not [f.lineno for f in calls if isinstance(f, ast.Name) and f.id == "print"]


@pytest.mark.parametrize("path", MODULES, ids=name)
def test_only_an_experiment_and_what_has_the_models_own_choice_catch_whatever_comes(path):
    for node in ast.walk(tree(path)):
        if not isinstance(node, ast.ExceptHandler):
            continue
        caught = [node.type] if not isinstance(node.type, ast.Tuple) else node.type.elts
        for kind in caught:
            broad = kind is None or (isinstance(kind, ast.Name) and kind.id == "Exception")
            assert not broad or name(path) in MAY_CATCH_ALL, f"line {node.lineno}"


@pytest.mark.parametrize("path", MODULES, ids=name)
def test_nothing_is_pickled(path):
    assert not {"pickle", "shelve", "marshal", "dill"} & set(imported(path))


def test_types_are_checked_alike_whether_optional_packages_are_installed_or_not():
    project = tomllib.loads((ROOT.parent.parent / "pyproject.toml").read_text(encoding="utf-8"))
    always = {re.split(r"[^\w-]", need)[0] for need in project["project"]["dependencies"]}
    lists = [part["module"] for part in project["tool"]["mypy"]["overrides"]]
    left_out = {module.split(".")[0] for modules in lists for module in modules} - {"jitrl"}
    outside = {full.split(".")[0] for path in MODULES for full in imported(path)} - {"jitrl"}
    assert outside - set(sys.stdlib_module_names) <= always | left_out


def loaded_by(code):
    """Modules that are loaded after ``code`` ran in a new interpreter."""
    program = f"import json, sys\n{code}\nprint(json.dumps(sorted(sys.modules)), file=sys.stderr)"
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=True
    )
    return json.loads(done.stderr.splitlines()[-1])


HEAVY = ("numpy", "openai", "httpx", "pydantic", "numba", "matplotlib", "threadpoolctl", "sqlite3")


def test_importing_the_package_loads_nothing_else():
    modules = loaded_by("import jitrl")
    ours = [module for module in modules if module.split(".")[0] == "jitrl"]
    assert ours == ["jitrl"]
    assert not [m for m in modules if m.split(".")[0] in (*HEAVY, "rich", "typer", "msgspec")]


HELP = """
from jitrl.cli import main
try:
    main(["--help"])
except SystemExit as end:
    assert end.code == 0
"""


def test_help_loads_no_command_and_nothing_heavy():
    modules = loaded_by(HELP)
    ours = {module for module in modules if module.startswith("jitrl")}
    entry = {"jitrl.cli", "jitrl.cli.main", "jitrl.cli.usage"}
    interrupts = {"jitrl.cli.shared", "jitrl.cli.shared.interrupts"}
    assert ours == {"jitrl", "jitrl.errors", *entry, *interrupts}
    assert not [module for module in modules if module.split(".")[0] in HEAVY]


def test_torch_is_loaded_by_nothing_but_weights_to_train():
    code = "import jitrl.run.compose, jitrl.agents.gradient, jitrl.models.embedded, jitrl.cli.run"
    modules = loaded_by(code)
    assert "torch" not in modules
