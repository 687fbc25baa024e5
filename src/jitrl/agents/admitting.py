"""What an episode teaches once it is judged, and what admission objects to."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import replace
from typing import TYPE_CHECKING, NamedTuple

from jitrl.core.admission import Known, may_assert, objection
from jitrl.errors import NotAllowed
from jitrl.types import Episode, Judgment, Outcome, Row, Scored

if TYPE_CHECKING:
    from jitrl.agents.corrected import Corrected

_HOUR = 3600.0  # seconds


class Judged(NamedTuple):
    """A judgment, the rows it gives, and why these start in quarantine ("" if they do not)."""

    judgment: Judgment
    rows: tuple[Row, ...]
    objection: str = ""


def judged(agent: Corrected, episode: Episode, is_new: bool) -> Judged:
    """Judge an episode, and derive its rows; where there is an objection, for quarantine.

    The reason is noted in the judgment, under ``admission``.
    """
    with agent.judging():
        judgment = agent.evaluator.judge(episode)
    judgment = _as_asserted(agent, episode, judgment)
    rows = agent.derive(episode, judgment)
    why = objection(rows, agent.trusted, agent.admission, _known(agent, episode, rows, is_new))
    if why and isinstance(judgment, Scored):
        judgment = replace(judgment, info={**judgment.info, "admission": why})
        rows = tuple(replace(row, status="quarantined") for row in rows)
    return Judged(judgment, rows, why)


def check_assertion(agent: Corrected, said: Outcome | None) -> None:
    """Refuse a trusted basis from a principal who may not assert one.

    Raises:
        NotAllowed: With who may.
    """
    if said is None or may_assert(said.principal, said.basis, agent.trusted, agent.admission):
        return
    known = ", ".join(sorted(agent.admission.asserting or ())) or "nobody"
    raise NotAllowed(
        f"principal {said.principal!r} may not say that an outcome rests on {said.basis!r}; "
        f"that may {known} (admission.asserting). Tell it with basis='user_feedback' or "
        "'agent_self_report'"
    )


def _as_asserted(agent: Corrected, episode: Episode, judgment: Judgment) -> Judgment:
    """The judgment, without a trusted basis that rests on the word of somebody who has none."""
    if not (isinstance(judgment, Scored) and getattr(agent.evaluator, "relays", False)):
        return judgment
    who = episode.outcome.principal if episode.outcome else episode.principal
    if may_assert(who, judgment.basis, agent.trusted, agent.admission):
        return judgment
    return replace(judgment, basis="agent_self_report")


def _known(agent: Corrected, episode: Episode, rows: Collection[Row], is_new: bool) -> Known:
    """What admission has to know, and no more than that: it takes time."""
    limits, recent, reach = agent.admission, 0, 0.0
    first = next(iter(rows), None)
    if first is not None and is_new and limits.rate is not None:
        versions = agent.store.versions  # type: ignore[attr-defined]
        recent = versions.learned(first.principal, episode.finished - _HOUR, int(limits.rate))
    if first is not None and limits.anomaly is not None and first.basis not in agent.trusted:
        view = agent.view(episode.scope)
        view.refresh()
        reach = view.borne_out
    return Known(recent, reach)
