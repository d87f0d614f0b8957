"""Writes docs/reference/, a page for each public header, from the comments in include/ingot. docs/build puts them in the
site; they are not kept in the tree.

    reference.py                    writes the pages
    reference.py --check [FOLDER]   writes nothing; of other headers where FOLDER has them
    reference.py --tests FILE...    writes the examples as test cases, spread over these files

Any of them fails where something public has no comment or no example.

Public is what namespace ingot and those in it have, but for `runtime` and `v1`, and what a using-declaration takes out
of `detail`; of a class its public members. A comment `// Inner` hides what follows it up to the next empty line. Rows
of operators.def are left to docs/operators.md, to which the index leads.

A declaration's comment is the lines `///` above it, and for what a macro makes those above the macro as well. Overloads
share comments and examples. Lines indented by four more spaces are an example: C++ that stands in a function, under
`using namespace ingot`. What it prints on std::cout comes last, with `...` for anything:

    /// Ones everywhere.
    ///
    ///     std::cout << ones({2, 2});
    ///     // prints: [[1. 1.]
    ///     //          [1. 1.]]

A function is called in an example of its own, a class's member in one of the class.
"""
import pathlib
import re
import shutil
import sys

import declarations
from declarations import NAME, plain

HERE = pathlib.Path(__file__).resolve().parent
HEADERS = HERE.parent / "include" / "ingot"
PAGES = HERE / "reference"
NOT_PUBLIC = {"detail", "runtime", "v1"}
PUBLIC_BASES = {"expression_members", "integer_list"}  # of detail, but their members are those of public classes
PRINTS = "// prints:"


# ---- what is public --------------------------------------------------------------------------------------------


class Entry:
    """All declarations of one name."""

    def __init__(self, name, scope):
        self.name, self.title, self.declarations = name, scope + name, []

    def comments(self):
        """The comments of the overloads, each once."""
        found = {tuple(words for _, words in d.comment): d.comment for d in self.declarations if d.comment}
        return list(found.values())

    def types(self):
        return [d for d in self.declarations if d.kind == "type"]

    def functions(self):
        """Of a class, its public member functions by name, without those that only copy, move or convert."""
        found = {}
        for d in self.types():
            copies = re.compile(rf"(?<!\w){d.name}\((const )?{d.name}&&? ")
            for m in d.members:
                silent = m.name == "operator=" or m.name.startswith("operator ") or copies.search(m.text)
                if m.access == "public" and m.kind == "function" and (m.comment or not silent):
                    found.setdefault(m.name, Entry(m.name, self.title + "::")).declarations.append(m)
        return found

    def data(self):
        return [m for d in self.types() for m in d.members if m.access == "public" and m.kind == "variable" and
                (m.comment or m.note or plain(d.text).startswith("struct"))]

    def examples(self):
        """(place, lines of code, lines that are printed), those of member functions too."""
        found = [e for comment in self.comments() for e in examples_of(comment)]
        return found + [e for member in self.functions().values() for e in member.examples()]


def examples_of(comment):
    found, block = [], []
    for place, words in [*comment, (None, "")]:
        if words.startswith("    "):
            block.append((place, words[4:]))
        elif block:
            code = [text for _, text in block]
            first = next((i for i, text in enumerate(code) if text.startswith(PRINTS)), len(code))
            found.append((block[0][0], code, [text[len(PRINTS):].removeprefix(" ") for text in code[first:]]))
            block = []
    return found


def inner_names(members, within=False):
    """What namespace detail declares, by name."""
    names = {}
    for d in members:
        if d.kind == "namespace" and d.name in ("ingot", "detail", "ingot::detail"):
            for name, found in inner_names(d.members, d.name != "ingot").items():
                names.setdefault(name, []).extend(found)
        elif within:
            names.setdefault(d.name, []).append(d)
    return names


