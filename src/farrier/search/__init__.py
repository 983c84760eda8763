"""From data to structure: settings, periods, candidates, scores, the search, averaging."""
