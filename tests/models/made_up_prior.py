"""A user's own prior, imported by name in a test."""

NUMBER = 3


def prior(prompt):
    return {action: float(place) for place, action in enumerate(prompt.actions)}
