"""The figures that the paper prints, and what was measured here beside them."""
