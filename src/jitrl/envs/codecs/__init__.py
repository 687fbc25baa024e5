"""Codecs: raw observations become comparable states and canonical actions, and back."""
