"""The browser application (not built yet)."""
