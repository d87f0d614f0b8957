"""The first lines that compilers print of common mistakes: mistakes.py INCLUDES COMPILER...

A line says what was done, what was given and what to write: a point for each, by the words in the table. All mistakes
are compiled in one file. Fails where a compiler's mean is below 2.7, or a mistake compiles; prints what lacks points.
"""
import re
import shutil
import subprocess
import sys

LEAST = 2.7
# Code; then words for what was done, given and wanted. `~` stands between words of which one is enough.
MISTAKES = [
    ("if (x > y) return;", "operator bool", "an array is no condition", "all(e)"),
    ("assert(x == y);", "operator bool", "an array is no condition", "all(e)"),
    ("auto z = x(0) > 1 ? 1.0 : 2.0; (void)z;", "operator bool", "an array is no condition", "where(e"),
    ("auto z = x > y ? x : y; (void)z;", "operator bool", "an array is no condition", "where(e, x, y)"),
    ("for (auto v : x) (void)v;", "begin", "an array is no range", "x.values()"),
    ("std::max(x, y);", "operator bool", "an array is no condition", "where(e, x, y)"),
    ("std::sort(x.begin(), x.end());", "begin", "an array is no range", "x.values()"),
    ("auto row = x(0); row = 7;", "operator=", "a selection", "x(0) = 7"),
    ("x = 5;", "operator=", "a number is no array", "x.fill(value)"),
    ("reshape(v2, {2, 2})(0) = 5;", "operator=", "an expression", "x(0) = 3"),
    ("x ^ 2;", "operator^", "floats have no bits", "power(x, y)"),
    ("x + v;", "operator+", "vector ~ a range of the host", "asarray"),
    ("exp(v);", "exp", "vector", "asarray"),
    ("zeros(3, 4);", "zeros", "int", "{3, 4}"),
    ("concatenate(x, y);", "concatenate", "array<float>", "{x, y}"),
    ("where(b, x);", "where", "array<float>", "where(condition, x, y)"),
    ("topk(x);", "topk", "array<float>", "topk(x, 10)"),
    ("x.sum();", "sum", "of an array", "sum(x)"),
    ("x.reshape({2, 2});", "reshape", "of an array", "reshape(x"),
    ("x.astype<int>();", "astype", "of an array", "astype<T>(x)"),
    ("x.shape(0);", "shape", "an array gives", "x.shape()[0]"),
    ("sum(x, 1, true);", "sum", "array<float>", "keepdims"),
    ("random::normal({3});", "normal", "shape_like", "normal<float>"),
    ("auto z = flag ? x + 1 : x * 2; (void)z;", "?: ~ operand types ~ operator Number", "add ~ map<", "lazy"),
    ("auto g = [&] { if (flag) return x + 1; return x * 2; }; g();", "return ~ inconsistent types", "map<", "lazy"),
    ("auto p = x + 1, q = x * 2; (void)p; (void)q;", "deduc", "map<", "lazy"),
    ("k(x);", "operator()", "not the kernel", "one for each"),
    ("c(0) = 3;", "operator=", "an expression", "x(0) = 3"),
    ("x[1];", "operator[]", "an array has no brackets", "x(i)"),
    ("x(1.5);", "operator()", "not an index", "indices are integers"),
    ("bool t = any(x); (void)t;", "operator", "an array is no number", "e.item()"),
    ("double s = sum(x); (void)s;", "operator", "an array is no number", "e.item()"),
    ("takes_double(sum(x));", "operator", "an array is no number", "e.item()"),
    ("array<float> a = w; (void)a;", "array", "vector<int> ~ a range of the host", "asarray"),
    ("max(x, y);", "max", "array<float>", "maximum(x, y)"),
    ("~x;", "operator~", "floats have no bits", "astype<int>"),
    ("b - b;", "operator-", "bool has no minus", "x ^ y"),
    ("gcd(x, i);", "gcd", "array<float>", "astype<T>"),
    ("ldexp(x, y);", "ldexp", "array<float>", "astype<T>"),
    ("bitwise_count(x);", "bitwise_count", "array<float>", "astype<T>"),
    ("array<int> n = x; (void)n;", "array", "of a greater kind", "astype<int>(e)"),
    ("i = i + 0.5;", "operator=", "of a greater kind", "astype<int>(e)"),
    ("array<float> a(3, 4); (void)a;", "array", "numbers in parentheses", "{3, 4}"),
    ("x.mean(0);", "mean", "of an array", "mean(x, axis)"),
    ("x.dot(y);", "dot", "of an array", "dot(x, y)"),
    ("sort(x, -1, true);", "sort", "array<float>", "descending"),
    ('auto l = load("x.npy"); (void)l;', "load", "string", "load<float>"),
    ("stack(x, y);", "stack", "array<float>", "{x, y}"),
    ("exp(x) = y;", "operator=", "an expression", "x(0) = 3"),
    ("z1 < z1;", "operator<", "complex", "abs(z)"),
]

HEAD = """#include <algorithm>
#include <cassert>
#include <complex>
#include <vector>

#include <ingot/ingot.hpp>
using namespace ingot;
void takes_double(double);
"""
FUNCTION = """#line 1 "mistake_{number}"
void mistake_{number}(array<float> x, array<float> y, array<int> i, array<bool> b, const array<float> c,
                      std::vector<float> v, std::vector<int> w, array<float> v2, array<std::complex<float>> z1, bool flag,
                      const elementwise_kernel<"T x, T y", "T z">& k) {{
{code}
}}
"""


def printed(compiler, includes):
    limit = "-ferror-limit=0" if "clang" in compiler else "-fmax-errors=0"
    text = HEAD + "".join(FUNCTION.format(number=n, code=m[0]) for n, m in enumerate(MISTAKES))
    return subprocess.run([compiler, limit, "-std=c++20", "-fsyntax-only", "-w", "-I", includes, "-x", "c++", "-"],
                          input=text, capture_output=True, text=True, check=False).stderr.splitlines()


def first_lines(lines):
    """By mistake the first error; one in a header belongs to the mistake that g++ names before it, clang++ behind it."""
    found = {}
    for at, line in enumerate(lines):
        error = re.match(r"(\S+?):\d+:(?:\d+:)? error: (.*)", line)
        if not error:
            continue
        own = re.fullmatch(r"mistake_(\d+)", error.group(1))
        before = (re.search(r"mistake_(\d+):\S+\s+required from here", text) for text in lines[max(0, at - 40):at][::-1])
        behind = (re.match(r"mistake_(\d+):\S+ note: in instantiation", text) for text in lines[at + 1:at + 60])
        place = own or next(filter(None, before), None) or next(filter(None, behind), None)
        if place:
            found.setdefault(int(place.group(1)), error.group(2))
    return found


def main(includes, *compilers):
    bad = False
    for compiler in compilers:
        if shutil.which(compiler) is None:
            print(f"not tested in part: {compiler} is not here")
            continue
        first, total = first_lines(printed(compiler, includes)), 0
        for number, (code, *wanted) in enumerate(MISTAKES):
            line = first.get(number, "")
            lacks = [words for words in wanted if not any(w in line for w in words.split(" ~ "))]
            total += len(wanted) - len(lacks)
            bad = bad or not line
            if lacks:
                print(f"{compiler}: `{code}` lacks {lacks}: {line or 'it compiles'}")
        print(f"{compiler}: {len(MISTAKES)} mistakes, mean {total / len(MISTAKES):.2f} of 3")
        bad = bad or total < LEAST * len(MISTAKES)
    sys.exit(bad)


main(*sys.argv[1:])
