"""Posteriors of a weighted sum of functions: exact, and sparse with one or many groups of inducing points."""
