"""The words of explanations in the terminal, in English and Chinese."""

from __future__ import annotations

from dataclasses import dataclass

from jitrl.analysis.explain import Why
from jitrl.report.words import Language


@dataclass(frozen=True, slots=True)
class Words:
    """One language; braces are filled in."""

    lang: Language
    context: str
    place: str
    alone: str
    advised: str
    memory: str
    shadow: str
    turned: str
    same: str
    because: dict[Why, str]
    silent: str
    reasons: dict[str, str]
    off: str
    off_told: str
    off_none: str
    drawn: str
    done_here: str
    candidate: str
    prior: str
    visits: str
    q: str
    returns: str
    bonus: str
    logits: str
    after: str
    note: str
    nudged: str
    base: str
    share: str
    cap: str
    capped: dict[str, str]
    silenced: str
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
    causes: dict[Why, str]
    none: str
    rules: str
    rules_note: str
    rule_text: str
    was_told: str
    chance: str
    obeyed: str
    effect: str
    told: dict[bool, str]
    done: dict[bool | None, str]


ENGLISH = Words(
    lang="en",
    context="context",
    place="page",
    alone="the model alone",
    advised="the model, told {0} rules",
    memory="with its memory",
    shadow="shadow: took {0}; the memory would take {1}",
    turned="changed by the memory",
    same="the same",
    because={
        "returns": "Returns of earlier episodes outweighed the model.",
        "exploration": "What had not been tried here outweighed the model.",
        "lessons": "How other tasks were solved outweighed the model.",
    },
    silent="The memory had no say: {0}.",
    reasons={
        "empty": "nothing like it is remembered",
        "holdout": "this episode is held out",
        "static": "the agent has none",
        "weights": "weights were trained instead",
        "degraded": "it could not be asked, or not in time",
    },
    off="Scores are off: the choice is the model's own.",
    off_told="Scores are off; the model was told {0} rules.",
    off_none="Scores are off; no rule was told.",
    drawn="drawn",
    done_here="taken",
    candidate="candidate",
    prior="p before",
    visits="visits",
    q="q",
    returns="by returns",
    bonus="by exploration",
    logits="z → z'",
    after="p after",
    note="visits: in all the states below together; below, in one of them. q: return expected of "
    "it; V here is {value:.3f}. by returns: nats for the advantage A = q − V. by exploration: nats "
    "for what is untried here, off for what this episode did already{nudged}. z: the model's "
    "logit{base}; z' = z + by returns + by exploration{others}.",
    nudged=", and what untrusted rows nudge",
    base=", as the rule takes it",
    share="As little was seen here, {share:.0%} of what returns, novelty and repeats can add is "
    "counted (warmup {warmup:g}).",
    cap="What is added to z is scaled down where the KL to the model would pass {cap:g} nats "
    "(kl_cap).",
    capped={
        "write": "{0} writes: the memory said {1:.1f} nats more for it than it may.",
        "irreversible": "{0} is irreversible: {1:.1f} nats that the memory said for it were taken "
        "off.",
        "support": "{0} was left out: too few episodes bear out an action that writes.",
    },
    silenced="{0} more rows near by had no say: their source had its vote already.",
    more="… {0} more",
    neighbors="What the memory holds of states like this one",
    similarity="similarity",
    weight="weight",
    returned="return",
    rows="row ids",
    episodes="from episode",
    running="this episode",
    without="What it would have been without …",
    would="would choose",
    still="the same",
    unseen="Not looked at: {0} more near episodes; none weighs more (--most).",
    instead="p",
    taken="p: probability of {0}, which was taken.",
    decision="decision",
    choice="with memory",
    model="model alone",
    why="because of",
    causes={"returns": "returns", "exploration": "exploration", "lessons": "other tasks"},
    none="no decision was changed by the memory",
    rules="Rules that spoke here",
    rules_note="chance: that it would be told in this episode. effect: mean score told minus held "
    "out, with 90% bounds that hold at every look, as known now.",
    rule_text="rule",
    was_told="told",
    chance="chance",
    obeyed="obeyed",
    effect="effect",
    told={True: "told", False: "held out"},
    done={True: "yes", False: "no", None: "nobody can tell"},
)

