"""The vocabulary: frozen data that every other module speaks in.

Array suffixes in docstrings: [T] steps, [K] neighbors, [A] candidates.
"""

from jitrl.types.choice import (
    Candidate,
    CandidateSource,
    Decision,
    Lesson,
    Mode,
    Neighborhood,
    Prompt,
    Proposal,
    Weighed,
    Writing,
)
from jitrl.types.neighbors import ROWS, Neighbor, Neighbors
from jitrl.types.record import (
    BASES,
    LARGEST,
    TRUSTED_BASES,
    Basis,
    Episode,
    EpisodeStatus,
    Judgment,
    Outcome,
    Row,
    RowStatus,
    Scored,
    Transition,
    Unscored,
)
from jitrl.types.world import (
    Observation,
    State,
    Task,
    TimeStep,
)

__all__ = [
    "BASES",
    "LARGEST",
    "ROWS",
    "TRUSTED_BASES",
    "Basis",
    "Candidate",
    "CandidateSource",
    "Decision",
    "Episode",
    "EpisodeStatus",
    "Judgment",
    "Lesson",
    "Mode",
    "Neighbor",
    "Neighborhood",
    "Neighbors",
    "Observation",
    "Outcome",
    "Prompt",
    "Proposal",
    "Row",
    "RowStatus",
    "Scored",
    "State",
    "Task",
    "TimeStep",
    "Transition",
    "Unscored",
    "Weighed",
    "Writing",
]
