"""Counterfactuals: a good attempt played once more, with one step of a bad one in it."""

from __future__ import annotations

from collections.abc import Sequence

from jitrl.agents.past import PastEpisode
from jitrl.agents.rulebook.following import Following, Lost, Swap
from jitrl.errors import ConfigError
from jitrl.ports import Evaluator
from jitrl.ports.replay import Replay
from jitrl.types import Episode, Row, Scored

_SAME = 1e-6  # difference between two scores that are the same


class Trial:
    """Counterfactuals of one good attempt.

    Args:
        evaluator: Scores what is played, as it scored the attempts.
        budget: Episodes played at most, the first to see whether it comes to the same score again.

    Raises:
        ConfigError: If the attempt comes to another score when it is played again.
    """

    def __init__(
        self, replay: Replay, evaluator: Evaluator, budget: int, good: PastEpisode
    ) -> None:
        self._replay, self._evaluator, self._left, self._good = replay, evaluator, budget, good
        self._way, self._base = self._again()
        self._index = {row.step: place for place, row in enumerate(self._way)}

    def cost(self, place: int, bad: PastEpisode, step: int) -> float | None:
        """What the score loses if a step of a bad attempt is done; ``None`` if that is not known.

        Where neither attempt leads on, it comes to no more than the bad one did.

        Args:
            place: Of the good attempt's direct way, where it is done.
        """
        if self._base is None or not self._left:
            return None
        at = self._index[self._good.direct[place].step]
        swap = Swap(at, bad.rows[step].action, bad.rows[step + 1 :])
        played = self._played(Following(self._way, swap))
        if played is None:
            return self._good.score - bad.score
        score = self._score(played)
        return None if score is None else self._base - score

    def _again(self) -> tuple[Sequence[Row], float | None]:
        """The way that comes to the same score again, without its loops if it can, and its score.

        Without an episode left to play there is no score.
        """
        scores = list[object]()
        for way in (self._good.direct, self._good.rows):
            if not self._left:
                return self._good.direct, None
            played = self._played(Following(way))
            if played is None:
                continue
            judged = self._score(played)
            was, now = self._good.info.get("score"), played.info.get("score")
            if was is None:
                was, now = self._good.score, judged
            if now is not None and abs(float(was) - float(now)) <= _SAME:
                return way, judged
            scores.append(now)
        raise ConfigError(
            f"episode {self._good.key!r} came to {self._good.info.get('score', self._good.score)} "
            f"when it was played and to {scores or 'no end'} when it was played again; what a step "
            'costs cannot be told in such an environment: give the agent credit = "contrast" or '
            '"steps"'
        )

    def _played(self, agent: Following) -> Episode | None:
        """The episode; ``None`` where the way is lost."""
        self._left -= 1
        try:
            return self._replay(self._good.key, agent)
        except Lost:
            return None

    def _score(self, episode: Episode) -> float | None:
        judgment = self._evaluator.judge(episode)
        return sum(judgment.rewards) if isinstance(judgment, Scored) else None
