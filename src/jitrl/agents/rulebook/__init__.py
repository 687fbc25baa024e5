"""Agent ``rulebook``: sentences distilled from good and bad attempts, told in later ones."""
