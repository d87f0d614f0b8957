"""Writes the C++ of pages as test cases: readme.py OUTPUT.cpp PAGE.md...

The blocks of a page marked `cpp` run one after the other in one function, so that a later block can use what an earlier
one declared; includes and using directives go to the top, and a block with a `main` is a program of its own. A block
marked `text` right after one is what it must have printed on std::cout, with `...` for anything.
"""
import pathlib
import re
import sys

BLOCK = re.compile(r"^```(\w+)\n(.*?)^```\n", re.DOTALL | re.MULTILINE)
TOP = re.compile(r"^(#include .*|using namespace .*;)\n", re.MULTILINE)

top, programs, cases = [], [], []


def add_page(path):
    page = pathlib.Path(path).read_text(encoding="utf-8")
    name = re.sub(r"\W", "_", pathlib.Path(path).stem)
    blocks = list(BLOCK.finditer(page))
    body = []
    for i, block in enumerate(blocks):
        language, code = block.groups()
        if language != "cpp":
            continue
        line = page.count("\n", 0, block.start()) + 2
        top.extend(directive for directive in TOP.findall(code) if directive not in top)
        code = f'#line {line} "{path}"\n' + TOP.sub("\n", code)
        if "int main()" in code:
            programs.append(code.replace("int main()", f"static void program_{name}_{line}()"))
            code = f"program_{name}_{line}();\n"
        after = blocks[i + 1] if i + 1 < len(blocks) else None
        shown = after.group(2) if after and after.group(1) == "text" and after.start() == block.end() + 1 else None
        check = f'CHECK_PRINTED(printed.take(), R"page({shown})page");\n' if shown is not None else "printed.take();\n"
        body += ["printed.start();\n" + code, check]
    assert body, f"{path} has no C++"
    cases.append("\n".join([f'TEST_CASE("the code of {name} runs and prints what the page shows") {{',
                            "readme::printed printed;", *body, "}\n"]))


for page in sys.argv[2:]:
    add_page(page)
with open(sys.argv[1], "w", encoding="utf-8") as out:
    out.write("\n".join(['#include "tests/examples/readme.hpp"', *top, *programs, *cases]))
