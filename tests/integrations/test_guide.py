"""A memory beside a tool-calling agent: it learns, stays out of the way, and never breaks it."""

import gc
import logging
import re
import threading

import pytest

import jitrl
from jitrl.errors import ConfigError, InputError, StoreError
from jitrl.integrations.conversation import Message, Turn
from jitrl.integrations.guide import Guide
from jitrl.integrations.tools import ANSWER, Call, Tool

HOW = {"type": "string", "enum": ["refund", "resend"]}
SETTLE = Tool(
    "settle",
    {"properties": {"how": HOW, "order": {"type": "string"}}, "required": ["how", "order"]},
)
LOOK = Tool("look", {"properties": {"order": {"type": "string"}}, "required": ["order"]})
REFUND, RESEND = (f'settle(how="{how}", order: string)' for how in ("refund", "resend"))
ASKED = Message("user", "My parcel A-17 is lost.")
HABIT = Call("settle", {"how": "refund", "order": "A-17"})


def turn(*calls, messages=(ASKED,), tools=(SETTLE, LOOK), **more):
    return Turn(list(messages), tools, calls, **more)


def choose(episode, *calls, **more):
    return episode.choose(lambda: turn(*calls, **more))


@pytest.fixture
def memory(tmp_path):
    with jitrl.open(tmp_path / "memory.db", rule={"warmup": 1.0}) as opened:
        yield opened


def steps(memory):
    return list(memory.store.episodes())[-1].steps


def one(guide, key=None):
    """One episode of one turn, which ``resend`` would solve; returns its choice and success."""
    with guide.episode("lost parcel", key=key) as episode:
        choice = choose(episode, HABIT)
        if choice.turned:
            with episode.extra_call(choice) as extra:
                calls = [] if choice.form is None else [Call(choice.form.tool, {"order": "A-17"})]
                extra.answered(calls)
        is_solved = choice.action == RESEND
        episode.finish(outcome=is_solved)
    return choice, is_solved


def test_it_finds_what_solves_the_task_and_keeps_to_it(memory):
    guide = Guide(memory, basis="state_check")
    solved = [one(guide)[1] for _ in range(10)]
    assert not solved[0]
    assert solved[-5:] == [True] * 5


TICKET = (
    "My parcel A-17 never came. I have been a customer for many years and was always happy, and I "
    "would be glad if somebody could look at this soon, because it was a present for my mother. "
)


def settled(guide, number):
    """One episode of a model that looks, then mostly refunds, then says so; resending is right.

    An order that is settled stays settled.
    """
    shown, done = [Message("user", TICKET)], []
    with guide.episode(TICKET, key=f"{number}") as episode:
        for _ in range(6):
            own = HABIT if len(shown) == 3 else LOOK_CALL
            calls = [] if len(shown) > 3 else [own]
            choice = choose(episode, *calls, messages=shown)
            if choice.turned:
                with episode.extra_call(choice) as extra:
                    form = choice.form
                    calls = [] if form is None else [Call(form.tool, dict(form.fixed))]
                    extra.answered(calls)
            if not calls:
                break
            result = f"done: {choice.action}" if calls[0].tool == "settle" else "lost on its way"
            done = done or [choice.action] * (calls[0].tool == "settle")
            shown += [Message("assistant", "", tuple(calls)), Message("tool", result)]
        episode.finish(outcome=done == [RESEND], basis="state_check")
    return done == [RESEND]


def test_what_settles_a_long_ticket_is_not_given_up_for_saying_so_too_early():
    with jitrl.open(":memory:") as memory:
        guide = Guide(memory)
        late = [settled(guide, number) for number in range(80)][15:]
    assert late == [True] * 65


def test_the_models_own_answer_has_the_top_score_and_the_others_share_the_rest(memory):
    with Guide(memory, p0=0.7).episode("t", key="k") as episode:
        choice = choose(episode, HABIT)
    decision = memory.store.decision("k#0").decision
    assert choice.decision == "k#0"
    assert decision.scorer == "single"
    assert {c.action: round(c.prior, 6) for c in decision.candidates} == {
        REFUND: 0.7,
        RESEND: 0.1,
        "look(order: string)": 0.1,
        ANSWER: 0.1,
    }


