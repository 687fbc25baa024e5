"""Words that many pages share, and those of the learning curve."""

SAID: dict[str, tuple[str, str]] = {
    "frame.skip": ("Skip to the content", "跳到正文"),
    "frame.views": ("Views", "视图"),
    "frame.seed": ("seed", "种子"),
    "frame.foot": ("read from local files; times are UTC", "读自本地文件；时间为 UTC"),
    "frame.pages": ("Pages", "翻页"),
    "frame.newest": ("← newest", "← 最新"),
    "frame.older": ("older →", "更早 →"),
    "frame.home": ("To the beginning", "回到首页"),
    "frame.way": ("Where you are", "当前位置"),
    "theme.auto": ("Colors: as the system", "配色：跟随系统"),
    "theme.dark": ("Colors: dark", "配色：深色"),
    "theme.light": ("Colors: light", "配色：浅色"),
    "kind.run": ("run", "运行"),
    "kind.memory": ("memory", "记忆"),
    "tab.curve": ("Curve", "曲线"),
    "tab.decisions": ("Decisions", "决策"),
    "tab.episodes": ("Episodes", "回合"),
    "tab.memory": ("Memory", "记忆"),
    "tab.rules": ("Rules", "规则"),
    "tab.evaluator": ("Evaluator", "评估器"),
    "tab.cost": ("Cost", "花费"),
    "tab.doctor": ("Doctor", "诊断"),
    "size.episodes": ("episodes", "回合"),
    "size.rows": ("rows", "行"),
    "size.decisions": ("decisions", "决策"),
    "home.title": ("Runs and memories", "运行与记忆"),
    "home.run": (
        "agent {agent} on {environment}, model {model}",
        "智能体 {agent}，环境 {environment}，模型 {model}",
    ),
    "home.played": ("episodes played", "已完成的回合"),
    "filter.show": ("show", "显示"),
    "filter.any": ("any", "不限"),
    "filter.apply": ("Filter", "筛选"),
    "filter.clear": ("Clear", "清空"),
    "filter.task": ("task begins with", "任务名开头"),
    "filter.scope": ("scope", "作用域"),
    "filter.status": ("status", "状态"),
    "filter.basis": ("basis", "依据"),
    "filter.evaluator": ("evaluator", "评估器"),
    "filter.text": ("action or state holds", "动作或状态包含"),
    "filter.words": ("words", "词语"),
    "filter.episode": ("episode", "回合"),
    "filter.source": ("source", "来源"),
    "wait.begun": ("Working …", "正在计算……"),
    "wait.progress": ("{done:,} of {total:,}", "{done:,} / {total:,}"),
    "problem.title": ("This cannot be shown", "无法显示"),
    "missing.title": ("There is no such page", "没有这个页面"),
    "missing.said": ("The address is not one of this dashboard.", "该地址不属于本仪表盘。"),
    "denied.title": ("This page is not open to you", "此页面未对您开放"),
    "denied.said": (
        "Open the address that `jitrl ui` printed; it works once. Start `jitrl ui` again for "
        "a new one.",
        "请打开 `jitrl ui` 打印的地址；该地址只能使用一次。重新运行 `jitrl ui` 可得到新地址。",
    ),
    "large.title": ("That is too much at once", "一次提交的内容过多"),
    "large.said": (
        "Choose fewer rows, or use the filter and “all”.",
        "请少选一些行，或用筛选加“全部”。",
    ),
    "forged.title": ("This form is not from here", "该表单不是本页发出的"),
    "forged.said": (
        "It did not carry the proof of your session, so nothing was changed. Go back, "
        "reload, and send it again.",
        "表单没有携带本次会话的凭证，因此未作任何更改。请返回、刷新后重新提交。",
    ),
    "reader.title": ("You may look, not change", "您只能查看，不能更改"),
    "reader.said": (
        "Quarantine and restore need the right to curate.",
        "隔离与恢复需要管理权限（curate）。",
    ),
    "status.active": ("active", "有效"),
    "status.quarantined": ("quarantined", "已隔离"),
    "status.retired": ("retired", "已撤下"),
    "basis.test": ("test", "测试"),
    "basis.state_check": ("state check", "状态检查"),
    "basis.human": ("a person", "人工"),
    "basis.user_feedback": ("user feedback", "用户反馈"),
    "basis.llm_judge": ("model as judge", "模型评判"),
    "basis.agent_self_report": ("agent's own report", "智能体自报"),
    "basis.import": ("import", "导入"),
    "ended.terminated": ("ended by itself", "自行结束"),
    "ended.truncated": ("cut off", "被截断"),
    "ended.aborted": ("aborted", "已中止"),
    "curve.title": ("Does it help?", "有帮助吗？"),
    "curve.live": ("The run goes on; this page follows it.", "运行仍在进行；本页会自动更新。"),
    "curve.attempt": ("attempt", "第几次尝试"),
    "curve.episodes": ("episodes so far", "累计回合"),
    "curve.up_to": ("episodes up to", "累计回合至"),
    "curve.score": ("mean score", "平均得分"),
    "curve.with": ("with memory", "使用记忆"),
    "curve.held": ("held out", "留出"),
    "curve.held_base": ("held-out episodes", "留出的回合"),
    "curve.with_name": ("With the memory", "使用记忆"),
    "curve.drawn": (
        "Learning curve of {n} episodes; the numbers are in the table below.",
        "{n} 个回合的学习曲线；数值见下表。",
    ),
    "curve.legend": (
        "Mean score of {n:,} episodes; bands are 95 % intervals (BCa bootstrap over tasks). "
        "Where there is none, the table says why.",
        "{n:,} 个回合的平均得分；色带为 95 % 区间（按任务重抽样的 BCa 自助法）。没有区间之处"
        "，表中说明原因。",
    ),
    "curve.stretch": (
        "The episodes are taken {n} at a time in the order they came; a line that has fewer than "
        "6 of them goes on until it has. The interval of a point with fewer than 6 tasks is that "
        "of its episodes.",
        "按先后顺序每次取 {n} 个回合；若一条线在其中不足 6 个，则延续到满 6 个。任务不足 6 个的点，"
        "区间按其回合计算。",
    ),
    "curve.numbers": ("Scores", "得分"),
    "curve.points": ("The curve in numbers", "曲线数值"),
    "curve.terms": ("How these numbers came about", "这些数值的来历"),
    "curve.unscored": (
        "Episodes without a score, which are not in the curve: {n}",
        "没有得分、不计入曲线的回合：{n}",
    ),
    "curve.nothing": (
        "No episode has a score yet, so there is nothing to draw.",
        "还没有任何有得分的回合，无从绘制。",
    ),
    "curve.under_way": (
        "{done:,} of {total:,} episodes are played. There is a verdict when all are.",
        "已完成 {done:,} / {total:,} 个回合。全部完成后才有结论。",
    ),
    "curve.none_held": (
        "Nothing is held out, so the effect of the memory cannot be known. Set "
        "memory.holdout (0.1, say): that share of episodes then acts without it.",
        "没有留出任何回合，因此无法得知记忆的效果。请设置 memory.holdout（例如 0.1）：这一比"
        "例的回合将不使用记忆。",
    ),
    "curve.alone": (
        "There is no other run to compare with: open a folder that holds the run of `--agent "
        "static`, too (`jitrl compare` makes one).",
        "没有可比较的其他运行：请打开同时含有 `--agent static` 运行的文件夹（`jitrl compare` "
        "会生成）。",
    ),
    "curve.of": ("{name}: {said}", "{name}：{said}"),
    "curve.difference": (
        "{verdict} than {base}: {mean:+.3f} {ends}; n = {n} tasks.",
        "与{base}相比{verdict}：{mean:+.3f} {ends}；n = {n} 个任务。",
    ),
    "curve.between": ("[{low:+.3f}, {high:+.3f}] (95 %)", "[{low:+.3f}, {high:+.3f}]（95 %）"),
    "curve.constant": ("(no interval: all {n} differ alike)", "（无区间：{n} 个的差全同）"),
    "curve.too_few": (
        "too few tasks to judge it against {base} (in both: {n}, needed: 6{mean}).",
        "任务太少，无法与{base}比较出结论（双方都有的：{n} 个，至少需 6 个{mean}）。",
    ),
    "curve.so_far": ("; difference so far: {mean:+.3f}", "；目前的差：{mean:+.3f}"),
    "curve.by_episodes": (
        "{verdict} than held-out episodes, by episodes, not by tasks: {mean:+.3f} {ends}; "
        "episodes with it: {ours}, held out: {held} (tasks in both groups: {tasks}, and 6 are "
        "needed to go by tasks).",
        "与留出的回合相比{verdict}（按回合而非按任务）：{mean:+.3f} {ends}；使用记忆的回合 "
        "{ours} 个，留出的回合 {held} 个（两组都有的任务：{tasks} 个，按任务比较至少需 6 个）。",
    ),
    "curve.both_alike": (
        "(no interval: all of each group score alike)",
        "（无区间：每组内得分全同）",
    ),
    "curve.judge_later": (
        "Too few to judge whether the memory helps. Tasks in both groups: {tasks}; episodes with "
        "it: {ours}, held out: {held}. Needed are 6 tasks in both, or 6 episodes of each.",
        "太少，无法判断记忆是否有帮助。两组都有的任务：{tasks} 个；使用记忆的回合：{ours} 个，"
        "留出的：{held} 个。需要两组都有的 6 个任务，或每组 6 个回合。",
    ),
    "curve.alike": ("all alike", "全同"),
    "curve.few": ("too few for an interval", "太少，无区间"),
    "curve.few_tasks": ("too few tasks for an interval", "任务太少，无区间"),
    "verdict.better": ("better", "更好"),
    "verdict.worse": ("worse", "更差"),
    "verdict.no_evidence": (
        "no evidence of a difference, neither better nor worse",
        "没有差异的证据，不好不差",
    ),
}