def public_entries(members, inside, scope=""):
    """Entries by title, in the order of the header. inside: what detail has."""
    entries = {}
    for d in members:
        chosen = []
        if d.kind == "namespace":
            parts = [p for p in d.name.split("::") if p != "ingot"]
            if not NOT_PUBLIC & set(parts):
                nested = public_entries(d.members, inside, scope + "".join(p + "::" for p in parts))
                entries.update(nested)
            elif parts == ["detail"]:  # operators are found by what their operands are
                chosen = [m for m in d.members if m.name in PUBLIC_BASES and m.kind == "type" or
                          m.kind == "function" and m.name.startswith("operator") and m.comment]
        elif d.kind == "using":
            chosen = inside[d.name]
            for one in chosen:
                one.comment = one.comment or d.comment
        elif d.kind != "nothing":
            chosen = [d]
        for one in chosen:
            if one.kind != "nothing":
                entries.setdefault(scope + one.name, Entry(one.name, scope)).declarations.append(one)
    return entries


def missing_of(entry):
    """What an entry lacks, in words."""
    examples, functions = entry.examples(), entry.functions()
    if not any(has_words(c) for c in entry.comments()):
        yield f"{entry.title} has no comment"
    if any(not shown for _, _, shown in examples):
        yield f"{entry.title} has an example that does not say what it prints"
    wanted = [entry] if entry.declarations[0].kind == "function" and not entry.name.startswith("operator") else []
    if not examples and (entry.declarations[0].kind == "function" or functions.keys() - {entry.name}):
        yield f"{entry.title} has no example"
    for member in functions.values():
        if member.name in (entry.name, "operator="):
            continue
        wanted.append(member)
        if not any(has_words(c) for c in member.comments()):
            yield f"{member.title} has no comment"
    code = "\n".join(line for _, lines, _ in examples for line in lines if not line.startswith("//"))
    for one in wanted:
        symbol = one.name.removeprefix("operator")
        as_called = rf"\b{symbol}\b" if symbol[0].isalpha() else re.escape(symbol)
        if examples and not re.search({"()": r"\w\(", "[]": r"\w\["}.get(symbol, as_called), code):
            yield f"{one.title} is called in no example"


def has_words(comment):
    return any(words.strip() and not words.startswith("    ") for _, words in comment)


# ---- pages -----------------------------------------------------------------------------------------------------


def signature(d):
    text = re.sub(r"\bINGOT_API\s+|\binline\s+(?=\w)|\bingot::|\[\[\w+\]\]\s*", "", d.text).strip()
    if d.kind != "alias":
        text = text.replace("detail::", "")
    if d.kind == "type":  # without the bases that a user need not know
        text = re.sub(r"\s*:\s+(?!:)(public )?(expression_|integer_list|runtime::).*", "", text, flags=re.DOTALL)
    if d.kind != "function":
        return text + ";"
    text = re.sub(r"operator (?=\W)", "operator", re.sub(r" &&(?= (to|e)\b)", "&&", text))
    lines = []
    margin = re.compile(r" {0,4}(?! )")  # what stands further in goes on with the line above
    clause = re.compile(r"\s*(requires|template)\b")
    for line in re.sub(r"\(\s+", "(", text).split("\n"):
        begins = not lines or line[0] != " " or clause.match(line) or clause.match(lines[-1]) and margin.match(line)
        if begins or len(lines[-1] + line) > 110:
            lines.append(line.strip() if begins else "    " + line.strip())
        else:
            lines[-1] += " " + line.strip()
    return "\n".join(lines) + ";"


def prose(words):
    """A line of a comment in Markdown: signs that would be taken for its own are escaped, but in `code`."""
    parts = words.split("`")
    parts[::2] = [re.sub(r"(?<! )\*|\*(?! )", r"\\*", p).replace("<", "&lt;") for p in parts[::2]]
    return "`".join(parts)


def text_of(comment):
    """A comment as Markdown, its examples as blocks of code."""
    text = "\n".join(words if words.startswith("    ") else prose(words) for _, words in comment)

    def block(lines):
        return "```cpp\n" + re.sub(r"^    ", "", lines.group(), flags=re.MULTILINE).rstrip("\n") + "\n```\n"

    return re.sub(r"\n{3,}", "\n\n", re.sub(r"(?:^    .*\n?)+", block, text, flags=re.MULTILINE)).strip("\n")


