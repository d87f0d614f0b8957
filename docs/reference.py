"""Writes docs/reference/, a page for each public header, from the comments in include/ingot.

    reference.py                    writes the pages
    reference.py --check            fails where they are not what it would write
    reference.py --tests FILE...    writes the examples as test cases, spread over these files
    reference.py --check --headers FOLDER    reads other headers

Any of them fails where something public has no comment or no example.

Public is what namespace ingot and ingot::random have: declared there, or in detail and named by a using-declaration; of
a class its public members up to a comment `// Inner`, which hides what follows it as far as the next empty line. Macros
are expanded; rows of operators.def are left to docs/operators.md, to which the index leads.

A declaration's comment is the lines `///` above it, and for what a macro makes those above the macro as well. Overloads
share comments and examples. Lines indented by four more spaces are an example: C++ that stands in a function, under
`using namespace ingot`. What it prints on std::cout follows where it has printed it, `...` for anything:

    /// Ones everywhere.
    ///
    ///     std::cout << ones({2, 2});
    ///     // prints: [[1. 1.]
    ///     //          [1. 1.]]

A class has at least one example, and each of its member functions is called in one of them.
"""
import pathlib
import re
import sys

HERE = pathlib.Path(__file__).resolve().parent
HEADERS = HERE.parent / "include" / "ingot"
PAGES = HERE / "reference"
HIDDEN = {"runtime", "v1", "philox", "axis_flags", "length_class", "bodies"}
PUBLIC_BASES = {"expression_members", "integer_list"}  # of detail, but what they have is a member of public classes
PRINTS = "// prints:"

SPACE = re.compile(r"\s+")
SKIP = re.compile(r'//[^\n]*|/\*.*?\*/|"(?:\\.|[^"\\\n])*"|(?<![0-9a-fA-F])\'(?:\\.|[^\'\\\n])+\'', re.DOTALL)
NAME = r"[A-Za-z_]\w*"


class Declaration:
    """One declaration: its name, its text, its comment as (line, text) pairs, and what is in it."""

    def __init__(self, kind, name, text, comment, line, access="public"):
        self.kind, self.name, self.text, self.comment, self.line = kind, name, text, comment, line
        self.access, self.members, self.note = access, [], ""


