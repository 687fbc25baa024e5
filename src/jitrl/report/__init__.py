"""Comparisons as tables, charts, pages and data, in English and Chinese; reads no folder."""
