"""Rows of a memory: filters, one row with its lineage, and taking rows back or in again."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, Literal, get_args

from jitrl.analysis.influence import Changed, influence
from jitrl.errors import InputError
from jitrl.service.pages.asking import Asked, Shown, row_ids
from jitrl.stores.paging import Wanted
from jitrl.types import BASES, RowStatus

PAGE = 50
MOST = 50_000
"""Rows that are taken back at once, at most."""

STATUSES: tuple[str, ...] = get_args(RowStatus)
Mark = Literal["active", "quarantined"]


def wanted(asked: Asked) -> Wanted:
    """The filter that an address holds.

    Raises:
        InputError: If a status or basis does not exist.
    """
    status, basis = asked.text("status"), asked.text("basis")
    for name, value, known in (("status", status, STATUSES), ("basis", basis, BASES)):
        if value and value not in known:
            raise InputError(f"{name} is {value!r}; it must be one of {', '.join(known)}")
    return Wanted(
        status=status or None,  # type: ignore[arg-type]
        basis=basis or None,  # type: ignore[arg-type]
        scope=asked.text("scope") or None,
        evaluator=asked.text("evaluator"),
        task=asked.text("task"),
        episode=asked.text("episode"),
        source=asked.text("source"),
        text=asked.text("text"),
    )


def listing(asked: Asked) -> Shown:
    """Rows by filter, the newest first, a page at a time."""
    filters = wanted(asked)
    with asked.place.reading(asked.seed) as opened:
        paging = opened.paging
        page = paging.rows(filters, before=asked.whole("before"), limit=PAGE)
        values = {
            "items": page.items,
            "onward": page.onward,
            "wanted": filters,
            "counts": paging.counts(filters),
            "all": paging.counts(Wanted()),
            "statuses": STATUSES,
            "bases": paging.values("basis"),
            "scopes": paging.values("scope"),
            "evaluators": paging.values("evaluator"),
            "is_filtered": filters != Wanted(),
            "head": opened.store.head(),
        }
    return Shown("memory.html", values)


def one(asked: Asked) -> Shown:
    """A row: what it holds, where it comes from, and what rests on it."""
    id = asked.whole("id")
    with asked.place.reading(asked.seed) as opened:
        found = opened.paging.rows(Wanted(ids=(id,)), limit=1).items
        if not found:
            raise InputError(f"this memory has no row {id}")
        row = found[0]
        record = opened.store.record(row.episode)
        same = [r for r in opened.store.rows(row.episode) if r.step == row.step]
        contrasts = {
            c.id
            for c in opened.store.contrasts(scope=row.scope)
            if row.episode in (*c.good, *c.bad)
        }
        rules = [
            rule
            for rule in opened.store.rules(scope=row.scope)
            if contrasts.intersection(rule.evidence)
        ]
        values = {
            "row": row,
            "record": record,
            "history": opened.paging.history(row.id),
            "others": [r for r in same if r.id != row.id],
            "rules": rules,
            "cell": opened.paging.counts(replace(Wanted(), source=row.source)),
        }
    return Shown("row.html", values)


def influenced(asked: Asked) -> Shown:
    """The decisions that a row changed."""
    id = asked.whole("id")
    job = _replayed(asked, (id,))
    return Shown("influence_part.html", {"job": job, "id": id}, is_part=True)


def preview(asked: Asked) -> Shown:
    """What quarantining or restoring would touch: the stored decisions that fall otherwise."""
    mark, rows = _chosen(asked)
    job = asked.later(
        f"mark {mark} {','.join(map(str, rows))}", lambda tell: _influence(asked, rows, tell)
    )
    with asked.place.reading(asked.seed) as opened:
        counts = opened.paging.counts(Wanted(ids=rows))
        head = opened.store.head()
    will = counts["quarantined" if mark == "active" else "active"]
    values = {"job": job, "mark": mark, "rows": rows, "counts": counts, "will": will, "head": head}
    return Shown("preview.html", values)


def awaited(asked: Asked) -> Shown:
    """The part of the preview that waits for the replay."""
    job = asked.jobs.find(asked.viewer.secret, asked.text("job"))
    mark = job.about["what"].split(" ")[1]
    return Shown("changed_part.html", {"job": job, "mark": mark}, is_part=True)


def apply(asked: Asked) -> Shown:
    """Quarantine or restore rows whose replay was seen.

    Raises:
        InputError: If it was not, or the memory changed since.
    """
    mark, rows = _chosen(asked)
    job = asked.jobs.find(asked.viewer.secret, _posted(asked, "job"))
    if (
        not job.is_over
        or job.error
        or job.about["what"] != f"mark {mark} {','.join(map(str, rows))}"
    ):
        raise InputError(asked.words("mark.unseen"))
    with asked.place.writing(asked.seed) as store:
        changed = store.set_status(
            mark,
            rows=rows,
            reason=_posted(asked, "reason")[:500],
            principal=asked.viewer.principal,
        )
    values = {"mark": mark, "changed": changed, "rows": rows, "turned": job.result}
    return Shown("marked.html", values)


def cancel(asked: Asked) -> Shown:
    """Give up a replay that still goes on; nothing was changed by it."""
    asked.jobs.drop(asked.viewer.secret, _posted(asked, "job"))
    return Shown("cancelled.html", {})


def _chosen(asked: Asked) -> tuple[Mark, tuple[int, ...]]:
    """What was posted: the status that rows shall have, and the rows.

    Raises:
        InputError: If nothing was chosen, or too much.
    """
    mark = _posted(asked, "mark")
    if mark not in ("active", "quarantined"):
        raise InputError(f"mark is {mark!r}; it must be 'active' or 'quarantined'")
    if _posted(asked, "all"):
        with asked.place.reading(asked.seed) as opened:
            status: RowStatus = "quarantined" if mark == "active" else "active"
            rows = opened.paging.ids(replace(wanted(asked), status=status))
    else:
        rows = row_ids(",".join(asked.form.get("row", [])))
    if not rows:
        raise InputError(asked.words("mark.none"))
    if len(rows) > MOST:
        raise InputError(asked.words("mark.many", n=len(rows), most=MOST))
    return mark, rows  # type: ignore[return-value]


def _posted(asked: Asked, name: str) -> str:
    return asked.form.get(name, [""])[0]


def _replayed(asked: Asked, rows: tuple[int, ...]) -> Any:
    return asked.later(
        f"influence {','.join(map(str, rows))}", lambda tell: _influence(asked, rows, tell)
    )


def _influence(asked: Asked, rows: tuple[int, ...], tell: Any) -> tuple[Changed, ...]:
    with asked.place.reading(asked.seed) as opened:
        return influence(opened.agent(), opened.store, rows, tell=tell)
