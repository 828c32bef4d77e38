"""Rules of contest days for tests."""

SHORT_DAY = """\
day: mine
title: A short day
contests:
  passivity-test: {share: 5, most: 1}
group_size: 4
advancing: 2
sources: {}
"""
"""A day of the shortest contest alone."""
