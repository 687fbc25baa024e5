"""What a rulebook is worth with a made-up model that heeds it: gates, planted rules, settings."""