CHINESE = Words(
    lang="zh",
    context="上下文",
    place="页面",
    alone="仅模型",
    advised="模型（已告知 {0} 条规则）",
    memory="加上记忆",
    shadow="影子模式：采用了 {0}；记忆会选择 {1}",
    turned="被记忆改变",
    same="相同",
    because={
        "returns": "以往回合的回报压过了模型的偏好。",
        "exploration": "这里尚未试过的动作压过了模型的偏好。",
        "lessons": "其他任务的成功做法压过了模型的偏好。",
    },
    silent="记忆没有参与：{0}。",
    reasons={
        "empty": "没有相似的记忆",
        "holdout": "本回合被留出",
        "static": "该智能体没有记忆",
        "weights": "改为训练权重",
        "degraded": "未能询问记忆，或未能及时得到回答",
    },
    off="分数修正已关闭：选择由模型自己作出。",
    off_told="分数修正已关闭；告知了模型 {0} 条规则。",
    off_none="分数修正已关闭；没有告知规则。",
    drawn="由抽签选出",
    done_here="已采用",
    candidate="候选动作",
    prior="之前概率",
    visits="访问次数",
    q="q",
    returns="由回报",
    bonus="由探索",
    logits="z → z'",
    after="之后概率",
    note="访问次数：上表为下列各状态之和，下表为单个状态。q：预期回报；此处 V 为 {value:.3f}。"
    "由回报：优势 A = q − V 带来的加减分（奈特）。由探索：未试过的动作加分，"
    "本回合已做过的减分（奈特）{nudged}。z：模型的 logit{base}；z' = z + 由回报 + 由探索{others}。",
    nudged="，以及不可信的行的轻推",
    base="（按规则换算后）",
    share="这里经历还少，回报、新颖性和重复所能加减的只计入 {share:.0%}（warmup {warmup:g}）。",
    cap="加到 z 上的总量按比例缩小，使与模型的 KL 不超过 {cap:g} 奈特（kl_cap）。",
    capped={
        "write": "{0} 会写入：记忆替它多说了 {1:.1f} 奈特，已扣除。",
        "irreversible": "{0} 不可逆：记忆替它说的 {1:.1f} 奈特已扣除。",
        "support": "{0} 未加入：支持这个写动作的回合太少。",
    },
    silenced="附近另有 {0} 行没有发言权：它们的来源已投过票。",
    more="…… 另有 {0} 个",
    neighbors="记忆中相似状态的经历",
    similarity="相似度",
    weight="权重",
    returned="回报",
    rows="行号",
    episodes="来自",
    running="本回合",
    without="如果没有下面这个回合的记忆",
    would="会选择",
    still="不变",
    unseen="另有 {0} 个相近的回合未逐一检验，权重均不更大（--most）。",
    instead="p",
    taken="p：所采用动作 {0} 的概率。",
    decision="决策",
    choice="加上记忆",
    model="仅模型",
    why="原因",
    causes={"returns": "回报", "exploration": "探索", "lessons": "其他任务"},
    none="没有被记忆改变的决策",
    rules="在此处适用的规则",
    rules_note="概率：在本回合中告知它的概率。效果：告知与留出的平均得分之差，"
    "带每次查看时都成立的 90% 上下界，按现在所知。",
    rule_text="规则",
    was_told="告知",
    chance="概率",
    obeyed="照做",
    effect="效果",
    told={True: "已告知", False: "留出"},
    done={True: "是", False: "否", None: "无法判断"},
)

LANGUAGES: dict[Language, Words] = {"en": ENGLISH, "zh": CHINESE}
