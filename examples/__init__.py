"""Programs to start from, and the pages that show what they print; see __main__.py."""
