"""What is to be done about one answer of a model, and the call that does it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from jitrl.integrations.tools import Call, Form


@dataclass(frozen=True, slots=True)
class Choice:
    """What is to be done about one answer of a model.

    Attributes:
        own: The action of the model's own answer.
        action: The action that was chosen; ``own`` unless the memory changed the choice.
        form: What to force where it did; ``None`` means an answer in words.
        decision: Id of the decision, for ``jitrl explain``; "" where none was made.
    """

    own: str
    action: str
    form: Form | None = None
    decision: str = ""

    @property
    def turned(self) -> bool:
        """Whether the memory changed the choice, so one more call of the model is needed."""
        return self.action != self.own

    @property
    def note(self) -> dict[str, Any]:
        """What an adapter writes beside the answer."""
        return {"decision": self.decision, "own": self.own, "action": self.action}


@dataclass(slots=True)
class ExtraCall:
    """The call that fills the arguments of a tool that the memory chose.

    Attributes:
        arguments: Of the tool, as they are to be used; ``None`` until the call did as it was told.
        failed: Why the model's own answer goes through after all; "" if it does not.
    """

    choice: Choice
    arguments: Mapping[str, Any] | None = None
    failed: str = "the call was not made"

    def answered(self, calls: Sequence[Call]) -> bool:
        """Take what the forced call brought; whether that is what was chosen."""
        form = self.choice.form
        if form is None:
            self.failed = f"it called {calls[0].tool!r} in place of answering" if calls else ""
            return not calls
        for call in calls:
            if call.tool == form.tool and isinstance(call.arguments, Mapping):
                self.arguments, self.failed = form.filled(call.arguments), ""
                return True
        self.failed = f"it did not call {form.tool!r}"
        return False
