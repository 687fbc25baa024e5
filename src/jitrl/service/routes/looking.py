"""`/v1/decisions`, `/v1/memory`, `/v1/rules`: look, take out, let in again."""

# Annotations are evaluated when a route is made: they name what `router` makes.

from functools import partial
from typing import Annotated, Literal

from fastapi import APIRouter, Depends, Path, Query

from jitrl.service.bodies import (
    DECISION_ID,
    EPISODE_ID,
    Marked,
    RowOut,
    RowsOut,
    Why,
)
from jitrl.service.desk import Desk
from jitrl.service.errors import Unknown
from jitrl.service.ids import decision_place, episode_key, is_episode
from jitrl.service.keys import Key
from jitrl.service.problems import responses
from jitrl.service.serving import Service
from jitrl.service.told_bodies import DecisionOut, RuleOut, RulesOut
from jitrl.types import RowStatus, RuleStatus

_LARGEST = 2**63 - 1
_Row = Annotated[int, Path(ge=1, le=_LARGEST, description="Id of a row.")]
_Episode = Annotated[str, Path(pattern=EPISODE_ID, description="Id of an episode.")]
_READS = (401, 403, 405, 422, 429, 500, 503)
_WRITES = (400, 401, 403, 404, 405, 408, 409, 413, 415, 422, 429, 500, 503)


def router(service: "Service") -> APIRouter:
    """The routes."""
    routes = APIRouter(prefix="/v1")
    access = service.access
    reader = Annotated[Key, Depends(access.of("read"))]
    curator = Annotated[Key, Depends(access.of("curate"))]

    @routes.get(
        "/decisions/{id}",
        tags=["decisions"],
        response_model=DecisionOut,
        responses=responses(*_READS, 404),
        summary="A decision with every number that made it.",
    )
    async def decision(
        id: Annotated[str, Path(pattern=DECISION_ID, description="EPISODE:STEP")], caller: reader
    ) -> DecisionOut:
        key, step = decision_place(id)
        desk = await service.desk(caller.tenant)
        return await service.done(partial(DecisionOut.of, desk, key, step))

    @routes.get(
        "/memory",
        tags=["memory"],
        response_model=RowsOut,
        responses=responses(*_READS),
        summary="Rows of the memory, the newest first.",
    )
    async def rows(
        caller: reader,
        limit: Annotated[int, Query(ge=1, le=500)] = 100,
        before: Annotated[
            int | None, Query(ge=1, le=_LARGEST, description="Rows of a smaller id.")
        ] = None,
        scope: Annotated[str | None, Query(max_length=10_000)] = None,
        status: Annotated[RowStatus | None, Query()] = None,
        episode: Annotated[str | None, Query(pattern=EPISODE_ID)] = None,
    ) -> RowsOut:
        desk = await service.desk(caller.tenant)
        if episode is not None and not is_episode(episode):
            return RowsOut.model_construct(rows=[], next=None)
        find = partial(
            desk.rows,
            before=before,
            limit=limit,
            scope=scope,
            status=status,
            episode=None if episode is None else episode_key(episode),
        )
        found = await service.done(find)
        last = found[-1].id if len(found) == limit else None
        return RowsOut.model_construct(rows=[RowOut.of(row) for row in found], next=last)

    @routes.get(
        "/memory/{row:int}",
        tags=["memory"],
        response_model=RowOut,
        responses=responses(*_READS, 404),
        summary="A row of the memory.",
    )
    async def row(row: _Row, caller: reader) -> RowOut:
        desk = await service.desk(caller.tenant)
        found = await service.done(partial(desk.lookup.row, row))
        if found is None:
            raise Unknown(f"there is no row {row}")
        return RowOut.of(found)

    async def mark(
        caller: Key,
        status: Literal["active", "quarantined"],
        why: Why | None,
        *,
        row: int | None = None,
        episode: str | None = None,
    ) -> Marked:
        desk = await service.desk(caller.tenant)
        reason = "" if why is None else why.reason
        act = partial(_mark, desk, status, row, episode, reason, caller.name)
        return await service.done(act)

    @routes.post(
        "/memory/{row:int}:quarantine",
        tags=["memory"],
        response_model=Marked,
        responses=responses(*_WRITES),
        summary="Keep a row out of every decision until restored.",
    )
    async def quarantine_row(row: _Row, caller: curator, body: Why | None = None) -> Marked:
        return await mark(caller, "quarantined", body, row=row)

    @routes.post(
        "/episodes/{id:name}:quarantine",
        tags=["memory"],
        response_model=Marked,
        responses=responses(*_WRITES),
        summary="Keep a stored episode out of every decision until restored.",
    )
    async def quarantine_episode(id: _Episode, caller: curator, body: Why | None = None) -> Marked:
        return await mark(caller, "quarantined", body, episode=episode_key(id))

    @routes.post(
        "/memory/{row:int}:restore",
        tags=["memory"],
        response_model=Marked,
        responses=responses(*_WRITES),
        summary="Let a row take part again.",
    )
    async def restore_row(row: _Row, caller: curator, body: Why | None = None) -> Marked:
        return await mark(caller, "active", body, row=row)

    @routes.post(
        "/episodes/{id:name}:restore",
        tags=["memory"],
        response_model=Marked,
        responses=responses(*_WRITES),
        summary="Let a stored episode take part again.",
    )
    async def restore_episode(id: _Episode, caller: curator, body: Why | None = None) -> Marked:
        return await mark(caller, "active", body, episode=episode_key(id))

    @routes.get(
        "/rules",
        tags=["rules"],
        response_model=RulesOut,
        responses=responses(*_READS),
        summary="Rules in words with their effects, in the order they came.",
    )
    async def rules(
        caller: reader,
        scope: Annotated[str | None, Query(max_length=10_000)] = None,
        status: Annotated[RuleStatus | None, Query()] = None,
    ) -> RulesOut:
        desk = await service.desk(caller.tenant)
        found = await service.done(partial(desk.rules, scope=scope, status=status))
        return RulesOut.model_construct(rules=[RuleOut.of(*one) for one in found])

    return routes


def _mark(
    desk: Desk,
    status: Literal["active", "quarantined"],
    row: int | None,
    episode: str | None,
    reason: str,
    principal: str,
) -> Marked:
    changed = desk.mark(status, row=row, episode=episode, reason=reason, principal=principal)
    return Marked.model_construct(status=status, changed=changed, version=desk.lookup.head())
