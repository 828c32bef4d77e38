"""The passivity test: a robot that would wrestle shows that it goes at something by itself."""

from __future__ import annotations

from posewright.contests.passivity_test.contest import PassivityRules, PassivityScore, PassivityTest, Try

__all__ = ["PassivityRules", "PassivityScore", "PassivityTest", "Try"]
