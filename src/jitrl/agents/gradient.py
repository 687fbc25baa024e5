"""Agent ``gradient``: the same frozen model with weights of low rank, trained on its own episodes.

What the agent ``jitrl`` does with a memory, done with gradients: same model, same attempts, same
rewards. It acts by ``softmax((z + correction) / temperature)`` over the candidates of a step, where
the correction is what its weights add to each candidate's score, and updates the weights after each
episode by one of three methods. In all of them actions are whole candidates, not tokens, so that
what is trained is the very policy that acts.

- ``sft``: likelihood of the actions of successful episodes, old ones replayed.
- ``grpo``: group-relative policy gradient (Shao et al., *DeepSeekMath*, arXiv:2402.03300): rewards
  of the attempts at one task against their mean and standard deviation, clipped ratios, KL to the
  frozen model. Other than there, the group is the latest attempts, one an episode, in place of many
  at once; the ratio is to the policy as it was when each was played; the KL is exact.
- ``webrl``: after WebRL (Qi et al., arXiv:2411.02337): off-policy squared loss ``(beta log(pi /
  pi_ref) - A)^2``, which holds an update near the policy it began with, a replay buffer of
  successes, and a filter by perplexity. Other than there, the outcome comes from the evaluator in
  place of a trained reward model, the advantage is against the mean of the task's attempts (and one
  more, of average score) in place of a trained critic, and no tasks are made up: the protocol says
  which are played, so the curriculum became a replay that prefers tasks which failed of late.
"""

from __future__ import annotations

import hashlib
import math
import threading
import zlib
from dataclasses import dataclass, field, replace

import numpy as np

from jitrl.agents.batches import Batches, Lived, Method, Plan, grouped, replayed, supervised
from jitrl.agents.prior import chosen_from, own_choice
from jitrl.core.credit import derive_rows
from jitrl.core.rule import Choose, UpdateRule
from jitrl.core.update import kl_divergence, softmax
from jitrl.errors import ConfigError
from jitrl.memory.stream import changes, newest
from jitrl.ports import Evaluator, Receipt, Store
from jitrl.training import Example, Goal, Matrices, Objective, Trainable, TrainableFactory
from jitrl.types import Decision, Episode, Prompt, Proposal, Row, State, Task

_PRIOR = UpdateRule()
_OBJECTIVES: dict[Method, Objective] = {
    "sft": "likelihood",
    "grpo": "clipped",
    "webrl": "squared",
}
_KL: dict[Method, float] = {"sft": 0.0, "grpo": 0.04, "webrl": 0.0}
_EPOCHS: dict[Method, int] = {"sft": 2, "grpo": 4, "webrl": 2}


