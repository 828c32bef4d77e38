"""Tuning of gaits: tasks and their documents, the score, the search, and reports."""
