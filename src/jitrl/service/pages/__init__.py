"""Pages for a browser: what a memory holds, why a decision fell so, and whether it helps."""
