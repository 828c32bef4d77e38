"""Webots' motions (`.motion`)."""
