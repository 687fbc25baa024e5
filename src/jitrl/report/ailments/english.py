"""What the doctor says, in English."""

from __future__ import annotations

from jitrl.report.ailments import english_rules
from jitrl.report.ailments.words import Ailment, Said, Words

_WEIGHTS = (
    "between best and worst it adds {push:.1f} nats, the model's own are {spread:.1f} (medians)"
)
_SHARES = (
    "{calls:.0%} of the answers[[, {tokens:.0%} of the tokens]][[, {dollars:.0%} of the dollars]] "
    "(answers: act {act}, judge {judge}, learn {learn})"
)
_MIXED = "scopes with more than one: {scopes}[[: {values}]]"

ENGLISH = Words(
    heads=("check", "n", "what was measured"),
    place="{label}: {episodes} episodes[[, {decisions} decisions with a memory]]",
    against=", against {base}",
    counts="{findings} to mend, {fine} fine, {unknown} not enough to tell",
    fine="fine",
    unknown="not enough to tell (n={n})",
    lacking="Not enough to tell: ",
    absent="Nothing to go by: ",
    copy="Commands, to copy:",
    settings="Settings, to copy: under [memory] of jitrl.toml, else behind a command:",
    lists="two lists of what makes a solution good",
    agree="{pairs} of {one} and {other} items say the same: a share of {share:.0%}, by chance "
    "{chance:.0%}; {beyond:+.2f} beyond chance (1 is all)",
    differ=Ailment(
        "The two lists share no notion of a good solution.",
        "Agree on one list first, in the same words; no judge can be better than this agreement. "
        "Words are compared: look at the items below for those that say the same in others.",
    ),
    both="in both",
    only=("only in {0}", "only in {0}"),
    nothing="nothing to mend",
    joint="; ",
    stop=".",
    terms={"first attempts": "the first attempts", "holdout": "those held out"},
    checks={
        "spread": Said(
            "scores differ",
            "{share:.0%} of the scores are {band:band}; the middle "
            "half spans {iqr:.2f}; different scores: {distinct}",
            {
                "": Ailment(
                    "The scorer does not discriminate.",
                    "Score by checks of the end that give each part a share (the evaluator "
                    "checks).",
                ),
                "verdicts": Ailment(
                    "Nearly all episodes get the same verdict.",
                    "There is nothing to compare as long as all end alike. Where parts of a task "
                    "can be checked, give a share for each (the evaluator checks).",
                ),
            },
        ),
        "curve": Said(
            "gets better",
            "last {ends} attempts minus the first {ends}: {mean:+.2f}[[ {interval}]]; mean score "
            "{level:.2f}",
            {
                "": Ailment(
                    "The last attempts are not shown to be better than the first.",
                    "See which choices the memory changes, and why: jitrl explain "
                    "{file:sh}[[ --memory {memory:sh}]] --changed",
                ),
                "unturned": Ailment(
                    "The last attempts are not shown to be better than the first.",
                    "Mend the other findings first: the memory never changed a choice.",
                ),
                "rules": Ailment(
                    "The last attempts are not shown to be better than the first.",
                    "See what each rule has shown: jitrl rules ls {file:sh}"
                    "[[ --memory {memory:sh}]]",
                ),
                "other": Ailment(
                    "The last attempts are not shown to be better than the first.",
                    "Play the agent oracle-hint beside static: if the right action in the prompt "
                    "changes nothing either, take another model.",
                ),
                "falls": Ailment(
                    "The last attempts are worse than the first.",
                    'Switch the memory to shadow (memory.mode = "shadow") until the other '
                    "findings are mended.",
                ),
                "other falls": Ailment(
                    "The last attempts are worse than the first.",
                    "Play on with the agent static until the other findings are mended.",
                ),
            },
        ),
        "effect": Said(
            "effect known",
            "[[{held} episodes held out, and no static run]][[with the memory minus {against}: "
            "{mean:+.2f}]][[ {interval}]][[ (held out: {held_out})]]"
            "[[, by episodes, as fewer than {few_tasks} tasks are on both sides]]",
            {
                "off": Ailment(
                    "Nothing is there to compare with, so no effect can be known.",
                    "Let one episode in ten act without the memory: memory.holdout = 0.1.",
                ),
                "no static": Ailment(
                    "Nothing is there to compare with, so no effect can be known.",
                    "Play the agent static with the other settings as they were, and give the "
                    "doctor the folders of both runs.",
                ),
                "": Ailment(
                    "Episodes with the memory end worse than those without.",
                    'Switch the memory to shadow (memory.mode = "shadow") until the other '
                    "findings are mended.",
                ),
                "by prompt": Ailment(
                    "Episodes with the memory end worse than those without.",
                    "Play on with the agent static until the other findings are mended.",
                ),
            },
        ),
        "families": Said(
            "harm by kind",
            "{n} of {groups} kinds of task can be told, against {against}; all together "
            "{overall}; better: {better}[[; worse: {worse}]]",
            {
                "rows": Ailment(
                    "Good or not in sum, it harms some kinds of task.",
                    "Take back the rows that changed most of their choices, and measure again: "
                    "jitrl memory quarantine {file:sh}[[ --memory {memory:sh}]] {rows:rows} "
                    "--reason harm",
                ),
                "": Ailment(
                    "Good or not in sum, it harms some kinds of task.",
                    "Give these kinds a scope of their own, so that no other rows are theirs.",
                ),
            },
        ),
        "flips": Said(
            "choices changed",
            "changed by the memory: {turned} of {decisions} decisions ({share:.0%})[[: {why}]]"
            "[[; their episodes minus the others of the same task: {mean:+.2f}]][[ {interval}]]",
            {
                "": Ailment(
                    "Episodes in which the memory changed a choice end worse.",
                    "Let it weigh half as much: memory.rule.beta = {half:g}.",
                ),
            },
        ),
        "judging": Said(
            "cost of judging",
            _SHARES,
            {
                "": Ailment(
                    "The judge takes more than a quarter of the bill.",
                    "Judge with a smaller model: name it in [writer] of jitrl.toml.",
                ),
                "both": Ailment(
                    "Judging and learning together take more than a quarter of the bill, judging "
                    "the larger part.",
                    "Judge with a smaller model: name it in [writer] of jitrl.toml.",
                ),
            },
        ),
        "learning": Said(
            "cost of learning",
            _SHARES,
            {
                "": Ailment(
                    "What is written to learn takes more than a quarter of the bill.",
                    "Let a smaller model write, which does not act: name it in [writer] of "
                    "jitrl.toml.",
                ),
                "both": Ailment(
                    "Judging and learning together take more than a quarter of the bill, learning "
                    "the larger part.",
                    "Let a smaller model write, which does not act: name it in [writer] of "
                    "jitrl.toml.",
                ),
            },
        ),
        "kinds": Said(
            "kinds kept apart",
            "{kinds} kinds of task; at worst '{worst}': {lost:.0%} of its states are nearest to "
            "another kind's[[, mostly {like}]]: similarity {within:.2f} within, {between:.2f} to "
            "others",
            {
                "": Ailment(
                    "The states of '{worst}' are lost among those of '{like}'.",
                    "Give '{worst}' a scope of its own, so that no other rows are its.",
                ),
            },
        ),
        "threshold": Said(
            "threshold",
            "{share:.0%} of the decisions had a neighbor at a threshold of {threshold:g}"
            "[[; the nearest state is {nearest:.2f} similar, median]]",
            {
                "": Ailment(
                    "Nothing is similar enough to be remembered.",
                    "Lower the threshold of retrieval below what is nearest[[: "
                    "memory.retrieval.threshold = {below:g}]].",
                ),
                "other tasks": Ailment(
                    "What is similar does not count, as it is of other tasks (or other places).",
                    "Name the task by its kind, without the numbers of one case (task= of an "
                    "episode, X-JitRL-Task).",
                ),
            },
        ),
        "width": Said(
            "neighborhoods",
            "{rows:.0f} rows in the median, {cover:.0%} of the states of their scope[[; k = {k}, "
            "reached by {full:.0%}]]",
            {
                "wide": Ailment(
                    "Every state is a neighbor of most others, and none is ever alone.",
                    "Raise the threshold until neighborhoods are sometimes empty, at first: "
                    "memory.retrieval.threshold = {higher:g}.",
                ),
                "never full": Ailment(
                    "No neighborhood ever holds k rows, so k does nothing.",
                    "Leave k unset, so that the threshold alone decides: "
                    "memory.retrieval.k = null.",
                ),
            },
        ),
        "single": Said(
            "single actions",
            "poor states, visited three times or more, that saw one action only: {single} of {n} "
            "({share:.0%})",
            {
                "": Ailment(
                    "Where it goes badly, nothing else is tried.",
                    "Raise novelty, so that what is untried gets its turn: "
                    "memory.rule.novelty = {more:g}.",
                ),
            },
        ),
        "memory-only": Said(
            "memory's own",
            "{share:.0%} of the choices had not been proposed by the model",
            {
                "": Ailment(
                    "Most choices are none of the model's.",
                    "Show the model all allowed actions, so that it rates them.",
                ),
            },
        ),
        "prior-wins": Said(
            "memory is heard",
            f"{{turned}} choices changed by the memory; {_WEIGHTS}",
            {
                "": Ailment(
                    "The memory never changes a choice: the model's logits always win.",
                    "Raise beta above the model's spread, {spread:.1f} nats: "
                    "memory.rule.beta = {more:g}.",
                ),
                "silent": Ailment(
                    "The memory never changes a choice: to it, all actions are worth the same.",
                    "Mend the scores first; as long as all returns are alike, nothing is added.",
                ),
            },
        ),
        "prior-loses": Said(
            "model is heard",
            "in {share:.0%} of the choices the memory outweighs all that the model prefers; "
            f"{_WEIGHTS}",
            {
                "": Ailment(
                    "What the model prefers never matters: the memory always outweighs it.",
                    "Lower beta towards the model's spread, {spread:.1f} nats, by half at first: "
                    "memory.rule.beta = {half:g}.",
                ),
            },
        ),
        "mixed-told": Said(
            "told and blind",
            _MIXED,
            {
                "": Ailment(
                    "Judges that knew the outcome and judges that did not share a scope.",
                    "Give the judges that know the outcome a memory of their own.",
                ),
            },
        ),
        "mixed-scorer": Said(
            "scorers",
            _MIXED,
            {
                "": Ailment(
                    "Logits of different scorers share a scope; their nats do not compare.",
                    "Give each scorer (or model) a memory of its own.",
                ),
            },
        ),
        "mixed-evaluator": Said(
            "evaluators",
            _MIXED,
            {
                "": Ailment(
                    "Scores of different evaluators share a scope; they do not compare.",
                    "Give each evaluator a memory of its own.",
                ),
            },
        ),
        "waiting": Said(
            "outcomes missing",
            "without an outcome so far: {waiting} episodes ({share:.0%})[[; {stale} for longer "
            "than {usual_s:,.1f} s, within which 95% came]]",
            {
                "": Ailment(
                    "What is learned is only what somebody reported.",
                    "Report the missing outcomes by key (JitRL.outcome), failures above all.",
                ),
            },
        ),
        "unscored": Said(
            "unscored",
            "not scored: {unscored} episodes ({share:.0%})[[: {reasons}]]",
            {
                "": Ailment(
                    "From many episodes nothing can be learned.",
                    "Mend the most frequent reason first; the episodes are in: jitrl memory ls "
                    "{file:sh}[[ --memory {memory:sh}]]",
                ),
            },
        ),
        "checkable": Said(
            "checkable",
            "{share:.0%} of the scores rest on a test, a check or a person ({bases})",
            {
                "": Ailment(
                    "No score can be checked: they all rest on somebody's word.",
                    "Have a person label a few dozen steps, so that the judge can be measured: "
                    "jitrl evaluator label {file:sh}[[ --memory {memory:sh}]]",
                ),
            },
        ),
        "recurrence": Said(
            "tasks recur",
            "{same_task:.0%} of the episodes are of a task that comes again, {same_kind:.0%} of a "
            "kind that does",
            {
                "": Ailment(
                    "Most tasks come once, and so do their kinds: nothing is met again.",
                    "Name the task by its kind, without the numbers of one case (task= of an "
                    "episode, Task.family of an environment).",
                ),
            },
        ),
        **english_rules.ENGLISH,
    },
)
