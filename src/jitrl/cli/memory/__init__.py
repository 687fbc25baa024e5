"""`jitrl memory`: its commands, their options, import and where an export goes."""
