"""Spans of episodes, decisions, retrieval and learning, with OpenTelemetry.

    invoke_agent jitrl        an episode; what the agent does within `with` lies inside
      jitrl.decide            one choice
        retrieval NAME        what the memory was asked at it
      jitrl.learn             judging and storing
    jitrl.outcome             an outcome that comes later

Names are those of the OpenTelemetry conventions for generative AI where these have one. No task,
state, action, or key made of them is in a span unless content is asked for.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any

from jitrl.errors import MissingExtra
from jitrl.ports import Receipt
from jitrl.types import Decision, Neighborhood, Outcome, State

Said = Mapping[str, Any]


class Tracing:
    """Writes the spans of one memory.

    Args:
        memory: Its name.
        has_content: Put tasks, states, actions and keys into them.

    Raises:
        MissingExtra: If OpenTelemetry is not installed.
    """

    def __init__(self, memory: str, has_content: bool) -> None:
        try:
            from opentelemetry import context, trace
        except ImportError as error:
            raise MissingExtra(
                "memory.telemetry needs OpenTelemetry: pip install 'jitrl[otel]', or set "
                'memory.telemetry = "off"'
            ) from error
        import jitrl

        self.memory, self.has_content = memory, has_content
        self._trace, self._context = trace, context
        self._tracer = trace.get_tracer("jitrl", jitrl.__version__)

    def begin(self, task: str, scope: str, key: str | None) -> EpisodeSpan:
        """The span of an episode; its parent is what is under way where it begins.

        Args:
            key: As the caller gave it; ``None`` if it was made up.
        """
        said = {
            "gen_ai.operation.name": "invoke_agent",
            "gen_ai.provider.name": "jitrl",
            "gen_ai.agent.name": "jitrl",
            "gen_ai.data_source.id": self.memory,
            "gen_ai.conversation.id": key,
            "jitrl.scope": scope or None,
        }
        span = self._tracer.start_span("invoke_agent jitrl", attributes=_kept(said))
        self.show(span, {"jitrl.task": task})
        return EpisodeSpan(self, span)

    @contextmanager
    def span(self, name: str, said: Said, parent: Any = None) -> Iterator[Any]:
        """A span around a block, inside ``parent`` or what is under way."""
        within = None if parent is None else self._trace.set_span_in_context(parent)
        with self._tracer.start_as_current_span(
            name,
            context=within,
            attributes=_kept(said),
            record_exception=False,  # its text may be content
            set_status_on_exception=False,
        ) as span:
            try:
                yield span
            except BaseException as error:
                self.fail(span, error)
                raise

    def retrieve(self, state: State, read: Callable[[], Neighborhood]) -> Neighborhood:
        """What ``read`` finds, in a span of its own."""
        said = {"gen_ai.operation.name": "retrieval", "gen_ai.data_source.id": self.memory}
        with self.span(f"retrieval {self.memory}", said) as span:
            self.show(span, {"gen_ai.retrieval.query.text": state.text})
            found = read()
            tell(span, {"jitrl.neighbors": len(found.neighbors), "jitrl.version": found.version})
        return found

    @contextmanager
    def outcome(self, key: str, said: Outcome | None) -> Iterator[Callable[[Receipt], None]]:
        """The span of an outcome that is told, corrected or withdrawn after its episode."""
        withdrawn = {"jitrl.withdrawn": True} if said is None else {}
        with self.span("jitrl.outcome", withdrawn) as span:
            self.show(span, {"gen_ai.conversation.id": key})
            evaluated(span, said)
            yield lambda receipt: tell(span, learned(receipt))

    def show(self, span: Any, said: Said) -> None:
        """Tell a span what only those may see who asked for content."""
        if self.has_content:
            tell(span, said)

    def attach(self, span: Any) -> Any:
        """Make ``span`` the one that is under way; ``detach`` takes what this returns."""
        return self._context.attach(self._trace.set_span_in_context(span))

    def detach(self, token: Any) -> None:
        """What was under way before is so again."""
        self._context.detach(token)

    def fail(self, span: Any, error: object) -> None:
        """An exception ended what ``span`` is about; its text may be content."""
        tell(span, {"error.type": type(error).__qualname__})
        said = str(error) if self.has_content else None
        span.set_status(self._trace.StatusCode.ERROR, said)


class EpisodeSpan:
    """The span of a running episode."""

    def __init__(self, tracing: Tracing, span: Any) -> None:
        self._tracing, self._span = tracing, span
        self._token: Any = None
        self._steps = 0

    def enter(self) -> None:
        """Make it the span that is under way, so that what the agent does lies inside."""
        self._token = self._tracing.attach(self._span)

    def over(self) -> None:
        """The episode is stored; its span ends, unless a ``with`` block ends it."""
        if self._token is None:
            self._span.end()

    def leave(self, error: object) -> None:
        """The ``with`` block is left: what was under way before is so again."""
        self._tracing.detach(self._token)
        if error is not None:
            self._tracing.fail(self._span, error)
        self._span.end()

    @contextmanager
    def decide(self, state: State) -> Iterator[Callable[[Decision], None]]:
        """The span of a decision; the block gives it what was decided."""
        tracing = self._tracing
        with tracing.span("jitrl.decide", {"jitrl.step": self._steps}, self._span) as span:
            shown = {"text": state.text, "context": state.context, "place": state.place}
            tracing.show(span, {f"jitrl.state.{k}": v for k, v in shown.items() if v})

            def decided(decision: Decision) -> None:
                tell(span, _numbers(decision))
                tracing.show(
                    span, {"jitrl.action": decision.action, "jitrl.unaided": decision.unaided}
                )
                self._steps += 1

            yield decided

    @contextmanager
    def learn(
        self, status: str, holdout: bool, said: Outcome | None
    ) -> Iterator[Callable[[Receipt], None]]:
        """The span of judging and storing; the episode's own tells how it ended."""
        ended = {"jitrl.status": status, "jitrl.holdout": holdout, "jitrl.steps": self._steps}
        tell(self._span, ended)
        evaluated(self._span, said)
        with self._tracing.span("jitrl.learn", {}, self._span) as span:
            yield lambda receipt: tell(span, learned(receipt))


