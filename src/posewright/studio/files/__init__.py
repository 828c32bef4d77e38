"""The files of the studio: opened, kept while they are edited, saved and exported."""
