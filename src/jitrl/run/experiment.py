"""An experiment: tasks x attempts x seeds, in a schedule, resumable from its own journals."""

from __future__ import annotations

import threading
import time
import traceback
from collections import Counter
from collections.abc import Callable, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from contextlib import closing, suppress
from dataclasses import dataclass
from pathlib import Path

from jitrl.config import Memory, Settings
from jitrl.errors import BudgetExceeded, ConfigError, JitRLError, ModelError, StoreError
from jitrl.language import counted
from jitrl.models.calls import Meter
from jitrl.ports import Agent, Environment, EpisodeAgent, Evaluator, Proposer, Store
from jitrl.run import folder as folders
from jitrl.run import plateau
from jitrl.run.books import Book
from jitrl.run.ledger import Ledger
from jitrl.run.loop import Stopped, Trial, play
from jitrl.run.schedule import before, plan, seeds_of, select
from jitrl.types import Episode, Task, Unscored

_FATAL = (Stopped, ConfigError, StoreError, BudgetExceeded)
"""What trying the next episode cannot mend."""


@dataclass(frozen=True, slots=True)
class Parts:
    """What a run is put together from.

    Attributes:
        environment: Makes one environment for each thread.
        proposer: Makes the frozen model, which several threads use, around a meter of its calls.
        agent: Opens the agent on the journal of one seed, around a meter of what it has written.
        evaluator: Makes the one who scores finished episodes; ``None`` for a meter if it is only
            to be looked at.
        store: Opens the memory file at a path.
        embedder: Name of what makes the vectors that states are compared by; "" for words.
        book: The rules that the memory of each seed begins with.
    """

    environment: Callable[[], Environment]
    proposer: Callable[[Meter], Proposer]
    agent: Callable[[Store, Evaluator, Memory, Meter], Agent]
    evaluator: Callable[[Meter | None], Evaluator]
    store: Callable[[Path], Store]
    embedder: str = ""
    book: Book | None = None

    @property
    def book_digest(self) -> str:
        """Of what the book says; "" where there is none."""
        return "" if self.book is None else self.book.digest

    def made_of(self, tasks: Sequence[Task], seeds: Sequence[int]) -> folders.MadeOf:
        """What a run of these parts at these tasks is."""
        told = self.evaluator(None).told
        return folders.MadeOf(tasks, seeds, told, self.embedder, self.book_digest)


@dataclass(frozen=True, slots=True)
class Progress:
    """One more episode is over.

    Attributes:
        episode: What was played; ``None`` if it failed.
        done: Episodes in the journals so far, of ``total``.
        failed: Episodes that failed since this start.
    """

    trial: Trial
    episode: Episode | None
    done: int
    total: int
    failed: int


@dataclass(frozen=True, slots=True)
class Tally:
    """How a run ended: ``played`` now, ``failed`` now, ``done`` of ``total`` altogether."""

    played: int
    failed: int
    done: int
    total: int


def run(
    settings: Settings,
    folder: Path,
    parts: Parts,
    *,
    watch: Callable[[Progress], None] = lambda progress: None,
    begun: Callable[[int, int], None] = lambda done, total: None,
    command: str = "",
) -> Tally:
    """Play what the journals in ``folder`` do not hold yet.

    Parallel runs give the same numbers as serial ones. An interrupt lets episodes finish their
    present step, then gives them up; the next call plays them again from the start.

    Args:
        watch: Called after each episode, from one thread at a time.
        begun: Called once, when the first episode is begun, with how many of how many are done.
        command: The command line that asked for it, for the record.

    Raises:
        ConfigError: If the folder holds a run of other settings, or no task is selected.
        BudgetExceeded: At a limit; what was finished is kept.
        JitRLError: If more than ``run.max_failures`` episodes failed (``ModelError`` if the last
            one failed because of the model).
    """
    environments = _Environments(parts.environment)
    try:
        everything = list(environments.mine().tasks())
    finally:
        environments.drop()
    tasks = select(everything, settings.run)
    seeds = seeds_of(settings.run)
    plateau.check(settings.run, len(tasks), len(seeds))
    if parts.book is not None:
        parts.book.check(tasks)
    with (
        folders.opened(folder, settings, parts.made_of(tasks, seeds), command) as record,
        closing(folders.ledger(folder, settings.budget)) as ledger,
    ):
        campaign = _Campaign(
            settings, folder, parts, ledger, record.digest, everything, tasks, watch, begun
        )
        started = time.perf_counter()
        try:
            return campaign.play(seeds, environments)
        finally:
            seconds = time.perf_counter() - started if campaign.was_busy else 0.0
            folders.over(folder, record, seconds, campaign.stopped)


