"""Whether the steps that are named as decisive are, where that is known, and what naming costs."""
