"""The command `jitrl doctor`: what a memory or a run suffers from."""