def test_an_outcome_is_what_the_agent_says_itself_unless_somebody_else_does(memory):
    one(Guide(memory), "said")
    assert memory.store.episode("said").outcome.basis == "agent_self_report"
    one(Guide(memory, basis="test"), "tested")
    assert memory.store.episode("tested").outcome.basis == "test"


def test_what_the_memory_chose_is_filled_and_its_own_values_hold(memory):
    guide = Guide(memory, basis="test")
    choice = next(c for c, _ in (one(guide) for _ in range(10)) if c.action == RESEND)
    with guide.episode("t") as episode, episode.extra_call(choice) as extra:
        assert extra.answered([LOOK_CALL, Call("settle", {"how": "refund", "order": "B-18"})])
    assert extra.arguments == {"how": "resend", "order": "B-18"}
    assert episode.calls == [Call("settle", extra.arguments)]


LOOK_CALL = Call("look", {"order": "A-17"})


@pytest.mark.parametrize("fault", ["raises", "another tool", "unreadable arguments", "never made"])
def test_an_extra_call_that_fails_leaves_the_models_own_answer_as_what_was_done(
    memory, fault, caplog
):
    guide = Guide(memory, basis="test")
    choice = None
    while choice is None or choice.form is None:
        episode = guide.episode("lost parcel")
        choice = choose(episode, HABIT)
        if choice.form is None:
            episode.finish(outcome=False)
    with episode.extra_call(choice) as extra:
        if fault == "raises":
            raise RuntimeError("the provider refused tool_choice")
        if fault == "another tool":
            extra.answered([Call("unknown")])
        if fault == "unreadable arguments":
            extra.answered([Call(choice.form.tool, "{oops")])
    episode.finish(outcome=False)
    assert extra.failed
    assert extra.arguments is None
    assert "degraded" in caplog.text
    (step,) = steps(memory)
    assert step.action == REFUND
    assert step.decision.action == choice.action
    assert memory.explain(choice.decision).decision.action == choice.action
    assert list(memory.replay(without=[])) == []


def test_answering_can_be_chosen_and_must_then_not_call(memory):
    guide = Guide(memory, basis="test", unforced=["settle", "look"])
    with guide.episode("t") as episode:
        choice = choose(episode, HABIT)
    assert not choice.turned
    for _ in range(9):
        with guide.episode("t") as episode:
            choice = choose(episode, HABIT)
            episode.finish(outcome=choice.action == ANSWER)
    assert choice.turned
    assert choice.form is None
    with guide.episode("t") as episode, episode.extra_call(choice) as extra:
        assert not extra.answered([HABIT])
        assert extra.answered([])


def test_a_tool_that_is_not_to_be_forced_is_never_turned_to(memory):
    guide = Guide(memory, basis="test", unforced=["settle"])
    seen = set()
    for number in range(12):
        with guide.episode("t", key=f"{number}") as episode:
            seen.add(choose(episode, LOOK_CALL).action)
            episode.finish(outcome=False)
    assert seen == {"look(order: string)", ANSWER}
    with guide.episode("t") as episode:  # of its own will the model may
        assert choose(episode, HABIT).own == REFUND


@pytest.mark.parametrize(
    ("calls", "more"),
    [
        ((), {"tools": ()}),
        ((), {"tools": (), "can_answer": False}),
        ((LOOK_CALL,), {"tools": (LOOK,), "can_answer": False}),
    ],
)
def test_where_there_is_no_choice_nothing_is_decided(memory, calls, more):
    with Guide(memory).episode("t", key="k") as episode:
        choice = choose(episode, *calls, **more)
        assert (choice.turned, choice.decision) == (False, "")
    assert memory.store.episode("k").steps == ()


def test_an_answer_that_must_call_is_not_turned_to_words(memory):
    with Guide(memory).episode("t", key="k") as episode:
        choose(episode, HABIT, can_answer=False)
    actions = [c.action for c in memory.store.decision("k#0").decision.candidates]
    assert ANSWER not in actions


def test_several_calls_in_one_answer_are_one_action(memory):
    with Guide(memory).episode("t", key="k") as episode:
        choice = choose(episode, HABIT, LOOK_CALL)
    assert choice.own == f"look(order: string) + {REFUND}"
    assert episode.calls == [HABIT, LOOK_CALL]


