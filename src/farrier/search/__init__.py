"""The search for a structure: periods, candidates, scores, the search itself, averaging."""
