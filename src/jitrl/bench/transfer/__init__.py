"""First attempts at new tasks, with a memory of other ones."""