def overloads(members):
    """Signatures with their comments; one without a comment of its own goes with what is above it."""
    groups = []
    for d in members:
        if not groups or d.comment and text_of(d.comment) != text_of(groups[-1][0].comment):
            groups.append([])
        groups[-1].append(d)
    for group in groups:
        yield "```cpp\n" + "\n".join(dict.fromkeys(signature(d) for d in group)) + "\n```"
        if group[0].comment:
            yield text_of(group[0].comment)


def sections_of(entries):
    """Entries by section: operators that share a comment are one."""
    sections = []
    for entry in entries:
        if sections and entry.name.startswith("operator") and entry.comments() == sections[-1][0].comments():
            sections[-1].append(entry)
        else:
            sections.append([entry])
    return sections


def title_of(section):
    return ", ".join(e.title for e in section)


def section_text(section):
    """Its paragraphs."""
    yield f"## {title_of(section)}"
    yield from overloads([d for e in section for d in e.declarations])
    entry = section[0]
    if entry.data():
        rows = ["| member | |", "|---|---|"]
        for m in entry.data():
            words = m.note or " ".join(w for _, w in m.comment)
            rows.append(f"| `{re.sub(r' *[={].*|;$', '', signature(m), flags=re.DOTALL)}` | {prose(words)} |")
        yield "\n".join(rows)
    for name, member in entry.functions().items():
        yield f"### {entry.title}: constructors" if name == entry.name else f"### {member.title}"
        yield from overloads(member.declarations)


def opening(text):
    """The first paragraph of a header's opening comment."""
    lines = re.match(r"(?:// *\S.*\n)*", text).group().replace("// ", "").splitlines()
    return re.sub(r":$", ".", "\n".join(prose(line) for line in lines))


def stem_of(header):
    """The name of a header's page: linalg-solvers of linalg/solvers.hpp."""
    return header.removesuffix(".hpp").replace("/", "-")


def page(header, text, entries):
    made = "Made from the header by `docs/reference.py`; a test compiles and runs the examples."
    paragraphs = [f"# ingot/{header}", opening(text)]
    return "\n\n".join(paragraphs + [p for s in sections_of(entries) for p in section_text(s)] + [made]) + "\n"


def index(by_header, texts):
    rows = {}

    def add(title, stem, heading):
        anchor = re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-")
        rows.setdefault(title, {})[f"[{stem}]({stem}.md#{anchor})"] = None

    headers = []
    for header, entries in by_header.items():
        stem = stem_of(header)
        first = re.split(r"(?<=\.) ", opening(texts[header]).replace("\n", " "))[0]
        headers.append(f"| [{header}]({stem}.md) | {first} |")
        for section in sections_of(entries):
            for entry in section:
                add(entry.title, stem, title_of(section))
                for name, member in entry.functions().items():
                    if name != entry.name and not name.startswith("operator"):
                        add(member.title, stem, member.title)
    table = (HEADERS / "core" / "operators.def").read_text(encoding="utf-8")
    for name in re.findall(rf"^INGOT_(?:OPERATOR|ALIAS)\(({NAME}),", table, re.MULTILINE):
        rows.setdefault(name, {})["[operators](../operators.md)"] = None
    names = ["| `" + title.replace("|", "\\|") + f"` | {', '.join(rows[title])} |"
             for title in sorted(rows, key=lambda t: (t.lower(), t))]
    return "\n".join([
        "# Reference", "",
        "Every public name of Ingot and the page that tells of it. Pages are made from the headers by",
        "`docs/reference.py`; their examples stand in a function under `using namespace ingot`, after",
        "`#include <ingot/ingot.hpp>`, the header of the page and `<iostream>`, and a test compiles, runs and compares",
        "them. The C++",
        "operators of expressions are in [operators](../operators.md).", "",
        "| header | |", "|---|---|", *headers, "", "| name | page |", "|---|---|", *names, ""])


# ---- tests -----------------------------------------------------------------------------------------------------

