"""Writes the README's C++ as a test case: readme.py README.md OUTPUT.cpp.

The blocks marked `cpp` run one after the other in one function, so that a later block can use what an earlier one
declared; includes and using directives go to the top, and a block with a `main` is a program of its own. A block marked
`text` right after one is what it must have printed on std::cout, with `...` for anything.
"""
import re
import sys

BLOCK = re.compile(r"^```(\w+)\n(.*?)^```\n", re.DOTALL | re.MULTILINE)
TOP = re.compile(r"^(#include .*|using namespace .*;)\n", re.MULTILINE)

readme = open(sys.argv[1], encoding="utf-8").read()
blocks = list(BLOCK.finditer(readme))
top, programs, body = [], [], []
for i, block in enumerate(blocks):
    language, code = block.groups()
    if language != "cpp":
        continue
    line = readme.count("\n", 0, block.start()) + 2
    top += [directive for directive in TOP.findall(code) if directive not in top]
    code = f'#line {line} "{sys.argv[1]}"\n' + TOP.sub("\n", code)
    if "int main()" in code:
        programs.append(code.replace("int main()", f"static void program_{line}()"))
        code = f"program_{line}();\n"
    after = blocks[i + 1] if i + 1 < len(blocks) else None
    shown = after.group(2) if after and after.group(1) == "text" and after.start() == block.end() + 1 else None
    check = f'CHECK_PRINTED(printed.take(), R"readme({shown})readme");\n' if shown is not None else "printed.take();\n"
    body += ["printed.start();\n" + code, check]

assert body, "the README has no C++"
with open(sys.argv[2], "w", encoding="utf-8") as out:
    out.write("\n".join(['#include "tests/examples/readme.hpp"', *top, *programs,
                         'TEST_CASE("the README\'s code runs and prints what the README shows") {',
                         "readme::printed printed;", *body, "}\n"]))
