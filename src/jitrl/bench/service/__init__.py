"""Load and soak of the decision service."""
