# SPDX-License-Identifier: LGPL-2.1-or-later
"""Breaks a copy of the code in one place after the other, and runs the tests
that should notice; tests/mutations/run calls it.

A fault is a paragraph of a .txt file here:

    [name-of-the-fault]
    file: kernels/some-file.c
    tests: names of tests, the one that should notice first
     a line that stays, for context
    -a line that goes
    +a line that comes

The lines are those of a diff, without their numbers: what stays and goes has to
be in the file, whole lines and exactly once.
"""

import glob
import json
import os
import re
import signal
import subprocess
import sys
import time

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(os.path.dirname(HERE))
COPY = os.path.join(ROOT, 'build-mutations')
BUILD = os.path.join(COPY, 'build')

PASSED, SKIPPED = 0, 77
# libcheck's line of a case that failed or crashed.
FAILED_CASE = re.compile(r'^\S+:\d+:[FE]:[^:]*:([^:]+):\d+: ', re.MULTILINE)


class Mutation:
    def __init__(self, paragraph):
        lines = paragraph.splitlines()
        self.name = lines[0].strip('[]')
        self.file = lines[1].removeprefix('file: ')
        self.tests = lines[2].removeprefix('tests: ').split()
        change = [line + '\n' for line in lines[3:]]
        self.before = ''.join(line[1:] for line in change if line[0] in ' -')
        self.after = ''.join(line[1:] for line in change if line[0] in ' +')

    def broken(self, text):
        """The text of the file with the fault in it."""
        if ('\n' + text).count('\n' + self.before) != 1:
            sys.exit(f'{self.name}: {self.file} does not have these lines '
                     f'exactly once:\n{self.before}')
        return ('\n' + text).replace('\n' + self.before,
                                     '\n' + self.after)[1:]


def read_mutations():
    mutations = []
    for path in sorted(glob.glob(os.path.join(HERE, '*.txt'))):
        for paragraph in read(path).split('\n\n'):
            if paragraph.startswith('['):
                mutations.append(Mutation(paragraph.rstrip('\n')))
    return mutations


def choose(names):
    mutations = read_mutations()
    known = [mutation.name for mutation in mutations]
    for name in names:
        if name not in known:
            sys.exit(f'There is no fault {name}; --list shows all of them.')
    return [m for m in mutations if not names or m.name in names]


def read(path):
    with open(path, encoding='utf-8') as file:
        return file.read()


def write(path, text):
    with open(path, 'w', encoding='utf-8') as file:
        file.write(text)


# ---- The copy ----

def copy_tree():
    """Writes only files that differ, so that ninja builds little; this also
    undoes what an interrupted run left broken."""
    files = subprocess.run(['git', '-C', ROOT, 'ls-files', '-z', '--cached',
                            '--others', '--exclude-standard'], check=True,
                           stdout=subprocess.PIPE, text=True).stdout
    for name in files.split('\0'):
        source, target = os.path.join(ROOT, name), os.path.join(COPY, name)
        if not os.path.isfile(source):
            continue
        with open(source, 'rb') as file:
            data = file.read()
        if os.path.exists(target):
            with open(target, 'rb') as file:
                if file.read() == data:
                    continue
        os.makedirs(os.path.dirname(target), exist_ok=True)
        with open(target, 'wb') as file:
            file.write(data)
        os.chmod(target, os.stat(source).st_mode)


def must(*command):
    done = subprocess.run(command, stdout=subprocess.PIPE,
                          stderr=subprocess.STDOUT, text=True)
    if done.returncode != 0:
        sys.exit(f'{done.stdout}This failed: {" ".join(command)}')
    return done.stdout


def configure():
    if not os.path.exists(os.path.join(BUILD, 'build.ninja')):
        must('meson', 'setup', BUILD, COPY, '-Dintrospection=disabled',
             '-Dpipelines=false')
    must('ninja', '-C', BUILD, 'build.ninja')


# ---- Tests ----