TEST_HEAD = """// Made by docs/reference.py.
#include "tests/examples/readme.hpp"

#include <cstdint>
#include <iostream>
#include <limits>
#include <string>
#include <tuple>
#include <vector>

#include <ingot/distributed.hpp>
#include <ingot/ingot.hpp>
#include <ingot/interpolate.hpp>
#include <ingot/ndimage.hpp>
#include <ingot/nn.hpp>
#include <ingot/signal.hpp>
#include <ingot/solvers.hpp>
#include <ingot/sparse.hpp>
#include <ingot/spatial.hpp>

#include "tests/untested.hpp"

using namespace ingot;

static std::string in_lines(std::string text) {
    while (text.ends_with('\\n')) text.pop_back();
    return text;
}
"""
# Headers whose functions are a library's that a machine may lack.
OPTIONAL_LIBRARY = {"distributions/curand_generator.hpp"}
TEST_CASE = """TEST_CASE("the example of {title} in {file} prints what it says") {{
    readme::printed printed;
    printed.start();
    {opening}{{
#line {line} "{path}"
{code}
    }}{closing}
    CHECK_PRINTED(in_lines(printed.take()), R"shown({shown})shown");
}}
"""

WITHOUT_LIBRARY = """ catch (const library_error& missing) {
        printed.take();
        const std::string why = missing.what();
        CHECK((why.find("was not found") != why.npos || why.find("was built without") != why.npos));
        return test::untested(why);
    }"""


def test_cases(entries):
    cases = {}  # by place: what a macro makes has its table's examples in every header
    for entry in entries:
        for (file, line), code, shown in entry.examples():
            optional = file in OPTIONAL_LIBRARY
            cases.setdefault((file, line), TEST_CASE.format(
                opening="try " if optional else "", closing=WITHOUT_LIBRARY if optional else "",
                title=entry.title, file=file, line=line, path=HEADERS / file,
                code="\n".join("    " + c for c in code), shown="\n".join(shown)))
    return list(cases.values())


def write_tests(by_header, files):
    """Spreads the headers' examples over the files so that these are of about one length."""
    parts = [[] for _ in files]
    for cases in sorted(map(test_cases, by_header.values()), key=len, reverse=True):
        min(parts, key=len).extend(cases)
    for file, cases in zip(files, parts):
        pathlib.Path(file).write_text("\n".join([TEST_HEAD, *cases]), encoding="utf-8")


def read_headers(folder):
    """The declarations of each header, by its path in the folder."""
    return {path.relative_to(folder).as_posix(): declarations.read(path) for path in sorted(folder.rglob("*.hpp"))}


def entries_by_header(folder):
    """The public entries of each header that has some, and their names."""
    read = read_headers(folder)
    everywhere = {name: found for one in read.values() for name, found in inner_names(one).items()}
    by_header, names = {}, set()
    for header, members in read.items():
        entries = public_entries(members, everywhere | inner_names(members))
        if entries:
            by_header[header] = list(entries.values())
            names |= entries.keys()
    return by_header, names


def main(action="--write", *arguments):
    folder = pathlib.Path(arguments[0]) if action == "--check" and arguments else HEADERS
    by_header, _ = entries_by_header(folder)
    missing = [f"{':'.join(map(str, entry.declarations[0].place))}: {what}"
               for entries in by_header.values() for entry in entries for what in missing_of(entry)]
    if missing:
        sys.exit("\n".join(missing))
    if action == "--tests":
        return write_tests(by_header, arguments)

    texts = {header: (folder / header).read_text(encoding="utf-8") for header in by_header}
    pages = {stem_of(h) + ".md": page(h, texts[h], entries) for h, entries in by_header.items()}
    pages["index.md"] = index(by_header, texts)
    if action != "--check":
        shutil.rmtree(PAGES, ignore_errors=True)
        PAGES.mkdir()
        for name, text in pages.items():
            (PAGES / name).write_text(text, encoding="utf-8")
    return print(f"{len(pages)} pages, {sum(map(len, by_header.values()))} names, "
                 f"{sum(len(test_cases(entries)) for entries in by_header.values())} examples")


if __name__ == "__main__":
    main(*sys.argv[1:])
