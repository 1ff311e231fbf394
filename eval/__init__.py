"""Evaluation: suites, measurements and the fitting of what is fitted. Nothing in `rag` imports it."""
