"""The decision service, and the pages that show memories and runs in a browser."""
