"""Logs of other programs, read as runs that a memory can learn from."""
