"""Hostile input: files, arrays, models and signals. `python -m tests.fuzz` tries thousands, test_fuzz.py a few."""
