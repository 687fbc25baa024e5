"""Several runs with one question: what they may cost, which settings win, what memory adds."""
