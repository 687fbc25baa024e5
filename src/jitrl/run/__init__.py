"""Plays one run, step by step and episode by episode, and writes it into a folder."""
