// How generated source spells a row of the operator table. A body of the table is split into names and the rest:
// operands, types and functions are replaced or noted, everything else is printed as in the table.
#include <algorithm>
#include <atomic>
#include <cctype>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <ingot/core/operators.hpp>

#include "codegen/text/spelling.hpp"
#include "codegen/text/spelling_helpers.hpp"

namespace ingot::codegen {

namespace {

using namespace detail;

/// Bodies of the table beside the rows' own: quick ones, the tests of these where an operand is shared, and bodies that
/// flush subnormals.
struct other_body {
    op of;
    dtype type;
    std::string_view body;
};
constexpr other_body quick_table[] = {
#define INGOT_QUICK(name, type, body) {op::name, dtype::type, #body},
#include <ingot/core/operators.def>
};

constexpr other_body shared_table[] = {
#define INGOT_QUICK_SHARED(name, type, condition) {op::name, dtype::type, #condition},
#include <ingot/core/operators.def>
};

constexpr other_body flushed_table[] = {
#define INGOT_FLUSHED(name, type, body) {op::name, dtype::type, #body},
#include <ingot/core/operators.def>
};

const other_body* body_among(std::span<const other_body> table, op o, dtype t) {
    for (const other_body& q : table)
        if (q.of == o && q.type == t) return &q;
    return nullptr;
}
const other_body* quick_body(op o, dtype t) { return body_among(quick_table, o, t); }

/// Instructions of a GPU without an intrinsic. `before_80`: the expression for architectures that lack it.
struct instruction {
    std::string_view name;
    dtype type;
    std::uint8_t arity;
    std::string_view text, before_80 = {};
};
constexpr instruction instructions[] = {
    {"rcp_approx", dtype::f4, 1, "rcp.approx.ftz.f32"},
    {"rcp_approx", dtype::f8, 1, "rcp.approx.ftz.f64"},
    {"rsqrt_approx", dtype::f4, 1, "rsqrt.approx.ftz.f32"},
    {"exp2_approx", dtype::f4, 1, "ex2.approx.ftz.f32"},
    {"log2_approx", dtype::f4, 1, "lg2.approx.ftz.f32"},
    {"max_or_nan", dtype::f4, 2, "max.NaN.f32", "a > b || a != a ? a : b"},
    {"min_or_nan", dtype::f4, 2, "min.NaN.f32", "a < b || a != a ? a : b"},
};

const instruction* instruction_named(std::string_view name, dtype t) {
    for (const instruction& i : instructions)
        if (i.name == name && i.type == t) return &i;
    return nullptr;
}

const routine_facts* routine_named(std::string_view name) {
    for (const routine_facts& r : routine_table)
        if (r.name == name) return &r;
    return nullptr;
}

bool starts_name(char c) { return std::isalpha(static_cast<unsigned char>(c)) != 0 || c == '_'; }
bool continues_name(char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_'; }

/// The types for the letters of a body in one application of its row.
struct body_types {
    dtype computed, result;
    dtype unsigned_type() const {
        if (kind_of(computed) == kind::floating) return size_of(computed) == 4 ? dtype::u4 : dtype::u8;
        return size_of(computed) <= 4 ? dtype::u4 : dtype::u8;
    }
    dtype signed_type() const {
        switch (size_of(computed)) {
            case 1:
                return dtype::i1;
            case 2:
                return dtype::i2;
            case 4:
                return dtype::i4;
            default:
                return dtype::i8;
        }
    }
};

std::string spell_instruction(const instruction& i, prelude& needs) {
    const std::string type = needs.type(i.type), letter = i.type == dtype::f8 ? "d" : "f";
    const auto operand = [&](char name) { return '"' + letter + "\"(" + name + ')'; };
    const bool two = i.arity == 2;
    const std::string head = std::string(needs.function_prefix()) + ' ' + type + ' ' + std::string(i.name) + '(' +
                             type + " a" + (two ? ", " + type + " b" : "") + ") {\n";
    const std::string body = "    " + type + " y;\n    asm(\"" + std::string(i.text) +
                             (two ? " %0, %1, %2;" : " %0, %1;") + "\" : \"=" + letter + "\"(y) : " + operand('a') +
                             (two ? ", " + operand('b') : "") + ");\n    return y;\n";
    if (i.before_80.empty()) return head + body + "}\n";
    return head + "#if __CUDA_ARCH__ >= 800\n" + body + "#else\n    return " + std::string(i.before_80) +
           ";\n#endif\n}\n";
}

constinit std::atomic<text_lookup> replaced{nullptr};

std::string_view text_of(op o, evaluator where, dtype first, dtype second) {
    const text_lookup other = replaced.load(std::memory_order_relaxed);
    return other != nullptr ? other(o, where, first, second) : body_of(o, where, first, second).text;
}

void add_routine(const routine_facts& routine, dtype t, prelude& needs);
/// Adds the function of a row's own text and returns its name.
std::string add_row_function(op o, dtype t, prelude& needs);

/// The row whose own body replaces a call of that name in other bodies. On the host it does: a vector library's
/// function may be 4 last places off, which would put a product over its bound. CUDA's functions are more exact, except
/// for doubles where a row corrects them.
std::optional<op> row_for_call(std::string_view name, dtype t, target where) {
    const bool host = where == target::host;
    for (const spelling_facts& s : spelling_table)
        if (s.type == t && (s.where != spelling_facts::reach::cuda) == host && (host || t == dtype::f8) &&
            facts(s.of).name == name)
            return s.of;
    return std::nullopt;
}

/// Replaces the letters of a body: operands by names, types by their spelling. Notes the functions that it calls.
std::string substitute(std::string_view body, const body_types& types, const std::vector<std::string>& operands,
                       prelude& needs) {
    std::string out;
    for (std::size_t i = 0; i < body.size();) {
        if (!starts_name(body[i])) {
            // The exponent or suffix of a number is no name.
            if (std::isdigit(static_cast<unsigned char>(body[i])) != 0) {
                while (i < body.size() && (continues_name(body[i]) || body[i] == '.')) out += body[i++];
            } else {
                out += body[i++];
            }
            continue;
        }
        std::size_t end = i;
        while (end < body.size() && continues_name(body[end])) ++end;
        const std::string_view name = body.substr(i, end - i);
        i = end;
        if (name.size() == 1 && name[0] >= 'a' && name[0] <= 'c' &&
            static_cast<std::size_t>(name[0] - 'a') < operands.size()) {
            out += operands[static_cast<std::size_t>(name[0] - 'a')];
        } else if (name == "T") {
            out += needs.type(types.computed);
        } else if (name == "U") {
            out += needs.type(types.unsigned_type());
        } else if (name == "R") {
            out += needs.type(types.result);
        } else if (name == "S") {
            out += needs.type(types.signed_type());
        } else if (const auto row = out.ends_with("::") ? std::nullopt  // the library's own function
                                                        : row_for_call(name, types.computed, needs.where())) {
            out += add_row_function(*row, types.computed, needs);
        } else {
            out += name;
            if (name == "bits_of" || name == "from_bits")
                needs.add(std::string(name) + type_name(types.computed),
                          spell_reinterpretation(name, types.computed, needs));
            else if (name == "opaque")
                needs.add(name, std::string(needs.function_prefix()) + ' ' + needs.type(dtype::u4) + " opaque(" +
                                    type_name(dtype::u4) + " a) {\n    asm(\"\" : \"+r\"(a));\n    return a;\n}\n");
            else if (const instruction* own = instruction_named(name, types.computed))
                add_instruction(name, own->type, needs);
            else if (const routine_facts* routine = routine_named(name))
                add_routine(*routine, types.computed, needs);
            else if (function_named(name))
                needs.calls(name, types.computed);
        }
    }
    return out;
}

/// Breaks statements on one line into indented lines: a line ends at `;`, `{` and `}` outside parentheses.
std::string indent_statements(std::string_view statements) {
    std::string out, line;
    int depth = 1, parentheses = 0;
    const auto flush = [&] {
        if (line.empty()) return;
        out.append(4 * static_cast<std::size_t>(depth), ' ').append(line).append("\n");
        line.clear();
    };
    for (const char c : statements) {
        if (c == ' ' && line.empty()) continue;
        if (c == '}') {
            flush();
            --depth;
        }
        line += c;
        parentheses += c == '(' ? 1 : c == ')' ? -1 : 0;
        if (parentheses > 0) continue;
        if (c == ';' || c == '}') flush();
        if (c == '{') {
            flush();
            ++depth;
        }
    }
    flush();
    return out;
}

std::string add_row_function(op o, dtype t, prelude& needs) {
    const std::string type = needs.type(t), name = std::string(facts(o).name) + '_' + type;
    if (needs.has(name)) return name;
    const std::string statements =
        substitute(text_of(o, static_cast<evaluator>(needs.where()), t, t), {t, t}, {"a", "b", "c"}, needs);
    needs.add(name, std::string(needs.function_prefix()) + ' ' + type + ' ' + name + '(' +
                        parameters(type, facts(o).arity) + ") {\n" + indent_statements(statements) + "}\n");
    return name;
}

/// Adds a function of the table, after the functions that it calls.
void add_routine(const routine_facts& routine, dtype t, prelude& needs) {
    const std::string type = needs.type(t), key = std::string(routine.name) + '_' + type;
    if (needs.has(key)) return;
    const std::string statements = substitute(routine.body, {t, t}, {"a", "b", "c", "d"}, needs);
    needs.add(key, std::string(needs.function_prefix()) + ' ' + type + ' ' + std::string(routine.name) + '(' +
                       parameters(type, routine.arity) + ") {\n" + indent_statements(statements) + "}\n");
}

}  // namespace

void add_instruction(std::string_view name, dtype t, prelude& needs) {
    needs.add(std::string(name) + type_name(t), spell_instruction(*instruction_named(name, t), needs));
}

bool has_quick_body(const node& n) {
    return n.kind == node_kind::map && quick_body(static_cast<op>(n.code), n.type) != nullptr;
}

std::string quick_statements(op o, dtype t) {
    std::string_view body = quick_body(o, t)->body;
    body = body.substr(0, body.find("rare |="));
    std::string out;
    for (std::size_t end; (end = body.find(';')) != body.npos; body.remove_prefix(end + 1))
        out += (body[0] == ' ' ? "   " : "    ") + std::string(body.substr(0, end + 1)) + '\n';
    return out;
}

namespace {

std::string spell_bit_cast(const std::string& from, dtype from_type, dtype to, prelude& needs) {
    const std::string given = needs.type(from_type), made = needs.type(to), name = "bits_as_" + made;
    const std::string body = needs.where() == target::host ? "__builtin_bit_cast(" + made + ", a)"
                                                           : "reinterpret_cast<const " + made + "&>(a)";
    needs.add(name + '(' + given + ')', std::string(needs.function_prefix()) + ' ' + made + ' ' + name + "(const " +
                                            given + "& a) { return " + body + "; }\n");
    return name + '(' + from + ')';
}

}  // namespace

void replace_texts(text_lookup other) noexcept { replaced.store(other, std::memory_order_relaxed); }

std::string spell_map(const node& n, const std::vector<dtype>& argument_types,
                      const std::vector<std::string>& arguments, prelude& needs, bool shared) {
    const op o = static_cast<op>(n.code);
    if (o == op::bit_cast) return spell_bit_cast(arguments[0], argument_types[0], n.type, needs);
    const op_facts& row = facts(o);
    const std::size_t deciding = row.rule == rule::selection ? 1 : 0;
    const dtype second = argument_types.size() == 2 ? argument_types[1] : argument_types[deciding];
    const body_types types{argument_types[deciding], n.type};
    const other_body* const quick = needs.quick() ? quick_body(o, types.computed) : nullptr;
    const other_body* const flushed =
        n.flushed && quick == nullptr ? body_among(flushed_table, o, types.computed) : nullptr;
    std::string_view body = quick != nullptr ? quick->body
                            : flushed != nullptr
                                ? flushed->body
                                : text_of(o, static_cast<evaluator>(needs.where()), types.computed, second);
    const bool expression = body.starts_with("return ") && body.find(';') == body.size() - 1;
    if (expression) {
        body.remove_prefix(7);
        body.remove_suffix(1);
        return substitute(body, types, arguments, needs);
    }
    const std::string own_name = std::string(row.name) + '_' + type_name(types.computed);
    std::string name = (quick != nullptr ? "quick_" : flushed != nullptr ? "flushed_" : "") + own_name;
    const auto add = [&](const auto& statements) {
        if (needs.has(name)) return;
        std::string head(needs.function_prefix());
        head += ' ' + needs.type(n.type) + ' ' + name + '(';
        std::vector<std::string> letters;
        for (std::size_t i = 0; i < argument_types.size(); ++i) {
            letters.emplace_back(1, "abc"[i]);
            head += (i > 0 ? ", " : "") + needs.type(argument_types[i]) + ' ' + letters.back();
        }
        if (quick != nullptr) head += ", bool& rare";
        needs.add(name, head + ") {\n" + indent_statements(substitute(statements, types, letters, needs)) + "}\n");
    };
    add(body);
    const other_body* const condition =
        shared && quick != nullptr ? body_among(shared_table, o, types.computed) : nullptr;
    if (condition != nullptr) {
        const std::string usual = name;
        name = "quick_shared_" + own_name;
        add("bool unusual = false; const T q = " + usual + "(a, b, unusual); rare |= unusual && (" +
            std::string(condition->body) + "); return q;");
    }
    std::string call = name + '(';
    for (std::size_t i = 0; i < arguments.size(); ++i) call += (i > 0 ? ", " : "") + arguments[i];
    return call + (quick != nullptr ? ", rare)" : ")");
}

}  // namespace ingot::codegen
