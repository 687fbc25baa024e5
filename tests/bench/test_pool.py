"""Jobs in processes: order, progress, and what becomes of the others when one fails."""

import time
from dataclasses import dataclass
from pathlib import Path

import pytest

from jitrl.bench.pool import each, silent, told


@dataclass(frozen=True)
class Job:
    """Counts from 0 on; fails at a negative number, and leaves a file in a folder."""

    to: int
    folder: str = ""


def count(job, tell):
    if job.to < 0:
        raise ArithmeticError(f"no count to {job.to}")
    if job.folder:
        time.sleep(0.02)
        Path(job.folder, str(job.to)).touch()
    return sum(told(range(job.to), tell))


def test_results_come_in_the_order_of_the_jobs_whatever_the_number_of_workers():
    jobs = [Job(3), Job(1), Job(2)]
    assert each(count, jobs, 1, silent) == each(count, jobs, 2, silent) == [3, 0, 1]


@pytest.mark.parametrize("workers", [1, 2])
def test_progress_begins_at_nothing_and_ends_with_all(workers):
    shares = []
    each(count, [Job(4), Job(0)], workers, shares.append)  # the second tells nothing
    assert shares[0] == 0.0
    assert shares[-1] == 1.0
    assert shares == sorted(shares)


def test_a_job_is_counted_while_it_is_played():
    shares = []
    each(count, [Job(4), Job(2)], 1, shares.append)
    assert shares[:5] == [0.0, 0.125, 0.25, 0.375, 0.5]


def test_a_job_that_fails_ends_the_others_before_they_begin(tmp_path):
    jobs = [Job(-1), *(Job(n, str(tmp_path)) for n in range(50))]
    for workers in (1, 2):
        with pytest.raises(ArithmeticError, match="no count to -1"):
            each(count, jobs, workers, silent)
    assert len(list(tmp_path.iterdir())) < 50
