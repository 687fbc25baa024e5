"""`/v1/episodes`: start, decide, reward, report, close."""

# Annotations are evaluated when a route is made: they name what `router` makes.

import asyncio
from functools import partial
from typing import Annotated

from fastapi import APIRouter, Depends, Header, Path, Request, Response
from pydantic import BaseModel

from jitrl.ports import Receipt
from jitrl.service.bodies import (
    EPISODE_ID,
    Choice,
    Close,
    Decide,
    EpisodeOut,
    ReceiptOut,
    Report,
    Reward,
    Start,
    Took,
    Where,
)
from jitrl.service.calls import Answer, Call
from jitrl.service.ids import episode_id, episode_key
from jitrl.service.keys import Key
from jitrl.service.problems import responses
from jitrl.service.routes.direct import checked, directly, read
from jitrl.service.serving import Service
from jitrl.service.told_bodies import Ask, NotesOut
from jitrl.types import State

ID = Annotated[str, Path(pattern=EPISODE_ID, description="Id of an episode.")]
Once = Annotated[
    str | None,
    Header(
        alias="Idempotency-Key",
        min_length=1,
        max_length=200,
        pattern=r"^[!-~]+$",
        description="The same request with the same key is done once.",
    ),
]
_WRITES = (400, 401, 403, 405, 408, 413, 415, 422, 429, 500, 503)


class _At(BaseModel):
    id: ID


class _ToDecide(BaseModel):
    path: _At
    body: Decide


