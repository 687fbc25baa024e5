"""Terms that a stranger does not know, each with what it means, and the views that use them."""

from collections.abc import Mapping

SAID: dict[str, tuple[str, str]] = {
    "terms.title": ("What the words on this page mean", "本页用语的含义"),
    "term.before": ("p before", "之前概率"),
    "term.before.is": (
        "Chance that the model takes the action, before the memory has its say. Rules that it was "
        "told count.",
        "记忆参与之前模型采用该动作的概率；已告知它的规则计在其中。",
    ),
    "term.after": ("p after", "之后概率"),
    "term.after.is": (
        "Chance of the action once the memory has had its say.",
        "记忆参与之后该动作的概率。",
    ),
    "term.visits": ("visits", "访问次数"),
    "term.visits.is": (
        "How many remembered steps in states like this one took the action.",
        "在与此相似的状态中，记忆里有多少步采用了该动作。",
    ),
    "term.q": ("q", "q"),
    "term.q.is": (
        "Return that the action can be expected to bring from here. For one that was never "
        "taken it is a part of V.",
        "从这里采用该动作预期得到的回报。从未采用过的动作取 V 的一部分。",
    ),
    "term.value": ("V", "V"),
    "term.value.is": (
        "What the state is worth: the mean return of what was done in states like it.",
        "状态的价值：在相似状态中所做之事的平均回报。",
    ),
    "term.advantage": ("advantage A", "优势 A"),
    "term.advantage.is": (
        "q − V: how much better (+) or worse (−) than usual the action is here.",
        "q − V：该动作在这里比通常好（+）或差（−）多少。",
    ),
    "term.returns": ("by returns", "由回报"),
    "term.returns.is": (
        "What the advantage, so what earlier episodes came to, adds to the logit, in nats.",
        "优势（即以往回合的结果）给 logit 加上的量，以奈特计。",
    ),
    "term.exploration": ("by exploration", "由探索"),
    "term.exploration.is": (
        "Nats added for what is untried here or leads to it, and taken off for what this "
        "episode did already.",
        "为这里未试过的、或通向未试过之处的动作所加的奈特数；本回合已做过的会扣减。",
    ),
    "term.lessons": ("by other tasks", "由其他任务"),
    "term.lessons.is": (
        "Nats added by what the solutions of other tasks have in common with this action.",
        "因该动作与其他任务的成功做法有共同之处而加的奈特数。",
    ),
    "term.logit": ("logit z → z′", "logit 值 z → z′"),
    "term.logit.is": (
        "The model's score of an action before and after the memory; the larger, the more "
        "probable.",
        "记忆参与前后模型给动作的分数；越大越可能。",
    ),
    "term.nat": ("nat", "奈特"),
    "term.nat.is": (
        "Unit of logits. One nat more makes an action's odds 2.7 times as good, 7 nats about "
        "a thousand times.",
        "logit 的单位。多 1 奈特，动作的胜算变为 2.7 倍；多 7 奈特约为一千倍。",
    ),
    "term.neighbor": ("neighbor", "邻居"),
    "term.neighbor.is": (
        "An action that the memory holds from a state like this one.",
        "记忆中来自与此相似状态的一个动作。",
    ),
    "term.similarity": ("similarity", "相似度"),
    "term.similarity.is": (
        "Share of words that two states have in common; 1 is the very same state.",
        "两个状态共有词语的比例；1 表示同一状态。",
    ),
    "term.weight": ("weight in V", "在 V 中的权重"),
    "term.weight.is": (
        "The neighbor's share in V. Nearer states and more visits count more; what is not "
        "trusted has none.",
        "该邻居在 V 中所占的份额。越相似、访问次数越多，份额越大；不可信的没有份额。",
    ),
    "term.nudge": ("nudges only", "只轻推"),
    "term.nudge.is": (
        "Its basis is not trusted, so all rows of one source together move a logit a little "
        "at most.",
        "其依据不可信，因此同一来源的所有行合起来至多略微移动 logit。",
    ),
    "term.return": ("return", "回报"),
    "term.return.is": (
        "Rewards from a step to the end of its episode; the further away, the less each counts.",
        "从某一步到回合结束的奖励之和；越远的奖励计得越少。",
    ),
    "term.reward": ("reward", "奖励"),
    "term.reward.is": (
        "What one step was scored with. An outcome is added to the last step: 1 for success.",
        "单独一步的得分。回合的结果加在最后一步上：成功为 1。",
    ),
    "term.gamma": ("γ", "γ"),
    "term.gamma.is": (
        "Discount: the share of the next step's return that a step is credited with.",
        "折扣：一步所计入的下一步回报的比例。",
    ),
    "term.row": ("row", "行"),
    "term.row.is": (
        "One remembered step: a state, what was done in it, and what came of it.",
        "记住的一步：一个状态、在其中做了什么、结果如何。",
    ),
    "term.state": ("state", "状态"),
    "term.state.is": (
        "What is compared to find like situations: where the agent was, and what it saw.",
        "用来寻找相似情形的内容：智能体在哪里、看到了什么。",
    ),
    "term.basis": ("basis", "依据"),
    "term.basis.is": (
        "What an outcome rests on. A test, a check of the end state and a person are trusted; "
        "all else may only nudge.",
        "结果所依据的东西。测试、最终状态检查与人工是可信的；其余只能轻推。",
    ),
    "term.held": ("held out", "留出"),
    "term.held.is": (
        "An episode that acts without memory on purpose, drawn by chance, so that the gain "
        "can be measured.",
        "随机抽出、有意不使用记忆的回合，用来衡量收益。",
    ),
    "term.changed": ("changed by the memory", "被记忆改变"),
    "term.changed.is": (
        "The memory's choice is not the one that the model alone would have made.",
        "记忆的选择不同于模型单独会作的选择。",
    ),
    "term.success": ("succeeded", "成功"),
    "term.success.is": (
        "Of an episode: its rewards add up to more than 0.",
        "指回合：其奖励之和大于 0。",
    ),
    "term.score": ("score", "得分"),
    "term.score.is": (
        "Sum of an episode's rewards; where only outcomes are told, 1 for success and 0 for "
        "failure.",
        "一个回合的奖励之和；若只告知结果，则成功为 1，失败为 0。",
    ),
    "term.told": ("told", "已知结果"),
    "term.told.is": (
        "The evaluator had seen how the episode ended before it scored it.",
        "评估器在评分之前已看到回合的结果。",
    ),
    "term.blind": ("blind", "不知结果"),
    "term.blind.is": (
        "The evaluator had not seen how the episode ended.",
        "评估器没有看到回合的结果。",
    ),
    "term.scope": ("scope", "作用域"),
    "term.scope.is": (
        "Episodes of one scope learn from each other, and from no others.",
        "同一作用域的回合互相学习，不向其他作用域学习。",
    ),
    "term.source": ("source", "来源"),
    "term.source.is": (
        "Who counts once in a neighborhood: the episode where the basis is trusted, else who "
        "said how it ended.",
        "在一个邻域内只计一次的一方：依据可信时为该回合，否则为告知结果的一方。",
    ),
    "term.quarantined": ("quarantined", "已隔离"),
    "term.quarantined.is": (
        "Kept, but part of nothing until it is restored.",
        "保留，但在恢复之前不参与任何计算。",
    ),
    "term.retired": ("retired", "已撤下"),
    "term.retired.is": (
        "Replaced, as its episode was judged anew or its outcome was withdrawn.",
        "因所属回合被重新评判或结果被撤回而被取代。",
    ),
    "term.version": ("version", "版本"),
    "term.version.is": (
        "Counts the changes of the memory; each decision names the one that it saw.",
        "记忆变更的计数；每个决策都注明它看到的版本。",
    ),
    "term.band": ("95 % interval, band", "95 % 区间、色带"),
    "term.band.is": (
        "Where the true mean lies, with 95 % confidence. It is found by drawing tasks again "
        "and again (BCa bootstrap), so it needs several.",
        "真实平均值以 95 % 的置信度所在的范围。由反复重抽任务得出（BCa 自助法），因此需要若干"
        "任务。",
    ),
    "term.n": ("n", "n"),
    "term.n.is": (
        "How many episodes (or tasks, where it says so) a number is made of.",
        "一个数值由多少个回合（注明时为任务）得出。",
    ),
    "term.rule_told": ("told (rules)", "告知（规则）"),
    "term.rule_told.is": (
        "Episodes whose prompt had the rule. Which ones is drawn by chance, so that the "
        "effect can be measured.",
        "提示词中含有该规则的回合。由抽签决定是哪些，以便衡量效果。",
    ),
    "term.rule_held": ("held out (rules)", "留出（规则）"),
    "term.rule_held.is": (
        "Episodes in which its condition held, and that were not told it, by the same draw.",
        "规则的条件成立过、但由同一次抽签决定不告知的回合。",
    ),
    "term.effect": ("effect", "效果"),
    "term.effect.is": (
        "Mean score of the episodes that were told the rule, minus that of those held out.",
        "被告知规则的回合的平均得分减去留出回合的平均得分。",
    ),
    "term.candidate": ("candidate", "候选"),
    "term.candidate.is": (
        "A rule that is tried out: its effect is not known well enough yet.",
        "正在试用的规则：其效果尚不够明确。",
    ),
    "term.rule_active": ("active", "在用"),
    "term.rule_active.is": (
        "A rule that was shown to help, its lower bound above 0, or that came in without a test.",
        "已证明有益（下界大于 0）、或未经检验即进入手册的规则。",
    ),
    "term.rule_retired": ("retired (rules)", "已停用（规则）"),
    "term.rule_retired.is": (
        "Told no more: its effect was too low, it was merged into another, or somebody retired "
        "it. It is kept, and can be restored.",
        "不再告知：效果过低、已并入另一条规则，或由人停用。规则仍保留，可以恢复。",
    ),
    "term.rule_wins": ("wins", "获胜"),
    "term.rule_wins.is": (
        "Episodes with a score of 1, of those that were told the rule (or held out).",
        "被告知该规则（或留出）的回合中，得分为 1 的回合。",
    ),
    "term.rule_obeyed": ("obeyed", "照做"),
    "term.rule_obeyed.is": (
        "Steps at which the rule's condition held and the agent did as it says.",
        "规则的条件成立、智能体也照规则去做的步骤。",
    ),
    "term.rule_unknown": ("unknown (obeyed)", "未知（照做）"),
    "term.rule_unknown.is": (
        "Steps at which the condition held and nobody can tell whether the rule was obeyed, as it "
        "names none of the actions there.",
        "条件成立、但无法判断是否照做的步骤：规则没有提到那里的任何动作。",
    ),
    "term.bounds": ("bounds", "上下界"),
    "term.bounds.is": (
        "Lowest and highest effect that fit what was seen. They hold at every look, so one may "
        "look as often as one likes; above 0, the rule helps.",
        "与所见相符的最低与最高效果。每次查看时都成立，因此可随时查看；若都大于 0，则规则有益。",
    ),
    "term.disagrees": ("disagrees", "矛盾"),
    "term.disagrees.is": (
        "Two rules that speak of one case and cannot both be followed.",
        "两条规则说的是同一种情况，却不能都照做。",
    ),
    "term.kappa": ("κ", "κ"),
    "term.kappa.is": (
        "Agreement beyond chance: 1 is perfect, 0 what guessing reaches.",
        "超出偶然的一致程度：1 为完全一致，0 相当于猜测。",
    ),
    "term.answers": ("answers", "回答"),
    "term.answers.is": (
        "How often a model was asked, whether it was called or a file had the answer.",
        "向模型提问的次数，不论是实际调用还是取自文件。",
    ),
    "term.threshold": ("threshold", "阈值"),
    "term.threshold.is": (
        "Least similarity of a state that counts as a neighbor.",
        "状态算作邻居所需的最低相似度。",
    ),
    "term.scorer": ("scorer", "打分器"),
    "term.scorer.is": (
        "How the logits of a model's candidates were made.",
        "模型候选动作的 logit 是如何得出的。",
    ),
}

