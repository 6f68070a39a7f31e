#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later

"""The figures of the meta library beside numpy's, on the same random samples.
Needs the typelib in GI_TYPELIB_PATH and the library in LD_LIBRARY_PATH; without
it, without PyGObject or without a numpy from 1.22 on, the test is skipped."""

import os
import sys
import unittest

try:
    import gi
    import numpy as np

    gi.require_version("Gst", "1.0")
    gi.require_version("GstGpuHistogram", "1.0")
    from gi.repository import Gst, GstGpuHistogram
except (ImportError, ValueError) as error:
    print("skipped:", error)
    sys.exit(77)
if tuple(map(int, np.__version__.split(".")[:2])) < (1, 22):
    print("skipped: numpy", np.__version__, "does not know inverted_cdf")
    sys.exit(77)

DEPTHS = (8, 10, 12, 16)
ROUNDS = 3
# Those that a double holds exactly when divided by 100; random ones, beside
# these, do not meet a share exactly. numpy rounds where they would.
PERCENTS = (0, 12.5, 25, 37.5, 50, 62.5, 75, 87.5, 100)


def random_seed():
    text = os.environ.get("GPUHISTOGRAM_TEST_SEED")
    return int(text, 0) if text else int.from_bytes(os.urandom(4), "little")


def shapes(random, depth):
    """Samples of several kinds, a name and an array each."""
    levels = 1 << depth
    count = int(random.integers(1, 50000))
    low, high = sorted(random.integers(0, levels, 2))
    middle = random.normal(random.uniform(0, levels), levels / 9, count)
    yield "one", random.integers(0, levels, 1)
    yield "few", random.integers(0, levels, int(random.integers(2, 9)))
    yield "uniform", random.integers(0, levels, count)
    yield "range", random.integers(low, high + 1, count)
    yield "clipped", middle.round().clip(0, levels - 1).astype(np.int64)
    yield "flat", np.full(count, low)
    yield "black and white", random.integers(0, 2, count) * (levels - 1)


class StatisticsBesideNumpy(unittest.TestCase):
    def setUp(self):
        seed = random_seed()
        print("seed", seed)
        self.random = np.random.default_rng(seed)

    def assert_close(self, value, expected):
        self.assertLessEqual(abs(value - expected), 1e-9 * abs(expected),
                             "%r, not %r" % (value, expected))

    def measure(self, depth, x):
        # The buffer owns the meta.
        self.buffer = Gst.Buffer.new()
        meta = GstGpuHistogram.buffer_add_gpu_histogram_meta(
            self.buffer, GstGpuHistogram.GPU_HISTOGRAM_REGION_FRAME)
        meta.depth = depth
        meta.pixels = x.size
        meta.sum = int(x.sum())
        meta.set_bins(np.bincount(x, minlength=1 << depth).tolist())
        return meta

    def each(self, check):
        for depth in DEPTHS * ROUNDS:
            for name, x in shapes(self.random, depth):
                with self.subTest(depth=depth, samples=name, count=x.size):
                    check(self.measure(depth, x), x)

    def percents(self):
        return [*PERCENTS, *self.random.uniform(0, 100, 5)]

    def test_moments(self):
        def check(meta, x):
            self.assert_close(meta.get_mean(), np.mean(x))
            self.assert_close(meta.get_variance(), np.var(x))
            self.assert_close(meta.get_standard_deviation(), np.std(x))
        self.each(check)

    def test_ends(self):
        def check(meta, x):
            self.assertEqual(meta.get_min(), np.min(x))
            self.assertEqual(meta.get_max(), np.max(x))
            brightest = (1 << meta.depth) - 1
            self.assert_close(meta.get_dark_share(), np.mean(x == 0))
            self.assert_close(meta.get_bright_share(), np.mean(x == brightest))
        self.each(check)

    def test_percentiles(self):
        def check(meta, x):
            for percent in self.percents():
                self.assertEqual(
                    meta.get_percentile(percent),
                    np.percentile(x, percent, method="inverted_cdf"), percent)
            self.assertEqual(meta.get_median(),
                             np.percentile(x, 50, method="inverted_cdf"))
        self.each(check)

    def test_interpercentile_mean(self):
        def check(meta, x):
            for _ in range(5):
                low, high = sorted(self.random.choice(self.percents(), 2))
                first, last = np.percentile(x, (low, high),
                                            method="inverted_cdf")
                self.assert_close(
                    meta.get_interpercentile_mean(low, high),
                    x[(x >= first) & (x <= last)].mean())
        self.each(check)

    def test_entropy(self):
        def check(meta, x):
            p = np.bincount(x) / x.size
            p = p[p > 0]
            self.assert_close(meta.get_entropy(), -(p * np.log2(p)).sum())
        self.each(check)


if __name__ == "__main__":
    Gst.init(None)
    unittest.main()
