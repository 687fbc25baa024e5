"""Measurements of this package against its own targets, on records that are made from a seed."""