class Reader:
    """Reads declarations off a header's text. `macros` are those that are defined, with their comments."""

    def __init__(self, text, first_line=1, macros=None, comment=()):
        self.text, self.at, self.first_line = text, 0, first_line
        self.macros = {} if macros is None else macros
        self.comment, self.common = [], list(comment)

    def line(self):
        return self.first_line + self.text.count("\n", 0, self.at)

    def balanced(self, at):
        """The end of the brackets that open at `at`."""
        depth = 0
        while at < len(self.text):
            skipped = SKIP.match(self.text, at)
            if skipped:
                at = skipped.end()
                continue
            depth += (self.text[at] in "({[") - (self.text[at] in ")}]")
            at += 1
            if depth == 0:
                return at
        raise SystemExit(f"brackets that open at {self.text[at:at + 40]!r} do not close")

    def scope(self, access="public", owner=None):
        """The declarations up to the brace that closes, or to the end."""
        found, inner, shared = [], False, []
        while self.at < len(self.text):
            space = SPACE.match(self.text, self.at)
            if space:
                if space.group().count("\n") > 1:
                    inner, self.comment, shared = False, [], []
                self.at = space.end()
                continue
            rest = self.text[self.at:self.at + 400]
            if rest.startswith("}"):
                self.at += 1
                return found
            if rest.startswith("//"):
                end = (self.text + "\n").index("\n", self.at)
                words = self.text[self.at:end]
                if words.startswith("///<"):
                    if found:
                        found[-1].note = words[4:].strip()
                elif words.startswith("///"):
                    self.comment.append((self.line(), words[3:].removeprefix(" ")))
                elif words.startswith("// Inner"):
                    inner = True
                elif found and found[-1].kind == "variable" and "\n" not in self.text[self.last:self.at]:
                    found[-1].note = words[2:].strip()
                self.at = end
                continue
            if rest.startswith("#"):
                self.directive(found)
                continue
            label = re.match(r"(public|private|protected):", rest)
            if label:
                access = label.group(1)
                self.at += label.end()
                continue
            space_name = re.match(r"(?:inline )?namespace ([\w:]+) \{", rest)
            if space_name:
                self.at += space_name.end()
                self.comment = []
                inside = Declaration("namespace", space_name.group(1), "", [], self.line())
                inside.members = self.scope()
                found.append(inside)
                continue
            macro = re.match(r"(INGOT_[A-Z_]+)\(", rest)
            if macro:
                end = self.balanced(self.at + macro.end() - 1)
                arguments = self.text[self.at + macro.end():end - 1]
                line, self.at = self.line(), end
                self.comment = self.comment or shared
                made = [] if inner else self.expanded(macro.group(1), arguments, line, owner)
                found += made
                # Operators in a row have one comment.
                shared = self.comment if made and made[0].name.startswith("operator") else []
                self.comment = []
                continue
            made = self.declaration(owner)
            if made is not None and not inner:
                made.access = access
                found.append(made)
            self.last = self.at
            self.comment = []
        return found

    def directive(self, found):
        text = re.compile(r"#(?:[^\n]*\\\n)*[^\n]*").match(self.text, self.at).group()
        comment, self.comment = self.comment, []
        self.at += len(text)
        define = re.match(rf"#define ({NAME})(?:\(([^)]*)\))?(.*)", text, re.DOTALL)
        if define:
            name, parameters, body = define.groups()
            body = re.sub(r"[ \t]*\\\n", "\n", body).strip("\n")
            parameters = None if parameters is None else [p.strip() for p in parameters.split(",")]
            self.macros[name] = (parameters, body, comment)
        elif text.startswith("#undef"):
            self.macros.pop(text.split()[1], None)
        elif text.startswith("#ifndef") and text.split()[1] in self.macros:
            self.at = self.text.index("#endif", self.at) + len("#endif")
        elif text.startswith("#include") and ".def>" in text and "operators.def" not in text:
            name = re.search(r"<ingot/(.*)>", text).group(1)
            rows = Reader((HEADERS / name).read_text(encoding="utf-8"), 1, self.macros)
            made = rows.scope()
            for one in made:
                one.comment = [(line if isinstance(line, tuple) else (name, line), words) for line, words in one.comment]
            found += made

    def expanded(self, macro, arguments, line, owner):
        if macro not in self.macros:
            return []
        parameters, body, common = self.macros[macro]
        if parameters is None:  # another's name
            return self.expanded(body.strip(), arguments, line, owner) if body.strip() else []
        given = [a.strip() for a in arguments.split(",")]
        values = dict(zip(parameters, given))
        if parameters and parameters[-1] == "...":
            values["__VA_ARGS__"] = ", ".join(given[len(parameters) - 1:])
        for name, value in values.items():
            body = re.sub(rf"#{name}\b(?!#)", lambda _, v=value: f'"{v}"', re.sub(r"##", "\0", body)).replace("\0", "##")
            body = re.sub(rf"\b{re.escape(name)}\b", lambda _, v=value: v, body)
        made = Reader(body.replace("##", ""), line, self.macros).scope(owner=owner)
        for one in made:
            one.line = line
            one.comment = with_common(self.comment, one.comment + common)
        return made

    def declaration(self, owner):
        """Reads one declaration with its body. None for what no reader of a reference asks for."""
        start, line, comment = self.at, self.line(), self.comment
        at, head_end = start, None
        while True:
            skipped = SKIP.match(self.text, at)
            if skipped:
                at = skipped.end()
                continue
            c = self.text[at]
            if c == ";":
                head_end, self.at = at, at + 1
                break
            if c in "([":
                at = self.balanced(at)
                continue
            if c == "{":
                head = self.text[start:at]
                bare = without_template(head)
                type_head = re.match(r"(?:class|struct|enum|union)\b(?:\s*\[\[.*?\]\]|\s*alignas\(\d+\))?[^=(]*$", bare, re.DOTALL)
                if type_head and not bare.startswith("enum"):
                    self.at = at + 1
                    self.comment = []
                    made = type_declaration(head, comment, line)
                    made.members = self.scope("private" if bare.startswith("class") else "public", made.name)
                    self.end_of_statement()
                    return made
                end = self.balanced(at)
                if bare.startswith("enum"):
                    self.at = end
                    self.end_of_statement()
                    made = type_declaration(head, comment, line)
                    made.text = self.text[start:end]
                    return made
                value = re.sub(r"operator\s*[^\s\w(]+", "operator", bare)
                if "=" in at_depth_0(value) or "(" not in at_depth_0(value):
                    at = end  # a value's braces
                    continue
                head_end, self.at = at, end
                break
            at += 1
        head = self.text[start:head_end]
        bare = without_template(head)
        if re.match(r"static_assert\b|friend\b|extern\b|return\b|typedef\b|void begin|void end", bare) or \
                " friend " in bare or re.search(r"=\s*delete\s*$", head) or not bare:
            return None
        if re.match(r"(class|struct)\b", bare) or head.startswith("template <>"):
            return None  # announced, to be declared elsewhere; a specialisation
        using = re.match(rf"using detail::({NAME})$", bare)
        if using:
            return Declaration("using", using.group(1), head, comment, line)
        alias = re.match(rf"using ({NAME})\s*=", bare)
        if alias:
            return Declaration("alias", alias.group(1), head, comment, line)
        if bare.startswith("using "):
            return None
        concept = re.match(rf"concept ({NAME})", bare)
        if concept:
            return Declaration("concept", concept.group(1), head, comment, line)
        head = re.sub(r"\)((?:\s*noexcept|\s*const)*)\s*:\s(?!:).*", r")\1", head, flags=re.DOTALL)
        bare = before_braces(without_template(head))
        function = None if re.match(rf"[\w:]+ \(\*{NAME}\)\(", bare) else re.search(rf"(operator\s*(?:\(\)|[^\s\w(]+|\w+)|~?{NAME})\s*\($", before_arguments(bare))
        if function and "=" not in at_depth_0(re.sub(r"operator\s*[^\s\w(]+|=\s*(default|0)\s*$", "", bare)):
            name = re.sub(r"^operator\s*(?=\W)", "operator", function.group(1))
            if not bare.startswith(("~", "explicit")) and owner != name and re.match(rf"{NAME}\(.*\)\s*->", bare):
                return None  # a deduction guide
            special = name.startswith("~") or (owner is not None and re.search(r"=\s*default\s*$", head))
            return None if special else Declaration("function", name, head, comment, line)
        bare = re.sub(rf"\(\*({NAME})\)\([^)]*\)", r"\1", bare)
        variable = re.search(rf"({NAME})\s*(?:\[[^]]*\])?\s*$", re.split(r"[={]", bare)[0].strip())
        return Declaration("variable", variable.group(1), head, comment, line) if variable else None

    def end_of_statement(self):
        self.at = self.text.index(";", self.at) + 1
        self.last = self.at

    last = 0


