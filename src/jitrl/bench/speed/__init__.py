"""What search, decisions, learning, the store and the embedded model cost."""
