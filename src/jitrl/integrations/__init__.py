"""The agent inside frameworks: decide at each step, tell it how things ended."""