class Gradient:
    """The frozen model with trained weights, a function of its journal. Safe for threads.

    The weights are brought up to date when an episode begins, with the episodes that it may know
    of, in the order in which they were committed. After a kill, or when an episode was taken back,
    the next start does the same, from the weights that were kept or from the frozen model.

    Args:
        trainable: Makes the weights.
        method: ``sft``, ``grpo`` or ``webrl``.
        temperature: Of the acting policy, and of the one that is trained.
        choose: ``sample`` from the policy, or its ``argmax`` (ties: at random).
        rate: Learning rate of Adam.
        epochs: Gradient steps after an episode; unset: 4 for ``grpo``, else 2.
        batch: Steps of episodes in each of them.
        rank: Of each product of two trained matrices.
        alpha: The product is multiplied by ``alpha / rank``.
        layers: So many of the last layers get trained matrices; 0: all.
        matrices: Which matrices of a layer get them: those of ``attention``, or ``all``.
        kl: Weight of the KL to the frozen model; unset: .04 for ``grpo``, else 0.
        clip: Of ``grpo``.
        group: Of ``grpo``: attempts that are compared, the latest.
        beta: Of ``webrl``: an update moves a log-probability by about advantage over ``beta``.
        hardest: Of ``webrl``: highest perplexity of an action that is replayed.
        success: Score from which an episode counts as successful.
        seed: Of the initial weights, and of what is drawn for training.

    Raises:
        ConfigError: If a setting is impossible or the run's model cannot be trained.
    """

    name = "gradient"

    def __init__(
        self,
        store: Store,
        evaluator: Evaluator,
        trainable: TrainableFactory,
        *,
        method: Method = "grpo",
        temperature: float = 1.0,
        choose: Choose = "sample",
        rate: float = 1e-3,
        epochs: int | None = None,
        batch: int = 12,
        rank: int = 8,
        alpha: float = 16.0,
        layers: int = 8,
        matrices: Matrices = "attention",
        kl: float | None = None,
        clip: float = 0.2,
        group: int = 8,
        beta: float = 0.5,
        hardest: float = 50.0,
        success: float = 0.5,
        seed: int = 0,
    ) -> None:
        if method not in _OBJECTIVES:
            raise ConfigError(f"agent gradient: no method {method!r}; it has sft, grpo, webrl")
        kl = _KL[method] if kl is None else kl
        epochs = _EPOCHS[method] if epochs is None else epochs
        for what, value, least in (
            ("temperature", temperature, 1e-6),
            ("epochs", epochs, 1),
            ("batch", batch, 2),
            ("group", group, 2),
            ("kl", kl, 0.0),
            ("clip", clip, 0.0),
            ("beta", beta, 1e-6),
            ("hardest", hardest, 1.1),
            ("seed", seed, 0),
        ):
            if not least <= value < math.inf:
                raise ConfigError(f"agent gradient: {what} must be at least {least}, got {value}")
        self.temperature, self.choose = temperature, choose
        self._store, self._evaluator, self._method = store, evaluator, method
        self._plan = Plan(epochs, batch, success, group, hardest=hardest)
        self._goal = Goal(_OBJECTIVES[method], temperature, kl, clip, beta)
        self._seed = seed
        self.weights: Trainable = trainable(
            rank=rank, alpha=alpha, layers=layers, matrices=matrices, rate=rate, seed=seed
        )
        made_by = (method, self._plan, self._goal, rank, alpha, layers, matrices, rate, seed)
        self._start = hashlib.blake2b(repr(made_by).encode(), digest_size=6).hexdigest()
        self._trained = _Trained(self._start)
        self._lock = threading.Lock()

    def episode(
        self, *, exclude: frozenset[str] = frozenset(), until: int | None = None
    ) -> GradientEpisode:
        """An agent for one episode; trains on what was committed since the last one.

        Args:
            exclude: Must be empty: what weights have learned from a task cannot be left out.
            until: Newest version of the memory that it may have been trained on; ``None``: all.

        Raises:
            ConfigError: If tasks are excluded.
        """
        if exclude:
            raise ConfigError(
                "agent gradient cannot leave tasks out, since its weights hold them all; "
                "use protocol = repeat, or train and test on different tasks"
            )
        with self._lock:
            self._catch_up(until)
            return GradientEpisode(self, self._trained.version, self._trained.digest)

    def corrections(self, prompt: Prompt, version: int) -> np.ndarray:
        """What the weights of ``version`` add to the logits of ``prompt.actions``, [A], nats.

        Where another episode has trained them further meanwhile, they are made as they were.
        """
        with self._lock:
            self._catch_up(version)
            return self.weights.corrections(prompt)

    def learn(self, episode: Episode) -> Receipt:
        """Judge and commit; the weights follow when the next episode begins."""
        judgment = self._evaluator.judge(episode)
        return self._store.commit(episode, judgment, derive_rows(episode, judgment, gamma=1.0))

    def _catch_up(self, until: int | None) -> None:
        """Train on the episodes up to version ``until`` that the weights do not know yet."""
        head = newest(self._store, until)
        state = self._trained
        if head == state.version:
            return
        scores, digests, found = dict[str, float](), [self._start], dict[str, list[Row]]()
        inactive = set[int]()
        for change in changes(self._store, 0, head, None, inactive):
            if change.kind == "append":
                found.pop(change.episode, None)
                found[change.episode] = list(change.rows)
        for key, rows in found.items():
            if rows and inactive.isdisjoint(row.id for row in rows):
                scores[key] = math.fsum(row.reward for row in rows)
                said = f"{digests[-1]} {key} {scores[key]!r}"
                digests.append(hashlib.blake2b(said.encode(), digest_size=6).hexdigest())
        known = len(state.lived)
        if digests[known : known + 1] != [state.digest] or not known:
            label = self.weights.restore()
            known = digests.index(label) if label in digests else 0
            if not known:
                self.weights.reset()
            state = self._trained = _Trained(self._start)
        for n, (key, score) in enumerate(scores.items()):
            if n < len(state.lived):
                continue
            state.lived.append(_lived(self._store.episode(key), score))
            has_moved = n >= known and self._train(key, n)
            state.digest = digests[n + 1]
            if has_moved:
                self.weights.save(state.digest)
        state.version = head

    def _train(self, key: str, n: int) -> bool:
        """Update the weights for the newest episode; whether there was anything to learn."""
        rng = np.random.default_rng([self._seed, n, zlib.crc32(key.encode())])
        batches = self._batches(rng)
        for batch in batches:
            self.weights.step(batch, self._goal)
        return bool(batches)

    def _batches(self, rng: np.random.Generator) -> Batches:
        lived = self._trained.lived
        if self._method == "sft":
            return supervised(lived, self._plan, rng)
        if self._method == "grpo":
            return grouped(lived, self._plan, rng)
        return replayed(lived, self._plan, rng, self._log_chance)

    def _log_chance(self, example: Example) -> float:
        """Log-probability of the example's action under the present weights."""
        z = np.array(example.base) + self.weights.corrections(example.prompt)
        return float(np.log(softmax(z / self.temperature)[example.chosen]))


