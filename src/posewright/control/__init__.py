"""Control: whatever decides, the one loop that drives a plant, safety between the two, clocks."""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