class Test:
    def __init__(self, entry, files_of):
        self.name = entry['name']
        self.command = entry['cmd']
        self.folder = entry['workdir']
        self.environment = {**os.environ, **entry['env']}
        self.targets = [os.path.relpath(path, BUILD)
                        for target in entry['depends']
                        for path in files_of[target]]
        program = os.path.relpath(self.command[0], BUILD)
        if not program.startswith('..'):
            self.targets.append(program)
        self.limit = 120  # seconds

    def run(self):
        """The exit status, or None past the limit; and what it printed."""
        with subprocess.Popen(self.command, cwd=self.folder,
                              env=self.environment, stdin=subprocess.DEVNULL,
                              stdout=subprocess.PIPE, text=True,
                              stderr=subprocess.STDOUT, errors='replace',
                              start_new_session=True) as process:
            try:
                output, _ = process.communicate(timeout=self.limit)
                return process.returncode, output
            except subprocess.TimeoutExpired:
                os.killpg(process.pid, signal.SIGKILL)
                return None, process.communicate()[0]

    def run_unbroken(self):
        """From how long it takes follows when it hangs."""
        start = time.monotonic()
        status, output = self.run()
        self.limit = 20 + 4 * (time.monotonic() - start)
        if status not in (PASSED, SKIPPED):
            sys.exit(f'{output}{self.name} fails without a fault.')
        return status

    def look(self):
        """What the test says of the fault; None where it notices nothing."""
        status, output = self.run()
        if status is None:
            return f'no end in {self.limit:.0f} s'
        if status in (PASSED, SKIPPED):
            return None
        case = FAILED_CASE.search(output)
        return case[1] if case else f'exit status {status}'


def introspect(what):
    return json.loads(must('meson', 'introspect', '--' + what, BUILD))


def find_tests(mutations):
    files_of = {target['id']: target['filename']
                for target in introspect('targets')}
    wanted = {name for mutation in mutations for name in mutation.tests}
    found = {entry['name']: Test(entry, files_of)
             for entry in introspect('tests') if entry['name'] in wanted}
    # Without CUDA there are none over the fake driver.
    for name in sorted(wanted - set(found)):
        if not name.endswith('-fake') or any(n.endswith('-fake')
                                             for n in found):
            sys.exit(f'There is no test {name}.')
    return found


def ninja(tests):
    targets = {target for test in tests for target in test.targets}
    return ['ninja', '-C', BUILD, *sorted(targets)]


# ---- Faults ----

def try_mutation(chosen):
    """Whether it is caught, and what happened."""
    if subprocess.run(ninja(chosen), stdout=subprocess.DEVNULL,
                      stderr=subprocess.DEVNULL).returncode != 0:
        return False, 'does not build'
    for test in chosen:
        seen = test.look()
        if seen:
            return True, f'caught by {test.name}: {seen}'
    names = ' '.join(test.name for test in chosen)
    return False, f'SURVIVED {names}'


def break_one(mutation, chosen):
    path = os.path.join(COPY, mutation.file)
    text = read(path)
    start = time.monotonic()
    try:
        write(path, mutation.broken(text))
        caught, message = try_mutation(chosen)
    finally:
        write(path, text)
    print(f'{mutation.name}: {message} ({time.monotonic() - start:.0f} s)',
          flush=True)
    return caught


def break_all(mutations):
    """Whether each of them is caught, without those that cannot be tried."""
    copy_tree()
    configure()
    tests = find_tests(mutations)
    print('Building, and running the tests without a fault', flush=True)
    must(*ninja(tests.values()))
    tests = {name: test for name, test in tests.items()
             if test.run_unbroken() == PASSED}
    outcomes = []
    for mutation in mutations:
        chosen = [tests[name] for name in mutation.tests if name in tests]
        if chosen:
            outcomes.append(break_one(mutation, chosen))
        else:
            print(f'{mutation.name}: skipped, as {" ".join(mutation.tests)} '
                  'does not run here')
    return outcomes


def main(arguments):
    if arguments == ['--list']:
        for mutation in read_mutations():
            print(f'{mutation.name}: {mutation.file}: '
                  f'{" ".join(mutation.tests)}')
        return 0
    mutations = choose(arguments)
    # Now, as what is out of date would show only after the build.
    for mutation in mutations:
        mutation.broken(read(os.path.join(ROOT, mutation.file)))
    outcomes = break_all(mutations)
    caught = sum(outcomes)
    print(f'{caught} of {len(outcomes)} caught')
    return caught < len(outcomes) or not outcomes


if __name__ == '__main__':
    sys.exit(main(sys.argv[1:]))
