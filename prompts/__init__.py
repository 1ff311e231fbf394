"""Prompt texts for language models (none yet: answers are quotations)."""
