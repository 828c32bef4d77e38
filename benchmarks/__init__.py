"""Speed, as ratios to the raw engine in the same run: `python -m benchmarks`, or `make bench`."""
