"""Prints how many cases passed and failed, from the JUnit file that CTest wrote.

Of a doctest executable, test_<layer>, its own cases are counted, and one failure if it ended before its summary, whatever
it returned. Any other test counts as one case.
"""
import re
import sys
import xml.etree.ElementTree as ElementTree

SUMMARY = re.compile(r"\[doctest\] test cases: +\d+ \| +(\d+) passed \| +(\d+) failed")


def count(test):
    ok = test.get("status") == "run"
    if not test.get("name").startswith("test_"):
        return int(ok), int(not ok)
    summary = SUMMARY.search(test.findtext("system-out") or "")
    if not summary:
        return 0, 1
    passed, failed = map(int, summary.groups())
    return passed, failed if ok else max(failed, 1)


counts = [count(test) for test in ElementTree.parse(sys.argv[1]).getroot().iter("testcase")]
print(sum(passed for passed, _ in counts), sum(failed for _, failed in counts))
