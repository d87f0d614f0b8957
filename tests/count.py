"""Prints how many cases passed, failed and were not tested, from the JUnit file that CTest wrote: in the last line, below
those that were not tested, with the reason.

Of a doctest executable, test_<layer>, its own cases are counted, and one failure if it ended before its summary, whatever
it returned. Any other test counts as one case. Cases that could not test say so (tests/untested.hpp), as do scripts.
A reason that allowed_skips.txt does not list is a failure: tests/run should have installed what is missing.
"""
import pathlib
import re
import sys
import xml.etree.ElementTree as ElementTree

SUMMARY = re.compile(r"\[doctest\] test cases: +\d+ \| +(\d+) passed \| +(\d+) failed")
UNTESTED = re.compile(r"^(not tested(?: in part)?: .*)$", re.MULTILINE)
REASON = re.compile(r'not tested(?: in part)?: (?:"[^"]*": )?(.*)')


def allowed_reasons():
    lines = pathlib.Path(__file__).with_name("allowed_skips.txt").read_text().splitlines()
    return re.compile("|".join(f"(?:{line})" for line in lines if line and not line.startswith("#")))


def count(test, untested):
    ok = test.get("status") == "run"
    output = test.findtext("system-out") or ""
    skipped = sum(not line.startswith("not tested in part") for line in untested)
    summary = SUMMARY.search(output)
    if not test.get("name").startswith("test_"):
        if not summary and skipped and ok:  # a script
            return 0, 0, 1
        return int(ok), int(not ok), skipped
    if not summary:
        return 0, 1, 0
    passed, failed = map(int, summary.groups())
    return max(passed - skipped, 0), failed if ok else max(failed, 1), skipped


allowed = allowed_reasons()
counts = [0, 0, 0]
for test in ElementTree.parse(sys.argv[1]).getroot().iter("testcase"):
    untested = UNTESTED.findall(test.findtext("system-out") or "")
    for line in untested:
        is_allowed = allowed.fullmatch(REASON.match(line).group(1))
        print(f"{test.get('name')}: {line}{'' if is_allowed else ' -- FAILED: allowed_skips.txt does not list this reason'}")
        counts[1] += not is_allowed
    counts = [a + b for a, b in zip(counts, count(test, untested))]
print(*counts)