def with_common(comment, common):
    """A comment, and before its examples what is common to all that a macro makes."""
    if not comment or not common:
        return comment or common
    at = next((i for i, (_, words) in enumerate(comment) if words.startswith("    ")), len(comment))
    return comment[:at] + [(0, "")] * (at == len(comment)) + common + [(0, "")] + comment[at:]


def type_declaration(head, comment, line):
    bare = without_template(re.sub(r"\[\[.*?\]\]\s*|\balignas\(\d+\)\s*", "", head))
    name = re.match(rf"(?:class|struct|enum|union)\s+(?:class )?({NAME})?", bare).group(1)
    return Declaration("type", name or "", head, comment, line)


def without_template(head):
    """A declaration without `template <...>` and the requires-clause that follows it."""
    head = re.sub(r"^\s+|\bINGOT_API\b\s*|\[\[(?:noreturn|nodiscard)\]\]\s*", "", head)
    while head.startswith("template"):
        at = head.index("<")
        depth = 0
        while True:
            depth += (head[at] == "<") - (head[at] == ">")
            at += 1
            if depth == 0:
                break
        head = head[at:].lstrip()
    clause = re.match(r"requires\b[^\n]*(?:\n\s{8,}[^\n]*)*\n", head)
    return head[clause.end():].lstrip() if clause else head


def before_braces(text):
    """Up to a brace that stands in no parenthesis."""
    depth = 0
    for at, c in enumerate(text):
        if c == "{" and depth == 0:
            return text[:at].rstrip()
        depth += (c == "(") - (c == ")")
    return text


