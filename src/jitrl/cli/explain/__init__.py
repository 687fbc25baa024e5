"""`jitrl explain`: its command, its tables and its words."""
