import msgspec
import pytest

import jitrl as package
from jitrl import config
from jitrl.errors import ConfigError
from jitrl.run_presets import RUNS


@pytest.fixture
def folder(tmp_path):
    """A folder whose jitrl.toml holds what it is called with."""

    def written(text, name="jitrl.toml"):
        (tmp_path / name).write_text(text, encoding="utf-8")
        return tmp_path

    return written


def load(folder, flags=None, **env):
    return config.load(flags, env=env, folder=folder)


def test_without_settings_everything_has_its_default(tmp_path):
    assert load(tmp_path) == config.Settings()


def test_a_flag_beats_a_variable_beats_the_file_beats_the_default(folder):
    place = folder("[memory]\ngamma = 0.1\nholdout = 0.1\npreset = 'paper-web'\n")
    env = {"JITRL_MEMORY_GAMMA": "0.2", "JITRL_MEMORY_HOLDOUT": "0.2"}
    memory = load(place, {"memory": {"gamma": 0.3}}, **env).memory
    assert (memory.gamma, memory.holdout, memory.preset) == (0.3, 0.2, "paper-web")
    assert memory.mode == "act"


def test_a_run_preset_is_the_papers_protocol(tmp_path):
    web = load(tmp_path, {"run": {"preset": "paper-web"}})
    assert (web.run.attempts, web.run.max_steps, web.memory.preset) == (5, 10, "paper-web")
    text = load(tmp_path, JITRL_RUN_PRESET="paper-text")
    assert (text.run.attempts, text.run.max_steps, text.memory.preset) == (50, 60, "paper-text")
    assert (text.run.schedule, text.run.protocol) == ("sequential", "repeat")


def test_whatever_is_given_counts_before_a_run_preset(folder):
    place = folder("[run]\nattempts = 3\n[memory]\npreset = 'default'\n")
    found = load(place, {"run": {"preset": "paper-text"}}, JITRL_RUN_MAX_STEPS="7")
    assert (found.run.attempts, found.run.max_steps, found.memory.preset) == (3, 7, "default")
    assert found.run.preset == "paper-text"


def test_the_strongest_run_preset_counts_and_none_is_none(folder):
    place = folder("[run]\npreset = 'paper-text'\n")
    assert load(place, {"run": {"preset": "paper-web"}}).run.attempts == 5
    assert load(place, {"run": {"preset": None}}) == config.Settings()
    origins = [s.origin for s in config.sources(env={}, folder=place)]
    assert origins == ["run preset paper-text", "jitrl.toml", "variable", "flag"]


def test_run_presets_hold_settings_that_exist():
    for values in RUNS.values():
        config.load(values, env={})


def test_tables_are_merged_key_by_key(folder):
    place = folder("[memory.rule]\nbeta = 1\neps = 2\n")
    rule = load(place, {"memory": {"rule": {"beta": 3}}}, JITRL_MEMORY_RULE="eps=4").memory.rule
    assert rule == {"beta": 3, "eps": 4}


def test_pyproject_serves_as_well(folder):
    place = folder("[tool.jitrl.memory]\nmode = 'off'\n", "pyproject.toml")
    assert load(place).memory.mode == "off"


def test_settings_in_both_files_are_refused(folder):
    folder("[tool.jitrl.memory]\nmode = 'off'\n", "pyproject.toml")
    with pytest.raises(ConfigError, match="keep one"):
        load(folder("[memory]\nmode = 'act'\n"))


