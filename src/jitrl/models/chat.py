"""Model ``openai``: any server that speaks the OpenAI protocol, through the ``openai`` SDK."""

from __future__ import annotations

import importlib
import json
import math
import os
from collections.abc import Mapping
from functools import partial
from pathlib import Path
from typing import Any, Literal
from urllib.parse import urlsplit

import msgspec

from jitrl.errors import ConfigError, MissingExtra, ModelError
from jitrl.models.calls import Answer, Continue, Meter, Rate, Rejected, Request, Transient, Write
from jitrl.models.calls import estimate as estimated
from jitrl.models.channel import Retry
from jitrl.models.deadline import within
from jitrl.models.prompts import Language, Style
from jitrl.models.proposer import ScoringProposer, require
from jitrl.models.scorers import Length, Letters, Scorer, ScorerName, Sequence
from jitrl.models.stated import Sampling, Single, Verbalized
from jitrl.models.writer import ChannelWriter

_OPENAI = "https://api.openai.com/v1"
_REFUSED = frozenset({400, 404, 405, 415, 422, 501})
_PASSING = frozenset({408, 409, 425, 429})
_UNKNOWN = -9999.0  # what the protocol writes for a log-probability that is not known
_SHOWN = 300


class OpenAIChat(ScoringProposer):
    """A proposer around a model behind an OpenAI-compatible server.

    Args:
        model: Its name at the server.
        base_url: Where the server is; ``OPENAI_BASE_URL`` or OpenAI itself if not given.
        key_variable: Environment variable that holds the key. Only OpenAI itself needs one.
        scorer: ``letters`` (log-probabilities in a chat), ``sequence`` (needs a server that honors
            ``echo``), ``verbalized``, ``sampling``, ``single``, or ``auto``: the first of
            ``scorers`` that works.
        scorers: The list for ``auto``, in order of preference.
        length: Of ``sequence``: ``sum`` or ``mean`` of an action's token log-probabilities.
        permutations: Of ``letters``: orders of the list that are asked, one call each.
        samples, sample_temperature, smoothing: Of ``sampling``: draws, their temperature, and the
            Dirichlet prior in draws per action.
        p0: Of ``single``: probability of the model's own choice.
        json_schema: Of ``verbalized``, ``sampling`` and ``single``: give the server a strict JSON
            schema; off for a server that refuses one.
        proposals: Of ``verbalized``: most actions the model proposes where none are given.
        parameters: Entries of the request body to add or replace.
        omit: Entries to leave out: reasoning models take no ``temperature`` and no ``max_tokens``.
        temperature: Prior temperature: z is divided by it.
        calibrate: Subtract the logits under a content-free goal (``letters``, ``sequence``).
        language: Words of the prompt; ``auto`` looks at the goal.
        history: How many of the latest actions the model is shown.
        deadline, tries: Seconds and tries that one question may take, waits included.
        cache, replay: File of answers to use, or to answer from alone.
        meter: Counts calls and holds the budget.

    Raises:
        ConfigError: If a setting is impossible or OpenAI's key is missing.
        MissingExtra: If the ``openai`` package is missing.
    """

    def __init__(
        self,
        model: str,
        *,
        base_url: str = "",
        key_variable: str = "OPENAI_API_KEY",
        scorer: ScorerName | Literal["auto"] = "verbalized",
        scorers: tuple[ScorerName, ...] = (),
        length: Length = "sum",
        permutations: int = 4,
        samples: int = 8,
        sample_temperature: float = 0.8,
        smoothing: float = 0.5,
        p0: float = 0.8,
        json_schema: bool = True,
        proposals: int = 5,
        parameters: Mapping[str, Any] | None = None,
        omit: tuple[str, ...] = (),
        temperature: float = 1.0,
        calibrate: bool = False,
        language: Language = "auto",
        history: int = 8,
        deadline: float = 120.0,
        tries: int = 6,
        cache: Path | None = None,
        replay: Path | None = None,
        meter: Meter | None = None,
    ) -> None:
        for setting, count in (
            ("permutations", permutations),
            ("samples", samples),
            ("proposals", proposals),
            ("tries", tries),
        ):
            require(count >= 1, f"{setting} must be at least 1, got {count}")
        require(history >= 0, f"history must be at least 0, got {history}")
        require(smoothing > 0, f"smoothing must be above 0, got {smoothing}")
        require(0 < p0 < 1, f"p0 must lie between 0 and 1, got {p0}")
        require(deadline > 0, f"deadline must be above 0 seconds, got {deadline}")
        style = Style(language, history)
        known: dict[str, Scorer] = {
            "letters": Letters(style, permutations),
            "sequence": Sequence(style, length),
            "verbalized": Verbalized(style, json_schema, proposals),
            "sampling": Sampling(style, samples, sample_temperature, smoothing, json_schema),
            "single": Single(style, p0, json_schema),
        }
        endpoint = OpenAIEndpoint(
            model,
            base_url=base_url,
            key_variable=key_variable,
            parameters=parameters,
            omit=omit,
        )
        if replay is None:
            endpoint.connect()
        super().__init__(
            "openai",
            endpoint,
            _named(known, scorer, scorers),
            style=style,
            temperature=temperature,
            calibrate=calibrate,
            cache=cache,
            replay=replay,
            meter=meter,
            retry=Retry(deadline=deadline, tries=tries),
        )

    def writer(self) -> ChannelWriter:
        """The same model as one that writes."""
        return ChannelWriter(self.channel)


