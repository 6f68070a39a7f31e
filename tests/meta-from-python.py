#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later

"""The meta library through GObject-Introspection: metas are put on a buffer
and read back. Needs the typelib in GI_TYPELIB_PATH and the library in
LD_LIBRARY_PATH; without it, or without PyGObject, the test is skipped."""

import sys
import unittest

try:
    import gi

    gi.require_version("Gst", "1.0")
    gi.require_version("GstVideo", "1.0")
    gi.require_version("GstGpuHistogram", "1.0")
    from gi.repository import Gst, GstGpuHistogram, GstVideo
except (ImportError, ValueError) as error:
    print("skipped:", error)
    sys.exit(77)

FRAME = GstGpuHistogram.GPU_HISTOGRAM_REGION_FRAME
ROWS = [0] * 8 + [1] * 4 + [255] * 4


def measure(buffer, samples, region=FRAME):
    meta = GstGpuHistogram.buffer_add_gpu_histogram_meta(buffer, region)
    meta.format = GstVideo.VideoFormat.GRAY8
    meta.depth = 8
    meta.width = meta.rectangle.w = len(samples)
    meta.height = meta.rectangle.h = 1
    meta.pixels = len(samples)
    meta.sum = sum(samples)
    meta.set_bins([samples.count(level) for level in range(256)])
    return meta


class MetaFromPython(unittest.TestCase):
    def setUp(self):
        self.buffer = Gst.Buffer.new_allocate(None, 16, None)

    def test_no_meta(self):
        get = GstGpuHistogram.buffer_get_gpu_histogram_meta
        self.assertIsNone(get(self.buffer))

    def test_not_measured(self):
        meta = GstGpuHistogram.buffer_add_gpu_histogram_meta(self.buffer, FRAME)
        self.assertFalse(meta.get_bins())
        self.assertEqual(meta.n_bins, 0)
        self.assertEqual(meta.get_mean(), 0.0)
        self.assertEqual(meta.get_percentile(50), 0)

    def test_fields_and_bins(self):
        measure(self.buffer, ROWS)
        meta = GstGpuHistogram.buffer_get_gpu_histogram_meta(self.buffer)
        bins = meta.get_bins()
        self.assertEqual(len(bins), 256)
        self.assertEqual((bins[0], bins[1], bins[255]), (8, 4, 4))
        self.assertEqual(sum(bins), 16)
        self.assertEqual((meta.pixels, meta.sum, meta.depth), (16, 1024, 8))
        self.assertEqual(meta.format, GstVideo.VideoFormat.GRAY8)
        self.assertEqual((meta.rectangle.w, meta.rectangle.h), (16, 1))

    def test_figures(self):
        meta = measure(self.buffer, ROWS)
        self.assertEqual(meta.get_mean(), 64.0)
        self.assertEqual(meta.get_variance(), 12160.5)
        self.assertEqual((meta.get_min(), meta.get_max()), (0, 255))
        self.assertEqual(
            [meta.get_percentile(p) for p in (0, 50, 50.1, 75, 100)],
            [0, 0, 1, 1, 255],
        )

    def test_regions(self):
        measure(self.buffer, ROWS)
        measure(self.buffer, [7], region=3)
        get = GstGpuHistogram.buffer_get_gpu_histogram_meta_region
        self.assertEqual(get(self.buffer, FRAME).sum, 1024)
        self.assertEqual(get(self.buffer, 3).get_bins()[7], 1)
        self.assertIsNone(get(self.buffer, 4))

    def test_replaced(self):
        measure(self.buffer, ROWS)
        measure(self.buffer, [9, 9])
        meta = GstGpuHistogram.buffer_get_gpu_histogram_meta(self.buffer)
        self.assertEqual((meta.pixels, meta.sum, meta.get_max()), (2, 18, 9))
        api = GstGpuHistogram.gpu_histogram_meta_api_get_type()
        self.assertEqual(self.buffer.get_n_meta(api), 1)

    def test_copy(self):
        measure(self.buffer, ROWS)
        copy = self.buffer.copy_deep()
        self.buffer = None
        meta = GstGpuHistogram.buffer_get_gpu_histogram_meta(copy)
        self.assertEqual(meta.get_bins()[255], 4)

    def test_rows(self):
        meta = GstGpuHistogram.buffer_add_gpu_histogram_rows_meta(self.buffer)
        self.assertFalse(meta.get_means())
        meta.width = 4
        meta.set_sums([10, 0, 1020])
        meta = GstGpuHistogram.buffer_get_gpu_histogram_rows_meta(self.buffer)
        self.assertEqual(meta.get_means(), [2.5, 0.0, 255.0])
        self.assertEqual((meta.n_rows, meta.get_mean(2)), (3, 255.0))


if __name__ == "__main__":
    Gst.init(None)
    unittest.main()
