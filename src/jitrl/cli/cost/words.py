"""The words of the account of costs, in English and Chinese."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from jitrl.analysis.price import Cheaper, Origin
from jitrl.report.words import Language
from jitrl.run.ledger import Phase


@dataclass(frozen=True, slots=True)
class Words:
    """One language; braces are filled in."""

    once: str
    each: str
    total: str
    memory: str
    tuning: str
    even: str
    names: Mapping[Cheaper, str]
    never: Mapping[Cheaper, str]
    rests: str
    option: str
    origin: str
    origins: Mapping[Origin, str]
    what: Mapping[str, str]
    left_out: str
    part: str
    above: str
    took: str
    phases: Mapping[Phase, str]
    heads: tuple[str, str, str, str, str, str]
    beside: str
    prices: Mapping[bool, str]


ENGLISH = Words(
    once="once",
    each="each task",
    total="{volume:,.0f} tasks",
    memory="learning at inference",
    tuning="fine-tuning and serving",
    even="Both have cost the same after {volume:,.0f} tasks in use; before that, {before} is "
    "cheaper.",
    names={"memory": "learning at inference", "tuning": "fine-tuning"},
    never={
        "memory": "Learning at inference is cheaper at any volume.",
        "tuning": "Fine-tuning is cheaper at any volume.",
        "same": "Both cost the same at any volume.",
    },
    rests="this rests on",
    option="option",
    origin="which is",
    origins={"assumed": "assumed", "given": "given", "measured": "measured"},
    what={
        "tokens_in": "tokens read in an attempt",
        "tokens_out": "tokens written in an attempt",
        "price_in": "$ per million read",
        "price_out": "$ per million written",
        "tasks": "tasks learned on",
        "attempts": "attempts at each in a round",
        "rounds": "rounds",
        "judging": "judging, share of acting",
        "learning": "learning, share of acting",
        "used": "share learned from in use",
        "gpus": "GPUs to fine-tune",
        "hours": "hours of each",
        "gpu_price": "$ for a GPU hour",
        "served": "tasks served in a GPU hour",
        "load": "share of paid hours in use",
    },
    left_out="Not counted: people's work, labels and evaluation on either side, and how good each "
    "of the two gets. What is assumed is nobody's offer: give your own numbers.",
    part="Judging and learning are {share:.0%} of what learning at inference is paid once.",
    above="judging and learning took {share:.1%}, --most-beside is {most:.1%}",
    took="what {episodes:,} episodes took",
    phases={"act": "acting", "judge": "judging", "learn": "learning"},
    heads=("answers", "kept", "read", "written", "an episode", "share"),
    beside="Judging and learning took {share:.1%} of all spend.",
    prices={
        True: "Dollars are by the prices of the run.",
        False: "Dollars are by --price-in and --price-out.",
    },
)

CHINESE = Words(
    once="一次性",
    each="每个任务",
    total="{volume:,.0f} 个任务",
    memory="推理时学习",
    tuning="微调并部署",
    even="使用 {volume:,.0f} 个任务之后两者花费相同；在此之前，{before}更便宜。",
    names={"memory": "推理时学习", "tuning": "微调"},
    never={
        "memory": "无论多少任务，推理时学习都更便宜。",
        "tuning": "无论多少任务，微调都更便宜。",
        "same": "无论多少任务，两者花费都相同。",
    },
    rests="依据",
    option="选项",
    origin="来源",
    origins={"assumed": "假设", "given": "给定", "measured": "实测"},
    what={
        "tokens_in": "每次尝试读入的词元",
        "tokens_out": "每次尝试写出的词元",
        "price_in": "每百万读入词元的美元",
        "price_out": "每百万写出词元的美元",
        "tasks": "用来学习的任务",
        "attempts": "每轮每个任务的尝试",
        "rounds": "轮数",
        "judging": "评判，占行动的份额",
        "learning": "学习，占行动的份额",
        "used": "使用中也学习的份额",
        "gpus": "微调用的 GPU",
        "hours": "每块的小时数",
        "gpu_price": "每 GPU 小时的美元",
        "served": "每 GPU 小时完成的任务",
        "load": "付费时间中在用的份额",
    },
    left_out="没有算入：双方的人工、标注和评估，以及两者各能做到多好。假设不是任何人的报价："
    "请给出你自己的数字。",
    part="评判和学习占推理时学习一次性花费的 {share:.0%}。",
    above="评判和学习占 {share:.1%}，--most-beside 为 {most:.1%}",
    took="{episodes:,} 个回合的花费",
    phases={"act": "行动", "judge": "评判", "learn": "学习"},
    heads=("回答", "留存", "读入", "写出", "每回合", "份额"),
    beside="评判和学习占全部花费的 {share:.1%}。",
    prices={
        True: "美元按该运行自己的价格计算。",
        False: "美元按 --price-in 和 --price-out 计算。",
    },
)

LANGUAGES: dict[Language, Words] = {"en": ENGLISH, "zh": CHINESE}
