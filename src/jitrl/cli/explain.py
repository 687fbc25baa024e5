"""`jitrl explain`: why a decision fell as it did, and what would have turned it."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import closing
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Annotated

import msgspec
import typer
from rich.console import Group, RenderableType
from rich.table import Table
from rich.text import Text

from jitrl import config, given
from jitrl.agents.corrected import Corrected
from jitrl.cli import explain_lessons as lessons
from jitrl.cli.listing import Listing
from jitrl.cli.output import emit, people
from jitrl.cli.progress import counted
from jitrl.cli.settings import Flags, merge
from jitrl.core.rule import UpdateRule
from jitrl.errors import ConfigError, InputError
from jitrl.evaluators.environment import EnvironmentRewards
from jitrl.memory import explain as explaining
from jitrl.run import explain as views
from jitrl.run import folder as folders
from jitrl.run.embedding import remembered
from jitrl.run.words import Language
from jitrl.stores.sqlite import SQLiteStore
from jitrl.types import Decision, Weighed

_LINES = 8  # of each table


@dataclass(frozen=True, slots=True)
class Words:
    """One language; braces are filled in."""

    lang: Language
    goal: str
    place: str
    alone: str
    memory: str
    shadow: str
    turned: str
    same: str
    because: dict[views.Why, str]
    silent: str
    candidate: str
    prior: str
    visits: str
    q: str
    advantage: str
    bonus: str
    logits: str
    after: str
    note: str
    more: str
    neighbors: str
    similarity: str
    weight: str
    returned: str
    rows: str
    episodes: str
    running: str
    without: str
    would: str
    still: str
    unseen: str
    instead: str
    taken: str
    decision: str
    choice: str
    model: str
    why: str
    causes: dict[views.Why, str]
    none: str


ENGLISH = Words(
    lang="en",
    goal="goal",
    place="page",
    alone="the model alone",
    memory="with its memory",
    shadow="shadow: took {0}; the memory would take {1}",
    turned="turned round",
    same="the same",
    because={
        "returns": "Returns of earlier episodes outweighed the model.",
        "exploration": "What had not been tried here outweighed the model.",
        "lessons": "How other tasks were solved outweighed the model.",
    },
    silent="The memory had no say: {0}.",
    candidate="candidate",
    prior="p before",
    visits="tries",
    q="q",
    advantage="A",
    bonus="new/repeat",
    logits="z → z'",
    after="p after",
    note="tries: in all the states below together; below, in one of them. q: return expected of "
    "it; V here is {value:.3f}. A = q − V. new/repeat: nats for what is "
    "untried here, off for what this episode did already. z: the model's logit; z' = z "
    "+ correction by A + new/repeat.",
    more="… {0} more",
    neighbors="What the memory holds of states like this one",
    similarity="similar",
    weight="weight",
    returned="return",
    rows="rows",
    episodes="from episode",
    running="this episode",
    without="What it would have been without …",
    would="would choose",
    still="the same",
    unseen="{0} more near episodes were not looked at; none weighs more (--most).",
    instead="p",
    taken="p: probability of {0}, which was taken.",
    decision="decision",
    choice="with memory",
    model="model alone",
    why="because of",
    causes={"returns": "returns", "exploration": "exploration", "lessons": "other tasks"},
    none="no decision was turned round",
)

CHINESE = Words(
    lang="zh",
    goal="目标",
    place="页面",
    alone="仅模型",
    memory="加上记忆",
    shadow="影子模式：采用了 {0}；记忆会选择 {1}",
    turned="被记忆改变",
    same="相同",
    because={
        "returns": "以往尝试的回报压过了模型的偏好。",
        "exploration": "这里尚未试过的动作压过了模型的偏好。",
        "lessons": "其他任务的成功做法压过了模型的偏好。",
    },
    silent="记忆没有参与：{0}。",
    candidate="候选动作",
    prior="之前概率",
    visits="尝试",
    q="q",
    advantage="A",
    bonus="新/重复",
    logits="z → z'",
    after="之后概率",
    note="尝试：上表为下列各状态之和，下表为单个状态。q：预期回报；此处 V 为 {value:.3f}。"
    "A = q − V。新/重复：未试过的动作加分，"
    "本次已做过的减分（奈特）。z：模型的 logit；z' = z + 由 A 得出的修正 + 新/重复。",
    more="…… 另有 {0} 个",
    neighbors="记忆中相似状态的经历",
    similarity="相似度",
    weight="权重",
    returned="回报",
    rows="行号",
    episodes="来自",
    running="本次尝试",
    without="如果没有下面这次尝试的记忆",
    would="会选择",
    still="不变",
    unseen="另有 {0} 次相近的尝试未逐一检验，权重均不更大（--most）。",
    instead="p",
    taken="p：所采用动作 {0} 的概率。",
    decision="决策",
    choice="加上记忆",
    model="仅模型",
    why="原因",
    causes={"returns": "回报", "exploration": "探索", "lessons": "其他任务"},
    none="没有被记忆改变的决策",
)

LANGUAGES: dict[Language, Words] = {"en": ENGLISH, "zh": CHINESE}


def explain(
    place: Annotated[
        Path, typer.Argument(metavar="PLACE", help="A memory file, or the folder of a run.")
    ],
    decision: Annotated[
        str, typer.Argument(metavar="[DECISION]", help="EPISODE#STEP; not with --changed.")
    ] = "",
    changed: Annotated[
        bool, typer.Option("--changed", help="List the decisions that the memory turned round.")
    ] = False,
    limit: Annotated[int, typer.Option(min=1, help="Newest decisions that --changed lists.")] = 20,
    seed: Annotated[
        int | None, typer.Option(min=0, help="Of a run folder: whose memory; else the first.")
    ] = None,
    most: Annotated[
        int, typer.Option(min=0, help="Near episodes to leave out, one after another.")
    ] = 20,
    memory: Annotated[str, typer.Option(help="Memory in the file.")] = "default",
    setting: Annotated[
        list[str],
        typer.Option("--set", help="A setting of that time, as memory.preset=paper-web."),
    ] = [],  # noqa: B006 - typer reads it
    lang: Annotated[Language, typer.Option(help="Language of headings and labels.")] = "en",
    json: Annotated[bool, typer.Option("--json", help="Print the result as JSON.")] = False,
) -> None:
    """Show why a decision fell as it did: each candidate before and after, whose experience
    counted, and what the choice would have been without each of those that weigh most.

    Exact and without a model: all numbers are in the journal.
    """
    if bool(decision) == changed:
        raise InputError("name a DECISION (EPISODE#STEP), or give --changed to list some")
    file, settings = _found(place, seed, setting)
    words = LANGUAGES[lang]
    with closing(SQLiteStore(file, memory=memory, readonly=True)) as store:
        if changed:
            found = list(views.turned(store.decisions()))[-limit:]
            if json:
                emit(views.listed(found))
            else:
                people().print(changes(found, words))
            return
        trusted = store.settings().get("trusted")
        if trusted and not any(text.startswith("memory.trusted") for text in setting or ()):
            settings = msgspec.structs.replace(settings, trusted=frozenset(trusted))
        # Nothing is judged here, so the evaluator that the memory was used with is not needed.
        agent = Corrected(store, EnvironmentRewards(), settings, partial(remembered, str(file)))
        named = given.decision_id(decision)
        record = store.decision(named)
        if record.decision.reason == "weights":
            explanation = views.of_weights(record)
        else:
            _same_rule(record.decision, agent.preset.rule)
            with counted(words.without) as moved:
                explanation = explaining.explain(agent, store, named, most=most, progress=moved)
    rule = agent.preset.rule
    if json:
        emit(views.data(explanation, rule))
    else:
        people().print(explained(explanation, rule, words))


def _found(place: Path, seed: int | None, given: Sequence[str]) -> tuple[Path, config.Memory]:
    """The memory file, and the settings it was used with: those of its run, else those in force."""
    flags: Flags = {}
    merge(flags, given, "--set")
    folder = place if place.is_dir() else place.parent
    if not (place.is_dir() or (folder / "run.json").is_file()):
        return place, config.load(flags).memory
    record = folders.read(folder)
    if place.is_dir():
        if seed is not None and seed not in record.seeds:
            raise InputError(f"{folder} has no seed {seed}; it has {list(record.seeds)}")
        place = folders.store_path(folder, record.seeds[0] if seed is None else seed)
    recorded = record.settings["memory"] | flags.get("memory", {})
    return place, msgspec.convert(recorded, config.Memory)


def _same_rule(decision: Decision, rule: UpdateRule) -> None:
    """Refuse what cannot be explained, with what to do about it on this command line."""
    if decision.rule != rule.digest:
        raise ConfigError(
            f"the decision was made under rule {decision.rule}, the settings in force give "
            f"{rule.digest}; give those of that time: --set memory.preset=NAME, and "
            "--set memory.rule=NAME=VALUE,… for what was changed in it"
        )


def changes(found: Sequence[views.Turned], words: Words) -> RenderableType:
    """A table of decisions that were turned round."""
    if not found:
        return Text(words.none)
    heads = (words.decision, words.choice, words.model, words.why)
    listing = Listing(heads, texts=frozenset({0, 1, 2}), left=frozenset({3}))
    for one in found:
        listing.add(
            one.id,
            f"{one.chosen.action} {one.chosen.prior:.0%} → {one.chosen.probability:.0%}",
            f"{one.unaided.action} {one.unaided.prior:.0%} → {one.unaided.probability:.0%}",
            words.causes[one.why],
        )
    return listing


def explained(
    of: explaining.Explanation, rule: UpdateRule, words: Words, lines: int = _LINES
) -> RenderableType:
    """An explanation for people: the choice, the numbers, their causes, and without each.

    Args:
        lines: Most lines of each table; the choice and the model's own have one in any case.
    """
    mine = views.memorys(of.decision, rule)
    parts: list[RenderableType] = [
        _choice(of, mine, words),
        "",
        _candidates(of, mine, words, lines),
    ]
    parts.append(Text(words.note.format(value=of.decision.value), style="dim"))
    if of.taught is not None and of.decision.lesson is not None:
        parts += ["", *lessons.shown(of.taught, of.decision.lesson, words.lang, lines)]
    if of.decision.neighbors:
        parts += ["", Text(words.neighbors, style="bold"), _neighbors(of, mine, rule, words, lines)]
    if of.without:
        parts += ["", Text(words.without, style="bold"), _without(of, mine, words, lines)]
        parts.append(Text(words.taken.format(of.decision.action), style="dim"))
    if of.others:
        parts.append(Text(words.unseen.format(of.others), style="dim"))
    return Group(*parts)


def _choice(of: explaining.Explanation, mine: Weighed, words: Words) -> RenderableType:
    decision, own = of.decision, views.unaided(of.decision)
    table = Table(box=None, pad_edge=False, show_header=False)
    table.add_column(style="dim", no_wrap=True)
    table.add_column(overflow="fold")
    table.add_row(words.decision, Text(of.id))
    if of.state.context:
        table.add_row(words.goal, Text(of.state.context))
    where = of.state.text.partition("\n")[0]
    table.add_row(words.place, Text(" · ".join(filter(None, (where, of.state.place)))))
    table.add_row(words.alone, Text(f"{own.action}  {own.prior:.0%}"))
    is_changed = mine.action != own.action
    end = words.turned if is_changed else words.same
    chosen = Text(f"{mine.action}  {mine.probability:.0%}", style="bold")
    table.add_row(words.memory, chosen.append(f"  ← {end}", style="green" if is_changed else "dim"))
    if views.is_shadow(decision):
        table.add_row("", Text(words.shadow.format(decision.action, mine.action)))
    if is_changed and not decision.reason:
        table.add_row("", Text(words.because[views.why(decision, mine)]))
    elif decision.reason:
        table.add_row("", Text(words.silent.format(decision.reason)))
    return table


def _candidates(
    of: explaining.Explanation, mine: Weighed, words: Words, lines: int
) -> RenderableType:
    decision = of.decision
    heads = [words.prior, words.visits, words.q, words.advantage, words.bonus]
    if has_others := any(c.transfer for c in decision.candidates):
        heads.append(lessons.WORDS[words.lang].column)
    listing = Listing((words.candidate, *heads, words.logits, words.after))
    ranked = sorted(decision.candidates, key=lambda c: -c.corrected)
    shown = ranked[:lines]
    shown += [
        c for c in ranked[lines:] if c.action in (mine.action, decision.action, decision.unaided)
    ]
    for c in shown:
        listing.add(
            c.action,
            f"{c.prior:.1%}",
            f"{c.visits:g}" if c.visits else "–",
            f"{c.q:.3f}",
            f"{c.advantage:+.3f}",
            f"{c.bonus:+.1f}",
            *[f"{c.transfer:+.1f}"] * has_others,
            f"{c.logit:+.1f} → {c.corrected:+.1f}",
            f"{c.probability:.1%}",
            style="bold green" if c.action == mine.action else "",
        )
    listing.cut(len(ranked) - len(shown), words.more)
    return listing


def _neighbors(
    of: explaining.Explanation, mine: Weighed, rule: UpdateRule, words: Words, lines: int
) -> RenderableType:
    heads = (words.similarity, words.weight, words.visits, words.returned)
    listing = Listing(
        (words.candidate, *heads, words.episodes, words.rows), texts=frozenset({0, 5, 6})
    )
    found = views.causes(of, rule)
    for cause in found[:lines]:
        listing.add(
            cause.action,
            f"{cause.similarity:.3f}",
            f"{cause.weight:.0%}",
            f"{cause.visits:g}",
            f"{cause.value:+.3f}",
            ", ".join(cause.episodes) or words.running,
            " ".join(map(str, cause.rows)) or "–",
            style="bold" if cause.action == mine.action else "",
        )
    listing.cut(len(found) - lines, words.more)
    return listing


def _without(of: explaining.Explanation, mine: Weighed, words: Words, lines: int) -> RenderableType:
    heads = (words.episodes, words.would, words.instead)
    listing = Listing(heads, texts=frozenset({0, 1}))
    for other in of.without[:lines]:
        is_turned = other.action != mine.action
        said = Text(other.action, style="yellow") if is_turned else Text(words.still, style="dim")
        listing.add(other.episode, said, f"{other.probability:.1%}")
    listing.cut(len(of.without) - lines, words.more)
    return listing
