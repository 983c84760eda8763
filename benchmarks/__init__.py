"""What Farrier claims, measured again by whoever asks: `python -m benchmarks --help`."""
