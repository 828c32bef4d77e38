"""Layered layout of boxes and arrows (after Sugiyama), knowing nothing of charts.

Items get layers (`rank`), and then places in them and ways between them (`arrange`).
"""
