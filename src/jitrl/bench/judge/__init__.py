"""How good a judge must be before memory helps."""
