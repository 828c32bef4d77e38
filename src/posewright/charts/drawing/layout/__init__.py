"""Layered layout of nodes inside nodes, with links that cross their borders."""
