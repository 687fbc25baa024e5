"""MiniWoB++: small web tasks in a real browser."""

from jitrl.envs.miniwob.environment import MiniWob
from jitrl.envs.miniwob.kinds import KINDS

__all__ = ["KINDS", "MiniWob"]