def wait_for(pending: set[Future[None]]) -> None:
    """Wait until all are done, or one has raised, which is raised here."""
    while pending:  # in short waits, so that an interrupt gets through everywhere
        over, pending = wait(pending, timeout=0.2, return_when=FIRST_COMPLETED)
        for future in over:
            future.result()


class _Environments:
    """One environment for each thread."""

    def __init__(self, make: Callable[[], Environment]) -> None:
        self._make = make
        self._local = threading.local()

    def mine(self) -> Environment:
        if getattr(self._local, "environment", None) is None:
            self._local.environment = self._make()
        return self._local.environment  # type: ignore[no-any-return]

    def drop(self) -> None:
        """Close this thread's environment, if it has one."""
        mine, self._local.environment = getattr(self._local, "environment", None), None
        if mine is not None:
            mine.close()


class _Campaign:
    """One call of ``run``: a driver thread per seed, and threads that play episodes.

    Attributes:
        was_busy: Whether an episode was begun.
        stopped: Where the run ended early, and why.
    """

    def __init__(
        self,
        settings: Settings,
        folder: Path,
        parts: Parts,
        ledger: Ledger,
        digest: str,
        everything: Sequence[Task],
        tasks: Sequence[Task],
        watch: Callable[[Progress], None],
        begun: Callable[[int, int], None],
    ) -> None:
        self._settings, self._folder, self._parts = settings, folder, parts
        self._proposer = parts.proposer(ledger.meter("act"))
        self._evaluator = parts.evaluator(ledger.meter("judge"))
        self._learning, self._digest = ledger.meter("learn"), digest
        self._ledger = ledger
        self._tasks, self._watch, self._tell_begun = tasks, watch, begun
        self._place = {task.id: i for i, task in enumerate(everything)}
        self._family = {task.id: task.family for task in everything}
        self._stop = threading.Event()
        self._lock = threading.Lock()
        self._total = self._done = self._played = self._failed = 0
        self._scores: dict[tuple[str, int, int], float] = {}
        self.was_busy = False
        self.stopped: plateau.Stop | None = None

    def play(self, seeds: Sequence[int], environments: _Environments) -> Tally:
        run = self._settings.run
        workers, tasks = run.workers, [task.id for task in self._tasks]
        self._total = len(seeds) * len(tasks) * run.attempts
        self._players = ThreadPoolExecutor(workers, "jitrl-player")
        self._environments = environments
        drivers = ThreadPoolExecutor(min(workers, len(seeds)), "jitrl-driver")
        try:
            for stage in plateau.stages(run):
                wait_for({drivers.submit(self._drive, seed, stage) for seed in seeds})
                scores = plateau.table(self._scores, tasks, seeds, stage.stop)
                self.stopped = plateau.found(scores, run)
                if self.stopped is not None:
                    self._total = len(seeds) * len(tasks) * self.stopped.attempts
                    break
        finally:
            self._stop.set()
            drivers.shutdown(cancel_futures=True)
            everyone = threading.Barrier(workers)
            for _ in range(workers):  # each waits for all, so each thread gets one
                self._players.submit(self._leave, everyone)
            self._players.shutdown()
        return Tally(self._played, self._failed, self._done, self._total)

    def _leave(self, everyone: threading.Barrier) -> None:
        everyone.wait()
        self._environments.drop()

    def _drive(self, seed: int, stage: range) -> None:
        """The episodes of one seed in these attempts, learned in the order of the plan."""
        run = self._settings.run
        store = self._parts.store(folders.store_path(self._folder, seed))
        try:
            if self._parts.book is not None:
                self._parts.book.begin(store)
            finished, tries = set[str](), Counter[str]()
            for episode in store.episodes():
                if episode.status == "aborted":
                    tries[episode.key.rpartition("!")[0]] += 1
                else:
                    finished.add(episode.key)
                    self._note(episode)
            with self._lock:
                self._done += 0 if stage.start else len(finished)
            arm = self._parts.agent(store, self._evaluator, self._settings.memory, self._learning)
            if hasattr(arm, "resume"):  # before versions are looked at, and if none is left to play
                arm.resume()
            for batch in plan(run, self._tasks, seed, self._place, stage):
                missing = [trial for trial in batch if trial.key not in finished]
                until = before(store, batch, missing) if run.schedule == "rounds" else None
                agents = [
                    arm.episode(exclude=self._excluded(trial.task), until=until)
                    for trial in missing
                ]
                futures = [
                    self._players.submit(self._play, trial, agent)
                    for trial, agent in zip(missing, agents, strict=True)
                ]
                for trial, agent, future in zip(missing, agents, futures, strict=True):
                    self._finish(store, trial, agent, future, tries)
        finally:
            store.close()

    def _note(self, episode: Episode) -> None:
        info = episode.info
        self._scores[episode.task, int(info["seed"]), int(info["attempt"])] = float(info["score"])

    def _excluded(self, task: Task) -> frozenset[str]:
        protocol = self._settings.run.protocol
        if protocol == "repeat":
            return frozenset()
        kin = task.family if protocol == "transfer-family" else ""
        return frozenset(
            {task.id} | {t for t, family in self._family.items() if kin and family == kin}
        )

    def _play(self, trial: Trial, agent: EpisodeAgent) -> Episode:
        if self._stop.is_set():
            raise Stopped(f"episode {trial.key} was not begun")
        with self._lock:
            if not self.was_busy:
                self.was_busy = True
                self._tell_begun(self._done, self._total)
        started = time.perf_counter()
        try:
            return play(
                trial,
                self._environments.mine(),
                self._proposer,
                agent,
                rewards=self._settings.run.rewards,
                max_steps=self._settings.run.max_steps,
                stop=self._stop,
                config=self._digest,
                pages=self._settings.run.pages or getattr(self._evaluator, "reads_pages", False),
            )
        except BaseException:
            with suppress(Exception):  # what broke the episode may keep it from closing, too
                self._environments.drop()
            raise
        finally:
            self._ledger.took("act", time.perf_counter() - started)

    def _finish(
        self,
        store: Store,
        trial: Trial,
        agent: EpisodeAgent,
        future: Future[Episode],
        tries: Counter[str],
    ) -> None:
        """Wait for an episode and learn from it, or record that and why it failed."""
        episode: Episode | None = None
        failure: Exception | None = None
        try:
            episode = future.result()
            started = time.perf_counter()
            agent.learn(episode)
            self._note(episode)
            self._ledger.took("learn", time.perf_counter() - started)
        except _FATAL:
            raise
        except Exception as error:  # noqa: BLE001 - recorded, counted, and tried again on resume
            tries[trial.key] += 1
            store.commit(_aborted(trial, tries[trial.key], error), Unscored("failed"), ())
            episode, failure = None, error
        with self._lock:
            self._played += episode is not None
            self._done += episode is not None
            self._failed += failure is not None
            self._watch(Progress(trial, episode, self._done, self._total, self._failed))
            if failure and self._failed > self._settings.run.max_failures:
                kind = ModelError if isinstance(failure, ModelError) else JitRLError
                raise kind(
                    f"{counted(self._failed, 'episode')} failed, run.max_failures allows "
                    f"{self._settings.run.max_failures}; the last one, {trial.key}: "
                    f"{type(failure).__name__}: {failure} (tracebacks are in the journal)"
                ) from failure


def _aborted(trial: Trial, tries: int, error: Exception) -> Episode:
    """A record of the failure under a key of its own, so that the episode can be tried again."""
    said = "".join(traceback.format_exception(error))
    return Episode(
        key=f"{trial.key}!{tries}",
        task=trial.task.id,
        scope=trial.task.scope,
        steps=(),
        status="aborted",
        info={
            "attempt": trial.attempt,
            "seed": trial.seed,
            "error": said.encode("utf-8", "backslashreplace").decode("utf-8"),
        },
    )
