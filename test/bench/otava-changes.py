"""Reads ratios, one a line, and prints where apache-otava finds them changed: its analysis without its readers and reports."""

import sys

from otava.analysis import compute_change_points

with open(sys.argv[1]) as file:
    found, _ = compute_change_points([float(line) for line in file])
print(*(one.index for one in found))
