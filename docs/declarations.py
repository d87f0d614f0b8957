"""Reads the declarations of a header as Ingot's are written, with their comments, for docs/reference.py.

It is no parser of C++. It relies on the house's format (clang-format's, braces of namespaces on their line) and names,
and expands the header's own macros, so that what they declare is seen like the rest.
"""
import re

NAME = r"[A-Za-z_]\w*"
SPACE = re.compile(r"\s+")
COMMENT_OR_TEXT = re.compile(r'//[^\n]*|/\*.*?\*/|"(?:\\.|[^"\\\n])*"|(?<![0-9a-fA-F])\'(?:\\.|[^\'\\\n])+\'')
DIRECTIVE = re.compile(r"#(?:[^\n]*\\\n)*[^\n]*")


class Declaration:
    """kind: namespace, type, enum, concept, alias, using, function, variable or nothing. comment: (place, words) for each
    line of it, a place being a file and a line. note: a comment behind it on its line. members: of a namespace or a
    class.
    """

    def __init__(self, kind, name, text="", comment=(), place=None):
        self.kind, self.name, self.text, self.comment, self.place = kind, name, text, list(comment), place
        self.access, self.note, self.members = "public", "", []


def read(path):
    """The declarations of a header. What stands under a comment `// Inner`, up to an empty line, is left out."""
    return Reader(path, path.read_text(encoding="utf-8")).scope()


class Reader:
    def __init__(self, path, text, line=1, macros=None):
        self.path, self.text, self.first_line = path, text, line
        self.macros = {} if macros is None else macros  # name: parameters, body, comment
        self.at, self.comment = 0, []

    def place(self):
        return self.path.as_posix().split("/include/ingot/")[-1], self.first_line + self.text.count("\n", 0, self.at)

    def begins_line(self):
        return not self.text[self.text.rfind("\n", 0, self.at) + 1:self.at].strip()

    def balanced(self, at):
        """The end of the brackets that open at `at`."""
        depth = 0
        while True:
            other = COMMENT_OR_TEXT.match(self.text, at)
            if other:
                at = other.end()
                continue
            depth += (self.text[at] in "({[") - (self.text[at] in ")}]")
            at += 1
            if depth == 0:
                return at

    def scope(self, access="public", owner=None):
        """The declarations up to the brace that closes, or to the end. owner: the class whose they are."""
        found, inner, shared = [], False, []
        while self.at < len(self.text):
            space = SPACE.match(self.text, self.at)
            if space:
                if space.group().count("\n") > 1:
                    inner, shared, self.comment = False, [], []
                self.at = space.end()
                continue
            if self.text[self.at] == "}":
                self.at += 1
                break
            if self.text.startswith(("//", "/*"), self.at):
                words = COMMENT_OR_TEXT.match(self.text, self.at).group()
                if words.startswith("/**"):  # in a macro, of one line
                    self.comment.append((self.place(), words[3:-2].strip()))
                elif words.startswith("///<"):
                    found[-1].note = words[4:].strip()
                elif words.startswith("///"):
                    self.comment.append((self.place(), words[3:].removeprefix(" ")))
                elif words.startswith("// Inner"):
                    inner = True
                elif found and found[-1].kind == "variable" and not self.begins_line():
                    found[-1].note = words[2:].strip()
                self.at += len(words)
                continue
            if self.text[self.at] == "#":
                found += self.directive()
                continue
            label = re.compile(r"(public|private|protected):").match(self.text, self.at)
            if label:
                access = label.group(1)
                self.at = label.end()
                continue
            self.comment = self.comment or shared
            made = self.namespace() or self.macro(owner) or self.declaration(owner)
            # Operators in a row have one comment.
            shared = self.comment if made and owner is None and made[0].name.startswith("operator") else []
            self.comment = []
            for one in made:
                one.access = access
            found += made if not inner else []
        return found

    def namespace(self):
        name = re.compile(r"(?:inline )?namespace ([\w:]+) \{").match(self.text, self.at)
        if not name:
            return []
        self.at, self.comment = name.end(), []
        made = Declaration("namespace", name.group(1))
        made.members = self.scope()
        return [made]

    # ---- the preprocessor -------------------------------------------------------------------------------------

    def directive(self):
        text = DIRECTIVE.match(self.text, self.at).group()
        self.at += len(text)
        comment, self.comment = self.comment, []
        define = re.match(rf"#define ({NAME})(?:\(([^)]*)\))?(.*)", text, re.DOTALL)
        if define:
            name, parameters, body = define.groups()
            self.macros[name] = (parameters, re.sub(r"[ \t]*\\\n", "\n", body).strip("\n"), comment)
        elif text.startswith("#undef"):
            self.macros.pop(text.split()[1], None)
        elif text.startswith("#ifndef") and text.split()[1] in self.macros:
            self.at = self.text.index("#endif", self.at) + len("#endif")
        table = re.match(r"#include <ingot/(?:\w+/)?(\w+\.def)>", text)
        if table and table.group(1) != "operators.def":
            rows = self.path.parent / table.group(1)
            return Reader(rows, rows.read_text(encoding="utf-8"), 1, self.macros).scope()
        return []

    def macro(self, owner):
        """What a use of a macro declares."""
        use = re.compile(r"(INGOT_[A-Z_]+)\(").match(self.text, self.at)
        if not use:
            return []
        place, end = self.place(), self.balanced(use.end() - 1)
        made = self.expanded(use.group(1), self.text[use.end():end - 1], place, owner)
        self.at = end
        return made or [Declaration("nothing", "")]

    def expanded(self, name, arguments, place, owner):
        parameters, body, common = self.macros.get(name, ("", "", []))
        if parameters is None:  # another macro's name
            return self.expanded(body.strip(), arguments, place, owner)
        names = [p.strip() for p in parameters.split(",")]
        given = [a.strip() for a in re.findall(r'(?:"(?:\\.|[^"\\])*"|[^",])+', arguments)]
        values = dict(zip(names, given))
        values["__VA_ARGS__"] = ", ".join(given[len(names) - 1:])
        body = re.sub(rf"##|(#?)\b({NAME})\b",
                      lambda m: "" if m.group() == "##" else m.group() if m.group(2) not in values else
                      f'"{values[m.group(2)]}"' if m.group(1) else values[m.group(2)], body)
        made = Reader(self.path, body, place[1], self.macros).scope(owner=owner)
        for one in made:
            one.place = place
            one.comment = with_common(self.comment, one.comment + common)
        return made

    # ---- one declaration --------------------------------------------------------------------------------------

    def declaration(self, owner):
        place, comment, start = self.place(), self.comment, self.at
        while True:
            other = COMMENT_OR_TEXT.match(self.text, self.at)
            c = self.text[self.at]
            if other:
                self.at = other.end()
            elif c in "([":
                self.at = self.balanced(self.at)
            elif c == ";" or c == "{" and has_body(self.text[start:self.at]):
                break
            else:
                self.at = self.balanced(self.at) if c == "{" else self.at + 1
        head = self.text[start:self.at]
        kind, name = ("nothing", "") if c == ";" and re.match(r"(class|struct)\b", plain(head)) else \
            kind_and_name(head, owner)
        made = Declaration(kind, name, head, comment, place)
        if kind == "function":
            made.text = without_initialisers(head)
        if c == ";":
            self.at += 1
        elif kind == "type":
            self.at, self.comment = self.at + 1, []
            made.members = self.scope("private" if plain(head).startswith("class") else "public", name)
        else:
            self.at = self.balanced(self.at)
            if kind == "enum":
                made.text = self.text[start:self.at]
        if c != ";" and kind in ("type", "enum"):  # a macro may leave the semicolon to who uses it
            self.at = re.compile(r"[^;{}#]*;|").match(self.text, self.at).end()
        return [made]


