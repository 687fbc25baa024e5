"""The words of reports, in English and Chinese."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from jitrl.analysis.unscored import Cause
from jitrl.language import singular

Language = Literal["en", "zh"]


@dataclass(frozen=True, slots=True)
class Words:
    """One language; braces are filled in."""

    code: str
    title: str
    agent: str
    avg: str
    first: str
    final: str
    last: str
    best: str
    reference: str
    difference: str
    rival: str
    verdict: str
    verdicts: dict[str, str]
    curve: str
    attempt: str
    score: str
    so_far: str
    terms: str
    commit: str
    config: str
    size: str
    blind: str
    told: str
    rewards: dict[str, str]
    schedule: dict[str, str]
    protocol: dict[str, str]
    calls: str
    stopped: str
    excluded: str
    failures: str
    unwritten: str
    unscored: str
    none_scored: str
    other_reasons: str
    remedies: dict[Cause, str]
    differs: str
    note: str
    intervals: str
    leaves_out: str
    few: str
    alike: str
    alike_verdict: str
    played: str
    legend: str
    open_marks: str
    hint: str
    hint_unknown: str
    mark: str
    star: str
    oracle: str
    equal: str
    own: str
    differences: str
    forest: str
    values: str
    setting: str
    cost: str
    acting: str
    learning: str
    tokens: str
    dollars: str
    per_extra: str
    acting_s: str
    learning_s: str
    wall_s: str
    bill: str
    each: str
    made_by: str
    ran_by: str
    minutes: str
    seconds: str

    def sized(self, t: int, k: int, s: int) -> str:
        """Tasks, attempts and seeds, in the singular where there is one."""
        return singular(self.size.format(t=t, k=k, s=s))


ENGLISH = Words(
    code="en",
    title="Learning report",
    agent="agent",
    avg="Avg",
    first="first",
    final="Final",
    last="last five",
    best="best of {k}",
    reference="{base}, best of {k}",
    difference="Avg − {base} [95 %]",
    rival="Avg − best other [95 %]",
    verdict="verdict",
    verdicts={"better": "better", "worse": "worse", "no evidence": "no evidence"},
    curve="Learning curve",
    attempt="attempt",
    score="score",
    so_far="{base}, best so far",
    terms="run",
    commit="commit {0}",
    config="config {0}",
    size="{t} tasks × {k} attempts × {s} seeds",
    blind="evaluator {0}, blind",
    told="evaluator {0}, told the gold outcome",
    rewards={
        "during": "rewards seen during the episode",
        "after": "rewards after the episode",
        "outcome": "outcome after the episode",
    },
    schedule={
        "sequential": "sequential, by {order}",
        "rounds": "rounds",
        "attempt": "attempt",
        "task": "task",
    },
    protocol={
        "repeat": "repeat",
        "transfer": "transfer, own task left out",
        "transfer-family": "transfer, own family left out",
    },
    calls="{calls:,} model calls ({cached:,} more from a cache), {tokens:,} tokens",
    stopped="ended at a plateau after {k} of {of} attempts: the last {w} minus the {w} before "
    "{gain}, margin {margin:g}",
    excluded="at most {0} rows excluded from a decision",
    failures="{0} failed episodes played again",
    unwritten="{0} lessons could not be written",
    unscored="{0:,} not scored, so nothing learned from these episodes ({reasons})",
    none_scored="No episode of {0:,} was scored, so nothing was learned ({reasons})",
    other_reasons="{0:,} × another reason",
    remedies={
        "outcome": "; tell how they ended (JitRL.outcome), or name an evaluator that needs no "
        "outcome: --evaluator judge or checks",
        "judge": "; name a model that judges better, as [writer], and look at what it wrote: "
        "jitrl memory ls {file}",
        "page": "; look at those pages, and at the judge on them: jitrl evaluator check --canaries",
        "broken": "; mend what ended them early: jitrl memory ls {file} names them",
        "said": "",
        "other": "; jitrl memory ls {file} names them",
    },
    differs="differs in {0}",
    note=(
        "Avg: mean over attempts. First, Final: first and last attempt. Best of {k}: the best "
        "attempt of each task and seed (pass@{k} for scores of 0 or 1), which replaying one lucky "
        "attempt would reach. "
    ),
    intervals="Intervals: 95 %, BCa bootstrap over {clusters}",
    leaves_out="; a verdict needs one that leaves out 0",
    few=" n < {fewest}: no interval, as it needs {fewest} {clusters} or more; here n = {n}.",
    alike=" [–]: no interval, as all {clusters} score alike and there is nothing to resample.",
    alike_verdict=" The verdict then rests on the sign: that all {clusters} differ to one side by "
    "chance is less likely than 5 %.",
    played="Environment {what}; played on {when} (UTC).",
    legend="Bands or bars: the 95 % interval of the mean at each attempt. Dashed: the best score "
    "of the base up to that attempt.",
    open_marks=" Open marks: all {clusters} score alike there, so there is no interval.",
    hint="This model cannot test prompt methods: with the solution in its prompt (oracle-hint) it "
    "scores {difference} against static, which is within noise. Rows marked † act through the "
    "prompt alone and say nothing about their methods.",
    hint_unknown="Whether this model can test prompt methods is not known with so few {clusters}: "
    "with the solution in its prompt (oracle-hint) it scores {difference} against static.",
    mark="†",
    star="*",
    oracle="is given the solution: a bound, no competitor",
    equal="Equal for all: {0}.",
    own="How each row came about",
    differences="Differences in Avg",
    forest="Dot: mean difference from {base}, paired by task and seed; bar: its 95 % interval. An "
    "interval that leaves out 0 is evidence.",
    values="Avg by value of the setting",
    setting="setting",
    cost="Cost",
    acting="answers, acting",
    learning="learning",
    tokens="tokens",
    dollars="dollars",
    per_extra="per extra success",
    acting_s="time acting",
    learning_s="learning",
    wall_s="wall clock",
    bill="Answers: how often a model was asked, from a file or not; tokens and dollars are of "
    "calls made. Per extra success: answers (and dollars) beyond those of {base} for each success "
    "(or point of score) beyond its, where the verdict is better; negative: fewer were needed. "
    "Times acting and learning are sums over threads.",
    each="{calls:+,.1f} answers",
    made_by="Made by",
    ran_by="Runs were started by",
    minutes="{0} min {1:02d} s",
    seconds="{0:.1f} s",
)

CHINESE = Words(
    code="zh",
    title="学习报告",
    agent="智能体",
    avg="平均",
    first="首次",
    final="末次",
    last="后五次",
    best="{k} 次取优",
    reference="{base}，{k} 次取优",
    difference="平均 − {base} [95 %]",
    rival="平均 − 其余最好 [95 %]",
    verdict="结论",
    verdicts={"better": "更好", "worse": "更差", "no evidence": "证据不足"},
    curve="学习曲线",
    attempt="第几次尝试",
    score="得分",
    so_far="{base}，至今最好",
    terms="运行条件",
    commit="提交 {0}",
    config="配置 {0}",
    size="{t} 个任务 × {k} 次尝试 × {s} 个种子",
    blind="评估器 {0}，未见标准答案",
    told="评估器 {0}，已见标准答案",
    rewards={
        "during": "回合中可见奖励",
        "after": "回合结束后得到奖励",
        "outcome": "回合结束后得到总分",
    },
    schedule={
        "sequential": "顺序执行，按{order}",
        "rounds": "分轮执行",
        "attempt": "尝试次数",
        "task": "任务",
    },
    protocol={
        "repeat": "重复同一任务",
        "transfer": "迁移，不用本任务的记忆",
        "transfer-family": "迁移，不用同类任务的记忆",
    },
    calls="模型调用 {calls:,} 次（另有 {cached:,} 次取自缓存），{tokens:,} 词元",
    stopped="{of} 次尝试中做到第 {k} 次，因进入平台期而结束：最后 {w} 次减去之前 {w} 次为 {gain}，"
    "界限 {margin:g}",
    excluded="单次决策最多排除 {0} 行",
    failures="{0} 个回合失败后重做",
    unwritten="{0} 条总结未能写出",
    unscored="{0:,} 个回合未能评分，未从中学习（{reasons}）",
    none_scored="{0:,} 个回合无一得到评分，什么也没有学到（{reasons}）",
    other_reasons="{0:,} × 其他原因",
    remedies={
        "outcome": "；请告知结果（JitRL.outcome），或改用不需要结果的评估器："
        "--evaluator judge 或 checks",
        "judge": "；请在 [writer] 中换用评判能力更强的模型，并查看它写了什么："
        "jitrl memory ls {file}",
        "page": "；请查看这些页面，并检验评判者：jitrl evaluator check --canaries",
        "broken": "；请修复使其提前结束的原因：jitrl memory ls {file} 会列出这些回合",
        "said": "",
        "other": "；jitrl memory ls {file} 会列出这些回合",
    },
    differs="不同之处：{0}",
    note=(
        "平均：各次尝试的均值。首次、末次：第一次与最后一次尝试。{k} 次取优：每个任务和种子的"
        "最好一次（得分为 0/1 时即 pass@{k}），照搬一次侥幸的尝试就能达到。"
    ),
    intervals="区间：95 %，按{clusters}重抽样的 BCa 自助法",
    leaves_out="；区间不含 0 才下结论",
    few="n < {fewest}：至少 {fewest} 个{clusters}才有区间，此处 n = {n}。",
    alike="[–]：各{clusters}得分全同，无可重抽样，故无区间。",
    alike_verdict="此时按正负号下结论：各{clusters}碰巧都偏向同一边的概率不足 5 %。",
    played="环境 {what}；运行日期 {when}（UTC）。",
    legend="色带或竖线：每次尝试均值的 95 % 区间。虚线：基准至该次尝试为止的最好得分。",
    open_marks="空心点：该次尝试各{clusters}得分全同，故无区间。",
    hint="该模型不能检验提示词类方法：提示词中给出解答（oracle-hint）时，与 static 之差为 "
    "{difference}，在误差之内。标 † 的行只通过提示词起作用，不能说明其方法的好坏。",
    hint_unknown="{clusters}太少，不知道该模型能否检验提示词类方法：提示词中给出解答（oracle-hint）"
    "时，与 static 之差为 {difference}。",
    mark="†",
    star="*",
    oracle="已给出解答：只作上限，不参与比较",
    equal="各行相同：{0}。",
    own="每一行的来历",
    differences="平均得分之差",
    forest="圆点：与 {base} 的平均差，按任务和种子配对；横线：95 % 区间。区间不含 0 才算证据。",
    values="各设定值的平均得分",
    setting="设定值",
    cost="花费",
    acting="行动时的回答",
    learning="学习时",
    tokens="词元",
    dollars="美元",
    per_extra="每多成功一次",
    acting_s="行动用时",
    learning_s="学习用时",
    wall_s="总历时",
    bill="回答：向模型提问的次数，不论答案是否取自文件；词元和美元只计实际调用。"
    "每多成功一次：结论为更好时，比 {base} 每多一次成功（或一分）所多用的回答（和美元）；"
    "负数表示用得更少。行动和学习用时为各线程之和。",
    each="{calls:+,.1f} 次回答",
    made_by="生成命令",
    ran_by="运行命令",
    minutes="{0} 分 {1:02d} 秒",
    seconds="{0:.1f} 秒",
)

LANGUAGES: dict[Language, Words] = {"en": ENGLISH, "zh": CHINESE}
