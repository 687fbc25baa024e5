"""A proxy for agents in any language: a provider's chat completions and responses, decided.

A client changes its base address and sends a header:

    X-JitRL-Episode: KEY     the run that a request belongs to; a request without it goes through
    X-JitRL-Task: TEXT       the kind of thing that the run is at; if it is not sent, the words of
                             the user with their numbers, dates and addresses masked
    X-JitRL-Scope: TEXT      episodes of one scope learn from each other

How a run ended is told by ``POST /jitrl/episodes/KEY/outcome``. It is over then: what comes under
its key later is answered by the model alone. What is no ASCII is ``quote``d as
in an address. Every other request goes to the provider as it is.
"""

from __future__ import annotations

import asyncio
import json
import logging
import re
from collections.abc import AsyncIterator, Collection, Mapping
from contextlib import asynccontextmanager, suppress
from typing import Any, cast
from urllib.parse import unquote

from jitrl.errors import ConfigError, InputError, JitRLError, MissingExtra, StoreError
from jitrl.integrations import chat, responses
from jitrl.integrations.guide import Guide, GuidedEpisode
from jitrl.integrations.interface import Interface
from jitrl.service.guard import Bodies
from jitrl.service.proxied import UnderWay
from jitrl.types import BASES, Basis

try:
    import httpx
    from fastapi import FastAPI, Request
    from fastapi.responses import JSONResponse, Response, StreamingResponse
    from starlette.concurrency import run_in_threadpool
    from starlette.requests import ClientDisconnect
    from starlette.types import Send
except ImportError as error:
    raise MissingExtra("the proxy needs fastapi: pip install 'jitrl[server]'") from error

_log = logging.getLogger(__name__)

SELF_SAID: frozenset[Basis] = frozenset({"agent_self_report", "user_feedback", "llm_judge"})
"""Bases that any caller may give: those that are not trusted."""

_HOP = frozenset(
    {
        "connection",
        "content-encoding",
        "content-length",
        "host",
        "keep-alive",
        "proxy-authorization",
        "te",
        "trailer",
        "transfer-encoding",
        "upgrade",
        "accept-encoding",
    }
)
_KEPT_BACK = _HOP - {"content-encoding"}  # of requests, which nobody decodes here
_OWN = frozenset({"date", "server"})  # of answers; the server of the proxy writes them, too
_COOKIE = "set-cookie"  # may come several times, and must not be joined
_ARRIVAL = 60.0  # seconds for the body of an outcome
_CONTROL = re.compile(r"[\x00-\x08\x0a-\x1f\x7f]")  # what no header may have
_GONE = 499  # whoever asked hung up; nobody reads it


