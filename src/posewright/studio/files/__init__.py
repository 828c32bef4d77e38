"""Files of the studio: opening, drafts, saving and exporting."""
