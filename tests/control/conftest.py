"""Control is tested with the behaviours' workshop: its motions, its charts, its robot."""

from __future__ import annotations

from ..controllers.conftest import desk, shop  # noqa: F401 -- fixtures
