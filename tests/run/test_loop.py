import re
import threading
from dataclasses import replace

import numpy as np
import pytest

from jitrl.agents.static import Static
from jitrl.envs.backoffice import Backoffice
from jitrl.envs.codecs.plain import PlainCodec
from jitrl.envs.toy import Toy
from jitrl.errors import ConfigError, InputError
from jitrl.evaluators.environment import EnvironmentRewards
from jitrl.models.scripted import Scripted
from jitrl.run.loop import Stopped, Trial, play
from jitrl.stores.sqlite import SQLiteStore
from jitrl.types import Candidate, Prompt, Proposal, Scored, State, Task


class Witness:
    """The static agent, and a list of all that it was told."""

    name = "witness"

    def __init__(self):
        self.store = SQLiteStore(":memory:")
        self.frozen = Static(self.store, EnvironmentRewards()).episode()
        self.prompts, self.told, self.draws = [], [], None

    def begin(self, task, *, key, rng):
        self.key, self.rng = key, rng
        self.frozen.begin(task, key=key, rng=rng)

    def advise(self, state, prompt):
        return replace(prompt, notes=f"note {len(self.prompts)}")

    def act(self, state, prompt, proposal):
        self.prompts.append((state, prompt))
        return self.frozen.act(state, prompt, proposal)

    def observe(self, reward, next_state):
        self.told.append((reward, next_state))

    def learn(self, episode):
        return self.frozen.learn(episode)


@pytest.fixture
def maze():
    return Toy("maze", size=3, steps=50)


def trial(env, attempt=0, seed=0):
    return Trial(env.tasks()[0], 0, attempt, seed)


def test_an_episode_holds_each_step_with_state_action_reward_and_next_state(maze):
    agent = Witness()
    episode = play(trial(maze), maze, Scripted(), agent)
    assert episode.status == "terminated"
    assert episode.steps[-1].next_state is None
    for step, after in zip(episode.steps, episode.steps[1:], strict=False):
        assert step.next_state == after.state
    assert [step.reward for step in episode.steps] == [0.0] * (len(episode.steps) - 1) + [1.0]
    assert episode.info["score"] == 1.0
    assert episode.info["calls"] == len(episode.steps)
    assert (episode.key, episode.outcome, episode.agent) == ("maze:0/0/0", None, "witness")


def test_the_model_is_shown_goal_text_history_and_valid_actions(maze):
    agent = Witness()
    episode = play(trial(maze), maze, Scripted(), agent)
    state, prompt = agent.prompts[2]
    assert prompt.history == tuple(step.action for step in episode.steps[:2])
    assert prompt.actions == ("north", "east", "south", "west")
    assert state.text in prompt.observation
    assert prompt.goal == maze.tasks()[0].goal


@pytest.mark.parametrize("rewards", ["during", "after", "outcome"])
def test_rewards_reach_the_agent_only_when_the_setting_says_so(maze, rewards):
    agent = Witness()
    episode = play(trial(maze), maze, Scripted(), agent, rewards=rewards)
    told = [reward for reward, _ in agent.told]
    if rewards == "during":
        assert told == [step.reward for step in episode.steps]
    else:
        assert told == [None] * len(episode.steps)


def test_under_outcome_the_episode_holds_the_sum_alone_and_is_judged_by_it(maze):
    agent = Witness()
    episode = play(trial(maze), maze, Scripted(), agent, rewards="outcome")
    assert {step.reward for step in episode.steps} == {None}
    assert (episode.outcome.value, episode.outcome.basis) == (1.0, "state_check")
    judgment = EnvironmentRewards().judge(episode)
    assert isinstance(judgment, Scored)
    assert sum(judgment.rewards) == 1.0


class Bumped(PlainCodec):
    """Says of each place what it would say of a wall."""

    def reading(self, observation):
        return f"Bump at {observation.text}"


