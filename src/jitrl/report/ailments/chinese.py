"""What the doctor says, in Chinese."""

from __future__ import annotations

from jitrl.report.ailments import chinese_rules
from jitrl.report.ailments.words import Ailment, Said, Words

_WEIGHTS = "所加修正中位数：最好与最差相差 {push:.1f} 奈特；模型自己的相差 {spread:.1f}"
_SHARES = (
    "占回答的 {calls:.0%}[[，词元的 {tokens:.0%}]][[，花费的 {dollars:.0%}]]"
    "（回答数：行动 {act}，评判 {judge}，学习 {learn}）"
)
_MIXED = "不止一种的作用域：{scopes} 个[[：{values}]]"

CHINESE = Words(
    heads=("检查", "n", "测到了什么"),
    place="{label}：{episodes} 个回合[[，{decisions} 个有记忆的决策]]",
    against="，对照 {base}",
    counts="{findings} 项要改，{fine} 项正常，{unknown} 项数据不足",
    fine="正常",
    unknown="数据不足（n={n}）",
    lacking="数据不足：",
    absent="没有依据：",
    copy="命令，可以复制：",
    settings="设置，可以复制：写进 jitrl.toml 的 [memory]，或接在命令之后：",
    lists="两份“好的解答是什么样”的清单",
    agree="{one} 条与 {other} 条中有 {pairs} 对说的是同一件事：占 {share:.0%}，随机可得 "
    "{chance:.0%}；超出随机 {beyond:+.2f}（1 为完全一致）",
    differ=Ailment(
        "两份清单对“好的解答”没有共同的看法。",
        "先用相同的措辞商定一份清单；评判者不会好过这个一致程度。比较的是词："
        "请看下面各条里有没有换了说法的同一件事。",
    ),
    both="两份都有",
    only=("只在 {0}", "只在 {0}"),
    nothing="没有要改的",
    joint="；",
    stop="。",
    terms={"first attempts": "最初的尝试", "holdout": "留出的回合"},
    checks={
        "spread": Said(
            "分数有别",
            "{share:.0%} 的分数为 {band:band}；中间一半的跨度为 {iqr:.2f}；共 {distinct} 种分数",
            {
                "": Ailment(
                    "评分者分不出好坏。",
                    "用对结果的检查来评分，每一部分各占一份（评估器 checks）。",
                ),
                "verdicts": Ailment(
                    "几乎所有回合得到同样的评判。",
                    "按完成的部分给分（评估器 checks）：全都一样失败时，无从比较。",
                ),
            },
        ),
        "curve": Said(
            "越来越好",
            "最后 {ends} 次尝试减最初 {ends} 次：{mean:+.2f}[[ {interval}]]；平均得分 {level:.2f}",
            {
                "": Ailment(
                    "看不出最后的尝试比最初的好。",
                    "看看记忆改变了哪些选择、为什么：jitrl explain "
                    "{file:sh}[[ --memory {memory:sh}]] --changed",
                ),
                "unturned": Ailment(
                    "看不出最后的尝试比最初的好。",
                    "先改好其他问题：记忆从未改变过选择。",
                ),
                "rules": Ailment(
                    "看不出最后的尝试比最初的好。",
                    "看看每条规则的表现：jitrl rules ls {file:sh}[[ --memory {memory:sh}]]",
                ),
                "other": Ailment(
                    "看不出最后的尝试比最初的好。",
                    "让智能体 oracle-hint 与 static 并排运行：如果把正确动作写进提示词也不起作用，"
                    "就换一个模型。",
                ),
                "falls": Ailment(
                    "最后的尝试比最初的差。",
                    '把记忆切到影子模式（memory.mode = "shadow"），直到其他问题改好。',
                ),
                "other falls": Ailment(
                    "最后的尝试比最初的差。",
                    "在其他问题改好之前，用智能体 static 继续。",
                ),
            },
        ),
        "effect": Said(
            "效果可知",
            "[[留出了 {held} 个回合，也没有 static 的运行]]"
            "[[有记忆减 {against}：{mean:+.2f}]][[ {interval}]]"
            "[[（留出 {held_out} 个）]][[，按回合比较，因为两边都有的任务不足 {few_tasks} 个]]",
            {
                "off": Ailment(
                    "没有可对照的，因此无从知道效果。",
                    "让十分之一的回合不用记忆：memory.holdout = 0.1。",
                ),
                "no static": Ailment(
                    "没有可对照的，因此无从知道效果。",
                    "其他设置不变，跑一次智能体 static，把两次运行的文件夹都交给 doctor。",
                ),
                "": Ailment(
                    "有记忆的回合比没有记忆的差。",
                    '把记忆切到影子模式（memory.mode = "shadow"），直到其他问题改好。',
                ),
                "by prompt": Ailment(
                    "有记忆的回合比没有记忆的差。",
                    "在其他问题改好之前，用智能体 static 继续。",
                ),
            },
        ),
        "families": Said(
            "分类之害",
            "{groups} 类任务中有 {n} 类可以判断，对照 {against}；总体 {overall}；"
            "变好：{better}[[；变差：{worse}]]",
            {
                "rows": Ailment(
                    "无论总体好坏，它害了其中几类任务。",
                    "撤回改变它们选择最多的行，再测一次："
                    "jitrl memory quarantine {file:sh}[[ --memory {memory:sh}]] {rows:rows} "
                    "--reason harm",
                ),
                "": Ailment(
                    "无论总体好坏，它害了其中几类任务。",
                    "给这几类任务各自的作用域，使别人的行与它们无关。",
                ),
            },
        ),
        "flips": Said(
            "被记忆改变的选择",
            "{decisions} 个决策中有 {turned} 个被记忆改变（{share:.0%}）[[：{why}]]"
            "[[；这些回合减同一任务的其他回合：{mean:+.2f}]][[ {interval}]]",
            {
                "": Ailment(
                    "记忆改变了选择的回合，结果更差。",
                    "让它的分量减半：memory.rule.beta = {half:g}。",
                ),
            },
        ),
        "judging": Said(
            "评判的花费",
            _SHARES,
            {
                "": Ailment(
                    "评判者占了账单的四分之一以上。",
                    "用更小的模型评判：在 jitrl.toml 的 [writer] 中指定。",
                ),
                "both": Ailment(
                    "评判和学习合起来占了账单的四分之一以上，其中评判更多。",
                    "用更小的模型评判：在 jitrl.toml 的 [writer] 中指定。",
                ),
            },
        ),
        "learning": Said(
            "学习的花费",
            _SHARES,
            {
                "": Ailment(
                    "为学习而写的内容占了账单的四分之一以上。",
                    "让更小的、不参与行动的模型来写：在 jitrl.toml 的 [writer] 中指定。",
                ),
                "both": Ailment(
                    "评判和学习合起来占了账单的四分之一以上，其中学习更多。",
                    "让更小的、不参与行动的模型来写：在 jitrl.toml 的 [writer] 中指定。",
                ),
            },
        ),
        "kinds": Said(
            "各类分得开",
            "{kinds} 类任务；最差的是“{worst}”：{lost:.0%} 的状态最近的是别类的[[，多为 {like}]]："
            "类内相似度 {within:.2f}，与别类 {between:.2f}",
            {
                "": Ailment(
                    "“{worst}”的状态淹没在“{like}”的状态里。",
                    "给“{worst}”一个自己的作用域，使别人的行与它无关。",
                ),
            },
        ),
        "threshold": Said(
            "阈值",
            "阈值 {threshold:g} 下 {share:.0%} 的决策有邻居[[；最近的状态相似度 {nearest:.2f}"
            "（中位数）]]",
            {
                "": Ailment(
                    "没有什么相似到能被想起。",
                    "把检索的阈值降到最近者之下[[：memory.retrieval.threshold = {below:g}]]。",
                ),
                "other tasks": Ailment(
                    "相似的不计入，因为属于其他任务（或其他 place）。",
                    "按种类命名任务，不带单个案例的编号（回合的 task=，X-JitRL-Task）。",
                ),
            },
        ),
        "width": Said(
            "邻域",
            "中位数 {rows:.0f} 行，占其作用域状态的 {cover:.0%}[[；k = {k}，{full:.0%} 达到]]",
            {
                "wide": Ailment(
                    "每个状态都是大多数状态的邻居，没有一个是孤立的。",
                    "提高阈值，直到邻域有时为空，先试：memory.retrieval.threshold = {higher:g}。",
                ),
                "never full": Ailment(
                    "没有一个邻域达到 k 行，k 不起作用。",
                    "不设 k，由阈值单独决定：memory.retrieval.k = null。",
                ),
            },
        ),
        "single": Said(
            "只试一种",
            "{n} 个到过三次以上的差状态里，有 {single} 个只见过一种动作（{share:.0%}）",
            {
                "": Ailment(
                    "结果差的地方，没有试过别的。",
                    "提高 novelty，让没试过的动作轮到：memory.rule.novelty = {more:g}。",
                ),
            },
        ),
        "memory-only": Said(
            "记忆自带的",
            "{share:.0%} 的选择不是模型提出的",
            {
                "": Ailment(
                    "大多数选择都不出自模型。",
                    "把所有允许的动作给模型看，让它来打分。",
                ),
            },
        ),
        "prior-wins": Said(
            "记忆有分量",
            f"改变了 {{turned}} 个选择；{_WEIGHTS}",
            {
                "": Ailment(
                    "记忆从未改变选择：总是模型的 logit 占上风。",
                    "把 beta 提高到模型的差距 {spread:.1f} 奈特以上：memory.rule.beta = {more:g}。",
                ),
                "silent": Ailment(
                    "记忆从未改变选择：在它看来，所有动作都一样。",
                    "先改好评分；回报全都一样时，什么也加不上去。",
                ),
            },
        ),
        "prior-loses": Said(
            "模型有分量",
            f"{{share:.0%}} 的选择里，记忆压过模型的全部偏好；{_WEIGHTS}",
            {
                "": Ailment(
                    "模型偏好什么从不起作用：总是记忆压过它。",
                    "把 beta 朝模型的差距 {spread:.1f} 奈特降低，先减半："
                    "memory.rule.beta = {half:g}。",
                ),
            },
        ),
        "mixed-told": Said(
            "知情与盲评",
            _MIXED,
            {
                "": Ailment(
                    "知道结果的评判与不知道的混在一个作用域里。",
                    "给知道结果的评判者一个自己的记忆。",
                ),
            },
        ),
        "mixed-scorer": Said(
            "打分器",
            _MIXED,
            {
                "": Ailment(
                    "不同打分器的 logit 混在一个作用域里；它们的奈特不可比。",
                    "给每个打分器（或模型）一个自己的记忆。",
                ),
            },
        ),
        "mixed-evaluator": Said(
            "评估器",
            _MIXED,
            {
                "": Ailment(
                    "不同评估器的分数混在一个作用域里；它们不可比。",
                    "给每个评估器一个自己的记忆。",
                ),
            },
        ),
        "waiting": Said(
            "缺结果",
            "{waiting} 个回合在等结果（{share:.0%}）[[；其中 {stale} 个已超过 {usual_s:,.1f} 秒，"
            "而 95% 在此之内到来]]",
            {
                "": Ailment(
                    "学到的只是有人报告过的。",
                    "按 key 补报缺少的结果（JitRL.outcome），失败的尤其要报。",
                ),
            },
        ),
        "unscored": Said(
            "未评分",
            "{unscored} 个回合无法评分（{share:.0%}）[[：{reasons}]]",
            {
                "": Ailment(
                    "许多回合什么也教不了。",
                    "先解决最常见的原因；这些回合见：jitrl memory ls "
                    "{file:sh}[[ --memory {memory:sh}]]",
                ),
            },
        ),
        "checkable": Said(
            "可核对",
            "{share:.0%} 的分数依据测试、检查或人（{bases}）",
            {
                "": Ailment(
                    "没有分数可以核对：都只凭一面之词。",
                    "请人给几十步打标，这样就能测量评判者：jitrl evaluator label "
                    "{file:sh}[[ --memory {memory:sh}]]",
                ),
            },
        ),
        "recurrence": Said(
            "任务重现",
            "{same_task:.0%} 的回合属于会再来的任务，{same_kind:.0%} 属于会再来的类别",
            {
                "": Ailment(
                    "大多数任务只来一次，类别也是：没有什么会再遇到。",
                    "按种类命名任务，不带单个案例的编号（回合的 task=，环境的 Task.family）。",
                ),
            },
        ),
        **chinese_rules.CHINESE,
    },
)
