"""`jitrl evaluator` and its commands, one module each."""
