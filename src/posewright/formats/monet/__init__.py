"""Sony AIBO memory sticks: the configuration of MONET, checked and added to."""
