"""`jitrl rules`: its commands, by what they do to a book, and their options."""