@dataclass(slots=True)
class _Trained:
    """What the weights have learned from: a version, and a digest of the episodes in order."""

    digest: str
    version: int = -1
    lived: list[Lived] = field(default_factory=list)


class GradientEpisode:
    """One episode: acts with the weights as they are, journals what it was asked."""

    name = "gradient"

    def __init__(self, agent: Gradient, version: int, digest: str) -> None:
        self._agent, self._version, self._digest = agent, version, digest
        self._rng = np.random.default_rng(0)
        self._asked: list[list[str]] = []

    def begin(self, task: Task, *, key: str, rng: np.random.Generator) -> None:
        """The episode starts."""
        self._rng, self._asked = rng, []

    def advise(self, state: State, prompt: Prompt) -> Prompt:
        """The prompt as it is."""
        return prompt

    def act(self, state: State, prompt: Prompt, proposal: Proposal) -> Decision:
        """Choose by the frozen logits with what the weights add to them.

        Raises:
            InputError: If there are no candidates, one occurs twice, or a logit is not finite.
        """
        agent = self._agent
        alone = own_choice(proposal, _PRIOR, self._rng)
        z = np.array([c.logit for c in alone.candidates])
        asked = replace(prompt, notes="", actions=tuple(c.action for c in alone.candidates))
        correction = agent.corrections(asked, self._version)
        prior, policy = (softmax(x / agent.temperature) for x in (z, z + correction))
        chance = policy
        if agent.choose == "argmax":
            best = policy >= policy.max() - 1e-12
            chance = np.asarray(best / best.sum())
        self._asked.append([prompt.goal, prompt.observation])
        numbers = zip(
            alone.candidates,
            *(column.tolist() for column in (correction, z + correction, policy, chance)),
            strict=True,
        )
        decision = chosen_from(
            alone,
            (
                replace(
                    c,
                    visits=0.0,
                    novelty=0.0,
                    correction=more,
                    corrected=corrected,
                    probability=probability,
                    propensity=propensity,
                )
                for c, more, corrected, probability, propensity in numbers
            ),
        )
        return replace(
            decision,
            kl=kl_divergence(policy, np.maximum(prior, 1e-300)),
            rule=self._digest,
            version=self._version,
            reason="weights",
        )

    def observe(self, reward: float | None, next_state: State | None) -> None:
        """Nothing follows from it before the episode is over."""

    def learn(self, episode: Episode) -> Receipt:
        """The episode is over: commit it with what was asked, which is what is trained on."""
        return self._agent.learn(replace(episode, info={**episode.info, "asked": self._asked}))


def _lived(episode: Episode, score: float) -> Lived:
    """What the journal holds of an episode, as examples."""
    asked = episode.info.get("asked")
    if asked is None or len(asked) != len(episode.steps):
        raise ConfigError(
            f"episode {episode.key!r} was not played by agent gradient: its prompts are not in "
            "the journal, so weights cannot be trained on it; use a memory of its own"
        )
    examples, history = [], list[str]()
    for (goal, observation), step in zip(asked, episode.steps, strict=True):
        if step.decision is not None:
            weighed = step.decision.candidates
            actions = tuple(c.action for c in weighed)
            chosen = actions.index(step.action)
            examples.append(
                Example(
                    prompt=Prompt(goal, observation, tuple(history), actions),
                    base=tuple(c.logit for c in weighed),
                    chosen=chosen,
                    reference=math.log(max(weighed[chosen].probability, 1e-300)),
                )
            )
        history.append(step.action)
    return Lived(episode.task, tuple(examples), score)
