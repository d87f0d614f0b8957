"""Writes the last column of a page's tables as a test case: from_numpy.py PAGE.md OUTPUT.cpp."""
import re
import sys

ROW = re.compile(r"^\|.*\| `([^`]+)` \|$", re.MULTILINE)

page = open(sys.argv[1], encoding="utf-8").read()
snippets = [(page.count("\n", 0, row.start()) + 1, row.group(1)) for row in ROW.finditer(page)]
assert len(snippets) > 50, "the page has lost its tables"
with open(sys.argv[2], "w", encoding="utf-8") as out:
    out.write("""#include <vector>

#include <ingot/ingot.hpp>

#include "tests/examples/readme.hpp"

using namespace ingot;

TEST_CASE("Ingot's column of the page for those who come from NumPy compiles and runs") {
    const readme::own_folder folder;
    array<float> x = reshape(astype<float>(arange(12)) / 7 - 0.5, {3, 4}), y = x * 2;
    const array<float> v{1, 2, 3, 4};
    const array<int> i = reshape(arange<int>(12), {3, 4});
    const array<bool> m = x > 0;
""")
    for line, code in snippets:
        out.write(f'#line {line} "{sys.argv[1]}"\n    CHECK_NOTHROW((void)({code}));\n')
    out.write("}\n")
