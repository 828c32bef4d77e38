"""A gait walked on a simulated body, recorded, and measured; on one body or on many."""
