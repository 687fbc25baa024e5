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
from jitrl.service.pages.foreign import apart, shown
from jitrl.service.pages.places import Place
from jitrl.service.pages.words import Sentence


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
        said = words.unknown.format(n=finding.n)
        if is_known:
            said = Sentence(evidence(words, name, finding, foreign))
        ails = named(words, name, finding, foreign)
        if ails is not None:
            ails = Ailment(Sentence(ails.claim), Sentence(ails.remedy))
        found[finding.status].append((name, words.checks[name].title, finding, said, ails))
    return found


def foreign(text: str, form: str) -> str:
    """A name turns nothing beside it; a command is to be copied, so that nothing is added."""
    return shown(text) if form == "sh" else apart(text)
