"""What ails a place: the doctor's findings, each with what was measured and one remedy."""

from __future__ import annotations

from typing import Any

from jitrl.analysis.doctor import OF_RULES, examine
from jitrl.analysis.doctor.finding import Finding
from jitrl.analysis.doctor.load import load
from jitrl.report.ailments import LANGUAGES
from jitrl.report.ailments.words import Ailment, evidence
from jitrl.report.ailments.words import ailment as named
from jitrl.service.pages.asking import Asked, Shown
from jitrl.service.pages.places import Place


def view(asked: Asked) -> Shown:
    """The page; examining a large memory takes a while."""
    place, base = asked.place, _static(asked)

    def work(tell: Any) -> tuple[bool, dict[str, Finding]]:
        paths = [place.path, *([base.path] if base else [])]
        case = load(paths, place.file(None)[1], place.memory)[0]
        return case.has_rules, examine(case)

    job = asked.later("doctor", work)
    values: dict[str, Any] = {
        "job": job,
        "against": base,
        "groups": {},
        "copied": LANGUAGES[asked.lang],
    }
    if job.is_over and not job.error:
        has_rules, findings = job.result
        values["groups"] = _grouped(asked, findings, has_rules)
    return Shown("doctor.html", values)


def _static(asked: Asked) -> Place | None:
    """The run without memory that this one is held against, if the shelf has one."""
    own = asked.place.record()
    if own is None or own.settings["run"]["agent"] == "static":
        return None
    for other in asked.viewer.shelf.runs():
        record = other.record()
        if record is not None and record.settings["run"]["agent"] == "static":
            return other
    return None


def _grouped(
    asked: Asked, findings: dict[str, Finding], has_rules: bool
) -> dict[str, list[tuple[str, str, Finding, str, Ailment | None]]]:
    """Status to name, title, finding, what was measured, and what ails."""
    words = LANGUAGES[asked.lang]
    found: dict[str, list[tuple[str, str, Finding, str, Ailment | None]]] = {
        "finding": [],
        "fine": [],
        "unknown": [],
    }
    for name, finding in findings.items():
        if name in OF_RULES and not has_rules:
            continue
        is_known = finding.status != "unknown"
        said = evidence(words, name, finding) if is_known else words.unknown.format(n=finding.n)
        found[finding.status].append(
            (name, words.checks[name].title, finding, said, named(words, name, finding))
        )
    return found
