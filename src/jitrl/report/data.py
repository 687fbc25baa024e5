"""A comparison as plain values, for JSON."""

from __future__ import annotations

from dataclasses import asdict
from typing import Any

import msgspec

from jitrl.analysis.bill import bill, extra
from jitrl.analysis.compare import Comparison, Line
from jitrl.analysis.plain import difference, interval


def data(comparison: Comparison, schema: str) -> dict[str, Any]:
    """Everything in plain values; ``schema`` comes first."""
    tasks, seeds, attempts = comparison.shape
    return {
        "schema": schema,
        "base": comparison.base,
        "interval": {"level": 0.95, "method": "BCa bootstrap", "over": comparison.by},
        "shape": {"tasks": tasks, "seeds": seeds, "attempts": attempts},
        "base_best_of_k": {"mean": comparison.first.summary.best, **interval(comparison.passed)},
        "hint": comparison.hint and difference(comparison.hint),
        "cannot_test_prompts": comparison.cannot_test_prompts,
        "rows": [_row(comparison, line) for line in comparison.lines],
    }


def _row(comparison: Comparison, line: Line) -> dict[str, Any]:
    result, run = line.result, line.result.record.settings["run"]
    s, d, more = line.summary, line.difference, extra(comparison, line)
    return {
        "label": result.label,
        "agent": run["agent"],
        "folder": str(result.folder),
        "journals": [str(path) for path in result.journals],
        "commands": list(result.commands),
        "commit": result.commits,
        "config": result.record.digest,
        "environment": result.setting("environment", "name"),
        "environment_options": result.setting("environment", "options"),
        "model": result.model,
        "scorers": list(result.scorers),
        "tasks": list(result.record.tasks),
        "attempts": result.record.attempts,
        "stopped": result.record.stopped and msgspec.to_builtins(result.record.stopped),
        "seeds": list(result.record.seeds),
        "evaluator": result.setting("memory", "evaluator"),
        "told": result.record.told,
        "rewards": run["rewards"],
        "schedule": run["schedule"],
        "order": run["order"],
        "protocol": run["protocol"],
        "cost": [asdict(total) for total in result.cost],
        "bill": asdict(bill(result)),
        "extra": more and asdict(more),
        "excluded": result.excluded,
        "failures": result.failures,
        "unwritten": result.unwritten,
        "unscored": sum(result.unscored.values()),
        "why_unscored": dict(result.unscored),
        "differs": list(line.differs),
        "avg": s.avg,
        "avg_interval": interval(line.avg),
        "first": line.curve.mean[0],
        "final": s.final,
        "first_five": s.first,
        "last_five": s.last,
        "best_of_k": s.best,
        "difference": d and difference(d),
        "verdict": d and d.verdict,
        "rival": line.rival and {"label": line.rival.label, **difference(line.rival.difference)},
        "final_beyond_base_best_of_k": difference(line.beyond),
        "curve": [
            {"mean": mean, **interval(band)}
            for mean, band in zip(line.curve.mean, line.curve.band, strict=True)
        ],
        "scores": result.scores.tolist(),
    }