_RULES = (
    *("effect", "bounds", "rule_told", "rule_held", "score", "rule_wins", "rule_obeyed"),
    *("rule_unknown", "disagrees", "candidate", "rule_active", "rule_retired", "quarantined"),
)

OF: Mapping[str, tuple[str, ...]] = {
    "curve": ("score", "held", "band", "n"),
    "decisions": (
        "changed",
        "rule_told",
        "returns",
        "exploration",
        "lessons",
        "nat",
        "logit",
        "held",
    ),
    "decision": (
        *("before", "after", "visits", "q", "value", "advantage", "returns", "exploration"),
        *("lessons", "logit", "nat", "changed", "success", "neighbor", "similarity", "weight"),
        *("nudge", "return", "row", "basis", "state", "held", "quarantined", "retired"),
        *("rule_told", "rule_held", "rule_obeyed", "effect", "bounds"),
    ),
    "episodes": ("score", "basis", "row", "held", "quarantined", "retired"),
    "episode": (
        *("score", "reward", "return", "gamma", "row", "basis", "told", "blind", "changed"),
        *("scope", "held", "rule_told", "rule_held", "rule_obeyed", "rule_unknown"),
        *("quarantined", "retired"),
    ),
    "memory": (
        *("row", "state", "return", "basis", "source", "scope", "quarantined", "retired"),
        "version",
    ),
    "row": (
        *("row", "state", "return", "reward", "basis", "told", "blind", "source", "scope"),
        *("changed", "quarantined", "retired", "version"),
    ),
    "preview": ("row", "changed", "quarantined"),
    "mark": ("row", "changed", "quarantined"),
    "rules": _RULES,
    "rule": (*_RULES, "scope"),
    "evaluator": ("told", "blind", "reward", "kappa", "score"),
    "cost": ("answers", "success"),
    "doctor": (
        *("changed", "nat", "neighbor", "threshold", "score", "told", "blind", "scope"),
        *("scorer", "held", "row", "state", "n", "exploration", "basis", "quarantined"),
    ),
}
"""View to the terms that its page explains, in the order that they are met."""
