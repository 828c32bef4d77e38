"""The arena editor: a field with undo, the contest's rules while it is drawn, and a race on it."""
