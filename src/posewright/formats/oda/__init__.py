"""Sony AIBO archives, ODA: what is in them, and how they are changed."""
