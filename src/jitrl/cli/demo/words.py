"""The words of the demo in the terminal and in its report, in English and Chinese."""

from __future__ import annotations

from dataclasses import dataclass

from jitrl.cli.shared.progress import LEFT
from jitrl.report.words import Language
from jitrl.study.demo import ARGMAX, JITRL, STATIC


@dataclass(frozen=True, slots=True)
class Words:
    """One language; braces are filled in."""

    name: str
    arms_title: str
    arms: dict[str, str]
    title: str
    terms: str
    loading: str
    again: str
    going: str
    attempt: str
    solved: str
    left: str
    rest: tuple[str, str]
    result: str
    passed: str
    best: str
    note: str
    unseen: str
    told: str
    turned: str
    unturned: str
    own: str
    files: str
    took: str


ENGLISH = Words(
    name="Demo",
    arms_title="Who plays",
    arms={
        STATIC: "the frozen model alone: it samples its actions from its prior and remembers "
        "nothing.",
        ARGMAX: "the same model, always with the action it finds most likely.",
        JITRL: "the same model and prior, corrected before each action by how earlier "
        "attempts in its memory went; no weight changes.",
    },
    title="A frozen model, with and without a memory",
    terms="{model}, weights frozen, on this machine · {tasks} tasks in the back office of a shop, "
    "{attempts} attempts each · seed {seed}\nBoth see the same pages, candidates and scores of the "
    "model, and act from the same prior. After an episode, success or failure is told: 1 or 0.",
    loading="Loading the model; the first scores take half a minute.",
    again="This demo is finished; it is shown again.",
    going="{seconds:4.0f} s  {arm:<14} {done} of {total} episodes",
    attempt="attempt",
    solved="{seconds:4.0f} s  {arm:<14} attempt {attempt}: {won:.0f} of {tasks} tasks solved",
    left="left",
    rest=LEFT,
    result="Share of tasks solved, attempt by attempt",
    passed="pass@{k}",
    best="static, best so far",
    note="static samples from the model's prior; argmax takes its best action. pass@{k}: solved at "
    "least once in {k} attempts, what replaying one lucky attempt would reach. Intervals: 95 %, "
    "BCa bootstrap over tasks; a verdict needs one that leaves out 0.",
    unseen="First attempt at {n} tasks never seen before",
    told="jitrl {ours:.3f}, static {base:.3f}: {difference}, {verdict}. The memory holds other "
    "tasks only; what it adds is how those were solved.",
    turned="One decision that memory changed",
    unturned="Memory changed no decision of a solved task.",
    own="Your own agent, in ten lines",
    files="report   {page}\nmore     {jitrl} explain {folder} --changed",
    took="{seconds:.0f} s in all.",
)

CHINESE = Words(
    name="演示",
    arms_title="参与者",
    arms={
        STATIC: "只有冻结的模型：按自己的先验抽取动作，不记住任何事。",
        ARGMAX: "同一个模型，总是取它认为最可能的动作。",
        JITRL: "同一个模型和先验，每次行动前按记忆中以往尝试的结果修正；权重不变。",
    },
    title="同一个冻结的模型：有记忆与没有记忆",
    terms="{model}，权重冻结，在本机运行 · 商店后台的 {tasks} 个任务，每个尝试 {attempts} 次"
    " · 种子 {seed}\n两者看到相同的页面、候选动作和模型分数，先验也相同。"
    "每个回合结束后得知成败：1 或 0。",
    loading="正在加载模型，得到第一批分数约需半分钟。",
    again="这个演示已经完成，现在重新显示。",
    going="{seconds:4.0f} 秒  {arm:<14} 已完成 {done} 次，共 {total} 次",
    attempt="第几次",
    solved="{seconds:4.0f} 秒  {arm:<14} 第 {attempt} 次：{tasks} 个任务中完成 {won:.0f} 个",
    left="剩余",
    rest=("，约剩 {:.0f} 秒", "，约剩 {:.0f} 分钟"),
    result="每次尝试完成任务的比例",
    passed="pass@{k}",
    best="static，至今最好",
    note="static 按模型先验抽样；argmax 取其最可能的动作。pass@{k}：{k} 次尝试中至少成功一次，"
    "照搬一次侥幸的尝试就能达到。区间：95 %，按任务重抽样的 BCa 自助法；区间不含 0 才下结论。",
    unseen="从未见过的 {n} 个任务，第一次尝试",
    told="jitrl {ours:.3f}，static {base:.3f}：{difference}，{verdict}。"
    "记忆里只有其他任务；它带来的是那些任务的解法。",
    turned="一个被记忆改变的决策",
    unturned="没有已完成任务的决策被记忆改变。",
    own="用于你自己的智能体：十行代码",
    files="报告     {page}\n更多     {jitrl} explain {folder} --changed",
    took="共 {seconds:.0f} 秒。",
)

LANGUAGES: dict[Language, Words] = {"en": ENGLISH, "zh": CHINESE}
