"""Functions of arrays beside NumPy's: tests/parity/functions.txt, whose lines say what both are given, and
docs/from-numpy.md, whose tables do.

    functions.py --test TABLE PAGE OUTPUT.cpp    writes the Ingot column of both as test cases
    functions.py --compare TABLE|PAGE RESULTS    computes the other column and compares
    functions.py --names TABLE ELSEWHERE         fails where a public function has no case in the table and is not
                                                 said, truly, to be tested elsewhere

RESULTS has lines of what follows: "arrangement NUMBER"; "operand NAME DTYPE EXTENT..." and its elements; "result LINE
DTYPE EXTENT..." and its. A line with several results has them in order.
"""
import pathlib
import re
import sys

HERE = pathlib.Path(__file__).resolve().parent
TESTS = HERE.parent
PAGE_ROW = re.compile(r"^\| (.*?) \|.*\| `([^`]+)` \|$")

# Rows of the page whose columns are not the same expression, or which this script cannot compute: by Ingot's column.
NOT_COMPARED = re.compile(
    r"random::|_pinned|take\(|asarray\(std|exp\(log1p|angle\(conj|log2?\(|erf\(|gamma|digamma|j0\(|ndtri|expit|softmax|norm\(|"
    r"\.item\(\)|to_host|values\(|benchmark|fill\(|^put\(|^copyto\(|^scatter_add\(|\) = |\+= |sum\(x\)\.item|eval\(frexp|eval\(max|bit_cast|array<float>\(x\)|complex_of|"
    r"astype<std::complex|array<double>\{1|"
    # Compared by tests of their own: files, joins, grids, windows (parity/elsewhere.txt).
    r"device|stream\(|event\(|_pool\(|capture\(|synchronize|save|load|npy_info|print_options|grid|ix_\(|fromfunction|_index|split\(|diagflat|tril|rollaxis|fliplr|"
    r"broadcast_arrays|concatenate|stack\(|append|insert|delete|pad\(|roll\(|convolve|cov\(|sliding|as_strided|atleast|"
    r"matmul\(x, v\)|outer\(v, v\) \+|linalg::qr|linalg::eigh|linalg::solve_triangular|linalg::lu|linalg::cho_solve|"
    r"linalg::expm|linalg::toeplitz|repr\(|polyfit|roots|tofile|fromfile|unstack|histogramdd|bin_rule|topk\(|"
    r"nanmedian\(|unique_all|[tnfr]1d\(|fft::|ndimage::|signal::|interpolate::|spatial::|integrate::|optimize::|plot\(|imshow\(|"
    r"linalg::cg|linalg::gmres|"
    r"flatten|vander|indices\(|tile\(|repeat\(|trim_zeros|mT\(|rot90|eye\(3, 3")


class Case:
    def __init__(self, line, ingot, numpy, statement=False, inexact=False):
        self.line, self.ingot, self.numpy, self.statement, self.inexact = line, ingot, numpy, statement, inexact


def table_cases(path):
    for number, text in enumerate(path.read_text(encoding="utf-8").splitlines(), 1):
        if text and not text.startswith("#"):
            ingot, numpy = text.split(" # ")
            statement = ingot.startswith(": ")
            yield Case(number, ingot.removeprefix(": "), numpy.removeprefix("~ "), statement, numpy.startswith("~ "))


def page_cases(path):
    for number, text in enumerate(path.read_text(encoding="utf-8").splitlines(), 1):
        row = PAGE_ROW.match(text)
        if row:
            compared = not NOT_COMPARED.search(row.group(2))
            numpy = re.sub(r"^[\w, ]+ = ", "", ", ".join(re.findall(r"`([^`]+)`", row.group(1))))
            yield Case(number, row.group(2), numpy if compared else "", inexact=True)


def cases_of(path):
    return list(page_cases(path) if path.suffix == ".md" else table_cases(path))


# ---- the test ------------------------------------------------------------------------------------------------------