def at_depth_0(text):
    """`text` with what stands in brackets left out, and an opening ( for each."""
    kept, depth = "", 0
    for c in text:
        if c in "([{":
            kept += c if depth == 0 else ""
            depth += 1
        elif c in ")]}":
            depth -= 1
        elif depth == 0:
            kept += c
    return kept


def before_arguments(text):
    """Up to the parenthesis that opens a function's parameters: the first at depth 0 that follows a name."""
    for match in re.finditer(r"\(", text):
        before = text[:match.end()]
        if re.search(r"(?:requires|decltype|noexcept|explicit|alignas)\s*\($", before):
            continue
        if before.count("(") - 1 != before.count(")"):
            continue
        if re.search(r"operator\s*\($", before):
            return text[:match.end() + 2]
        return before
    return ""


# ---- what is public --------------------------------------------------------------------------------------------


class Entry:
    """A section of a page: all declarations of one name."""

    def __init__(self, name, scope, first):
        self.name, self.scope, self.kind = name, scope, first.kind
        self.declarations = [first]
        self.title = scope + name

    def comments(self):
        """The comments of the overloads, each once."""
        seen, every = set(), []
        for d in self.declarations:
            key = tuple(words for _, words in d.comment)
            if key and key not in seen:
                seen.add(key)
                every.append(d.comment)
        return every


def members_of(declaration, scope=""):
    """The public members of a class, by name; functions that are not special ones, and data."""
    functions, data = {}, []
    for m in declaration.members:
        if m.access != "public" or m.kind not in ("function", "variable"):
            continue
        if m.kind == "variable":
            if not m.name.endswith("_") and (m.comment or m.note or declaration.text.lstrip().startswith("struct")):
                data.append(m)
            continue
        copies = re.search(rf"\b{declaration.name}(?:&&|&|\()\s*(?:const {declaration.name}& |{declaration.name}&& )", m.text)
        if m.comment or not (copies or m.name == "operator=" or m.name.startswith("operator ")):
            functions.setdefault(m.name, Entry(m.name, scope + declaration.name + "::", m)).declarations.append(m)
    for e in functions.values():
        e.declarations = e.declarations[1:]
    return functions, data


def inner_names(declarations):
    """What detail declares outside of classes, by name."""
    names = {}
    for d in declarations:
        if d.kind == "namespace" and d.name in ("ingot", "detail", "ingot::detail"):
            inner = inner_names(d.members) if d.name == "ingot" else {}
            for one in d.members if d.name != "ingot" else ():
                inner.setdefault(one.name, []).append(one)
            for name, found in inner.items():
                names.setdefault(name, []).extend(found)
    return names


def public_entries(declarations, inside, scope=""):
    """The entries of namespace ingot, in the order of the header. `inside`: what detail has."""
    entries = {}

    def add(d):
        if d.name in entries:
            entries[d.name].declarations.append(d)
        else:
            entries[d.name] = Entry(d.name, scope, d)

    for d in declarations:
        if d.kind == "namespace":
            parts = [p for p in d.name.split("::") if p != "ingot"]
            if not parts:
                entries.update(public_entries(d.members, inside, scope))
            elif parts == ["detail"]:
                for one in d.members:
                    if one.kind == "function" and one.name.startswith("operator"):  # found by what its operands are
                        if one.comment or one.name in entries:
                            add(one)
                    elif one.kind == "type" and one.name in PUBLIC_BASES:
                        add(one)
            elif not HIDDEN & set(parts):
                nested = public_entries(d.members, inside, scope + d.name + "::")
                entries.update({e.title: e for e in nested.values()})
        elif d.kind == "using":
            for one in inside.get(d.name, [d]):
                one.comment = one.comment or d.comment
                add(one)
        elif re.match(rf"auto {NAME}::operator", without_template(d.text)) or \
                re.match(r"(?:template <[^>]*>\s*)+(?:requires [^\n]*\n\s*)?(?:void|auto) \w+(?:<\w+>)?::", d.text):
            continue  # a member, defined outside of its class
        else:
            add(d)
    return entries


