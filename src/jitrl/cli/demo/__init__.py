"""`jitrl demo`: its command, its words and its report."""
