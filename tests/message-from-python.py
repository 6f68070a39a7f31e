#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later

"""The element message as an application in Python reads it, as text, and as
gst-launch-1.0 -m prints it. Needs GST_PLUGIN_PATH; without PyGObject the test
is skipped."""

import os
import re
import subprocess
import sys
import unittest
import warnings

try:
    import gi

    gi.require_version("Gst", "1.0")
    from gi.repository import Gst
except (ImportError, ValueError) as error:
    print("skipped:", error)
    sys.exit(77)

ENGINE = os.environ.get("GPUHISTOGRAM_TEST_ENGINE", "cpu")
CAPS = "video/x-raw,format=GRAY8,width=64,height=48,framerate=25/1"
FRAME = bytes((i * i + 3) % 251 for i in range(64 * 48))
BINS = [FRAME.count(level) for level in range(256)]
PATIENCE = 10 * Gst.SECOND


class MessageFromPython(unittest.TestCase):
    def setUp(self):
        self.pipeline = Gst.parse_launch(
            "appsrc name=src format=time caps=%s ! gpuhistogram engine=%s ! "
            "fakesink sync=false" % (CAPS, ENGINE))
        self.addCleanup(self.pipeline.set_state, Gst.State.NULL)
        self.pipeline.set_state(Gst.State.PLAYING)
        buffer = Gst.Buffer.new_wrapped(FRAME)
        buffer.pts = 0
        buffer.duration = 40 * Gst.MSECOND
        self.pipeline.get_by_name("src").emit("push-buffer", buffer)
        self.message = self.pipeline.get_bus().timed_pop_filtered(
            PATIENCE, Gst.MessageType.ELEMENT | Gst.MessageType.ERROR)
        self.assertIsNotNone(self.message)
        self.assertEqual(self.message.type, Gst.MessageType.ELEMENT)
        self.structure = self.message.get_structure()

    def test_B46_numbers(self):
        read = {name: self.structure.get_value(name)
                for name in ("timestamp", "stream-time", "running-time",
                             "duration", "frame", "width", "height", "pixels",
                             "sum", "min", "max")}
        self.assertEqual(read, {
            "timestamp": 0, "stream-time": 0, "running-time": 0,
            "duration": 40 * Gst.MSECOND, "frame": 0, "width": 64,
            "height": 48, "pixels": len(FRAME), "sum": sum(FRAME),
            "min": min(FRAME), "max": max(FRAME)})
        self.assertAlmostEqual(self.structure.get_value("mean"),
                               sum(FRAME) / len(FRAME))
        self.assertTrue(self.structure.get_uint64("sum")[0])

    def test_B46_histogram_by_get_value(self):
        histogram = self.structure.get_value("histogram")
        self.assertEqual([histogram[i] for i in range(len(histogram))], BINS)

    def test_B46_histogram_by_subscript(self):
        self.assertEqual(list(self.structure["histogram"]), BINS)

    def test_B46_histogram_by_get_array(self):
        found, histogram = self.structure.get_array("histogram")
        self.assertTrue(found)
        self.assertEqual(histogram.n_values, 256)
        with warnings.catch_warnings():
            # GValueArray itself is deprecated; this is still what it returns.
            warnings.simplefilter("ignore", DeprecationWarning)
            self.assertEqual([histogram.get_nth(i) for i in range(256)], BINS)

    def test_B46_text_and_back(self):
        parsed = Gst.Structure.from_string(self.structure.to_string())[0]
        self.assertIsNotNone(parsed)
        self.assertTrue(parsed.is_equal(self.structure))

    def test_B46_gst_launch_prints_it(self):
        result = subprocess.run(
            ["gst-launch-1.0", "-m", "videotestsrc", "num-buffers=3", "!",
             "video/x-raw,format=GRAY8,width=64,height=48", "!",
             "gpuhistogram", "engine=" + ENGINE, "!", "fakesink"],
            stdout=subprocess.PIPE, text=True, timeout=30, check=True)
        printed = re.findall(r"\(element\): (gpuhistogram, .*)$",
                             result.stdout, re.MULTILINE)
        self.assertEqual(len(printed), 3)
        for text in printed:
            parsed = Gst.Structure.from_string(text)[0]
            self.assertIsNotNone(parsed, text)
            histogram = parsed.get_value("histogram")
            self.assertEqual(sum(histogram[i] for i in range(256)), 64 * 48)
            self.assertTrue(parsed.get_uint64("pixels")[0])


if __name__ == "__main__":
    Gst.init(None)
    unittest.main()
