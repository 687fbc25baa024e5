"""Learning from the same task again and again: text games, a hidden protocol, planted rows."""
