"""The decision service: the library's two calls for agents in other processes and languages."""