def tell(span: Any, said: Said) -> None:
    """Attributes of a span, but for those that are not known."""
    span.set_attributes(_kept(said))


def evaluated(span: Any, said: Outcome | None) -> None:
    """The event of an outcome."""
    if said is not None:
        told = {
            "gen_ai.evaluation.name": said.evaluator,
            "gen_ai.evaluation.score.value": said.value,
            "jitrl.basis": said.basis,
            "jitrl.told": said.told,
        }
        span.add_event("gen_ai.evaluation.result", _kept(told))


def learned(receipt: Receipt) -> Said:
    """What was stored, as attributes."""
    return {
        "jitrl.rows": receipt.rows,
        "jitrl.version": receipt.version,
        "jitrl.duplicate": receipt.duplicate,
    }


def _numbers(decision: Decision) -> Said:
    chosen = decision.chosen
    return {
        "jitrl.mode": decision.mode,
        "jitrl.holdout": decision.holdout,
        "jitrl.reason": decision.reason or None,
        "jitrl.changed": decision.changed,
        "jitrl.candidates": len(decision.candidates),
        "jitrl.neighbors": len(decision.neighbors),
        "jitrl.prior": chosen.prior,
        "jitrl.probability": chosen.probability,
        "jitrl.advantage": chosen.advantage,
        "jitrl.kl": decision.kl,
        "jitrl.version": decision.version,
        "jitrl.rule": decision.rule,
        "jitrl.scorer": decision.scorer,
    }


def _kept(said: Said) -> dict[str, Any]:
    return {name: value for name, value in said.items() if value is not None}