def app(
    guide: Guide,
    upstream: str,
    *,
    accept: Collection[Basis] = SELF_SAID,
    idle: float = 3600.0,
    most: int = 10_000,
    largest: int = 20_000_000,
    timeout: float = 600.0,
    transport: httpx.AsyncBaseTransport | None = None,
) -> FastAPI:
    """The proxy as an ASGI application.

    Args:
        upstream: Address of the provider, as a client's ``base_url``: ``https://host/v1``.
        accept: Bases that callers may give for an outcome.
        idle: Seconds after which an episode is kept without an outcome.
        most: Episodes at once.
        largest: Bytes of a request that may be decided; a larger one goes through as it comes.
        timeout: Seconds that the provider may take.
        transport: How the provider is reached, for tests.

    Raises:
        ConfigError: If the address or a basis cannot be used.
    """
    base = upstream.rstrip("/")
    if not base.startswith(("http://", "https://")):
        raise ConfigError(f"upstream is {upstream!r}; it must begin with http:// or https://")
    if unknown := sorted(set(accept) - set(BASES)):
        raise ConfigError(f"basis {unknown[0]!r} is not known; there are {', '.join(BASES)}")
    running = UnderWay(guide, idle=idle, most=most)
    limits = httpx.Limits()  # none: agents wait for their models side by side
    provider = httpx.AsyncClient(timeout=timeout, transport=transport, limits=limits)

    @asynccontextmanager
    async def life(_: FastAPI) -> AsyncIterator[None]:
        yield
        await run_in_threadpool(running.close)
        await provider.aclose()

    made = FastAPI(title="jitrl proxy", lifespan=life, docs_url=None, redoc_url=None)

    async def sent(request: Request, body: bytes | AsyncIterator[bytes]) -> httpx.Response:
        headers = [
            (k, v.strip())  # a value that ends with blanks may not be sent
            for k, v in request.headers.raw
            if k.decode("latin-1") not in _KEPT_BACK and not k.startswith(b"x-jitrl-")
        ]
        if not isinstance(body, bytes) and (length := request.headers.get("content-length")):
            headers.append((b"content-length", length.encode()))
        raw = request.scope.get("raw_path") or request.url.path.encode()  # as it was sent
        path = raw.partition(b"?")[0].decode("ascii", "replace").removeprefix("/v1")
        address = f"{base}{path}" + (f"?{request.url.query}" if request.url.query else "")
        out = provider.build_request(request.method, address, headers=headers, content=body)
        return await provider.send(out, stream=True)

    async def passed(request: Request, body: bytes | AsyncIterator[bytes]) -> Response:
        """The provider's answer as it comes."""
        answer = await sent(request, body)
        made = _Passed(_bytes(answer), status_code=answer.status_code, headers=_headers(answer))
        for cookie in answer.headers.get_list(_COOKIE):
            made.headers.append(_COOKIE, cookie)
        return made

    async def begun(
        request: Request, key: str, asked: Mapping[str, Any], interface: Interface
    ) -> GuidedEpisode | InputError:
        """The episode that a request belongs to, or why there is none."""
        scope = request.headers.get("x-jitrl-scope")
        text = _text(asked, interface)
        task = unquote(request.headers.get("x-jitrl-task", "")) or (None if text else key)
        try:
            return await running.at(key, text, task, None if scope is None else unquote(scope))
        except InputError as error:
            running.refused(key, error)
            return error

    async def decided(request: Request, interface: Interface) -> Response:
        """An answer whose choice of a tool is decided."""
        key = unquote(request.headers.get("x-jitrl-episode", ""))
        body = await _read(request, largest) if key else _coming(request)
        asked = _object(body) if isinstance(body, bytes) else None
        if not isinstance(body, bytes) or asked is None or not interface.is_open(asked):
            return await passed(request, body)
        shown, episode = asked, None
        if guide.memory.book is not None and interface.takes_notes(asked):
            # Rules stand in the request, so the episode begins before it is sent.
            episode = early = await begun(request, key, asked, interface)
            if isinstance(early, GuidedEpisode):
                notes = await run_in_threadpool(
                    early.notes, lambda: interface.asked(asked, early.seen)
                )
                shown = interface.told(asked, notes) if notes else asked
        whole = interface.whole(shown)
        answer = await sent(request, body if whole == asked else _written(whole))
        raw = await answer.aread()
        first = _object(raw)
        if answer.status_code != 200 or first is None:
            return Response(raw, answer.status_code, _headers(answer))
        episode = episode or await begun(request, key, asked, interface)
        if isinstance(episode, InputError):
            said = {**_about(answer), "x-jitrl-degraded": "1"}
            return _answered(first, raw, asked, interface, said)
        choice = await run_in_threadpool(
            episode.choose, lambda: interface.turn(asked, first, episode.seen)
        )
        made_of, failed = first, bool(episode.degraded) and not choice.decision
        if choice.turned:
            with episode.extra_call(choice) as extra:
                again = await sent(request, _written(interface.forced(shown, choice)))
                second = _object(await again.aread())
                if again.status_code != 200 or second is None:
                    raise ValueError(f"the provider answered {again.status_code}")
                if extra.answered(interface.calls(second)):
                    made_of = interface.merged(first, second, extra)
            failed = bool(extra.failed)
        episode.note(lambda seen: interface.see(seen, asked, made_of))
        said = _about(answer)
        if choice.decision.isascii() and choice.decision.isprintable():
            said["x-jitrl-decision"] = choice.decision
        said["x-jitrl-changed"] = str(int(made_of is not first))
        if failed:
            said["x-jitrl-degraded"] = "1"
        given = raw if made_of is first else _written(made_of)
        return _answered(made_of, given, asked, interface, said)

    @made.post("/v1/chat/completions")
    async def completions(request: Request) -> Response:
        return await decided(request, chat)

    @made.post("/v1/responses")
    async def responded(request: Request) -> Response:
        return await decided(request, responses)

    @made.post("/jitrl/episodes/{key:path}/outcome")
    async def outcome(key: str, request: Request) -> Response:
        told = _object(await request.body())
        if told is None or "outcome" not in told:
            return _problem(400, 'the body must be a JSON object with "outcome"')
        basis = told.get("basis", "agent_self_report")
        if not isinstance(basis, str):
            return _problem(400, f'"basis" is {basis!r}; it must be a text')
        basis = cast(Basis, basis)
        if basis not in accept:
            return _problem(403, f"basis {basis!r} is not accepted here; {sorted(accept)} are")
        try:
            episode = await running.get(key)
            if episode is not None and episode.is_stored_here:
                receipt = await run_in_threadpool(episode.finish, told["outcome"], basis=basis)
                if receipt is None:  # it goes on, so that its outcome may be told again
                    return _problem(503, f"{episode.degraded}; tell the outcome again")
                running.drop(key)
            else:
                receipt = await run_in_threadpool(
                    lambda: guide.memory.outcome(key, told["outcome"], basis=basis)
                )
        except InputError as error:
            return _problem(400, str(error))
        except StoreError as error:
            return _problem(404, str(error))
        except JitRLError as error:
            return _problem(500, str(error))
        return JSONResponse({"episode": key, "rows": receipt.rows if receipt else 0})

    @made.get("/jitrl/health")
    async def health() -> Response:
        return JSONResponse({"status": "ok", "upstream": base})

    methods = ["GET", "HEAD", "OPTIONS", "POST", "PUT", "PATCH", "DELETE"]

    @made.api_route("/v1/{path:path}", methods=methods)
    async def others(path: str, request: Request) -> Response:
        return await passed(request, _coming(request))

    @made.exception_handler(httpx.HTTPError)
    async def unanswered(_: Request, error: httpx.HTTPError) -> Response:
        return _problem(502, f"{base} does not answer: {type(error).__name__}: {error}")

    @made.exception_handler(ClientDisconnect)
    async def left(_: Request, __: ClientDisconnect) -> Response:
        return Response(status_code=_GONE)

    made.add_middleware(
        Bodies, largest=largest, seconds=_ARRIVAL, refuse=_problem, within="/jitrl/"
    )
    return made


