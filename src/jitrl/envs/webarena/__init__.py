"""WebArena's tasks in a real browser, and their scoring without the sites."""
