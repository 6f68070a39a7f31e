# SPDX-License-Identifier: LGPL-2.1-or-later
"""Shows the luma histogram of every frame; pipelines/demo starts it.

The frames' figures come from the element's bus messages. They are read in the
bus's sync handler, on the thread that posts them: each is printed before the
next can be posted, so none is lost and memory does not grow, however slow the
reader of stdout is. Popped from the bus in the main loop instead, they would
pile up behind a slow terminal, and the element drops what goes beyond its
max-pending-messages. The main thread pops them all the same, to free them:
a handler in Python cannot, as the bus expects of one that answers DROP.
"""

import argparse
import json
import locale
import math
import os
import pathlib
import re
import signal
import sys
import time
import warnings

import gi

gi.require_version('Gst', '1.0')
from gi.repository import Gst  # noqa: E402

# GstStructure hands arrays out as the deprecated GValueArray.
warnings.simplefilter('ignore', DeprecationWarning)

TEST_SCENE = ('videotestsrc num-buffers=300 pattern=zone-plate kx2=2 ky2=2'
              ' kt=3 ! video/x-raw,format=I420,width=1280,height=720,framerate=30/1')
TIMES = ('timestamp', 'stream-time', 'running-time', 'duration')
FIGURES = ('frame', 'width', 'height', 'pixels', 'sum', 'mean', 'min', 'max')
BLOCKS = ' ▁▂▃▄▅▆▇█'
ASCII = ' .:-=+*#@'
PLAIN_COLUMNS = 80
# How soon Ctrl-C is noticed.
PATIENCE = Gst.SECOND // 20
BAR_COLOUR = '\033[36m'
NO_COLOUR = '\033[0m'


def read_frame(structure):
    """The fields of an element message, unknown times as None."""
    frame = {name: structure.get_value(name) for name in TIMES + FIGURES}
    for name in TIMES:
        if frame[name] == Gst.CLOCK_TIME_NONE:
            frame[name] = None
    array = structure.get_array('histogram')[1]
    frame['histogram'] = [array.get_nth(i) for i in range(array.n_values)]
    return frame


