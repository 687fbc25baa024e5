"""The command `jitrl cost`: what learning at inference costs beside training."""
