"""Sony AIBO files: OMTN motions, ODA archives, MONET configurations and pose headers."""