HEAD = """// Made by tests/oracle/functions.py.
#include <ingot/interpolate.hpp>
#include <ingot/ndimage.hpp>
#include <ingot/nn.hpp>
#include <ingot/signal.hpp>
#include <ingot/spatial.hpp>

#include "tests/examples/readme.hpp"
#include "tests/parity/functions.hpp"
#include "tests/parity/operands.hpp"

#include <ingot/solvers.hpp>

using namespace ingot;

"""
# A function for each, so that none is too long for a compiler.
CHUNK = """static void functions_{number}(testing::run& r, const testing::operands& o) {{
    const auto& [x, y, m, v, w, d, i, j, k, t, u, b, h, z, e, s] = o;
{code}}}
"""
TABLE_CASE = """TEST_CASE("functions of arrays are NumPy's, in every arrangement") {{
    testing::run r("{table}");
    r.in_every_arrangement([&](const testing::operands& o) {{
{calls}    }});
    r.compare();
}}
"""
PAGE_CASE = """TEST_CASE("Ingot's column of the page for those who come from NumPy compiles, runs and gives what NumPy's gives") {{
    testing::run r("{page}");
    const readme::own_folder folder;
    array<float> x = reshape(astype<float>(arange(12)) / 7 - 0.5, {{3, 4}}), y = x * 2;
    const array<float> v{{1, 2, 3, 4}};
    const array<int> i = reshape(arange<int>(12), {{3, 4}});
    const array<bool> m = x > 0;
    const array<float> as_it_was = x;
    r.name("x", x), r.name("y", y), r.name("v", v), r.name("i", i), r.name("m", m);
{code}    r.compare();
}}
"""


def statement(case, path):
    body = f"{case.ingot};" if case.statement else f"r.record({case.line}, {case.ingot});"
    if case.statement:
        writable = "[[maybe_unused]] array<float> a = x; [[maybe_unused]] array<int> n = i;"
        body = f"{{ {writable} {body} r.record({case.line}, a); }}"
    return f'    r.begins({case.line});\n#line {case.line} "{path}"\n    {body}\n'


def write_test(table, page, output):
    chunks, cases = [], cases_of(table)
    for first in range(0, len(cases), 40):
        chunks.append("".join(statement(c, table) for c in cases[first:first + 40]))
    code = [HEAD] + [CHUNK.format(number=n, code=chunk) for n, chunk in enumerate(chunks)]
    calls = "".join(f"        functions_{n}(r, o);\n" for n in range(len(chunks)))
    code.append(TABLE_CASE.format(table=table, calls=calls))
    rows = cases_of(page)
    assert len(rows) > 80 and sum(bool(c.numpy) for c in rows) > 50, "the page has lost its tables"
    lines = ""
    for c in rows:
        compared, runs = f"r.record({c.line}, {c.ingot});", f"CHECK_NOTHROW((void)({c.ingot}));\n    x = as_it_was;"
        lines += f'#line {c.line} "{page}"\n    {compared if c.numpy else runs}\n'
    code.append(PAGE_CASE.format(page=page, code=lines))
    output.write_text("\n".join(code), encoding="utf-8")


# ---- what NumPy gives ----------------------------------------------------------------------------------------------


