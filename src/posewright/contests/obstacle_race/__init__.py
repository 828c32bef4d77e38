"""The CEABOT obstacle race: there and back over a field of boxes."""