class OpenAIEndpoint:
    """The server behind :class:`OpenAIChat`: one HTTP request an answer. Safe for threads."""

    local = False

    def __init__(
        self,
        model: str,
        *,
        base_url: str = "",
        key_variable: str = "OPENAI_API_KEY",
        parameters: Mapping[str, Any] | None = None,
        omit: tuple[str, ...] = (),
    ) -> None:
        require(bool(model), "model is empty; name a model of the server")
        self._base_url = base_url or os.environ.get("OPENAI_BASE_URL", "") or _OPENAI
        address = urlsplit(self._base_url)
        if address.scheme not in {"http", "https"} or not address.hostname:
            raise ConfigError(f"base_url {self._base_url!r} is no http address of a server")
        place = address.netloc.rpartition("@")[2]
        self._name, self._key_variable = model, key_variable
        self._parameters, self._omit = dict(parameters or {}), frozenset(omit)
        self.model = f"{model}@{place}"
        self.identity = json.dumps(
            [model, f"{place}{address.path}", self._parameters, sorted(self._omit)],
            sort_keys=True,
            ensure_ascii=False,
        )
        self._sdk: Any = None
        self._client: Any = None

    def connect(self) -> None:
        """Load the SDK and read the key; nothing is sent yet.

        Raises:
            MissingExtra: If the ``openai`` package is missing.
            ConfigError: If OpenAI itself is the server and its key is missing.
        """
        try:
            self._sdk = importlib.import_module("openai")
        except ModuleNotFoundError as error:
            raise MissingExtra(
                f"model 'openai' needs the openai package ({error}): pip install 'jitrl[openai]'"
            ) from error
        secret = os.environ.get(self._key_variable, "")
        if not secret and self._base_url == _OPENAI:
            raise ConfigError(
                f"no key for {self._base_url}: set the environment variable {self._key_variable}, "
                "or base_url for another server"
            )
        self._client = self._sdk.OpenAI(
            base_url=self._base_url, api_key=secret or "none", max_retries=0
        )

    def answer(self, request: Request, timeout: float) -> Answer:
        """As :meth:`Endpoint.answer`."""
        if isinstance(request, Rate):
            raise ConfigError(f"{self.model} is asked in words; it gives no bare logits")
        if isinstance(request, Write):
            return self._written(request, timeout)
        return self._continued(request, timeout)

    def _written(self, request: Write, timeout: float) -> Answer:
        body: dict[str, Any] = {
            "messages": [{"role": m.role, "content": m.text} for m in request.messages],
            "max_tokens": request.max_tokens,
            "temperature": request.temperature,
        }
        if request.top_logprobs:
            body |= {"logprobs": True, "top_logprobs": request.top_logprobs}
        if request.schema:
            schema = {"name": "answer", "strict": True, "schema": json.loads(request.schema)}
            body["response_format"] = {"type": "json_schema", "json_schema": schema}
        reply = self._post("/chat/completions", body, timeout, _Chat)
        choice = reply.choices[0]
        alternatives = None
        if choice.logprobs and choice.logprobs.content:
            first = choice.logprobs.content[0]
            listed = first.top_logprobs or [first]
            alternatives = tuple((one.token, _number(one.logprob)) for one in listed)
        text = choice.message.content or ""
        read, written = _usage(reply.usage, request, text)
        return Answer(text, alternatives, tokens_in=read, tokens_out=written)

    def _continued(self, request: Continue, timeout: float) -> Answer:
        parts = [*(message.text for message in request.messages), request.lead]
        prompt = "\n\n".join(parts)
        texts = [prompt + continuation for continuation in request.continuations]
        body = {"prompt": texts, "max_tokens": 1, "temperature": 0.0, "logprobs": 1, "echo": True}
        reply = self._post("/completions", body, timeout, _Completion)
        read, written = _usage(reply.usage, request, "")
        choices = sorted(reply.choices, key=lambda choice: choice.index)
        echoed = [
            _echoed(choice, text, len(prompt)) for text, choice in zip(texts, choices, strict=False)
        ]
        scores = tuple(tokens for tokens in echoed if tokens)
        is_whole = len(scores) == len(texts)
        return Answer(scores=scores if is_whole else None, tokens_in=read, tokens_out=written)

    def _post(self, path: str, body: dict[str, Any], timeout: float, shape: type[_Reply]) -> Any:
        merged = {"model": self._name, **body, **self._parameters}
        sent = {name: value for name, value in merged.items() if name not in self._omit}
        sdk, options = self._sdk, {"timeout": timeout}
        post = partial(self._client.post, path, cast_to=object, body=sent, options=options)
        try:
            found = within(timeout, post)
        except sdk.APIStatusError as error:
            raise self._refusal(error) from error
        except (TimeoutError, sdk.APITimeoutError) as error:
            raise Transient(f"{self.model} did not answer within {timeout:.1f} s") from error
        except (sdk.APIConnectionError, json.JSONDecodeError) as error:
            cause = error.__cause__ or error
            raise Transient(f"no answer from {self._base_url}: {cause}") from error
        try:
            reply: Any = msgspec.convert(found, shape)
        except msgspec.ValidationError as error:
            raise Transient(
                f"{self.model} sent something else than an answer ({error}): "
                f"{str(found)[:_SHOWN]!r}"
            ) from error
        if not reply.choices:
            raise Transient(f"{self.model} sent no choice: {str(found)[:_SHOWN]!r}")
        return reply

    def _refusal(self, error: Any) -> ModelError:
        status, text = int(error.status_code), str(error.message)[:_SHOWN]
        text = text.encode("utf-8", "replace").decode("utf-8")  # it goes into journals
        said = f"{self.model} answered HTTP {status}: {text}"
        if status in {401, 403}:
            return ModelError(f"{said}; check the key in {self._key_variable}")
        if status == 429 and getattr(error, "code", None) == "insufficient_quota":
            return ModelError(f"{said}; the account has no credit left")
        if status in _REFUSED:
            return Rejected(said)
        if status in _PASSING or status >= 500:
            return Transient(said, _seconds(error.response.headers.get("retry-after", "")))
        return ModelError(said)


