"""Tekkotsu's motion sequences (`.mot`) and postures (`.pos`)."""
