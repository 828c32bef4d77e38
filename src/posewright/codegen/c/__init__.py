"""The generator: C99 of charts."""
