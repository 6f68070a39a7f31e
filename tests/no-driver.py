#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later

"""The plugin from outside, as on a machine without a GPU driver: it loads, is
not blacklisted, links to nothing of CUDA, and counts; and as where the driver
has no device to show. Needs GST_PLUGIN_PATH and GStreamer's tools; what is said
of a missing driver is skipped where there is one. FAKE_DRIVER_FOLDER, where it
is set, has a driver that comes or goes."""

import ctypes
import os
import re
import shutil
import subprocess
import tempfile
import unittest

# Rows of whole words, as rawvideoparse knows no others.
WIDTH, HEIGHT, FRAMES = 32, 17, 5
LIBRARY = "libgstgpuhistogram.so"
COMPLAINT = r"(?i) (WARN|ERROR) .*(gpuhistogram|cuda)"
INFO = r"(?m)^\S+ +\S+ +\S+ +INFO +gpuhistogram .*$"
FAKE_DRIVER = os.environ.get("FAKE_DRIVER_FOLDER")


def have_driver():
    try:
        ctypes.CDLL("libcuda.so.1")
    except OSError:
        return False
    return True


def find_plugin():
    for folder in os.environ["GST_PLUGIN_PATH"].split(":"):
        path = os.path.join(folder, LIBRARY)
        if os.path.exists(path):
            return path
    raise unittest.SkipTest(LIBRARY + " is not in GST_PLUGIN_PATH")


def parse_message(line):
    """The numbers of a message as gst-launch-1.0 -m prints it."""
    fields = dict(re.findall(r"([a-z-]+)=\([a-z0-9]+\)([0-9.]+)", line))
    bins = re.search(r"histogram=\([a-z0-9]+\)<([^>]*)>", line).group(1)
    fields["histogram"] = [int(number.replace("(guint64)", ""))
                           for number in bins.split(",")]
    return fields


