"""Words of rows, of their influence, and of taking them back."""

SAID: dict[str, tuple[str, str]] = {
    "memory.title": ("What is remembered", "记住了什么"),
    "memory.lead": (
        "Rows: {active:,} active, {quarantined:,} in quarantine, {retired:,} retired; "
        "version {version}.",
        "有效 {active:,} 行，隔离 {quarantined:,} 行，撤下 {retired:,} 行；版本 {version}。",
    ),
    "memory.found": ("Rows that fit: {n:,}", "符合的行：{n:,}"),
    "memory.none": ("No row fits.", "没有符合的行。"),
    "memory.row": ("row", "行"),
    "memory.action": ("action", "动作"),
    "memory.state": ("state", "状态"),
    "memory.return": ("return", "回报"),
    "memory.basis": ("basis", "依据"),
    "memory.episode": ("episode", "回合"),
    "memory.status": ("status", "状态"),
    "memory.select": ("Select row {n}", "选择第 {n} 行"),
    "memory.select_all": ("Select all rows of this page", "选择本页所有行"),
    "memory.bulk": ("With the selected rows", "对所选的行"),
    "memory.all": (
        "all that fit the filter ({n:,}), not only the selected",
        "筛选出的全部（{n:,} 行），不限于所选",
    ),
    "memory.quarantine": ("Quarantine …", "隔离……"),
    "memory.restore": ("Restore …", "恢复……"),
    "memory.bulk_note": (
        "Nothing changes yet: the next page lists the stored decisions that fall otherwise "
        "without these rows.",
        "此时尚不更改：下一页列出去掉这些行后会改变的已存决策。",
    ),
    "row.number": ("row {n}", "第 {n} 行"),
    "row.reward": ("reward", "奖励"),
    "row.terminal": ("ended the task", "结束了任务"),
    "row.yes": ("yes", "是"),
    "row.no": ("no", "否"),
    "row.task": ("task", "任务"),
    "row.scope": ("scope", "作用域"),
    "row.version": ("since version", "始于版本"),
    "row.state": ("The state it was learned in", "学到它时的状态"),
    "row.lineage": ("Where it comes from", "来历"),
    "row.from_step": ("Step {n} of", "第 {n} 步，属于"),
    "row.by": ("Judged by {evaluator},", "评估器 {evaluator}，"),
    "row.on": ("on the basis of: {basis}", "依据：{basis}"),
    "row.answerable": ("answerable: {who}", "责任人：{who}"),
    "row.source": ("Source", "来源"),
    "row.of_source": ("active rows of it: {n:,}", "其有效行：{n:,}"),
    "row.change.append": ("Learned", "学到"),
    "row.change.quarantine": ("Quarantined", "隔离"),
    "row.change.restore": ("Restored", "恢复"),
    "row.change.retire": ("Retired", "撤下"),
    "row.change.rules": ("Rules changed", "规则变更"),
    "row.in_version": ("in version {version},", "于版本 {version}，"),
    "row.others": ("Other rows of this step, by other judgments:", "该步按其他判定得到的行："),
    "row.rules": ("Rules that rest on its episode", "依据该回合的规则"),
    "row.influence": ("Which decisions did it change?", "它改变了哪些决策？"),
    "row.influence_note": (
        "Every stored decision that could have seen the row is made again without it: same "
        "draws, no model call, nothing is written.",
        "凡可能看到该行的已存决策，都在没有它的情况下重新作出：随机数相同，不调用模型，不写入"
        "任何内容。",
    ),
    "row.show_influence": ("Find out", "查看"),
    "changed.title": ("Decisions that change", "会改变的决策"),
    "changed.waiting": ("Making the stored decisions again:", "正在重新作出已存决策："),
    "changed.count": (
        "Stored decisions that fall otherwise without these rows: {n:,}",
        "去掉这些行后会改变的已存决策：{n:,} 个",
    ),
    "changed.count_active": (
        "Stored decisions that fell as they did only with these rows: {n:,}",
        "有了这些行才如此的已存决策：{n:,} 个",
    ),
    "changed.none_active": (
        "No stored decision fell otherwise with these rows than it would have without them.",
        "没有任何已存决策因有了这些行而不同。",
    ),
    "changed.none": (
        "No stored decision falls otherwise without these rows.",
        "去掉这些行后，没有任何已存决策会改变。",
    ),
    "changed.taken": ("was taken", "当时采用"),
    "changed.instead": ("without the rows", "去掉这些行后"),
    "changed.p": ("p of what was taken", "所采用动作的概率"),
    "changed.more": ("… and {n:,} more", "……另有 {n:,} 个"),
    "preview.quarantined": ("Quarantine rows?", "隔离这些行？"),
    "preview.active": ("Restore rows?", "恢复这些行？"),
    "preview.will.quarantined": (
        "Active rows that go into quarantine: {n:,} of {of:,}",
        "将被隔离的有效行：{of:,} 行中的 {n:,} 行",
    ),
    "preview.will.active": (
        "Rows in quarantine that take part again: {n:,} of {of:,}",
        "将重新参与的已隔离行：{of:,} 行中的 {n:,} 行",
    ),
    "preview.rows": ("{n:,} rows", "{n:,} 行"),
    "preview.note.quarantined": (
        "These stored decisions were changed by the rows. The journal stays as it is; "
        "decisions to come are made without them.",
        "下列已存决策曾被这些行改变。日志保持不变；今后的决策将不再用到它们。",
    ),
    "preview.note.active": (
        "These stored decisions were changed by the rows. From now on they count again.",
        "下列已存决策曾被这些行改变。今后它们将重新起作用。",
    ),
    "preview.reason": ("Reason (kept in the history)", "原因（保存在历史中）"),
    "preview.confirm.quarantined": ("Quarantine {n:,} rows", "隔离 {n:,} 行"),
    "preview.confirm.active": ("Restore {n:,} rows", "恢复 {n:,} 行"),
    "preview.cancel": ("Cancel", "取消"),
    "mark.none": (
        "no row was selected; go back and tick some, or choose all that fit",
        "没有选择任何行；请返回勾选，或选择筛选出的全部",
    ),
    "mark.many": (
        "{n:,} rows are more than {most:,} at once; narrow the filter",
        "{n:,} 行超过一次的上限 {most:,}；请缩小筛选范围",
    ),
    "mark.unseen": (
        "the replay of these rows was not finished, so nothing was changed; go back and wait "
        "for its list",
        "这些行的重放尚未完成，因此未作更改；请返回等待列表",
    ),
    "marked.quarantined": ("In quarantine now: {n:,} rows", "现已隔离 {n:,} 行"),
    "marked.active": ("Taking part again: {n:,} rows", "重新参与的有 {n:,} 行"),
    "marked.turned": (
        "Stored decisions that they changed: {n:,}.",
        "曾被它们改变的已存决策：{n:,} 个。",
    ),
    "marked.on": ("Back to the memory", "回到记忆"),
    "marked.undo.quarantined": ("Restore them …", "恢复……"),
    "marked.undo.active": ("Quarantine them again …", "重新隔离……"),
}
