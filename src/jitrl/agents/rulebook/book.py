"""Agent ``rulebook``: what to do in sentences, drawn from attempts, told in later ones, and tested.

One episode: the rules that fit its task are fetched, and those whose condition holds at a step
speak there; by a logged draw where it first speaks, each is told in the prompt or held out. When a
round of attempts at a task is over, its best are compared with its worst and rules are distilled of
them; the gates decide which come in and which go. With ``scores`` the choice is that of the agent
``jitrl`` too, and where that one acts without its memory, nothing is told either.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from typing import Any

from jitrl.agents.asked import Author
from jitrl.agents.corrected import Corrected
from jitrl.agents.prior import prior_of
from jitrl.agents.prompted import learner
from jitrl.agents.rulebook.credit import Strategy, strategy
from jitrl.agents.rulebook.distilling import Distiller
from jitrl.agents.rulebook.episode import RulebookEpisode
from jitrl.agents.rulebook.figures import Figures
from jitrl.agents.rulebook.learning import Learning
from jitrl.agents.rulebook.meaning import Meaning
from jitrl.agents.rulebook.options import check_counts, check_shares
from jitrl.agents.rulebook.telling import MOST_TOLD, ROOM, Telling
from jitrl.agents.settings import MemorySettings
from jitrl.core.gates import gates_of
from jitrl.core.rule import Choose, UpdateRule
from jitrl.errors import ConfigError
from jitrl.ports import Embedder, Evaluator, Writer
from jitrl.ports.replay import Replays
from jitrl.ports.rules import RuleStore
from jitrl.types import RuleStatus

NAME = "rulebook"


def rulebook(
    store: RuleStore,
    evaluator: Evaluator,
    settings: MemorySettings,
    writer: Callable[[], Writer],
    embedder: Callable[[str], Embedder] | None = None,
    replays: Replays | None = None,
    *,
    author: Author = "rules",
    credit: Strategy = "contrast",
    credit_budget: int = 12,
    scores: bool = False,
    attempts: int = 8,
    gap: float = 0.25,
    threshold: float = 0.75,
    distil: int = 2,
    told: int = MOST_TOLD,
    tokens: int = ROOM,
    overlap: float = 0.5,
    meaning: str = "",
    alike: float = 0.4,
    explore: float = 0.3,
    holdout: float = 0.2,
    success: float = 1.0,
    gates: Mapping[str, Any] | bool | None = None,
    temperature: float = 1.0,
    choose: Choose = "sample",
) -> Rulebook:
    """Rules distilled from good and bad attempts in the prompt.

    Args:
        author: Who distils: ``rules`` (where attempts parted), or the ``model`` of ``[writer]``.
        credit: Which steps rules are made of: where attempts parted (``contrast``); where the
            scores of steps part, given by the evaluator, or with ``author = "model"`` by that model
            (``steps``); what costs most when a bad attempt's step is put into the best one and that
            is played again (``substitution``); or a comparison first, and only where the gap is
            large and not all bad attempts parted at one and the same step, substitution (``mixed``)
            or step scores (``mixed-steps``).
        credit_budget: Episodes played again, or attempts whose steps the model scores, for one
            round at most; 2 or more, one of them for the best attempt.
        scores: Whether the memory corrects the scores, too, as the agent ``jitrl`` does; then
            ``temperature`` and ``choose`` have no say.
        attempts: Scored attempts at a task that make a round, 2 or more; with 0 nothing is
            distilled.
        gap: Least difference between the best and the worst of a round that teaches.
        threshold: Least score of the best.
        distil: New rules of one round at most, of all kinds together.
        told: Rules that a prompt holds at most; with 0 they are learned only.
        tokens: Room for them there, in tokens, about.
        overlap: Share of a rule's key words that a goal must name.
        meaning: Embedder (``wordllama``, ``package.module:name``) that finds rules whose condition
            says the goal in other words; "": key words alone.
        alike: With ``meaning``, how similar the two must be.
        explore: c of the bound by which rules are chosen.
        holdout: Share of the first uses of an active rule in which it is held out; half of it after
            50 uses, a third after 100, and so on.
        success: Least score of an episode that is a win.
        gates: Settings of the gates that differ: alpha, tasks, trial, grace, bottom, idle, most.
            ``True`` is the default ones; with ``False`` every rule comes in and none goes, to see
            what gates are worth.
        temperature: The prior is ``softmax(z / temperature)``.
        choose: ``sample`` from the prior, or its ``argmax`` (ties: at random).

    Raises:
        ConfigError: If a value is impossible, or nothing can be played again here.
    """
    name = f"{NAME}-{author}"
    check_counts(name, attempts, distil, told, tokens, credit_budget)
    check_shares(
        name,
        gap=gap,
        threshold=threshold,
        overlap=overlap,
        alike=alike,
        success=success,
        explore=explore,
        holdout=holdout,
    )
    if credit != "contrast" and credit_budget < 2:
        raise ConfigError(
            f"agent {name}: credit_budget is {credit_budget}; with credit = {credit!r} it must be "
            "at least 2, one for the best attempt and one for a bad one, or no rule is ever made"
        )
    try:
        limits = gates_of(gates)
    except ValueError as error:
        raise ConfigError(f"agent {name}: gates: {error}") from error
    made = Corrected if scores else partial(learner, name)
    memory = made(store, evaluator, settings, embedder)
    if meaning and embedder is None:
        raise ConfigError(f"agent {name}: meaning is {meaning!r}, and nothing here opens embedders")
    finder = Meaning(embedder(meaning), alike) if meaning and embedder else None
    status: RuleStatus = "active" if limits is None else "candidate"
    author_model = writer() if author == "model" else None
    named = strategy(
        credit, writer=author_model, evaluator=evaluator, replays=replays, budget=credit_budget
    )
    distiller = Distiller(store, author_model, distil, status, named=(), credit=named)
    return Rulebook(
        name,
        memory,
        store,
        prior_of(name, temperature, choose),
        Telling(told, tokens, overlap, explore, holdout, success, finder),
        Learning(store, distiller, limits, attempts, gap=gap, threshold=threshold, success=success),
        scores,
    )


class Rulebook:
    """Tells rules, and learns them. Safe for threads.

    Args:
        memory: Whose evaluator and rows it uses; it corrects scores only where ``scores`` says so.

    Attributes:
        tells: Whether episodes are told rules; they are learned in any case.
        waits: Whether an episode begins only once all that was owed is learned.
    """

    def __init__(
        self,
        name: str,
        memory: Corrected,
        store: RuleStore,
        prior: UpdateRule,
        telling: Telling,
        learning: Learning,
        scores: bool,
    ) -> None:
        self.name, self.memory, self.store, self.prior = name, memory, store, prior
        self.telling, self.learning, self.scores = telling, learning, scores
        self.figures = Figures(store, telling.success)
        self.tells, self.waits = memory.mode == "act", True

    @property
    def derivation(self) -> dict[str, Any]:
        """What rows are derived with; the agent ``jitrl`` can take such a memory over."""
        return self.memory.derivation

    def resume(self) -> None:
        """Learn what processes that were killed, or whose model failed, left to be learned.

        Raises:
            ConfigError, BudgetExceeded, ModelError: If a round could not be distilled.
        """
        self.learning.resume()

    def again(self, key: str) -> None:
        """Learn of a stored episode that was judged once more, as after a late outcome.

        Raises:
            ConfigError, BudgetExceeded, ModelError: If a round could not be distilled.
        """
        self.learning.resume()
        self.learning.again(key)

    def episode(
        self, *, exclude: frozenset[str] = frozenset(), until: int | None = None
    ) -> RulebookEpisode:
        """An agent for one episode; before the first one, ``resume``.

        Args:
            exclude: Tasks whose rows, and whose rules, it must not use.
            until: Newest version of the memory it may see; ``None``: all there is when it begins.
        """
        if self.waits:
            self.resume()
        return RulebookEpisode(self, exclude, until)
