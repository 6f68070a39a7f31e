# SPDX-License-Identifier: LGPL-2.1-or-later
"""Counts test cases in the logs of meson test; tests/run calls it.

A program that prints libcheck's closing line counts by its cases, any other
as one. A crash, a time-out or a failure outside the cases, such as a leak that
is reported at the end, counts as one failure.
"""

import argparse
import json
import os
import re
import sys

CASES = re.compile(r'^\d+%: Checks: (\d+), Failures: (\d+), Errors: (\d+)$',
                   re.MULTILINE)
# What a test program says of each case that it leaves out.
SKIPPED = re.compile(r'^\S+: skipped, ', re.MULTILINE)


def count(record):
    """The passed, failed and skipped cases of one program."""
    if record['result'] == 'SKIP':
        return 0, 0, 1
    skipped = len(SKIPPED.findall(record.get('stderr') or ''))
    lines = [tuple(map(int, line))
             for line in CASES.findall(record.get('stdout') or '')]
    failed = sum(failures + errors for _, failures, errors in lines)
    passed = sum(checks for checks, _, _ in lines) - failed
    if record['result'] not in ('OK', 'EXPECTEDFAIL'):
        return passed, failed or 1, skipped
    return (passed, failed, skipped) if lines else (1, 0, skipped)


def read_log(folder):
    """The records of a build folder, none where the tests did not begin."""
    path = os.path.join(folder, 'meson-logs', 'testlog.json')
    if not os.path.exists(path):
        return []
    with open(path, encoding='utf-8', errors='replace') as log:
        return [json.loads(line) for line in log if line.strip()]


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument('--check', action='append', default=[],
                        metavar='NAME=passed|failed|skipped',
                        help='what came of something that is no test')
    parser.add_argument('folders', nargs='+')
    arguments = parser.parse_args()

    counts = [(0, 0, 0)]
    notes = []
    for check in arguments.check:
        result = check.partition('=')[2]
        counts.append((result == 'passed', result == 'failed',
                       result == 'skipped'))
        if result != 'passed':
            notes.append(check.replace('=', ': '))
    for folder in arguments.folders:
        name = os.path.basename(os.path.normpath(folder))
        records = read_log(folder)
        if not records:
            counts.append((0, 1, 0))
            notes.append(name + ': no test ran')
        for record in records:
            counts.append(count(record))
            if counts[-1][1]:
                notes.append('%s: %s: %d failed (%s)' % (
                    name, record['name'], counts[-1][1], record['result']))

    passed, failed, skipped = map(sum, zip(*counts))
    for note in notes:
        print(note)
    print('%d passed, %d failed, %d skipped' % (passed, failed, skipped))
    return 1 if failed else 0


if __name__ == '__main__':
    sys.exit(main())
