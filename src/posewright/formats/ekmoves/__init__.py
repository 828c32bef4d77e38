"""C headers of AIBO poses, as the Eagle Knights' EKMoves.h."""
