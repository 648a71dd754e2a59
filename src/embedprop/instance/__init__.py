"""Which instance: frozen descriptions and the catalog of parts; no engine, no torch."""