class _Usage(msgspec.Struct):
    prompt_tokens: int = 0
    completion_tokens: int = 0


class _Reply(msgspec.Struct):
    usage: _Usage | None = None


class _Message(msgspec.Struct):
    content: str | None = None


class _Token(msgspec.Struct):
    token: str
    logprob: float | None = None
    top_logprobs: list[_Token] | None = None


class _Tokens(msgspec.Struct):
    content: list[_Token] | None = None


class _ChatChoice(msgspec.Struct):
    message: _Message
    logprobs: _Tokens | None = None


class _Chat(_Reply):
    choices: list[_ChatChoice] = []


class _Echo(msgspec.Struct):
    tokens: list[str] = []
    token_logprobs: list[float | None] = []
    text_offset: list[int] | None = None


class _TextChoice(msgspec.Struct):
    text: str
    index: int = 0
    logprobs: Any = None


class _Completion(_Reply):
    choices: list[_TextChoice] = []


def _echoed(choice: _TextChoice, text: str, start: int) -> tuple[float, ...] | None:
    """Log-probabilities of the tokens of ``text[start:]``; ``None`` if it was not echoed."""
    try:
        echo = msgspec.convert(choice.logprobs, _Echo)
    except msgspec.ValidationError:  # no log-probabilities, or in a form that is not echo's
        return None
    if not choice.text.startswith(text):
        return None
    ends, offsets = 0, echo.text_offset
    scores = []
    for i, (token, value) in enumerate(zip(echo.tokens, echo.token_logprobs, strict=False)):
        begins = offsets[i] if offsets and i < len(offsets) else ends
        ends = begins + len(token)
        if ends > start and begins < len(text):
            scores.append(_number(value))
    return tuple(scores) or None


def _number(value: float | None) -> float:
    return _UNKNOWN if value is None or not math.isfinite(value) else value


def _usage(usage: _Usage | None, request: Request, text: str) -> tuple[int, int]:
    """Tokens read and written, estimated from the text where the server does not say."""
    if usage and usage.prompt_tokens:
        return usage.prompt_tokens, usage.completion_tokens
    return estimated(request)[0], len(text.encode("utf-8", "replace")) // 3 + 1


def _seconds(header: str) -> float | None:
    """A ``Retry-After`` in seconds; ``None`` for a date or nothing."""
    try:
        return max(float(header), 0.0)
    except ValueError:
        return None


def _named(known: Mapping[str, Scorer], scorer: str, scorers: tuple[str, ...]) -> list[Scorer]:
    if (scorer == "auto") != bool(scorers):
        raise ConfigError(
            f"scorer is {scorer!r} and scorers is {list(scorers)}; name one scorer, or set scorer "
            "to 'auto' and scorers to those to try, in order"
        )
    wanted = scorers or (scorer,)
    for name in wanted:
        if name not in known:
            raise ConfigError(f"there is no scorer {name!r}; there are {', '.join(known)}, auto")
    return [known[name] for name in wanted]