def bar_chart(histogram, columns, glyphs):
    """One line of bars; only bins without a sample are blank."""
    columns = min(columns, len(histogram))
    edges = [i * len(histogram) // columns for i in range(columns + 1)]
    heights = [sum(histogram[low:high]) / (high - low)
               for low, high in zip(edges, edges[1:])]
    unit = (len(glyphs) - 1) / math.sqrt(max(heights) or 1)
    return ''.join(glyphs[math.ceil(math.sqrt(height) * unit - 1e-9)]
                   for height in heights)


def clock_text(nanoseconds):
    if nanoseconds is None:
        return '-:--:--.---'
    seconds, milliseconds = divmod(nanoseconds // 1000000, 1000)
    return '%d:%02d:%02d.%03d' % (seconds // 3600, seconds // 60 % 60,
                                  seconds % 60, milliseconds)


def known_position(frame, duration):
    """How far a frame's end is into the stream, as '12%', if that is known."""
    if not duration or frame['stream-time'] is None:
        return ''
    end = frame['stream-time'] + (frame['duration'] or 0)
    return '%d%%' % min(100, 100 * end // duration)


class Text:
    """Lines for people, as wide as the terminal."""

    def __init__(self):
        self.terminal = sys.stdout.isatty()
        unicode = locale.nl_langinfo(locale.CODESET).upper() == 'UTF-8'
        self.glyphs = BLOCKS if unicode else ASCII
        self.colour = (self.terminal and 'NO_COLOR' not in os.environ
                       and os.environ.get('TERM', 'dumb') != 'dumb')

    def columns(self):
        if self.terminal:
            # 0 where the terminal does not know; it can change at any time.
            return os.get_terminal_size(1).columns or PLAIN_COLUMNS
        return PLAIN_COLUMNS

    def say(self, line):
        print(line, flush=True)

    def frame(self, frame, duration):
        start = '%s mean %6.2f min %3d max %3d ' % (
            clock_text(frame['stream-time']), frame['mean'], frame['min'],
            frame['max'])
        if self.terminal:
            start = '%4s %s' % (known_position(frame, duration), start)
        # The last column stays free: some terminals wrap when it is filled.
        free = self.columns() - 1 - len(start)
        if free < 1:
            self.say(start[:free - 1 if free < 0 else None])
            return
        bars = bar_chart(frame['histogram'], free, self.glyphs)
        if self.colour:
            bars = BAR_COLOUR + bars + NO_COLOUR
        self.say(start + bars)


class Json:
    """One object a line on stdout, all else on stderr."""

    def say(self, line):
        print(line, file=sys.stderr, flush=True)

    def frame(self, frame, duration):
        print(json.dumps(frame), flush=True)


class Demo:
    def __init__(self, video, engine, output):
        self.output = output
        self.name = video or 'test scene'
        self.failure = None
        self.missing = []
        self.interrupted = False
        self.stopped = False
        self.duration = None
        self.frames = self.sum = self.pixels = 0
        self.build(video, engine)

    def build(self, video, engine):
        # What the element cannot read, videoconvert converts; everything else
        # passes through it uncopied.
        chain = ('videoconvert name=convert ! gpuhistogram name=histogram'
                 ' ! fakesink sync=false enable-last-sample=false')
        if video is None:
            self.pipeline = Gst.parse_launch(TEST_SCENE + ' ! ' + chain)
        else:
            self.pipeline = Gst.parse_launch('uridecodebin name=source ! '
                                             + chain)
            source = self.pipeline.get_by_name('source')
            source.set_property('uri', uri_of(video))
            source.connect('no-more-pads', self.on_no_more_pads)
        self.histogram = self.pipeline.get_by_name('histogram')
        self.convert = self.pipeline.get_by_name('convert')
        Gst.util_set_object_arg(self.histogram, 'engine', engine)
        # Never more than a few; but none may be lost, whatever happens.
        self.histogram.set_property('max-pending-messages', 2 ** 32 - 1)
        self.bus = self.pipeline.get_bus()
        self.bus.set_sync_handler(self.on_sync_message)

    # On streaming threads.

    def on_no_more_pads(self, source):
        if not self.convert.get_static_pad('sink').is_linked():
            self.stop(self.missing_text() or 'there is no video in it')

    def on_sync_message(self, bus, message):
        if message.type == Gst.MessageType.ELEMENT and not self.stopped:
            structure = message.get_structure()
            if structure.get_name() == 'gpuhistogram':
                self.try_take(structure)
            elif structure.get_name() == 'missing-plugin':
                self.missing.append(structure.get_string('name'))
        return Gst.BusSyncReply.PASS

    def try_take(self, structure):
        try:
            self.take(read_frame(structure))
        except BrokenPipeError:
            discard_output()
            self.stop()
        except OSError as error:
            discard_output()
            self.stop('the output cannot be written: ' + error.strerror)
        except Exception:
            self.stop('this program has a fault, shown above')
            raise

    def take(self, frame):
        if self.frames == 0:
            self.begin(frame)
        self.output.frame(frame, self.duration)
        self.frames += 1
        self.sum += frame['sum']
        self.pixels += frame['pixels']

    def begin(self, frame):
        known, duration = self.pipeline.query_duration(Gst.Format.TIME)
        self.duration = duration if known else None
        given = format_at(self.convert.get_static_pad('sink'))
        counted = format_at(self.convert.get_static_pad('src'))
        self.output.say('%s: %dx%d, %s%s' % (
            self.name, frame['width'], frame['height'], counted,
            '' if given == counted else ', converted from ' + given))
        self.output.say(self.engine_text())

    def stop(self, failure=None):
        """Has the main thread end the stream; only the first call counts."""
        if not self.stopped:
            self.failure = failure
            self.stopped = True

    # On the main thread.

    def wait_for_end(self):
        """Pops the bus until the end; Python's signal handlers run between."""
        kinds = (Gst.MessageType.EOS | Gst.MessageType.ERROR
                 | Gst.MessageType.WARNING)
        while not self.stopped:
            message = self.bus.timed_pop_filtered(PATIENCE, kinds)
            if message is None:
                continue
            if message.type == Gst.MessageType.WARNING:
                # Those of other elements mean little here.
                if message.src == self.histogram:
                    self.complain(message.parse_warning()[0].message)
            elif message.type == Gst.MessageType.ERROR:
                self.stop(self.error_text(message.parse_error()[0]))
            else:
                self.stop(None if self.frames else 'there is no frame in it')

    def complain(self, text):
        print('demo: %s: %s' % (self.name, text), file=sys.stderr, flush=True)

    def error_text(self, error):
        if error.domain in ('gst-stream-error-quark', 'gst-core-error-quark'):
            return self.missing_text() or error.message
        return error.message

    def missing_text(self):
        return self.missing and 'GStreamer has no ' + ' and no '.join(
            self.missing)

    def engine_text(self):
        stats = self.histogram.get_property('stats')
        device = stats.get_string('device')
        reason = stats.get_string('reason')
        return 'engine: %s%s%s' % (
            stats.get_string('engine'), ' (%s)' % device if device else '',
            ', because ' + reason if reason else '')

    def on_signal(self, number, stack):
        # A second one ends the program at once.
        signal.signal(number, signal.SIG_DFL)
        self.interrupted = True
        self.stop()

    def run(self):
        """Plays to the end and returns the exit status."""
        for number in (signal.SIGINT, signal.SIGTERM):
            signal.signal(number, self.on_signal)
        started = time.monotonic()
        self.pipeline.set_state(Gst.State.PLAYING)
        self.wait_for_end()
        seconds = time.monotonic() - started
        self.pipeline.set_state(Gst.State.NULL)
        if self.frames > 0:
            self.summarise(seconds)
        if self.failure:
            self.complain(self.failure)
            return 1
        return 130 if self.interrupted else 0

    def summarise(self, seconds):
        self.output.say(
            '%d frame%s in %.2f seconds: %.1f frames per second;'
            ' overall mean %.2f' % (
                self.frames, '' if self.frames == 1 else 's', seconds,
                self.frames / seconds, self.sum / self.pixels))


def format_at(pad):
    # From the text, as gst-python changed what get_structure() returns.
    return re.search(r'format=\(string\)(\w+)',
                     pad.get_current_caps().to_string()).group(1)


def uri_of(video):
    path = pathlib.Path(video).absolute()
    return path.as_uri() if path.exists() else video


def discard_output():
    """Or Python complains about what it could not write once more at exit."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), 1)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument('--json', action='store_true')
    parser.add_argument('--engine', choices=('auto', 'cuda', 'cpu'),
                        default='auto')
    parser.add_argument('video', nargs='?')
    arguments = parser.parse_args()
    # A file's name may be in no encoding at all.
    sys.stdout.reconfigure(errors='replace')
    Gst.init(None)
    output = Json() if arguments.json else Text()
    return Demo(arguments.video, arguments.engine, output).run()


if __name__ == '__main__':
    try:
        status = main()
    except BrokenPipeError:
        discard_output()
        status = 0
    sys.exit(status)