def test_the_same_turn_asked_again_is_decided_once(memory):
    with Guide(memory).episode("t", key="k") as episode:
        first, again = choose(episode, HABIT), choose(episode, LOOK_CALL)
        assert again.decision == first.decision
        assert again.action == first.action
        later = choose(episode, HABIT, messages=[ASKED, Message("tool", "lost")])
        assert later.decision == "k#1"
    assert len(memory.store.episode("k").steps) == 2


def test_an_agent_that_is_held_out_acts_alone(tmp_path):
    with jitrl.open(tmp_path / "m.db", holdout=1.0) as memory:
        guide = Guide(memory, basis="test")
        assert not any(one(guide)[0].turned for _ in range(8))
        with guide.episode("t") as episode:
            assert episode.holdout


@pytest.mark.parametrize("mode", ["off", "shadow"])
def test_switched_off_it_changes_nothing(tmp_path, mode):
    with jitrl.open(tmp_path / "m.db", mode=mode) as memory:
        assert not any(one(Guide(memory, basis="test"))[0].turned for _ in range(8))


def broken(messages):
    raise ZeroDivisionError("own state")


@pytest.mark.parametrize("options", [{"state": broken}, {"score": lambda *_: {}}])
def test_a_fault_while_deciding_lets_the_models_answer_through(memory, options, caplog):
    with (
        caplog.at_level(logging.WARNING),
        Guide(memory, **options).episode("t", key="k") as episode,
    ):
        choice = choose(episode, HABIT)
        assert (choice.action, choice.turned, choice.decision) == (REFUND, False, "")
        assert episode.degraded
    assert "degraded episode=k" in caplog.text
    assert memory.store.episode("k").steps == ()


def test_a_turn_that_cannot_be_read_lets_the_models_answer_through(memory):
    with Guide(memory).episode("t") as episode:
        assert not episode.choose(lambda: {}["role"]).turned
        assert "KeyError" in episode.degraded


def test_a_memory_that_broke_lets_the_agent_work_to_its_end(tmp_path):
    memory = jitrl.open(tmp_path / "m.db")
    guide = Guide(memory)
    with guide.episode("t") as episode:
        memory.close()
        assert not choose(episode, HABIT).turned
        assert episode.degraded
        assert episode.finish(outcome=True) is None
    with guide.episode("t") as episode:
        assert not choose(episode, HABIT).turned
        episode.finish(outcome=True)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"p0": 0.2}, "p0"),
        ({"p0": 1.0}, "p0"),
        ({"basis": "rumour"}, "basis"),
        ({"unforced": "settle"}, "unforced"),
        ({"values": {"do": 3}}, "values"),
        ({"state": "text"}, "state"),
        ({"state": None}, "state"),
        ({"score": 0.5}, "score"),
        ({"check": True}, "check"),
        ({"observed": 1}, "observed"),
        ({"scope": None}, "scope"),
    ],
)
def test_an_impossible_option_stops_before_the_first_episode(memory, options, message):
    with pytest.raises(ConfigError, match=message):
        Guide(memory, **options)


def test_what_a_caller_does_wrong_is_said(memory):
    guide = Guide(memory)
    for wrong in ({}, {"text": ""}, {"text": 3}, {"task": ""}, {"text": "t", "task": 3}):
        with pytest.raises(InputError, match="task"):
            guide.episode(**wrong)
    with guide.episode("t") as episode, pytest.raises(InputError, match="outcome"):
        episode.finish(outcome="yes")


def tasks(memory):
    return [episode.task for episode in memory.store.episodes()]


def test_tickets_that_differ_in_what_is_masked_are_one_task(memory):
    guide = Guide(memory)
    for text in ("My parcel A-17 is lost.", "My parcel  B-2044 is lost.\n"):
        with guide.episode(text) as episode:
            assert episode.text == text
            choose(episode, HABIT)
    assert tasks(memory) == ["My parcel <id> is lost."] * 2


def test_a_task_that_the_caller_names_is_taken_as_it_is(memory):
    guide = Guide(memory)
    for text in ("My parcel A-17 is lost.", ""):
        with guide.episode(text, task="lost-2044") as episode:
            choose(episode, HABIT)
    assert tasks(memory) == ["lost-2044"] * 2


