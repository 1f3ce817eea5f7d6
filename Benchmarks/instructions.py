#!/usr/bin/env python3
"""Counts the instructions of the hot operations with callgrind.

`--check` fails if a count differs from Benchmarks/instructions.json by more than 3 %. More
instructions are a regression. Fewer fail, too, because a later regression could hide in the
difference: accept them. `--accept` writes the counts to the file.

The count of an operation is the difference between two runs of a program, with one round and with
two, so it contains neither the start of the process nor the first use. Decision 0044 says why the
counts are the same on all machines.
"""

import argparse
import concurrent.futures
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parent.parent
COUNTS = ROOT / "Benchmarks/instructions.json"
TOLERANCE = 0.03

# Operations whose counts depend on the build. The runtime looks up the metadata of generic types in
# tables that are hashed by address, and an address changes with any code: builds of the same
# ObjectStore took 531,000 or 551,000 instructions.
TOLERANCES = {"change of one record under an observed result of 9,000": 0.05}

# A fixed environment, because it determines hashes, thread pools and the contents of the stack.
# The programs and stores are in a folder whose path always has the same length.
ENVIRONMENT = {
    "PATH": "/usr/bin:/bin",
    "HOME": "/nonexistent",
    "TZ": "UTC",
    "SWIFT_DETERMINISTIC_HASHING": "1",
    "LIBDISPATCH_COOPERATIVE_POOL_STRICT": "1",
}

# The tool, as a whole process on a store of 1,000 waiting downloads.
COMMANDS = {
    "process: dlstore --version": ["--version"],
    "process: dlstore list --limit 20": ["list", "--limit", "20", "--store", "small"],
    "process: dlstore list --format jsonl, 1,000 downloads": [
        "list", "--format", "jsonl", "--store", "small",
    ],
}


class Workspace:
    """A temporary folder with the programs and the stores, and a copy of the stores per run."""

    def __init__(self):
        build = [str(ROOT / ".ci/build-release"), "dlstore", "instruction-count"]
        built = subprocess.run(build, check=True, stdout=subprocess.PIPE, text=True)
        products = pathlib.Path(built.stdout.strip().splitlines()[-1])
        self.folder = pathlib.Path(tempfile.mkdtemp(prefix="instructions-", dir="/tmp"))
        for name in ("dlstore", "instruction-count"):
            # Valgrind 3.19 cannot read the debugging information, and needs only the symbols.
            strip = ["objcopy", "--strip-debug", str(products / name), str(self.folder / name)]
            subprocess.run(strip, check=True)
        self.program = str(self.folder / "instruction-count")
        self.tool = str(self.folder / "dlstore")
        self.stores = self.folder / "stores"
        self.stores.mkdir()
        self.output([self.program, "prepare", str(self.stores)], self.folder)

    @staticmethod
    def output(command, folder):
        """Runs a command in a folder, and returns its output."""
        done = subprocess.run(
            command, cwd=folder, env=ENVIRONMENT, check=True, stdout=subprocess.PIPE, text=True
        )
        return done.stdout

    def count(self, name, command):
        """Returns the instructions of a process on its own copy of the stores.

        An argument `.` of the command stands for the folder of the stores.
        """
        folder = pathlib.Path(tempfile.mkdtemp(prefix="run-", dir=self.folder))
        stores = folder / "stores"
        shutil.copytree(self.stores, stores)
        self.output([self.program, "open", str(stores)], stores)
        profile = folder / "profile"
        valgrind = ["valgrind", "--quiet", "--tool=callgrind", f"--callgrind-out-file={profile}"]
        command = [str(stores) if argument == "." else argument for argument in command]
        self.output(valgrind + command, stores)
        shutil.rmtree(stores)
        match = re.search(r"^(?:summary|totals): (\d+)", profile.read_text(), re.MULTILINE)
        kept = "".join(letter if letter.isalnum() else "-" for letter in name)
        profile.rename(self.folder / f"{kept}.profile")
        return int(match[1])

    def operations(self):
        """Returns the name of each operation, and its units per round."""
        lines = self.output([self.program, "list"], self.folder).splitlines()
        return {name: int(units) for units, name in (line.split("\t") for line in lines)}


def measure(only, keep):
    """Returns the instructions of each operation whose name contains `only`, per unit of work."""
    work = Workspace()
    try:
        operations = {name: units for name, units in work.operations().items() if only in name}
        commands = {name: arguments for name, arguments in COMMANDS.items() if only in name}
        with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
            def count(name, *command):
                return pool.submit(work.count, name, command)

            rounds = {
                name: [
                    count(f"{name} {rounds}", work.program, "run", name, str(rounds), ".")
                    for rounds in (1, 2)
                ]
                for name in operations
            }
            processes = {
                name: count(name, work.tool, *arguments) for name, arguments in commands.items()
            }
            result = {name: process.result() for name, process in processes.items()}
            for name, units in operations.items():
                one, two = (run.result() for run in rounds[name])
                result[name] = round((two - one) / units)
        return result
    finally:
        if keep:
            print(f"the profiles are in {work.folder}: callgrind_annotate FILE")
        else:
            shutil.rmtree(work.folder, ignore_errors=True)


def compare(accepted, counts):
    """Prints a table; returns what is wrong with each operation that changed too much."""
    problems = []
    print(f"{'accepted':>13} {'now':>13} {'change':>9}  operation")
    for name in sorted(accepted.keys() | counts.keys()):
        old, new = accepted.get(name), counts.get(name)
        if old is None or new is None:
            text = "new" if old is None else "gone"
            problems.append(f"{name}: is {text}")
        else:
            change = new / old - 1
            tolerance = TOLERANCES.get(name, TOLERANCE)
            text = f"{change:+.2%}"
            if change > tolerance:
                problems.append(f"{name}: {text} instructions, a regression")
            elif change < -tolerance:
                problems.append(f"{name}: {text} instructions, so the accepted count is too high")
        print(f"{old or '-':>13} {new or '-':>13} {text:>9}  {name}")
    return problems


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    action = parser.add_mutually_exclusive_group(required=True)
    action.add_argument("--check", action="store_true", help="compare with the accepted counts")
    action.add_argument("--accept", action="store_true", help="write the accepted counts")
    parser.add_argument("--only", default="", help="a part of the names of the operations")
    parser.add_argument("--keep", action="store_true", help="keep the profiles")
    arguments = parser.parse_args()
    for program in ("valgrind", "objcopy"):
        if not shutil.which(program):
            sys.exit(f"{program} is missing: .ci/install counts")
    accepted = json.loads(COUNTS.read_text()) if COUNTS.exists() else {}
    counts = measure(arguments.only, arguments.keep)
    expected = {name: count for name, count in accepted.items() if arguments.only in name}
    problems = compare(expected, counts)
    if arguments.accept:
        if arguments.only:
            counts = accepted | counts
        COUNTS.write_text(json.dumps(counts, indent=2, ensure_ascii=False) + "\n")
        print(f"{COUNTS.relative_to(ROOT)} is written: give the reason in the commit message")
    elif problems:
        print("\n".join(problems), file=sys.stderr)
        sys.exit("profile it with --keep, or run `make accept-instructions` and say why")


if __name__ == "__main__":
    main()