def test_a_pyproject_of_another_tool_is_none_of_our_business(folder):
    folder("[tool.other]\nx = 1\n", "pyproject.toml")
    assert load(folder("[memory]\nmode = 'off'\n")).memory.mode == "off"


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("[memory]\ngama = 1", "jitrl.toml: memory has no setting 'gama' .*'gamma'"),
        ("[memry]\n", "no group of settings 'memry' .*'memory'"),
        ("memory = 3", "memory is a group of settings, got 3"),
        ("[memory]\nholdout = '0.1'", "memory.holdout is '0.1': Expected `float`"),
        ("[memory]\nholdout = 1.5", "memory.holdout is 1.5"),
        ("[memory]\nholdout = true", "memory.holdout is True"),
        ("[memory]\nmode = 'on'", "memory.mode is 'on'.*allowed: act, off, shadow"),
        ("[memory]\ntrusted = ['tests']", "memory.trusted .*allowed: .*state_check, test"),
        ("[run]\nseeds = [0, -1]", "run.seeds"),
        ("[run]\nseeds = []", r"run.seeds is .*of length >= 1"),
        ("[run]\ntasks = []", "run.tasks is .*of length >= 1"),
        ("[run]\nattempts = 0", "run.attempts"),
        ("[run]\npreset = 'web'", "run.preset is 'web'.*allowed: paper-text, paper-web"),
        ("[model]\noptions = 3", "model.options"),
        ("[budget]\nmax_dollars = inf", "budget.max_dollars is inf; a number must be finite"),
        ("[budget.prices]\nm = [1, inf]", "budget.prices is .*; a number must be finite"),
        ("[memory.rule]\nbeta = nan", "memory.rule is .*; a number must be finite"),
        ("[model.options]\na = [{ b = -inf }]", "model.options is .*; a number must be finite"),
        ("x =", "cannot be read as TOML"),
    ],
)
def test_a_mistake_in_the_file_says_where_it_is_and_what_is_allowed(folder, text, message):
    with pytest.raises(ConfigError, match=message):
        load(folder(text))


def test_a_file_that_is_not_text_is_a_clear_error(tmp_path):
    (tmp_path / "jitrl.toml").write_bytes(b"\xff\xfe\x00")
    with pytest.raises(ConfigError, match="cannot be read as TOML"):
        load(tmp_path)


@pytest.mark.parametrize(
    ("name", "value", "message"),
    [
        ("JITRL_MEMORY_MOD", "off", "names no setting .*'JITRL_MEMORY_MODE'"),
        ("JITRL_HOLDOUT", "1", "names no setting"),
        ("JITRL_MEMORY_MODE", "on", "JITRL_MEMORY_MODE: memory.mode is 'on'"),
        ("JITRL_RUN_ATTEMPTS", "2.5", "JITRL_RUN_ATTEMPTS"),
        ("JITRL_RUN_SEEDS", "1,x", "JITRL_RUN_SEEDS"),
        ("JITRL_MEMORY_RULE", "{", "JITRL_MEMORY_RULE: memory.rule is '{'; a table is written a=1"),
        ("JITRL_MEMORY_RULE", '{"beta": 1', "JITRL_MEMORY_RULE: memory.rule is"),
        ("JITRL_MEMORY_RULE", "beta", "JITRL_MEMORY_RULE: memory.rule is 'beta'; a table"),
        ("JITRL_MEMORY_RULE", "=1", "JITRL_MEMORY_RULE: memory.rule is '=1'; a table"),
        ("JITRL_MEMORY_RULE", "beta=1,eps", "JITRL_MEMORY_RULE: memory.rule is"),
        ("JITRL_MEMORY_RULE", "[1]", "JITRL_MEMORY_RULE: memory.rule is"),
        ("JITRL_MODEL_OPTIONS", "null", "JITRL_MODEL_OPTIONS: model.options is 'null'; a table"),
        ("JITRL_BUDGET_PRICES", "{", "JITRL_BUDGET_PRICES: budget.prices is"),
        ("JITRL_BUDGET_MAX_DOLLARS", "inf", "MAX_DOLLARS: .* is 'inf'; a number must be finite"),
        (
            "JITRL_BUDGET_MAX_DOLLARS",
            "nan",
            "JITRL_BUDGET_MAX_DOLLARS: budget.max_dollars is 'nan'",
        ),
        ("JITRL_MEMORY_GAMMA", "nan", "JITRL_MEMORY_GAMMA: memory.gamma is 'nan'"),
        ("JITRL_MEMORY_PRINCIPAL", "\udcff", "JITRL_MEMORY_PRINCIPAL: .* half of a surrogate pair"),
        ("JITRL_MODEL_OPTIONS", "a=\udcff", "JITRL_MODEL_OPTIONS: .* half of a surrogate pair"),
    ],
)
def test_a_mistake_in_a_variable_names_the_variable(tmp_path, name, value, message):
    with pytest.raises(ConfigError, match=message):
        load(tmp_path, **{name: value})