def test_a_text_of_nothing_but_numbers_stays_the_name_of_its_task(memory):
    guide = Guide(memory)
    for text in ("A-2044", "2026-12-01 4711"):
        with guide.episode(text) as episode:
            choose(episode, HABIT)
    assert tasks(memory) == ["A-2044", "2026-12-01 4711"]


def test_what_numbered_tickets_teach_still_counts_after_many_were_solved(memory):
    guide, solved = Guide(memory, basis="state_check"), []
    for number in range(16):
        with guide.episode(f"My parcel A-{2000 + number} is lost.") as episode:
            choice = choose(episode, HABIT, messages=[Message("user", episode.text)])
            if choice.turned:
                with episode.extra_call(choice) as extra:
                    extra.answered([Call("settle", {"order": "A-17"})] if choice.form else [])
            solved.append(choice.action == RESEND)
            episode.finish(outcome=solved[-1])
    assert solved[-8:] == [True] * 8


def test_a_made_up_key_is_short_says_what_it_is_of_and_comes_once(memory):
    guide = Guide(memory)
    text = "My parcel A-17 is lost, and nobody answers me although I wrote to ann@example.org twice"
    keys = {guide.episode(text).key for _ in range(50)}
    assert len(keys) == 50
    for key in keys:
        assert re.fullmatch(r"my-parcel-is-lost-and-nobody-[0-9a-f]{12}", key)
    assert re.fullmatch(r"包裹丢了-[0-9a-f]{12}", guide.episode("包裹丢了").key)
    assert re.fullmatch(r"episode-[0-9a-f]{12}", guide.episode("4711").key)


def test_a_made_up_key_holds_nothing_that_is_redacted(tmp_path):
    with jitrl.open(tmp_path / "m.db", redact=["mails"]) as memory:
        key = Guide(memory).episode(task="ann@example.org wrote").key
    assert "ann" not in key
    assert "wrote" in key


def test_settings_of_the_memory_may_be_given_with_its_file(tmp_path):
    guide = Guide(tmp_path / "m.db", holdout=1.0)
    with guide.episode("t") as episode:
        assert episode.holdout
        choose(episode, HABIT)
    with pytest.raises(ConfigError, match="hold_out"):
        Guide(tmp_path / "m.db", hold_out=0.2)


def test_settings_of_a_memory_that_is_open_are_refused(memory):
    with pytest.raises(ConfigError, match=r"holdout to jitrl\.open"):
        Guide(memory, holdout=0.2)


def test_a_check_says_how_an_episode_ended_that_nobody_finished(memory):
    guide = Guide(memory, check=lambda episode: episode.calls == [HABIT], basis="state_check")
    with guide.episode("t", key="k") as episode:
        choose(episode, HABIT)
    outcome = memory.store.episode("k").outcome
    assert (outcome.value, outcome.basis, outcome.evaluator) == (1.0, "state_check", "check")


def test_an_episode_without_an_outcome_waits_for_it(memory):
    with Guide(memory).episode("t", key="k") as episode:
        choose(episode, HABIT)
    assert memory.store.episode("k").status == "truncated"
    assert memory.outcome("k", True, basis="human").rows == 1


def test_an_agent_that_failed_leaves_an_aborted_episode(memory):
    guide = Guide(memory, check=lambda episode: True)
    with pytest.raises(ZeroDivisionError), guide.episode("t", key="k"):
        1 / 0  # noqa: B018
    assert memory.store.episode("k").status == "aborted"


def test_a_check_that_fails_is_heard_and_the_episode_is_kept(memory):
    guide = Guide(memory, check=lambda episode: 1 / 0)
    with pytest.raises(ZeroDivisionError), guide.episode("t", key="k") as episode:
        choose(episode, HABIT)
    assert memory.store.episode("k").outcome is None


def test_an_episode_is_active_within_its_block_and_for_its_own_guide_alone(memory):
    mine, other = Guide(memory), Guide(memory)
    assert mine.active is None
    with mine.episode("outer") as outer, other.episode("other") as its:
        assert (mine.active, other.active) == (outer, its)
        with mine.episode("inner") as inner:
            assert mine.active is inner
        assert mine.active is outer
        seen = []
        thread = threading.Thread(target=lambda: seen.append(mine.active))
        thread.start()
        thread.join()
        assert seen == [None]
    assert (mine.active, other.active) == (None, None)


