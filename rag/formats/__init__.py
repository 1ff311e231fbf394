"""Readers of files of abstracts, one format a file; `registry.py` picks the reader of a file."""
