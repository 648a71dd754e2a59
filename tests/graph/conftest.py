from __future__ import annotations

from hypothesis import settings

# A first example also pays for imports, so its time says nothing about the code it tests.
settings.register_profile("no deadline", deadline=None)
settings.load_profile("no deadline")