def test_what_an_action_tells_that_changes_nothing_is_known_from_then_on(maze):
    maze.codec = Bumped()
    agent = Witness()
    episode = play(trial(maze), maze, Scripted(), agent)
    still = [n for n, step in enumerate(episode.steps) if step.next_state == step.state]
    assert still
    assert len(still) < len(episode.steps)
    readings = [[n, f"Bump at {episode.steps[n].state.text}"] for n in still]
    assert episode.info["readings"] == readings
    for n, (_, prompt) in enumerate(agent.prompts):
        assert prompt.read == tuple(text for at, text in readings if at < n)
    assert agent.prompts[-1][1].read


@pytest.mark.parametrize("said", [7, {"a": 1}, b"abc", ["x", "y"], None, 0])
def test_a_codec_that_reads_no_text_is_named_at_the_first_such_step(maze, said):
    maze.codec = Bumped()
    maze.codec.reading = lambda observation: said
    kind = type(said).__name__
    wanted = re.escape(f"reading of codec Bumped gave {said!r}, of type {kind}; it must be text or")
    with pytest.raises(InputError, match=wanted):
        play(trial(maze), maze, Scripted(), Witness())


@pytest.mark.parametrize("what", ["reading", "state"])
def test_half_a_surrogate_pair_is_refused_at_the_step_that_has_it(maze, what):
    class Torn(Bumped):
        def reading(self, observation):
            return "a\ud83d" if what == "reading" else ""

        def state(self, observation, history):
            plain = super().state(observation, history)
            return replace(plain, place="a\ud83d") if what == "state" and history else plain

    maze.codec, agent = Torn(), Witness()
    said = re.escape(
        rf"{what} of codec Torn has half of a surrogate pair ('\ud83d') at character 1"
    )
    with pytest.raises(InputError, match=said):
        play(trial(maze), maze, Scripted(), agent)
    assert len(agent.prompts) < 25


def test_a_codec_that_reads_nothing_leaves_the_episode_as_it_was(maze):
    agent = Witness()
    episode = play(trial(maze), maze, Scripted(), agent)
    assert "readings" not in episode.info
    assert {prompt.read for _, prompt in agent.prompts} == {()}


def test_a_step_limit_cuts_the_episode_off_in_a_known_state(maze):
    episode = play(trial(maze), maze, Scripted(), Witness(), max_steps=2)
    assert (len(episode.steps), episode.status) == (2, "truncated")
    assert episode.steps[-1].next_state is not None


def test_the_same_trial_is_the_same_episode_and_another_is_not(maze):
    def actions(*which):
        episode = play(trial(maze, *which), maze, Scripted(), Witness())
        return [step.action for step in episode.steps]

    assert actions() == actions()
    assert actions() != actions(1) != actions(0, 1)


def test_slips_come_from_the_trial_too():
    env = Toy("maze", size=3, slip=0.5, steps=50)
    first, again = (play(trial(env), env, Scripted(), Witness()) for _ in range(2))
    assert [s.state for s in first.steps] == [s.state for s in again.steps]


def test_what_a_model_draws_at_a_step_does_not_depend_on_earlier_steps():
    class Drawing:
        name = "drawing"

        def __init__(self, cached):
            self.cached, self.drawn = cached, []

        def propose(self, prompt, rng):
            if len(prompt.history) >= self.cached:
                self.drawn.append(float(rng.random()))
            return Proposal((Candidate("east", 0.0), Candidate("south", 0.0)), "drawn", "m")

    env, full, late = Toy("maze", size=3, steps=6), Drawing(0), Drawing(3)
    for model in (full, late):
        play(trial(env), env, model, Witness())
    assert len(set(full.drawn)) == len(full.drawn) > 3
    assert late.drawn == full.drawn[3:]


def test_model_and_agent_draw_apart_even_if_the_agent_spawns_generators(maze):
    which = trial(maze)
    spawned = which.chance().spawn(50)
    drawn = {tuple(child.generate_state(2)) for child in spawned}
    for step in range(50):
        assert tuple(which.chance(2**31, step).generate_state(2)) not in drawn


def test_a_stopped_episode_is_given_up_before_its_next_step(maze):
    stop = threading.Event()
    stop.set()
    model = Scripted()
    with pytest.raises(Stopped, match="maze:0/0/0 was given up after 0 steps"):
        play(trial(maze), maze, model, Witness(), stop=stop)
    assert model.calls == 0