def test_scores_of_the_users_own_are_named_in_the_record(memory):
    def careful(turn, actions, own):
        return {action: float(action == own) for action in actions}

    with Guide(memory, score=careful).episode("t", key="k") as episode:
        choose(episode, HABIT)
    assert memory.store.decision("k#0").decision.scorer == "careful"


def test_a_memory_that_a_guide_opened_is_closed_with_it_and_another_is_not(memory, tmp_path):
    guide = Guide(tmp_path / "own.db")
    own = guide.memory
    del guide
    gc.collect()
    with pytest.raises(StoreError):
        list(own.store.episodes())
    Guide(memory)
    gc.collect()
    assert list(memory.store.episodes()) == []


def test_the_journal_keeps_what_the_model_was_shown_redacted_and_cut(tmp_path):
    secret = "sk-" + "a1B2c3D4" * 6
    ticket = "Where is order 4711? Ann, ann@example.org, card 4111 1111 1111 1111."
    shown = [
        Message("user", ticket),
        Message("assistant", "", (LOOK_CALL,)),
        Message("tool", f"key {secret} " + "x" * 5_000 + " the end"),
    ]
    with jitrl.open(tmp_path / "m.db", redact=["keys", "cards", "mails"]) as memory:
        with Guide(memory).episode(ticket, key="k") as episode:
            choose(episode, LOOK_CALL, messages=shown[:1])
            choose(episode, HABIT, messages=shown)
            episode.finish(outcome=True)
        first, second, last = memory.store.episode("k").info["pages"]
    assert first.startswith("Where is order 4711? Ann, {mail:")
    assert "4111" not in first
    assert second.startswith("Where is order 4711?")
    assert second.endswith(" the end")
    assert 2_000 < len(second) < 2_100
    assert last == ""
    written = b"".join(path.read_bytes() for path in tmp_path.iterdir())
    assert not [s for s in (secret, "ann@example.org", "4111 1111") if s.encode() in written]


def test_what_the_model_was_shown_is_kept_only_where_it_is_wanted_and_goes_with_a_purge(tmp_path):
    with jitrl.open(tmp_path / "m.db", redact=[]) as memory:
        for observed in (True, False):
            with Guide(memory, observed=observed).episode("t", key=f"{observed}") as episode:
                choose(episode, HABIT, messages=[Message("user", "I am Zhang-San-4711, help!")])
                episode.finish(outcome=True)
        assert "pages" not in memory.store.episode("False").info
        receipt = memory.purge("text=Zhang-San-4711", principal="dpo")
        assert receipt.is_complete
        assert [e.key for e in memory.store.episodes()] == ["False"]
    assert b"Zhang-San-4711" not in b"".join(path.read_bytes() for path in tmp_path.iterdir())


def played(guide, number, right):
    """One episode of one turn; the model wants to settle in one way, now and then in another."""
    own = Call("settle", {"how": "resend" if number % 5 == 4 else "refund", "order": "A-17"})
    with guide.episode("lost parcel", key=f"{number}") as episode:
        choice = choose(episode, own)
        if choice.turned:
            with episode.extra_call(choice) as extra:
                extra.answered([] if choice.form is None else [Call(choice.form.tool, {})])
        episode.finish(outcome=choice.action == right, basis="state_check")
    return choice


@pytest.mark.parametrize("writes", [["settle"], ["*"], True])
def test_a_tool_that_writes_is_not_tried_out_but_taken_once_two_episodes_bear_it_out(
    memory, writes
):
    guide = Guide(memory, writes=writes)
    made = [played(guide, number, RESEND) for number in range(30)]
    own = [n for n, choice in enumerate(made) if choice.own == choice.action == RESEND]
    assert len(own) >= 2
    turned = [n for n, choice in enumerate(made) if choice.turned and choice.action == RESEND]
    assert turned
    assert min(turned) > own[1]
    assert all(choice.action == RESEND for choice in made[-8:])
    assert not any(c.turned and c.action == REFUND for c in made)


def test_without_a_mark_the_same_tool_is_tried_out_before_the_model_ever_took_it(memory):
    made = [played(Guide(memory), number, RESEND) for number in range(4)]
    assert any(choice.turned and choice.action == RESEND for choice in made)
