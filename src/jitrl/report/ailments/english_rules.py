"""What the doctor says of rules, in English."""

from __future__ import annotations

from collections.abc import Mapping

from jitrl.report.ailments.words import Ailment, Said

ENGLISH: Mapping[str, Said] = {
    "rules-more": Said(
        "number of rules",
        "[[against {arms}]][[one more rule told: {mean:+.2f}]]"
        "[[ {interval}]][[; mean score by number told: {by}]]",
        {
            "arms": Ailment(
                "More rules make results worse.",
                "Tell {best} at most: --agent-options told={best}.",
            ),
            "": Ailment(
                "The more rules are told, the worse it ends.",
                "Tell fewer: --agent-options told={fewer}.",
            ),
            "own agent": Ailment(
                "The more rules are told, the worse it ends.",
                "Tell fewer: told = {fewer} under [rules] of jitrl.toml.",
            ),
        },
    ),
    "rules-idle": Said(
        "rules in vain",
        "[[spoke at no step of {least} or more episodes since they came: {idle} of {n} rules]]"
        "[[longer than all the room for rules: {long} of {n} rules]][[; there is room for {room} "
        "tokens]]",
        {
            "": Ailment(
                "The condition of most rules never holds.",
                "Retire them, and say their conditions in words that states show: jitrl rules "
                "retire {file:sh}[[ --memory {memory:sh}]] {ids:ids} --reason silent",
            ),
            "long": Ailment(
                "Some rules are too long ever to be told.",
                "Retire them, and say them shorter: jitrl rules retire {file:sh}"
                "[[ --memory {memory:sh}]] {ids:ids} --reason long",
            ),
        },
    ),
    "rules-form": Said(
        "rules are rules",
        "no orders with a condition: {bad} of {n} texts[[ ({why})]]",
        {
            "": Ailment(
                "Some texts cannot be followed.",
                "Retire them, and add what they meant as a rule: jitrl rules retire {file:sh}"
                "[[ --memory {memory:sh}]] {ids:ids} --reason form",
            ),
        },
    ),
    "rules-obeyed": Said(
        "rules followed",
        "obeyed at {told:.0%} of the occasions where told, {held:.0%} where held out: "
        "{mean:+.2f}[[ {interval}]]",
        {
            "": Ailment(
                "Telling a rule does not change what is done.",
                "Play the agent oracle-hint beside static: if the right action in the prompt "
                "changes nothing either, take another model.",
            ),
            "needless": Ailment(
                "The rules say what is done anyway.",
                "Distil where attempts differ more: raise gap under [rules] of jitrl.toml[[, as to "
                "gap = {gap:g}]] (rulebook has an option of that name).",
            ),
        },
    ),
    "rules-harm": Said(
        "harmful rules",
        "mean effect below 0: {below} of {n} rules with uses enough[[; worst: {worst}]]",
        {
            "": Ailment(
                "Rules are told that do harm.",
                "Retire them: jitrl rules retire {file:sh}[[ --memory {memory:sh}]] {ids:ids} "
                "--reason harm",
            ),
        },
    ),
    "rules-conflict": Said(
        "rules at odds",
        "pairs that speak of one case and cannot both be followed: {pairs}, among {n} rules"
        "[[; conditions of both were met: {held}]]",
        {
            "": Ailment(
                "Rules that contradict each other are told.",
                "Retire the one of each pair that has shown less: jitrl rules ls {file:sh}"
                "[[ --memory {memory:sh}]]",
            ),
        },
    ),
    "rules-rounds": Said(
        "what rounds bring",
        "{n} distillations at {tasks} tasks, {each:.1f} each; with a new rule: {brought}; "
        "again at a task, with none: {repeats}",
        {
            "": Ailment(
                "Most distillations bring nothing new.",
                "Make rounds longer, as what a task has to teach, it taught: raise attempts "
                "under [rules] of jitrl.toml[[, as to attempts = {more}]] "
                "(rulebook has an option of that name).",
            ),
            "barren": Ailment(
                "No distillation brought a rule.",
                "Have the model of [writer] write them, as attempts part nowhere that their "
                "states tell apart: jitrl rules redistil {file:sh}[[ --memory {memory:sh}]] "
                "--author model",
            ),
            "unwritten": Ailment(
                "No distillation brought a rule.",
                "Take a larger model for [writer]: what this one writes is no rule.",
            ),
        },
    ),
    "rules-alike": Said(
        "attempts differ",
        "{n} rounds without a good attempt, {same} of them with nearly the same ones; two attempts "
        "differ in {poor:.0%} of their actions there, in {diversity:.0%} in all rounds",
        {
            "": Ailment(
                "Most rounds that fail try the same again.",
                "Raise the temperature of the model that acts (temperature in --model-options), "
                "so that attempts differ.",
            ),
            "own agent": Ailment(
                "Most rounds that fail try the same again.",
                "Raise the temperature of the model that acts, so that attempts differ.",
            ),
        },
    ),
    "rules-undecided": Said(
        "rules decided",
        "{n} rules; tried on a single task: {alone}; fit for no episode that came later: {never}",
        {
            "": Ailment(
                "Most rules fit one task only, and can never be admitted.",
                "Play more tasks of each kind: a rule comes in when it helped on two.",
            ),
            "one task": Ailment(
                "All rules fit one task only, as there is no other, and can never be admitted.",
                'Let one task be enough: --agent-options \'{{"gates": {{"tasks": 1}}}}\'.',
            ),
            "one task, own agent": Ailment(
                "All rules fit one task only, as there is no other, and can never be admitted.",
                "Let one task be enough: gates = {{ tasks = 1 }} under [rules] of jitrl.toml.",
            ),
            "never": Ailment(
                "Most rules wait for episodes that do not come.",
                "Retire them: jitrl rules retire {file:sh}[[ --memory {memory:sh}]] {ids:ids} "
                "--reason unused",
            ),
        },
    ),
    "rules-stale": Said(
        "book moves",
        "rules admitted: {admitted}; distillations since the last time: {since}",
        {
            "": Ailment(
                "For long no rule has been admitted.",
                "End runs where no more comes: --until-plateau 8.",
            ),
            "memory": Ailment(
                "For long no rule has been admitted.",
                "Stop distilling, which costs: attempts = 0 under [rules] of jitrl.toml (rulebook "
                "has an option of that name); rules are tested as ever.",
            ),
            "never": Ailment(
                "No rule was ever admitted.",
                "See what the candidates have shown, of which bounds above 0 are asked: jitrl "
                "rules ls {file:sh}[[ --memory {memory:sh}]] --status candidate",
            ),
        },
    ),
}
