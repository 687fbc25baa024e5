"""`jitrl bench` and its commands, one module each; the measurements are in `jitrl.bench`."""