def static(**options):
    agent = Static(SQLiteStore(":memory:"), EnvironmentRewards(), **options).episode()
    agent.begin(Task("t", "g"), key="k", rng=np.random.default_rng(0))
    return lambda *logits: agent.act(
        State("s"),
        Prompt("g", "o"),
        Proposal(tuple(Candidate(f"a{i}", z) for i, z in enumerate(logits)), "s", "m"),
    )


def test_the_static_agent_samples_from_the_softmax_of_its_logits():
    act = static()
    counts = np.zeros(2)
    for _ in range(4000):
        counts[int(act(np.log(3), 0.0).action[1])] += 1
    assert counts[0] / 4000 == pytest.approx(0.75, abs=0.03)
    decision = act(np.log(3), 0.0)
    assert [c.probability for c in decision.candidates] == pytest.approx([0.75, 0.25])
    assert [c.propensity for c in decision.candidates] == pytest.approx([0.75, 0.25])


def test_a_high_temperature_flattens_the_static_prior():
    assert [c.prior for c in static(temperature=2.0)(np.log(9), 0.0).candidates] == pytest.approx(
        [0.75, 0.25]
    )


def test_static_argmax_takes_one_of_the_best():
    decision = static(choose="argmax")(0.0, 1.0, 1.0)
    assert decision.action in ("a1", "a2")
    assert [c.propensity for c in decision.candidates] == [0.0, 0.5, 0.5]


def test_the_same_draw_gives_the_same_static_choice():
    act = static()
    decision = act(0.3, 0.1, 0.2)
    cumulative = np.cumsum([c.probability for c in decision.candidates])
    chosen = int(np.searchsorted(cumulative, decision.draws[0], "right"))
    assert decision.candidates[chosen].action == decision.action


@pytest.mark.parametrize("logits", [(), (np.nan, 0.0), (np.inf,)])
def test_the_static_agent_refuses_logits_it_cannot_use(logits):
    with pytest.raises(ValueError, match=r"no candidates|finite"):
        static()(*logits)


def test_an_impossible_temperature_is_refused():
    with pytest.raises(ConfigError, match="temperature"):
        static(temperature=0.0)


def test_a_static_episode_is_journaled_with_its_judgment_and_no_rows(maze):
    agent = Witness()
    episode = play(trial(maze), maze, Scripted(), agent)
    receipt = agent.learn(episode)
    assert (receipt.rows, receipt.duplicate) == (0, False)
    record = agent.store.record(episode.key)
    assert isinstance(record.judgment, Scored)
    assert record.episode.info["score"] == 1.0
    assert [step.decision for step in record.episode.steps] == [
        step.decision for step in episode.steps
    ]


def test_what_an_agent_notes_is_what_the_model_sees(maze):
    seen = []

    class Reading(Scripted):
        def propose(self, prompt, rng):
            seen.append(prompt.notes)
            return super().propose(prompt, rng)

    episode = play(trial(maze), maze, Reading(), Witness())
    assert seen == [f"note {i}" for i in range(len(episode.steps))]


def test_pages_are_kept_for_those_who_read_them_the_last_one_too(maze):
    agent = Witness()
    episode = play(trial(maze), maze, Scripted(), agent, pages=True)
    pages = episode.info["pages"]
    assert pages[:-1] == [prompt.observation for _, prompt in agent.prompts]
    assert len(pages) == len(episode.steps) + 1
    assert "pages" not in play(trial(maze), maze, Scripted(), Witness()).info
    assert episode.info["goal"] == maze.tasks()[0].goal


def test_what_the_environment_checked_last_is_in_the_journal(maze):
    shop = Backoffice(templates=["find:list"], instances=1)
    episode = play(trial(shop), shop, Scripted(), Witness(), max_steps=1)
    assert episode.info["checks"] == {"no other edits": True, "right page": False}
    assert "checks" not in play(trial(maze), maze, Scripted(), Witness()).info
