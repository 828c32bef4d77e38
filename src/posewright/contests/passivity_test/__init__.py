"""The passivity test: a robot that would wrestle shows that it goes at something by itself."""
