"""Experiments: run a trial, replay it, tune a gait, try a motion under gravity."""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
