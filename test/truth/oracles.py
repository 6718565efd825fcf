#!/usr/bin/env python3
"""Writes oracles.json: what SciPy, statsmodels and others say of the same numbers.

The tests of shared/evidence read that file and never run this one. To make it again, in an environment of its own:

    python3 -m venv /tmp/oracles && /tmp/oracles/bin/pip install scipy statsmodels diptest apache-otava
    /tmp/oracles/bin/python test/truth/oracles.py
"""

import json
import warnings
from importlib.metadata import version
from pathlib import Path

import numpy as np
from diptest import dipstat
from otava.analysis import compute_change_points
from scipy import stats
from statsmodels.stats.meta_analysis import combine_effects

warnings.simplefilter("ignore")
random = np.random.default_rng(20260101)


def rounded(values, digits=6):
    """Inputs with few digits, so that both sides read the same numbers."""
    return [round(float(one), digits) for one in values]


def series(n, kind):
    noise = {
        "normal": random.normal(size=n),
        "heavy": random.standard_t(2, size=n),
        "skewed": random.exponential(size=n) - 0.7,
        "ties": np.round(random.normal(size=n) * 2) / 2 - 0.3,
    }[kind]
    return rounded(0.3 + noise)


def walsh(values):
    return np.sort([(a + b) / 2 for i, a in enumerate(values) for b in values[i:]])


def flip_p(values):
    """Exact sign-flip p of signed midranks."""
    ranks = np.sign(values) * stats.rankdata(np.abs(values))
    result = stats.permutation_test(
        (ranks,), lambda x, axis: np.abs(np.sum(x, axis=axis)), permutation_type="samples",
        n_resamples=np.inf, alternative="greater", vectorized=True)
    return float(result.pvalue)


def interval(values, level=0.05):
    """Ends of the Walsh averages at which SciPy's exact test still keeps the value."""
    every = walsh(values)
    kept = [a for a, b in zip(every, every[1:]) if stats.wilcoxon(np.array(values) - (a + b) / 2, method="exact").pvalue > level]
    return (float(kept[0]), float(every[list(every).index(kept[-1]) + 1])) if kept else None


signed_rank = []
for n, kind in [(6, "normal"), (9, "heavy"), (12, "normal"), (12, "skewed"), (20, "heavy"), (40, "normal")]:
    x = series(n, kind)
    low, high = interval(x)
    signed_rank.append({
        "values": x, "p": float(stats.wilcoxon(x, method="exact").pvalue), "estimate": float(np.median(walsh(x))),
        "low": low, "high": high})

ties = []
for n in (5, 8, 12, 15):
    x = [one for one in series(n, "ties") if one != 0]
    ties.append({"values": x, "p": flip_p(np.array(x))})

distributions = [
    {"x": x, "freedom": df, "normalTail": float(stats.norm.sf(x)), "studentTail": float(stats.t.sf(x, df))}
    for x in (-2.5, -0.1, 0.0, 0.7, 1.96, 2.4999, 2.5, 4.0, 8.0) for df in (1, 4, 11, 250)
]
quantiles = [
    {"p": p, "freedom": df, "normal": float(stats.norm.ppf(p)), "student": float(stats.t.ppf(p, df))}
    for p in (0.0005, 0.025, 0.5, 0.8, 0.975, 0.9999) for df in (1, 4, 11, 250)
]
power = [
    {"shift": shift, "freedom": df, "level": level, "power": float(stats.nct.sf(stats.t.ppf(1 - level / 2, df), df, shift))}
    for shift in (0.5, 2.0, 3.0, 5.0) for df in (4, 11, 60) for level in (0.05, 0.005)
]

pooled = []
for k, between in [(5, 0.0), (5, 0.02), (9, 0.05)]:
    variances = rounded(random.uniform(0.0001, 0.0009, size=k))
    effects = rounded(0.05 + between * random.normal(size=k) + np.sqrt(variances) * random.normal(size=k))
    result = combine_effects(np.array(effects), np.array(variances), method_re="iterated", use_t=True, atol=1e-14)
    row = result.summary_frame().loc["random effect wls"]
    pooled.append({"effects": effects, "variances": variances, "between": float(result.tau2),
                   "estimate": float(row["eff"]), "low": float(row["ci_low"]), "high": float(row["ci_upp"])})

theil_sen = []
for n in (5, 12, 40):
    y = rounded(0.1 * np.arange(n) + random.normal(size=n))
    theil_sen.append({"values": y, "slope": float(stats.theilslopes(y).slope),
                      "spearman": float(stats.spearmanr(np.arange(n), y).statistic)})

dips = [{"values": sorted(x), "dip": float(dipstat(np.sort(x)))}
        for x in [series(n, kind) for n in (5, 12, 30, 101) for kind in ("normal", "heavy", "ties")]
        + [rounded(np.concatenate([random.normal(size=15), 6 + random.normal(size=15)]))]]

splits = []
for n, step in [(8, 3.0), (20, 2.0), (61, 1.0)]:
    x = series(n, "heavy")
    x = rounded(np.array(x) + step * (np.arange(n) >= n // 2))
    every = [(at * (n - at) / n * float(stats.energy_distance(x[:at], x[at:])) ** 2, at) for at in range(3, n - 2)]
    statistic, at = max(every)
    splits.append({"values": x, "at": at, "statistic": statistic})

changes = []
for name, levels in [("one step", [0.0, 0.05]), ("up and back", [0.0, 0.04, 0.0]), ("stairs", [0.0, 0.03, 0.06, 0.1]), ("none", [0.0, 0.0])]:
    x = rounded(np.concatenate([level + 0.01 * random.normal(size=50) for level in levels]))
    found, _ = compute_change_points([1 + one for one in x])
    changes.append({"name": name, "values": x, "otava": [int(one.index) for one in found]})

max_t = []
for n, kinds in [(6, ["normal", "heavy"]), (10, ["normal", "skewed", "heavy"]), (12, ["normal", "ties", "skewed", "heavy"])]:
    # No zeros: a difference of 0 is ranked here and may take either sign; SciPy has no such test.
    family = [[one or 0.2 for one in series(n, kind)] for kind in kinds]
    signed = [np.sign(x) * stats.rankdata(np.abs(x)) for x in map(np.array, family)]
    shares = np.array([one / np.sqrt(np.sum(one**2)) for one in signed])
    # The sample is a one for each round; turning its sign turns that round's differences of all comparisons.
    result = stats.permutation_test(
        (np.ones(n),), lambda signs, axis: np.max(np.abs(signs @ shares.T), axis=-1), permutation_type="samples",
        n_resamples=np.inf, alternative="greater", vectorized=True)
    observed = np.abs(shares.sum(axis=1))
    max_t.append({"family": family, "p": [float(np.mean(result.null_distribution >= one - 1e-9)) for one in observed]})

oracles = {
    "format": "oracles/1",
    "versions": {name: version(name) for name in ("numpy", "scipy", "statsmodels", "diptest", "apache-otava")},
    "signedRank": signed_rank, "ties": ties, "distributions": distributions, "quantiles": quantiles, "power": power,
    "pooled": pooled, "maxT": max_t, "theilSen": theil_sen, "dips": dips, "splits": splits, "changes": changes,
}
path = Path(__file__).with_name("oracles.json")
path.write_text("{\n" + ",\n".join(
    f" {json.dumps(key)}: " + ("[\n" + ",\n".join("  " + json.dumps(row) for row in value) + "\n ]" if isinstance(value, list) else json.dumps(value))
    for key, value in oracles.items()) + "\n}\n")
