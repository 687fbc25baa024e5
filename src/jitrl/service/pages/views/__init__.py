"""One module for each view of a place: from stored numbers to what a template shows."""