def compare(path, results):
    import math

    import numpy as np

    np.seterr(all="ignore")

    def gelu(x):
        normal = [math.erfc(-v / math.sqrt(2)) / 2 for v in x.astype("f8").ravel()]
        return (x * np.array(normal).reshape(x.shape)).astype(x.dtype)

    def computed(case, operands):
        names = {**vars(np), "np": np, "gelu": gelu, **operands}
        if case.statement:
            names |= {"a": operands["x"].copy(), "n": operands["i"].copy()}
            exec(case.numpy, names)
            return [names["a"]]
        value = eval(case.numpy, names)
        single = isinstance(value, (np.ndarray, np.generic)) or not isinstance(value, (tuple, list)) or \
            all(isinstance(v, int) for v in value)
        return [np.asarray(value)] if single else [np.asarray(v) for v in value]

    def fault(case, got, want):
        # Numbers of the host have C++'s types, and so have all integers of the page.
        of_host = want.ndim == 0 or re.search(r"\.shape|strides", case.numpy) or path.suffix == ".md"
        if want.dtype != got.dtype and want.dtype.kind == got.dtype.kind and of_host:
            want = want.astype(got.dtype)
        if want.dtype != got.dtype or want.shape != got.shape:
            return f"{got.dtype}{got.shape}, NumPy gives {want.dtype}{want.shape}"
        if got.dtype.kind not in "fc":
            wrong = got != want
        else:
            wrong = ~(got == want) & ~((got != got) & (want != want))
            if not case.inexact and got.dtype.kind == "f":
                wrong |= (got == 0) & (want == 0) & (np.signbit(got) != np.signbit(want))
            if case.inexact:
                wrong &= ~(abs(got - want) <= 8 * np.finfo(got.dtype).eps * np.nanmax(abs(want), initial=0))
        if not wrong.any():
            return None
        at = tuple(np.argwhere(wrong)[0])
        return f"{wrong.sum()} wrong, first at {at}: {got[at]!r}, NumPy has {want[at]!r}"

    cases = {c.line: c for c in cases_of(path)}
    operands, made, faults, elements, seen = {}, {}, [], 0, set()
    arrangement = "0"

    def settle():
        nonlocal elements
        for line, got in made.items():
            case = cases[line]
            try:
                want = computed(case, operands)
            except Exception as error:  # a line that is wrong is a fault of it alone
                faults.append(f"{path.name}:{line}: {case.numpy}: {error!r}")
                continue
            seen.add(line)
            if len(want) != len(got):
                faults.append(f"{path.name}:{line}: {len(got)} results, NumPy gives {len(want)}")
            for g, w in zip(got, want):
                elements += g.size
                if found := fault(case, g, w):
                    faults.append(f"{path.name}:{line}, arrangement {arrangement}: {case.ingot}: {found}")
        operands.clear()
        made.clear()

    with open(results, "rb") as file:
        while line := file.readline():
            kind, *words = line.decode().split()
            if kind == "arrangement":
                settle()
                arrangement = words[0]
                continue
            name, dtype, *extents = words
            shape = tuple(map(int, extents))
            dtype = np.dtype(np.uint16 if dtype == "bfloat16" else dtype)
            values = np.frombuffer(file.read(math.prod(shape) * dtype.itemsize), dtype).reshape(shape)
            if kind == "operand":
                operands[name] = values
            else:
                made.setdefault(int(name), []).append(values)
        settle()
    missing = [str(line) for line, c in cases.items() if c.numpy and line not in seen]
    if missing:
        faults.append(f"{path.name}: no result of line {', '.join(missing)}")
    if faults:
        print("\n".join(faults[:40]))
        sys.exit(1)
    print(f"{len(seen)} lines, {elements} elements compared")


# ---- every public function -----------------------------------------------------------------------------------------


def public_functions():
    """Titles: of free functions, and of the member functions of classes."""
    sys.path.insert(0, str(TESTS.parent / "docs"))
    import reference

    read = reference.read_headers(reference.HEADERS)
    everywhere = {name: found for one in read.values() for name, found in reference.inner_names(one).items()}
    for members in read.values():
        for entry in reference.public_entries(members, everywhere | reference.inner_names(members)).values():
            if any(d.kind == "function" for d in entry.declarations):
                yield entry.title
            yield from (m.title for name, m in entry.functions().items() if name != entry.name)


def symbol(title):
    return title.rsplit("::", 1)[-1] if not re.search(r"operator\W", title) else \
        re.search(r"operator(\W+)$", title).group(1)


def names(table, elsewhere):
    called = "\n".join(c.ingot for c in cases_of(table))
    examples = "\n".join(p.read_text(encoding="utf-8") for p in (TESTS.parent / "include" / "ingot").rglob("*.hpp"))
    said, faults = {}, []
    for text in elsewhere.read_text(encoding="utf-8").splitlines():
        if not text or text.startswith("#"):
            continue
        place, listed = re.match(r"(\S+?)(?:, no counterpart)?: (.*)", text).groups()
        source = examples if place == "reference" else (TESTS / place).read_text(encoding="utf-8")
        for title in listed.split():
            wanted = symbol(title)
            found = re.search(rf"\b{wanted}\b", source) if wanted[0].isalpha() else wanted in source or wanted == "()"
            if not found:
                faults.append(f"{elsewhere.name}: {title} does not occur in tests/{place}")
            said[title] = place
    public = set(public_functions())
    faults += [f"{elsewhere.name}: there is no public function {title}" for title in said if title not in public]
    for title in sorted(public - said.keys()):
        wanted = symbol(title)
        call = rf"\b{wanted}\b(<[\w:<>]+>)?\(" if wanted[0].isalpha() else \
            {"()": r"\w\(", "[]": r"\w\["}.get(wanted, re.escape(wanted))
        if not re.search(call, called):
            faults.append(f"{title} has no case: a line in tests/parity/{table.name}, or the test that compares it "
                          f"with NumPy in tests/parity/{elsewhere.name}")
    if faults:
        sys.exit("\n".join(faults))
    print(f"{len(public)} public functions, {len(said)} tested elsewhere; rows of the operator table are all swept")


if __name__ == "__main__":
    action, *paths = sys.argv[1:]
    {"--test": write_test, "--compare": compare, "--names": names}[action](*map(pathlib.Path, paths))
