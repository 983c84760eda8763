"""The search for a structure: settings, periods, candidates, scores, the search itself, averaging."""