def examples_of(comment):
    """The examples in a comment: (place, code lines, what it prints)."""
    found, block = [], []
    for line, words in list(comment) + [(0, "")]:
        if words.startswith("    "):
            block.append((line, words[4:]))
        elif block:
            shown, code, before = [], [], False
            for _, text in block:
                if text.startswith(PRINTS):
                    shown.append(text[len(PRINTS):].removeprefix(" "))
                    before = True
                elif before and text.startswith("//" + " " * (len(PRINTS) - 2)):
                    shown.append(text[len(PRINTS):].removeprefix(" "))
                else:
                    before = False
                code.append(text)
            found.append((block[0][0], code, shown))
            block = []
    return found


def examples_of_entry(entry):
    found = []
    for comment in entry.comments():
        found += examples_of(comment)
    for d in entry.declarations:
        if d.kind == "type":
            for member in members_of(d)[0].values():
                found += examples_of_entry(member)
    return found


def has_words(comment):
    return any(words.strip() and not words.startswith("    ") for _, words in comment)


def missing_of(entry):
    """What an entry lacks, in words."""
    if not any(has_words(c) for c in entry.comments()):
        yield f"{entry.title} has no comment"
    examples = examples_of_entry(entry)
    code = "\n".join("\n".join(lines) for _, lines, _ in examples)
    for line, lines, shown in examples:
        if not shown:
            yield f"{entry.title}: the example does not say what it prints"
    if entry.kind == "function" and not examples:
        yield f"{entry.title} has no example"
    for d in entry.declarations:
        if d.kind != "type" or d.text.lstrip().startswith("enum"):
            continue
        functions, _ = members_of(d, entry.scope)
        if functions.keys() - {d.name} and not examples:
            yield f"{entry.title} has no example"
        for name, member in functions.items():
            if name in (d.name, "operator=") or name.startswith("operator "):
                continue
            if not any(has_words(c) for c in member.comments()):
                yield f"{member.title} has no comment"
            called = {"operator()": r"\w\(", "operator[]": r"\w\["}.get(
                name, re.escape(name.removeprefix("operator")) if name.startswith("operator") else rf"\b{name}\b")
            if not re.search(called, code):
                yield f"{member.title} is called in no example"


# ---- pages -----------------------------------------------------------------------------------------------------


def signature(d):
    text = re.sub(r"\bINGOT_API\s+|\binline\s+(?=\w)|\bingot::|\[\[\w+\]\]\s*", "", d.text)
    if d.kind != "alias":
        text = text.replace("detail::", "")
    if d.kind == "type" and not d.text.lstrip().startswith("enum"):
        text = re.sub(r"\s*:\s+(?!:)(?:public |private )?(?:expression_members|expression_base|integer_list|runtime::).*",
                      "", text, flags=re.DOTALL)
    lines = [line.rstrip() for line in text.strip().split("\n")]
    deepest = [len(line) - len(line.lstrip()) for line in lines[1:] if line.strip()]
    base = min(deepest, default=0)
    lines = lines[:1] + [line[base:] for line in lines[1:]]
    if d.kind == "function":
        lines = one_line_each(lines)
    return "\n".join(lines) + ";"


def one_line_each(lines):
    """`template`, `requires` and the declaration each begin a line; what went over several is joined."""
    joined = []
    for line in lines:
        if joined and not re.match(r"template\b|requires\b", line.lstrip()) and not (
                re.match(r"template\b|requires\b", joined[-1]) and not line.startswith(" ")):
            if len(joined[-1] + line) > 110:
                joined.append("    " + line.strip())
            else:
                joined[-1] += " " + line.strip()
        else:
            joined.append(line.strip())
    return [re.sub(r"(\w) &&(?= \w)", r"\1&&", re.sub(r"operator (\W)", r"operator\1", re.sub(r"\(\s+", "(", line)))
            if "operator" in line else re.sub(r"\(\s+", "(", line) for line in joined]


def prose(words):
    """A line of a comment in Markdown: signs that would be taken for its own are escaped, but in `code`."""
    parts = words.split("`")
    parts[::2] = [re.sub(r"<(?=[A-Za-z/!])|(?<! )\*|\*(?! )", r"\\\g<0>", p) for p in parts[::2]]
    return "`".join(parts)


def text_of(comment):
    """A comment as Markdown, its examples as blocks of code."""
    out, code = [], []
    for _, words in list(comment) + [(0, "")]:
        if words.startswith("    "):
            code.append(words[4:])
            continue
        if code:
            out += ["", "```cpp", *code, "```", ""]
            code = []
        out.append(prose(words))
    return re.sub(r"\n{3,}", "\n\n", "\n".join(out)).strip("\n")