class NoDriver(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.addCleanup(self.folder.cleanup)
        self.environment = dict(os.environ, LC_ALL="C", GST_DEBUG="2",
                                GST_DEBUG_NO_COLOR="1",
                                GST_REGISTRY=self.path("registry"))

    def path(self, name):
        return os.path.join(self.folder.name, name)

    def run_tool(self, *command):
        return subprocess.run(command, env=self.environment, text=True,
                              stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                              timeout=30, check=False)

    def make_frames(self):
        frames = [bytes((i * 37 + 11 + 50 * k) % 256
                        for i in range(WIDTH * HEIGHT)) for k in range(FRAMES)]
        with open(self.path("frames"), "wb") as file:
            file.write(b"".join(frames))
        return frames

    def launch(self, engine):
        self.run_tool("gst-inspect-1.0", "gpuhistogram")  # fills the registry
        return self.run_tool(
            "gst-launch-1.0", "-m", "filesrc", "location=" +
            self.path("frames"), "!", "rawvideoparse", "format=gray8",
            "width=%d" % WIDTH, "height=%d" % HEIGHT, "!", "gpuhistogram",
            "engine=" + engine, "!", "fakesink")

    def check_engine(self, engine):
        frames = self.make_frames()
        result = self.launch(engine)
        self.assertEqual(result.returncode, 0, result.stderr)
        messages = [parse_message(line) for line in result.stdout.splitlines()
                    if "(element): gpuhistogram," in line]
        self.assertEqual(len(messages), FRAMES)
        for frame, message in zip(frames, messages):
            self.assertEqual(message["histogram"],
                             [frame.count(level) for level in range(256)])
            self.assertEqual(int(message["sum"]), sum(frame))
            self.assertEqual(int(message["pixels"]), len(frame))
        return result

    def test_B13_inspect_lists_the_element(self):
        result = self.run_tool("gst-inspect-1.0", "gpuhistogram")
        self.assertEqual(result.returncode, 0, result.stderr)
        self.assertIn("Factory Details", result.stdout)
        # Other plugins may have something to say of CUDA when scanned.
        self.assertNotRegex(result.stderr, r" (WARN|ERROR) .*gpuhistogram")
        # And once more, from the registry that this made.
        again = self.run_tool("gst-inspect-1.0", "gpuhistogram")
        self.assertEqual(again.returncode, 0, again.stderr)
        self.assertEqual(again.stdout, result.stdout)
        self.assertNotRegex(again.stderr, COMPLAINT)

    def test_B13_plugin_is_not_blacklisted(self):
        result = self.run_tool("gst-inspect-1.0", "-b")
        self.assertEqual(result.returncode, 0, result.stderr)
        self.assertNotIn("gpuhistogram", result.stdout)

    @unittest.skipUnless(shutil.which("readelf"), "no readelf")
    def test_B13_plugin_needs_no_cuda_library(self):
        result = self.run_tool("readelf", "-d", find_plugin())
        needed = re.findall(r"\(NEEDED\).*\[(.*)\]", result.stdout)
        self.assertTrue(any(name.startswith("libgstreamer-1.0")
                            for name in needed), needed)
        for name in needed:
            self.assertNotRegex(name, r"libcuda|nvidia|nvrtc|libnv")

    def check_counts_without_a_word(self, engine):
        result = self.check_engine(engine)
        self.assertNotRegex(result.stderr, COMPLAINT)
        self.assertNotRegex(result.stdout, r"\((warning|error)\)")

    def test_B13_cpu_counts_without_a_word(self):
        self.check_counts_without_a_word("cpu")

    def test_B13_auto_counts_without_a_word(self):
        self.check_counts_without_a_word("auto")

    @unittest.skipIf(have_driver(), "there is a driver")
    def test_B13_auto_says_one_thing(self):
        self.environment["GST_DEBUG"] = "2,gpuhistogram:4"
        result = self.check_engine("auto")
        said = re.findall(INFO, result.stderr)
        self.assertEqual(len(said), 1, said)

    def use_driver(self, there):
        libraries = os.environ.get("LD_LIBRARY_PATH", "")
        if there:
            libraries = FAKE_DRIVER + ":" + libraries
        self.environment["LD_LIBRARY_PATH"] = libraries

    def check_auto(self, there):
        """What gst-inspect-1.0 says of the element."""
        self.use_driver(there)
        result = self.check_engine("auto")
        self.assertRegex(result.stderr, "counting with %s " %
                         ("cuda" if there else "cpu"))
        return self.run_tool("gst-inspect-1.0", "gpuhistogram").stdout

    @unittest.skipIf(have_driver(), "there is a driver")
    @unittest.skipUnless(FAKE_DRIVER, "no fake driver")
    def test_B13_registry_of_another_machine(self):
        self.environment["GST_DEBUG"] = "2,gpuhistogram:4"
        for there in (False, True):
            with self.subTest(there_at_first=there):
                self.environment["GST_REGISTRY"] = self.path(
                    "registry-%d" % there)
                self.assertEqual(self.check_auto(there),
                                 self.check_auto(not there))

    def check_cuda_is_one_clear_error(self):
        self.make_frames()
        result = self.launch("cuda")
        self.assertNotEqual(result.returncode, 0)
        errors = re.findall(r"^ERROR: from element \S*gpuhistogram0: (.*)$",
                            result.stdout + result.stderr, re.MULTILINE)
        self.assertEqual(len(errors), 1, result.stdout + result.stderr)
        self.assertIn("engine=cuda", errors[0])
        self.assertIn("engine=auto", errors[0])
        self.assertNotIn("(element): gpuhistogram,", result.stdout)

    @unittest.skipIf(have_driver(), "there is a driver")
    def test_B13_cuda_is_one_clear_error(self):
        self.check_cuda_is_one_clear_error()

    def test_no_device_is_visible(self):
        for devices in "", "-1":
            with self.subTest(CUDA_VISIBLE_DEVICES=devices):
                self.environment["CUDA_VISIBLE_DEVICES"] = devices
                self.check_counts_without_a_word("auto")
                self.check_cuda_is_one_clear_error()


if __name__ == "__main__":
    unittest.main()
