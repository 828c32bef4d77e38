"""Layout of nodes inside nodes, with links that cross their borders."""
