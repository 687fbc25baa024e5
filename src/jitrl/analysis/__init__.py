"""Reads runs and judgments, and says in numbers what came of them; draws and prints nothing."""
