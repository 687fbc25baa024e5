"""Words of the rulebook."""

SAID: dict[str, tuple[str, str]] = {
    "rule_status.candidate": ("candidate", "候选"),
    "rule_status.active": ("active", "在用"),
    "rule_status.retired": ("retired", "已停用"),
    "rule_status.quarantined": ("quarantined", "已隔离"),
    "rules.title": ("Rules, and what each is worth", "规则及其价值"),
    "rules.empty": (
        "No rules are kept here. An agent of your own draws them from its attempts with "
        "jitrl.open(…, rules=True), a run with jitrl run --agent rulebook.",
        "这里没有规则。你自己的智能体用 jitrl.open(…, rules=True) 从尝试中提炼，"
        "运行则用 jitrl run --agent rulebook。",
    ),
    "rules.lead": (
        "{n:,} rules, the best lower bound of the effect first.",
        "共 {n:,} 条规则，效果下界最高的在前。",
    ),
    "rules.none": ("No rule fits.", "没有符合的规则。"),
    "rules.rule": ("rule", "规则"),
    "rules.status": ("status", "状态"),
    "rules.effect": ("effect [{level:.0%} bounds]", "效果［{level:.0%} 上下界］"),
    "rules.told": ("told", "告知"),
    "rules.held": ("held out", "留出"),
    "rules.wins": ("wins", "获胜"),
    "rules.obeyed": ("obeyed", "照做"),
    "rules.unclear": ("{n:,} unknown", "{n:,} 次未知"),
    "rules.unknown": (
        "not known: no scored episode could be told it yet",
        "未知：还没有可告知它的已评分回合",
    ),
    "rules.anew": (
        "of {n:,} uses since it changed",
        "变化之后的 {n:,} 次使用",
    ),
    "rules.against": ("disagrees with:", "与此矛盾："),
    "rules.tainted": ("rests on {n} episodes in quarantine", "依据了 {n} 个已隔离的回合"),
    "rules.note": (
        "Effect: mean score where it was told minus where it was held out, by a draw; its "
        "{level:.0%} bounds hold at every look. Wins say little: a rule that only rides "
        "along has as many. Obeyed: of the steps at which its condition held; unknown where it "
        "names none of the actions there.",
        "效果：抽签告知的回合与留出的回合的平均得分之差；其 {level:.0%} 上下界在任何时刻查看"
        "都成立。获胜次数说明不了多少：搭便车的规则同样多。照做：在其条件成立的步骤中所占次数；规则没有提到当时任何可选动作时，无从得知。",
    ),
    "rule.scope": ("scope", "作用域"),
    "rule.kind": ("for tasks of", "适用任务"),
    "rule.any_kind": ("any kind", "任何种类"),
    "rule.author": ("distilled", "提炼方式"),
    "rule.by_comparison": ("by comparison of attempts", "由尝试之间的比较"),
    "rule.by_hand": ("by hand", "手工"),
    "rule.by": ("by {name}", "由 {name}"),
    "rule.more_evidence": ("more evidence", "新增证据"),
    "rule.entities": ("key words", "关键词"),
    "rule.any_goal": ("any goal", "任何目标"),
    "rule.since": ("in the book since", "进入手册"),
    "rule.episodes": ("episodes", "回合"),
    "rule.wins": ("wins", "获胜"),
    "rule.held_steps": ("condition held", "条件成立"),
    "rule.obeyed": ("obeyed", "照做"),
    "rule.unclear": ("unknown", "未知"),
    "rule.from": ("What it was distilled from", "提炼自"),
    "rule.round": ("round {n}", "第 {n} 轮"),
    "rule.good": ("good:", "好："),
    "rule.bad": ("bad:", "差："),
    "rule.no_evidence": (
        "No attempts: it was written by hand, or came from elsewhere.",
        "没有对应的尝试：由人手写，或来自别处。",
    ),
    "rule.parents": ("It stands for:", "它代表："),
    "rule.history": ("What became of it", "经过"),
    "rule.uses": ("Its last uses, of {n:,}", "最近的使用，共 {n:,} 次"),
    "rule.use": ("use", "使用"),
    "rule.chance": ("chance to be told", "告知概率"),
    "rule.no_uses": ("It was not used in a scored episode yet.", "尚未在已评分的回合中使用。"),
}
