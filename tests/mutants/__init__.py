"""Mutation tests: small changes of the mathematical core, each of which some test must notice."""