def anchor(title):
    return re.sub(r"[^\w\- ]", "", title.lower()).replace(" ", "-")


def titled(entries):
    """Entries by section: operators that share a comment are one."""
    sections = []
    for entry in entries:
        same = sections and entry.name.startswith("operator") and sections[-1][0].name.startswith("operator") and \
            entry.comments() == sections[-1][0].comments()
        if same:
            sections[-1].append(entry)
        else:
            sections.append([entry])
    return sections


def title_of(section):
    return ", ".join(e.title for e in section)


def code_block(declarations):
    """Signatures; an empty line where one of them takes several lines."""
    texts = []
    for d in declarations:
        text = signature(d)
        if text not in texts:
            texts.append(text)
    return "```cpp\n" + "\n".join(texts) + "\n```"


def overloads(declarations):
    """Signatures with their comments; one without a comment of its own goes with what is above it."""
    groups, seen = [], None
    for d in declarations:
        words = [w for _, w in d.comment]
        if not groups or (words and words != seen):
            groups.append([])
            seen = words
        groups[-1].append(d)
    out = []
    for group in groups:
        out += [code_block(group), ""]
        if group[0].comment:
            out += [text_of(group[0].comment), ""]
    return out


def section_text(section):
    first = section[0]
    out = [f"## {title_of(section)}", "", *overloads([d for e in section for d in e.declarations])]
    for d in first.declarations:
        if d.kind != "type":
            continue
        functions, data = members_of(d, first.scope)
        if data:
            out += ["| member | |", "|---|---|"]
            for m in data:
                words = m.note or " ".join(w for _, w in m.comment)
                shown = SPACE.sub(" ", re.sub(r"\s*[={].*", "", signature(m), flags=re.DOTALL)).rstrip(";")
                out.append(f"| `{shown}` | {prose(words)} |")
            out.append("")
        for member in functions.values():
            name = "constructors" if member.name == d.name else member.name
            out += [f"### {first.title}::{name}" if name != "constructors" else f"### {first.title}: constructors", "",
                    *overloads(member.declarations)]
    return "\n".join(out).rstrip("\n") + "\n"


def opening(text):
    """The first paragraph of a header's opening comment."""
    lines = []
    for line in text.split("\n"):
        if not line.startswith("//") or not line[2:].strip():
            break
        lines.append(prose(line[2:].strip()))
    return re.sub(r":$", ".", "\n".join(lines))


def page(header, text, entries):
    out = [f"# ingot/{header}", "", opening(text), ""]
    out += [section_text(s) for s in titled(entries)]
    out.append("Made from the header by `docs/reference.py`; a test compiles and runs the examples.\n")
    return "\n".join(out)


def elementwise_names():
    table = (HEADERS / "operators.def").read_text(encoding="utf-8")
    return re.findall(rf"^INGOT_(?:OPERATOR|ALIAS)\(({NAME}),", table, re.MULTILINE)


def index(by_header):
    rows = {}
    for header, entries in by_header.items():
        stem = header.removesuffix(".hpp")
        for section in titled(entries):
            link = f"{stem}.md#{anchor(title_of(section))}"
            for entry in section:
                rows.setdefault(entry.title, []).append(f"[{stem}]({link})")
                for d in entry.declarations:
                    for name in (members_of(d)[0] if d.kind == "type" else ()):
                        if name == entry.name or name.startswith("operator"):
                            continue
                        title = f"{entry.title}::{name}"
                        rows.setdefault(title, []).append(f"[{stem}]({stem}.md#{anchor(title)})")
    for name in elementwise_names():
        rows.setdefault(name, []).append("[operators](../operators.md)")
    out = ["# Reference", "",
           "Every public name of Ingot and the page that tells of it. Pages are made from the headers by",
           "`docs/reference.py`; their examples stand in a function under `using namespace ingot`, after",
           "`#include <ingot/ingot.hpp>` and `#include <iostream>`, and a test compiles, runs and compares them. The C++",
           "operators of expressions are in [operators](../operators.md).", "",
           "| header | |", "|---|---|"]
    for header in sorted(by_header):
        stem = header.removesuffix(".hpp")
        words = " ".join(opening((HEADERS / header).read_text(encoding="utf-8")).split("\n"))
        out.append(f"| [{header}]({stem}.md) | {re.split(r'(?<=[.]) ', words)[0]} |")
    out += ["", "| name | page |", "|---|---|"]
    for title in sorted(rows, key=lambda t: (t.lstrip("~").lower(), t)):
        shown = title.replace("|", "\\|")
        out.append(f"| `{shown}` | {', '.join(dict.fromkeys(rows[title]))} |")
    return "\n".join(out) + "\n"


