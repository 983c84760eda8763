"""Farrier."""
