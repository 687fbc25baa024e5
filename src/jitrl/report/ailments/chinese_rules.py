"""What the doctor says of rules, in Chinese."""

from __future__ import annotations

from collections.abc import Mapping

from jitrl.report.ailments.words import Ailment, Said

CHINESE: Mapping[str, Said] = {
    "rules-more": Said(
        "规则的条数",
        "[[与 {arms} 相比]][[每多告知一条：{mean:+.2f}]]"
        "[[ {interval}]][[；按告知条数的平均得分：{by}]]",
        {
            "arms": Ailment(
                "规则越多，结果越差。",
                "最多告知 {best} 条：--agent-options told={best}。",
            ),
            "": Ailment(
                "告知的规则越多，结果越差。",
                "少告知一些：--agent-options told={fewer}。",
            ),
            "own agent": Ailment(
                "告知的规则越多，结果越差。",
                "少告知一些：在 jitrl.toml 的 [rules] 里写 told = {fewer}。",
            ),
        },
    ),
    "rules-idle": Said(
        "白说的规则",
        "[[{n} 条规则里，有 {idle} 条自存入以来在 {least} 个或更多回合里没有一步适用]]"
        "[[{n} 条规则里，有 {long} 条比留给规则的全部地方还长]][[，即 {room} 个词元]]",
        {
            "": Ailment(
                "大多数规则的条件从未成立。",
                "停用它们，并用状态里出现的词说出它们的条件：jitrl rules retire {file:sh}"
                "[[ --memory {memory:sh}]] {ids:ids} --reason silent",
            ),
            "long": Ailment(
                "有些规则太长，永远不会被告知。",
                "停用它们，并说得短一些：jitrl rules retire {file:sh}[[ --memory {memory:sh}]] "
                "{ids:ids} --reason long",
            ),
        },
    ),
    "rules-form": Said(
        "规则像规则",
        "{n} 条里有 {bad} 条不是带条件的祈使句[[：{why}]]",
        {
            "": Ailment(
                "有些句子无法照做。",
                "停用它们，并把原意写成规则加回来：jitrl rules retire {file:sh}"
                "[[ --memory {memory:sh}]] {ids:ids} --reason form",
            ),
        },
    ),
    "rules-obeyed": Said(
        "规则被照做",
        "告知时 {told:.0%} 的场合照做了，留出时 {held:.0%}：{mean:+.2f}[[ {interval}]]",
        {
            "": Ailment(
                "告知规则并不改变做法。",
                "让智能体 oracle-hint 与 static 并排运行：如果把正确动作写进提示词也不起作用，"
                "就换一个模型。",
            ),
            "needless": Ailment(
                "规则说的是本来就会做的事。",
                "只从差别更大的尝试里提炼：在 jitrl.toml 的 [rules] 里调高 gap"
                "[[，例如 gap = {gap:g}]]（rulebook 有同名的选项）。",
            ),
        },
    ),
    "rules-harm": Said(
        "有害的规则",
        "用得够多的 {n} 条里有 {below} 条的平均效果低于 0[[；最差的：{worst}]]",
        {
            "": Ailment(
                "在告知有害的规则。",
                "停用它们：jitrl rules retire {file:sh}[[ --memory {memory:sh}]] {ids:ids} "
                "--reason harm",
            ),
        },
    ),
    "rules-conflict": Said(
        "规则相矛盾",
        "{n} 条规则里有 {pairs} 对说的是同一情形，却不能同时照做[[；条件都曾满足的：{held}]]",
        {
            "": Ailment(
                "在告知互相矛盾的规则。",
                "每一对停用表现较差的一条：jitrl rules ls {file:sh}[[ --memory {memory:sh}]]",
            ),
        },
    ),
    "rules-rounds": Said(
        "每轮的收获",
        "{tasks} 个任务提炼了 {n} 次，每个 {each:.1f} 次；得到新规则的：{brought}；"
        "再次提炼同一任务而没有新规则的：{repeats}",
        {
            "": Ailment(
                "大多数提炼没有带来新东西。",
                "任务能教的已经教完了，使每轮更长：在 jitrl.toml 的 [rules] 里调高 attempts"
                "[[，例如 attempts = {more}]]（rulebook 有同名的选项）。",
            ),
            "barren": Ailment(
                "没有一次提炼得到规则。",
                "让 [writer] 的模型来写，因为按状态看，各次尝试没有分岔之处：jitrl rules redistil "
                "{file:sh}[[ --memory {memory:sh}]] --author model",
            ),
            "unwritten": Ailment(
                "没有一次提炼得到规则。",
                "给 [writer] 换一个更大的模型：这一个写的不是规则。",
            ),
        },
    ),
    "rules-alike": Said(
        "各次尝试有别",
        "没有好尝试的轮次：{n}，其中各次尝试几乎相同的：{same}；那里两次尝试有 {poor:.0%} 的动作"
        "不同，所有轮次里是 {diversity:.0%}",
        {
            "": Ailment(
                "失败的轮次大多在重复同样的尝试。",
                "提高行动模型的温度（--model-options 里的 temperature），使各次尝试不同。",
            ),
            "own agent": Ailment(
                "失败的轮次大多在重复同样的尝试。",
                "提高行动模型的温度，使各次尝试不同。",
            ),
        },
    ),
    "rules-undecided": Said(
        "规则有定论",
        "{n} 条规则里，{alone} 条只在一个任务上试过，{never} 条不适合后来的任何回合",
        {
            "": Ailment(
                "大多数规则只适合一个任务，永远不会被采纳。",
                "每一类多运行几个任务：规则在两个任务上有用才会被采纳。",
            ),
            "one task": Ailment(
                "只有一个任务，所有规则都只适合它，永远不会被采纳。",
                '让一个任务就够：--agent-options \'{{"gates": {{"tasks": 1}}}}\'',
            ),
            "one task, own agent": Ailment(
                "只有一个任务，所有规则都只适合它，永远不会被采纳。",
                "让一个任务就够：在 jitrl.toml 的 [rules] 里写 gates = {{ tasks = 1 }}。",
            ),
            "never": Ailment(
                "大多数规则在等不会到来的回合。",
                "停用它们：jitrl rules retire {file:sh}[[ --memory {memory:sh}]] {ids:ids} "
                "--reason unused",
            ),
        },
    ),
    "rules-stale": Said(
        "规则有更新",
        "采纳过 {admitted} 条规则；自上一次以来提炼了 {since} 次",
        {
            "": Ailment(
                "很久没有采纳过规则了。",
                "在不再有收获处结束运行：--until-plateau 8。",
            ),
            "memory": Ailment(
                "很久没有采纳过规则了。",
                "停止提炼，它要花钱：把 [rules] 的设置（或 rulebook 的选项）attempts 设为 0；"
                "规则照样接受检验。",
            ),
            "never": Ailment(
                "从未采纳过规则。",
                "看看候选规则的表现，下界须高于 0：jitrl rules ls {file:sh}"
                "[[ --memory {memory:sh}]] --status candidate",
            ),
        },
    ),
}