# ---- tests -----------------------------------------------------------------------------------------------------

TEST_HEAD = """// Made by docs/reference.py.
#include "tests/examples/readme.hpp"

#include <cstdint>
#include <iostream>
#include <string>
#include <tuple>
#include <vector>

#include <ingot/ingot.hpp>

using namespace ingot;

static std::string in_lines(std::string text) {
    while (text.ends_with('\\n')) text.pop_back();
    return text;
}
"""


def test_cases(header, entries):
    cases, seen = [], set()
    for entry in entries:
        for place, code, shown in examples_of_entry(entry):
            file, line = place if isinstance(place, tuple) else (header, place)
            if (file, line) in seen:
                continue
            seen.add((file, line))
            body = "\n".join("    " + c for c in code)
            expected = "\n".join(shown)
            cases.append(f'TEST_CASE("the example of {entry.title} in {header} prints what it says") {{\n'
                         f"    readme::printed printed;\n    printed.start();\n    {{\n"
                         f'#line {line} "{HEADERS / file}"\n{body}\n    }}\n'
                         f'    CHECK_PRINTED(in_lines(printed.take()), R"shown({expected})shown");\n}}\n')
    return cases


def write_tests(by_header, files):
    """Spreads the headers' examples over the files so that these are of about one length."""
    parts = [[] for _ in files]
    for header in sorted(by_header, key=lambda h: -len(test_cases(h, by_header[h]))):
        min(parts, key=len).extend(test_cases(header, by_header[header]))
    for file, cases in zip(files, parts):
        pathlib.Path(file).write_text("\n".join([TEST_HEAD, *cases]), encoding="utf-8")


def main(arguments):
    global HEADERS
    if "--headers" in arguments:
        HEADERS = pathlib.Path(arguments[arguments.index("--headers") + 1])
    by_header, texts, declared = {}, {}, {}
    for path in sorted(HEADERS.glob("*.hpp")):
        texts[path.name] = path.read_text(encoding="utf-8")
        declared[path.name] = Reader(texts[path.name]).scope()
    everywhere = {name: found for one in declared.values() for name, found in inner_names(one).items()}
    for header, declarations in declared.items():
        entries = public_entries(declarations, everywhere | inner_names(declarations))
        if entries:
            by_header[header] = list(entries.values())
    missing = [f"{header}:{entry.declarations[0].line}: {what}" for header, entries in by_header.items()
               for entry in entries for what in missing_of(entry)]
    if missing:
        print("\n".join(missing), file=sys.stderr)
        return 1
    if arguments[:1] == ["--tests"]:
        write_tests(by_header, arguments[1:])
        return 0
    pages = {h.removesuffix(".hpp") + ".md": page(h, texts[h], entries) for h, entries in by_header.items()}
    pages["index.md"] = index(by_header)
    present = {p.name: p.read_text(encoding="utf-8") for p in PAGES.glob("*.md")} if PAGES.is_dir() else {}
    other = sorted(name for name in pages.keys() | present.keys() if pages.get(name) != present.get(name))
    if "--check" in arguments:
        for name in other:
            print(f"docs/reference/{name} is not what docs/reference.py writes", file=sys.stderr)
        return 1 if other else 0
    PAGES.mkdir(exist_ok=True)
    for name in other:
        if name in pages:
            (PAGES / name).write_text(pages[name], encoding="utf-8")
        else:
            (PAGES / name).unlink()
    functions = sum(e.kind == "function" for entries in by_header.values() for e in entries)
    examples = sum(len(examples_of_entry(e)) for entries in by_header.values() for e in entries)
    print(f"{len(pages)} pages, {functions} functions, {examples} examples")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