def test_variables_that_name_folders_are_no_settings(tmp_path):
    assert load(tmp_path, JITRL_GAMES_DIR="/a", JITRL_CACHE_DIR="/b") == config.Settings()
    with pytest.raises(ConfigError, match="did you mean 'JITRL_GAMES_DIR'"):
        load(tmp_path, JITRL_GAME_DIR="/a")


def test_variables_of_others_are_left_alone(tmp_path):
    assert load(tmp_path, PATH="/bin", OPENAI_API_KEY="secret") == config.Settings()


@pytest.mark.parametrize(
    ("text", "group", "name", "value"),
    [
        ("5", "run", "seeds", 5),
        ("5,7", "run", "seeds", (5, 7)),
        ("5,", "run", "seeds", (5,)),
        ("[5, 7]", "run", "seeds", (5, 7)),
        ("12", "run", "tasks", 12),
        ("orders:*, x", "run", "tasks", ("orders:*", "x")),
        ("null", "run", "max_steps", None),
        ("30", "run", "max_steps", 30),
        ("0.5", "budget", "max_dollars", 0.5),
        ("123", "memory", "principal", "123"),
        ("test,human", "memory", "trusted", frozenset({"test", "human"})),
        ("a=1,b=x,c=true", "model", "options", {"a": 1, "b": "x", "c": True}),
        ('{"a": {"b": [1]}}', "model", "options", {"a": {"b": [1]}}),
        ("", "model", "options", {}),
    ],
)
def test_text_is_read_as_its_setting_needs_it(text, group, name, value):
    assert config.parse(group, name, text, "test") == value


@pytest.mark.parametrize("secret", ["api_key", "key", "access_token", "password", "client_secret"])
def test_a_secret_outside_the_environment_is_an_error(folder, secret):
    for place in (f"[model]\n{secret} = 'x'\n", f"[model.options]\n{secret} = 'x'\n"):
        with pytest.raises(ConfigError, match=f"{secret} looks like a secret"):
            load(folder(place))
    with pytest.raises(ConfigError, match="looks like a secret"):
        config.parse("model", "options", f"{secret}=x", "--model-options")


def test_the_names_of_tokens_and_keys_are_no_secrets(folder):
    place = folder("[model.options]\nmax_tokens = 5\napi_key_env = 'MY_KEY'\n")
    assert load(place).model.options["max_tokens"] == 5


def test_where_a_setting_was_given_can_be_told(folder):
    given = config.sources(
        {"run": {"attempts": 2}}, env={"JITRL_RUN_SEEDS": "3"}, folder=folder("[run]\nworkers = 2")
    )
    assert [(s.origin, dict(s.values["run"])) for s in given] == [
        ("jitrl.toml", {"workers": 2}),
        ("variable", {"seeds": 3}),
        ("flag", {"attempts": 2}),
    ]


def test_every_setting_is_described_and_has_a_variable():
    for group, kind in config.GROUPS.items():
        for field in msgspec.structs.fields(kind):
            assert config.describe(group, field.name).endswith("."), f"{group}.{field.name}"
            assert f"JITRL_{group}_{field.name}".upper() in config.variables()


def test_the_digest_changes_with_any_setting():
    plain = config.digest(config.Settings())
    assert plain == config.digest(config.Settings())
    assert plain != config.digest(config.Settings(run=config.Run(attempts=6)))


def test_what_the_library_is_given_is_refused_in_its_own_name():
    with pytest.raises(ConfigError, match=r"^jitrl.open: memory has no setting 'trust' \(did you"):
        package.open(":memory:", trust=["test"])