def _object(body: bytes) -> dict[str, Any] | None:
    try:
        found = json.loads(body)
    except (ValueError, RecursionError):
        return None
    return found if isinstance(found, dict) else None


def _written(value: Mapping[str, Any]) -> bytes:
    """JSON in ASCII, as there may be half of a surrogate pair in it, which no other form has."""
    return json.dumps(value).encode()


def _coming(request: Request) -> bytes | AsyncIterator[bytes]:
    """The body of a request as it comes, if it has one."""
    has_body = "content-length" in request.headers or "transfer-encoding" in request.headers
    return request.stream() if has_body else b""


async def _read(request: Request, largest: int) -> bytes | AsyncIterator[bytes]:
    """The body of a request; as it comes where it has more bytes than may be looked at."""
    parts, size, coming = list[bytes](), 0, request.stream()
    async for part in coming:
        parts.append(part)
        size += len(part)
        if size > largest:
            _log.warning("degraded: a request has more than %d bytes and goes through", largest)
            return _chained(parts, coming)
    return b"".join(parts)


async def _chained(parts: list[bytes], rest: AsyncIterator[bytes]) -> AsyncIterator[bytes]:
    for part in parts:
        yield part
    async for part in rest:
        yield part


def _text(asked: Mapping[str, Any], interface: Interface) -> str:
    """The first words of the user; "" if there are none."""
    try:
        said = next((m.text for m in interface.messages(asked) if m.role == "user"), "")
    except (KeyError, TypeError, AttributeError):  # the provider took what cannot be read here
        return ""
    return said.strip()


def _headers(answer: httpx.Response) -> dict[str, str]:
    """Headers of an answer, byte for byte; what came several times is joined."""
    kept = dict[str, str]()
    for raw_name, raw_value in answer.headers.raw:
        name, value = raw_name.decode("latin-1").lower(), raw_value.decode("latin-1")
        if name not in _HOP | _OWN | {_COOKIE} and not _CONTROL.search(value):
            kept[name] = f"{kept[name]}, {value}" if name in kept else value
    return kept


def _about(answer: httpx.Response) -> dict[str, str]:
    """What the provider says beside an answer: its id, limits of rates, and the like."""
    return {k: v for k, v in _headers(answer).items() if k != "content-type"}


async def _bytes(answer: httpx.Response) -> AsyncIterator[bytes]:
    try:
        async for piece in answer.aiter_bytes():
            yield piece
    finally:
        await asyncio.shield(answer.aclose())


class _Passed(StreamingResponse):
    """An answer as it comes; one that breaks off is broken off, so that nobody takes it for whole.

    It is a subclass because what comes after the first byte is nobody else's to handle.
    """

    async def stream_response(self, send: Send) -> None:
        """Send it on."""
        try:
            await super().stream_response(send)
        except httpx.HTTPError as error:
            _log.warning("the provider broke off its answer: %s: %s", type(error).__name__, error)


def _answered(
    answer: Mapping[str, Any],
    raw: bytes,
    asked: Mapping[str, Any],
    interface: Interface,
    headers: dict[str, str],
) -> Response:
    """The answer whole, as ``raw``, or as a stream if that was asked for and can be made of it."""
    if asked.get("stream"):
        with suppress(LookupError, TypeError, AttributeError):  # it is no answer that can be read
            text = interface.written(answer, asked)
            return Response(text, headers=headers, media_type="text/event-stream")
    return Response(raw, headers=headers, media_type="application/json")


def _problem(status: int, detail: str) -> Response:
    """An error of the proxy itself, in the form of the provider's."""
    return JSONResponse({"error": {"message": detail, "type": "jitrl_proxy"}}, status)
