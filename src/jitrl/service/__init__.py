"""The decision service for other processes and languages, and pages that show a memory in a browser."""
