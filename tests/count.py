"""Prints how many cases passed and failed, from the JUnit file that CTest wrote.

Where a test is a doctest executable its own cases are counted. A test that is none, or that died before its summary,
counts as one case.
"""
import re
import sys
import xml.etree.ElementTree as ElementTree

passed = failed = 0
for test in ElementTree.parse(sys.argv[1]).getroot().iter("testcase"):
    if test.get("status") not in ("run", "fail"):
        continue
    ok = test.get("status") == "run"
    summary = re.search(
        r"\[doctest\] test cases: +\d+ \| +(\d+) passed \| +(\d+) failed", test.findtext("system-out") or ""
    )
    case_passed, case_failed = map(int, summary.groups()) if summary else (int(ok), 0)
    if not ok and case_failed == 0:
        case_failed = 1
    passed += case_passed
    failed += case_failed
print(passed, failed)
