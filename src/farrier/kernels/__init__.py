"""Kernels: their algebra, one file for each family, the normal form and the registry of families."""