def with_common(comment, common):
    """A comment, and before its examples what is common to all that a macro makes."""
    if not comment or not common:
        return comment or common
    at = next((i for i, (_, words) in enumerate(comment) if words.startswith("    ")), len(comment))
    gap = [] if at > 0 and not comment[at - 1][1] else [(None, "")]
    return comment[:at] + gap + common + [(None, "")] + comment[at:]


def plain(head):
    """A declaration without `template <...>`, its requires-clause, attributes and INGOT_API."""
    head = re.sub(r"\bINGOT_API\b|\[\[.*?\]\]|\balignas\(\d+\)", "", head).strip()
    while head.startswith("template"):
        at = head.index("<")
        depth = 0
        while depth > 0 or head[at - 1] != ">":
            depth += (head[at] == "<") - (head[at] == ">")
            at += 1
        head = head[at:].lstrip()
    return re.sub(r"^requires\b[^\n]*(?:\n\s{8,}[^\n]*)*\n\s*|\s+(?= )", "", head)


def outside_brackets(text):
    """`text` without what stands in brackets, of which the opening ones stay."""
    kept, depth = "", 0
    for c in text:
        depth -= c in ")]}"
        kept += c if depth == 0 and c not in ")]}" else ""
        depth += c in "([{"
    return kept


def without_initialisers(head):
    """A constructor without what initialises members."""
    return re.sub(r"\)((?:\s*noexcept|\s*const)*)\s*:\s(?!:).*", r")\1", head, flags=re.DOTALL)


def has_body(head):
    """Whether a brace after `head` opens a body, of a type or a function, and not a value."""
    head = outside_brackets(re.sub(r"\boperator\s*(?:\(\)|[^\s\w(]+)", "operator", plain(head)))
    if re.match(r"(class|struct|union|enum)\b", head):
        return True
    return "(" in head and "=" not in head


def kind_and_name(head, owner):
    text = plain(head).replace("decltype(auto)", "auto")
    if re.match(r"(static_assert|extern|friend|typedef|using namespace)\b", text) or " friend " in text or \
            text.endswith("= delete") or head.startswith("template <>"):
        return "nothing", ""
    for kind, pattern in (("using", rf"using detail::({NAME})$"), ("alias", rf"using ({NAME})\s*="),
                          ("concept", rf"concept ({NAME})"), ("enum", rf"enum (?:class )?({NAME})"),
                          ("type", rf"(?:class|struct|union) ({NAME})"),
                          ("nothing", r"(using |(?:class|struct|union)$)")):
        found = re.match(pattern, text)
        if found:
            return kind, found.group(1)
    pointer = re.search(rf"\(\*({NAME})\)\(", text)
    if pointer and text.index("(") == pointer.start():
        return "variable", pointer.group(1)
    function = re.match(rf"[^(={{]*?(operator\s*(?:\(\)|[^\s\w(]+|\w+)|~?{NAME})\s*\(", text)
    if function:
        name = re.sub(r"^operator\s+(?=\W)", "operator", function.group(1))
        guide = owner is None and re.match(rf"{NAME}\(", text)
        made_by_compiler = name.startswith("~") or owner is not None and text.endswith("= default")
        member = re.match(rf"[^(]*\w(?:<\w+>)?::(?:{re.escape(function.group(1))})\s*\(", text)  # defined outside
        return ("nothing", "") if guide or made_by_compiler or member else ("function", name)
    variable = re.search(rf"({NAME})(?:\[[^]]*\])?$", re.split(r"\s*[={]", text)[0])
    return ("variable", variable.group(1)) if variable else ("nothing", "")
