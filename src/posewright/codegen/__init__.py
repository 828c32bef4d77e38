"""Charts and behaviours as C for a board, and the proof that they do the same there."""
