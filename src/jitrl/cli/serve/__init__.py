"""The command `jitrl serve`."""
