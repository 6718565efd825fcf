#!/usr/bin/env python3
"""Writes trial-oracles.json: what SciPy, statsmodels and the published pass@k estimator say of counts of solved trials.

The tests of tools/trials/score read that file and never run this one. To make it again, in an environment of its own:

    python3 -m venv /tmp/oracles && /tmp/oracles/bin/pip install scipy statsmodels
    /tmp/oracles/bin/python test/truth/trial-oracles.py
"""

import json
from fractions import Fraction
from importlib.metadata import version
from math import comb
from pathlib import Path

import numpy as np
from scipy import stats
from statsmodels.stats.contingency_tables import mcnemar
from statsmodels.stats.multitest import multipletests
from statsmodels.stats.proportion import proportion_confint

random = np.random.default_rng(20260102)


def published(n, c, k):
    """The estimator of "Evaluating Large Language Models Trained on Code", figure 3, as printed there."""
    if n - c < k:
        return 1.0
    return 1.0 - np.prod(1.0 - k / np.arange(n - c + 1, n + 1))


wilson = []
for n, solved in [(1, 0), (1, 1), (3, 2), (10, 0), (10, 10), (20, 7), (89, 41), (1000, 3), (5000, 2500)]:
    for level in (0.95, 0.9):
        low, high = proportion_confint(solved, n, alpha=1 - level, method="wilson")
        wilson.append({"solved": solved, "n": n, "level": level, "low": float(low), "high": float(high)})

passes = []
for n, solved in [(1, 0), (1, 1), (5, 0), (5, 1), (5, 3), (5, 5), (20, 7), (200, 13)]:
    for k in sorted({1, 2, 3, 5, 10, n}):
        if k <= n:
            at = published(n, solved, k)
            assert abs(at - float(1 - Fraction(comb(n - solved, k), comb(n, k)))) < 1e-12
            passes.append({"n": n, "solved": solved, "k": k, "any": float(at),
                           "all": float(Fraction(comb(solved, k), comb(n, k)))})

pairs = []
for first, second in [(0, 0), (1, 0), (0, 6), (3, 3), (5, 1), (14, 4), (60, 41), (700, 610), (1500, 900)]:
    found = mcnemar([[10, first], [second, 10]], exact=True) if first + second else None
    pairs.append({"first": first, "second": second, "p": float(found.pvalue) if found else 1.0})


def flips(values):
    """SciPy's exact permutation test of one sample: every sign of every value."""
    found = stats.permutation_test((np.array(values),), lambda x, axis: np.abs(np.sum(x, axis=axis)),
                                   permutation_type="samples", n_resamples=np.inf, alternative="greater", vectorized=True)
    return float(found.pvalue)


signs = [{"differences": values, "p": flips(values)} for values in (
    [1, 0], [1, 1, 1, 1, 1, 1], [1, 1, -1, 1, 1, 0, 1], [3, -1, 2, 2, 5, -2, 1, 1], [5, 5, 5, -1, -1, -1, -1, -1, -1],
    [int(one) for one in random.integers(-2, 4, size=14)], [int(one) for one in random.integers(-5, 6, size=16)])]

adjusted = []
for ps in ([0.01], [0.01, 0.04, 0.03], [0.2, 0.001, 0.9, 0.013, 0.012], [0.5, 0.6]):
    adjusted.append({"ps": ps, "holm": [float(one) for one in multipletests(ps, method="holm")[1]]})

bootstraps = []
for tasks, attempts in [(8, 1), (12, 5), (60, 3)]:
    first = [int(one) for one in random.binomial(attempts, random.beta(0.6, 0.6, size=tasks))]
    second = [int(one) for one in random.binomial(attempts, random.beta(0.6, 0.8, size=tasks))]
    column = (np.array(first) - np.array(second)) / attempts
    found = stats.bootstrap((column,), np.mean, n_resamples=200_000, method="percentile", rng=np.random.default_rng(7))
    bootstraps.append({"first": first, "second": second, "attempts": attempts, "mean": float(column.mean()),
                       "error": float(found.standard_error),
                       "low": float(found.confidence_interval.low), "high": float(found.confidence_interval.high)})

oracles = {
    "format": "trial-oracles/1",
    "versions": {name: version(name) for name in ("numpy", "scipy", "statsmodels")},
    "wilson": wilson, "passes": passes, "pairs": pairs, "signs": signs, "adjusted": adjusted, "bootstraps": bootstraps,
}
path = Path(__file__).with_name("trial-oracles.json")
path.write_text("{\n" + ",\n".join(
    f" {json.dumps(key)}: " + ("[\n" + ",\n".join("  " + json.dumps(row) for row in value) + "\n ]" if isinstance(value, list) else json.dumps(value))
    for key, value in oracles.items()) + "\n}\n")
