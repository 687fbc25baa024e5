"""One error tree. Each message says what is wrong, the value, and what to do."""

_SHOWN = 200  # characters of a value in a message


def brief(value: object) -> str:
    """How a value looks in a message, cut where a page of it would be printed."""
    try:
        shown = repr(value)
    except ValueError:  # an int of too many digits
        shown = f"a {type(value).__name__} that is too long to print"
    return shown if len(shown) <= _SHOWN else f"{shown[: _SHOWN - 1]}…"


class JitRLError(Exception):
    """Root of all errors raised on purpose by this package."""

    exit_code = 1


class InputError(JitRLError, ValueError):
    """A value was handed in that cannot be used: a state, a reward, the name of a run or option."""

    exit_code = 2


class GroundingError(InputError):
    """A canonical action has no counterpart in the present observation."""


class NotAllowed(InputError):
    """Somebody asserts what is not theirs to assert; nothing was written."""


class ConfigError(JitRLError):
    """A setting is unknown, has the wrong type or an impossible value."""

    exit_code = 3


class MissingExtra(ConfigError):
    """An optional package is needed; the message holds the command that installs it.

    Written as ``pip install 'jitrl[EXTRA]'``, it is told as the command that works here.
    """

    def __init__(self, message: str) -> None:
        from jitrl.extras import here  # slow to load

        super().__init__(here(message))


class StoreError(JitRLError):
    """A file (of a memory, a run, a report) or the output cannot be opened, read or written."""

    exit_code = 4


class StoreVersionError(StoreError):
    """The memory file was written by a newer version of this package."""


class RecordError(StoreError):
    """A line of an import or a row of a memory file does not fit its schema."""


class ModelError(JitRLError):
    """A model provider failed, or answered with something that cannot be used."""

    exit_code = 5


class LogprobsUnavailable(ModelError):
    """The provider gives no usable log-probabilities for the scorer that was named."""


class UnreadableAnswer(ModelError):
    """A model's written answer could not be read, and neither could its second one.

    Attributes:
        answers: Both, as they came.
    """

    def __init__(self, message: str, answers: tuple[str, ...]) -> None:
        super().__init__(message)
        self.answers = answers


class WorldError(JitRLError):
    """A world outside this program (a browser, a server) failed, or did not answer in time."""


class BudgetExceeded(JitRLError):
    """A limit on calls, tokens or dollars was reached; the run can be resumed."""

    exit_code = 6


class RepeatedKey(UserWarning):
    """An episode's key was stored before, so nothing of it was kept."""


class MixedMemory(UserWarning):
    """One scope of a memory holds numbers that were made in ways which do not compare."""