def router(service: "Service") -> APIRouter:
    """The routes."""
    routes = APIRouter(prefix="/v1/episodes", tags=["episodes"])
    access, metrics = service.access, service.metrics
    decider = Annotated[Key, Depends(access.of("decide"))]
    reporter = Annotated[Key, Depends(access.of("report:self", "report:trusted"))]
    looker = Annotated[Key, Depends(access.of("read", "decide"))]

    @routes.post(
        "",
        status_code=201,
        response_model=EpisodeOut,
        responses={
            200: {"model": EpisodeOut, "description": "It was started before under its key."},
            **responses(*_WRITES, 409),
        },
        summary="Start an episode, or find the one of this key.",
    )
    async def start(body: Start, caller: decider, response: Response) -> EpisodeOut:
        desk = await service.desk(caller.tenant)
        begin = partial(
            desk.episodes.start,
            body.task,
            scope=body.scope,
            key=body.key,
            principal=caller.name,
            goal=body.goal,
            family=body.family,
        )
        seat, noted = await service.done(begin), None
        if body.state is not None and seat.status == "running" and seat.steps == 0:
            ask = partial(desk.episodes.notes, seat.key, _state(body.state), body.actions)
            noted = await service.done(ask)
        response.status_code = 201 if seat.is_new else 200
        return EpisodeOut.of(seat, noted)

    @routes.get(
        "/{id:name}",
        response_model=EpisodeOut,
        responses=responses(401, 403, 404, 405, 422, 429, 500, 503),
        summary="An episode, running or stored.",
    )
    async def episode(id: ID, caller: looker) -> EpisodeOut:
        desk = await service.desk(caller.tenant)
        return EpisodeOut.of(await service.done(partial(desk.episodes.find, episode_key(id))))

    @routes.post(
        "/{id:name}/notes",
        response_model=NotesOut,
        responses=responses(*_WRITES, 404, 409),
        summary="The rules told at the next step, for the model's prompt.",
    )
    async def notes(id: ID, body: Ask, caller: decider) -> NotesOut:
        key, desk = episode_key(id), await service.desk(caller.tenant)
        state = _state(body.state)
        ask = partial(desk.episodes.notes, key, state, body.actions, step=body.step)
        return NotesOut.of(key, await service.done(ask))

    async def ask_to_decide(request: Request) -> Choice:
        said, caller = await read(request), access.key(request, "decide")
        asked = checked(_ToDecide, said)
        return await decide(asked.path.id, asked.body, caller)

    async def decide(id: ID, body: Decide, caller: decider) -> Choice:
        key, desk = episode_key(id), await service.desk(caller.tenant)
        call = desk.episodes.ask(
            key,
            _state(body.state),
            body.candidates,
            allowed=[*body.candidates, *body.more] if body.more else None,
            step=body.step,
            scorer=body.scorer,
            notes=body.notes,
            seen=body.seen,
        )
        answer = await _answered(call, desk.limits.deadline)
        made = Choice.of(key, answer, call)
        result = answer.degraded or ("memory" if made.changed else "model")
        metrics.decisions.labels(caller.tenant, result).inc()
        return made

    routes.add_api_route(
        "/{id:name}/decide",
        decide,
        methods=["POST"],
        response_model=Choice,
        responses=responses(*_WRITES, 404, 409),
        summary="Choose at the next step.",
        route_class_override=directly(ask_to_decide),
    )

    @routes.post(
        "/{id:name}/took",
        response_model=EpisodeOut,
        responses=responses(*_WRITES, 404, 409),
        summary="Say what was done in place of the action just decided.",
    )
    async def took(id: ID, body: Took, caller: decider) -> EpisodeOut:
        desk = await service.desk(caller.tenant)
        say = partial(desk.episodes.took, episode_key(id), body.action, step=body.step)
        return EpisodeOut.of(await service.done(say))

    @routes.post(
        "/{id:name}/steps",
        response_model=EpisodeOut,
        responses=responses(*_WRITES, 404, 409),
        summary="Reward the step just decided.",
    )
    async def reward(id: ID, body: Reward, caller: reporter, once: Once = None) -> EpisodeOut:
        desk = await service.desk(caller.tenant)
        add = partial(
            desk.episodes.reward,
            episode_key(id),
            body.reward,
            step=body.step,
            is_trusted=caller.may("report:trusted"),
            once=_once(caller, once),
        )
        return EpisodeOut.of(await service.done(add))

    @routes.post(
        "/{id:name}/outcomes",
        response_model=ReceiptOut,
        responses=responses(*_WRITES, 404, 409),
        summary="Tell, correct or withdraw how an episode ended; one that runs is closed.",
    )
    async def report(id: ID, body: Report, caller: reporter, once: Once = None) -> ReceiptOut:
        desk = await service.desk(caller.tenant)
        tell = partial(
            desk.outcome,
            episode_key(id),
            body.value,
            basis=body.basis,
            evaluator=body.evaluator,
            told=body.told,
            principal=caller.name,
            is_trusted=caller.may("report:trusted"),
            once=_once(caller, once),
        )
        receipt = await service.judged(caller.tenant, tell)
        metrics.outcomes.labels(caller.tenant, body.basis).inc()
        return _receipt(receipt)

    @routes.post(
        "/{id:name}/close",
        response_model=ReceiptOut,
        responses=responses(*_WRITES, 404, 409),
        summary="End an episode; its outcome may come later.",
    )
    async def close(id: ID, caller: decider, body: Close | None = None) -> ReceiptOut:
        desk = await service.desk(caller.tenant)
        status = (body or Close()).status
        end = partial(desk.episodes.close, episode_key(id), status=status)
        return _receipt(await service.judged(caller.tenant, end))

    return routes


def _once(caller: Key, once: str | None) -> str:
    """An idempotency key of a caller; "" if there is none."""
    return "" if once is None else f"{caller.id}/{once}"


def _state(given: str | Where) -> State:
    if isinstance(given, str):
        return State(given)
    return State(given.text, given.context, given.place)


async def _answered(call: Call, seconds: float) -> Answer:
    """The answer, at the latest after so many seconds."""
    future = asyncio.wrap_future(call.future)
    try:
        async with asyncio.timeout(seconds):
            return await asyncio.shield(future)
    except TimeoutError:
        return call.give_up()


def _receipt(receipt: Receipt) -> ReceiptOut:
    return ReceiptOut.model_construct(
        episode=episode_id(receipt.key),
        version=receipt.version,
        rows=receipt.rows,
        duplicate=receipt.duplicate,
    )
