"""The back office of a shop as text, with tasks to do in it."""

from jitrl.envs.backoffice.environment import DEMO, Backoffice

__all__ = ["DEMO", "Backoffice"]
