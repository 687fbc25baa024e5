"""The codec of form filling: which field, what of the form is filled in, and the span at hand."""

from __future__ import annotations

from collections.abc import Sequence

from jitrl.envs.codecs.plain import PlainCodec
from jitrl.types import Observation, State


class FormCodec(PlainCodec):
    """A step of a form: the state tells document, field, form so far and span apart.

    Reads ``look``, ``field`` and ``place`` of ``Observation.info``. The goal is no part of the
    state: it is the same at all steps of a task, and a digest of it and the document is enough to
    tell tasks apart.
    """

    name = "form"
    features = "page"

    def state(self, observation: Observation, history: Sequence[str]) -> State:
        """What is filled in, beside the field at hand, and what kind of step it is."""
        info = observation.info
        return State(info["look"], info["field"], info["place"])
