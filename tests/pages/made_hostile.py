"""A memory whose every text was written by somebody who wants the pages to break, or to lie."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from urllib.parse import urlencode

import jitrl
from jitrl.core.sentences import rule_id
from jitrl.stores.sqlite import SQLiteStore
from jitrl.types import Episode, Rule, Scored, State, Transition, Unscored

MARKUP = (
    "\"'><script>window.done=1</script><img src=x onerror=window.done=2>"
    "</title></style></textarea></option></pre><style>*{display:none}</style>{{ 7*191 }}"
)
"""Would run, hide the page or end what it stands in, if any of it were taken for markup."""
TURNED = "pay(\u202egnihton\u202c)"
"""Shown as pay(nothing) where marks of direction are obeyed."""
HEBREW = "\u05d4\u05d7\u05d6\u05e8 (\u05db\u05e1\u05e3)"

TEXTS = {
    "markup": MARKUP,
    "unbroken": "W" * 2000,
    "turned": TURNED,
    "hebrew": HEBREW,
    "arabic": "\u0625\u0631\u062c\u0627\u0639 100.50",
    "unseen": "re\u200bfu\u200dnd\u00ad(\ufeff)",
    "controls": "a\x00b\x1b[2Jc\x7fd\x85e\u2028f\rg",
    "spaced": " two  spaces\n\tand lines ",
    "emoji": "\U0001f469\u200d\U0001f467 Z" + "\u0300\u0336\u0489" * 9,
    "digits": "9" * 400,
    "address": "javascript:window.done=3/../%2e%2e/?a=1&b=2#c%00",
}
VIEWS = ("curve", "decisions", "episodes", "memory", "rules", "evaluator", "cost", "doctor")


def hostile(path: Path) -> Path:
    """Make the memory file: four episodes for each text, in which every name is that text."""
    with jitrl.open(path, rules={"attempts": 0}) as memory:
        memory.store.add_rules([_rule(text) for text in TEXTS.values()])
        for attempt in range(2):
            for name, text in TEXTS.items():
                key = f"{text}/{attempt}"
                with memory.episode(text, goal=text, scope=text, key=key) as episode:
                    state = State(text, context=text, place=text)
                    many = 498 if name == "markup" else 0
                    more = {f"{text} {n}": -float(n) for n in range(many)}
                    episode.notes(state, [text])
                    episode.decide(state, {text: 0.0, f"not {text}": 1.0, **more})
                    episode.decide(State(f"{text}!"), {text: 1e99, "b": -1e99})
                    score = 1e99 if name == "digits" else attempt
                    episode.finish(score, evaluator=text, principal=text)
        for text in TEXTS.values():
            noted = {text: text, "score": 1.0}
            steps = (Transition(State(text, text, text), text, reward=1.0),)
            for judgment in (
                Scored((1.0,), text, told=True, info=noted),
                Unscored(text, text, info=noted),
            ):
                key = f"{text}/{type(judgment).__name__}"
                episode = Episode(key, text, text, steps, agent=text, principal=text, info=noted)
                memory.store.commit(episode, judgment, memory.agent.derive(episode, judgment))
            memory.quarantine(episodes=[f"{text}/0"], reason=text, principal=text)
    return path


def _rule(text: str) -> Rule:
    said = f"When {text} is seen, take {text}"
    return Rule(
        rule_id(said),
        said,
        scope=text,
        kind=text,
        entities=(text,),
        author=text,
        reason=text,
        principal=text,
    )


def addresses(path: Path, *names: str) -> Iterator[str]:
    """Of every view, and of one decision, episode, row and rule for each of these texts."""
    with closing(SQLiteStore(path, readonly=True)) as store:
        rules = {rule.scope: rule.id for rule in store.rules()}
        rows = {row.scope: row.id for change in store.changes(0) for row in change.rows}
    asked: list[tuple[str, dict[str, object]]] = [(view, {}) for view in VIEWS]
    asked.append(("decisions", {"show": "all"}))
    for text in (TEXTS[name] for name in names or TEXTS):
        key = f"{text}/1"
        asked += [("decision", {"id": f"{key}#0"}), ("episode", {"key": key})]
        asked += [("episode", {"key": f"{text}/{how}"}) for how in ("Scored", "Unscored")]
        asked += [("row", {"id": rows[text]}), ("rule", {"id": rules[text]})]
        asked += [("memory", {"task": text, "scope": text}), ("episode", {"key": f"no {text}"})]
    for view, given in asked:
        yield f"/p/{path.name}/{view}" + (f"?{urlencode(given)}" if given else "")
