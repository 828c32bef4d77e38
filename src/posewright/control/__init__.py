"""Control: whatever decides, and the one loop that drives a plant by it, with safety between the two."""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
