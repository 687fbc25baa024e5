"""A real web shop with its back office, seeded and driven through a browser."""

from jitrl.envs.shop.environment import Shop

__all__ = ["Shop"]
