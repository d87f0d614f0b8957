// Joins are rows of the operator table: a sum joins by `add`, a maximum by `maximum`, so NaN and wrapping are decided
// once. Places join by value, then by place, whatever the order in which they meet.
#include "codegen/text/fold.hpp"

namespace ingot::codegen {

using namespace detail;

fold_writer::fold_writer(const graph& g, node_id reduction, std::size_t number, prelude& needs)
    : fold_traits(g, reduction),
      graph_(g),
      number_(std::to_string(number)),
      name_((is_user() ? g.texts[g.nodes[reduction].pick].name + "_" : std::string(row_.name)) + number_),
      needs_(needs) {}

std::string fold_writer::wide_type() { return type_in(wide()); }

std::string fold_writer::type_in(dtype t) {
    if (is_shifted()) return spell_shifted_part(row_.of, t, needs_);
    const std::string value = needs_.type(t);
    if (!is_arg_reduction()) return value;
    const std::string name = "indexed_" + value, at = needs_.type(dtype::i8);
    needs_.add(name, "/// An element and its index in the row.\nstruct " + name + " {\n    " + value + " value;\n    " +
                         at + " at;\n};\n");
    return name;
}

std::string fold_writer::start_in(dtype t) {
    if (is_user()) return user_functions() + "::identity()";
    if (is_shifted()) return spell_shifted_start(row_.of, t, needs_);
    // The host's start lies behind every place of a row: any element wins over it. CUDA's start has place 0 and a value
    // that no element falls behind, so it may win where no element is beyond it; a thread's places begin as 32-bit
    // numbers.
    if (is_arg_reduction()) {
        const std::string at = needs_.type(dtype::i8) + (needs_.where() == target::host ? "(~0ull >> 1)}" : "(0)}");
        return type_in(t) + "{" + value_start_in(t) + ", " + at;
    }
    return value_start_in(t);
}

std::string fold_writer::value_start_in(dtype t) {
    const std::string type = needs_.type(t);
    std::string value;
    if (row_.start == fold_start::zero || row_.start == fold_start::one) {
        value = spell_constant(t, row_.start == fold_start::one ? 1 : 0, needs_);
        // A prefix sum starts at negative zero, which changes no number: a prefix of negative zeros is a negative zero.
        const node_kind kind = graph_.nodes[reduction_].kind;
        const bool prefix = kind == node_kind::scan || kind == node_kind::thread_scan;
        if (prefix && row_.start == fold_start::zero && kind_of(t) == kind::floating) value = '-' + value;
    } else if (kind_of(t) == kind::floating) {
        const bool single = t == dtype::f4, cuda = needs_.where() == target::cuda;
        const std::string infinity = !cuda    ? single ? "__builtin_inff()" : "__builtin_inf()"
                                     : single ? "__int_as_float(0x7f800000)"
                                              : "__longlong_as_double(0x7ff0000000000000ll)";
        value = (row_.start == fold_start::least ? "-" : "") + infinity;
    } else if (t == dtype::b1) {
        value = row_.start == fold_start::least ? "false" : "true";
    } else {
        const std::string top = "1ull << " + std::to_string(8 * size_of(t) - 1);
        if (is_signed(t))
            value = type + (row_.start == fold_start::least ? "(" : "(~(") + top +
                    (row_.start == fold_start::least ? ")" : "))");
        else
            value = type + (row_.start == fold_start::least ? "(0)" : "(~0ull)");
    }
    return value;
}

std::string fold_writer::joiner_in(dtype t) {
    if (is_user()) return user_functions();
    if (is_shifted()) return spell_shifted_fold(row_.of, t, needs_);
    if (!is_arg_reduction()) return value_joiner(row_, t);
    const std::string type = type_in(t), name = std::string(row_.name) + '_' + needs_.type(t);
    if (!needs_.has(name)) needs_.add(name, "struct " + name + " {\n" + join_head(type) + join_indexed(t) + "};\n");
    return name;
}

std::string fold_writer::ordered_joiner() {
    if (!is_arg_reduction()) return joiner();
    const std::string type = this->type(), name = "ordered_" + std::string(row_.name) + '_' + needs_.type(type_);
    if (!needs_.has(name))
        needs_.add(name, "/// Combines two elements; the second has the greater index.\nstruct " + name + " {\n" +
                             join_head(type) + join_ordered(type_) + "};\n");
    return name;
}

std::string fold_writer::start_at(const std::string& first) {
    if (!is_arg_reduction()) return start();
    return type() + "{" + value_start() + ", " + needs_.type(dtype::i8) + '(' + first + ")}";
}

std::string fold_writer::value_joiner(const fold_facts& row, dtype t) {
    const std::string type = needs_.type(t), name = std::string(row.name) + '_' + type;
    if (needs_.has(name)) return name;
    std::string body;
    if (needs_.where() == target::host && kind_of(t) == kind::floating && row.rule == fold_rule::own) {
        // The table's maximum or minimum as one choice: from two choices a compiler makes branches in scalar code, and
        // g++ 13 does where the value is a choice itself.
        const std::string goes_beyond = row.join == op::maximum ? "(a < b)" : "(b < a)";
        body = " return " + goes_beyond + " | (b != b) ? b : a; }\n";
    } else if (needs_.where() == target::host && t == dtype::b1 &&
               (row.join == op::bitwise_and || row.join == op::bitwise_or)) {
        // As a choice: g++ 12 vectorises no loop that uses a comparison both as a number and as a condition.
        body = std::string(" return b ? ") + (row.join == op::bitwise_and ? "a : false" : "true : a") + "; }\n";
    } else if (row.rule == fold_rule::logarithms) {
        body = join_logarithms(t);
    } else {
        node n;
        n.kind = node_kind::map;
        n.type = t;
        n.code = static_cast<std::uint16_t>(row.join);
        n.arity = 2;
        body = " return " + spell_map(n, {t, t}, {"a", "b"}, needs_) + "; }\n";
    }
    needs_.add(name, "struct " + name + " {\n" + join_head(type) + body + "};\n");
    return name;
}

/// The line up to a join's body.
std::string fold_writer::join_head(const std::string& type) const {
    return "    static " + std::string(needs_.where() == target::cuda ? "__device__ __forceinline__ " : "") + type +
           " join(" + type + " a, " + type + " b) {";
}

/// The first NaN wins, else the first extreme.
std::string fold_writer::join_indexed(dtype t) const {
    const std::string wins = row_.join == op::greater ? "a.value > b.value" : "a.value < b.value";
    if (kind_of(t) == kind::floating && needs_.where() == target::cuda)  // without a branch
        return "\n        const bool alike = a.value == b.value || (a.value != a.value && b.value != b.value);\n"
               "        return (alike ? a.at < b.at : " +
               wins + " || a.value != a.value) ? a : b;\n    }\n";
    std::string body = "\n";
    if (kind_of(t) == kind::floating)
        body +=
            "        if (a.value != a.value || b.value != b.value)\n"
            "            return a.value != a.value && (b.value == b.value || a.at < b.at) ? a : b;\n";
    return body + "        return " + wins + " || (a.value == b.value && a.at < b.at) ? a : b;\n    }\n";
}

/// log(exp(a) + exp(b)) without overflow; two equal infinities give that infinity, and NaN stays. On CUDA the float
/// version has no branch and half the library's instructions, for a scan joins two or three times an element.
std::string fold_writer::join_logarithms(dtype t) const {
    const std::string type = needs_.type(t);
    const auto call = [&](op o, const std::string& of) {
        node n;
        n.kind = node_kind::map;
        n.type = t;
        n.code = static_cast<std::uint16_t>(o);
        n.arity = 1;
        return spell_map(n, {t}, {of}, needs_);
    };
    const bool quick = needs_.where() == target::cuda && t == dtype::f4;
    if (quick)
        needs_.add("log1p_of_share",
                   "/// log(1 + p), 0 <= p <= 1, within 1.5 ulp: p + p * p * (the minimax polynomial of degree 7).\n" +
                       std::string(needs_.function_prefix()) +
                       " float log1p_of_share(float p) {\n"
                       "    float q = 0.00536481058f;\n"
                       "    q = fma(q, p, -0.0300657395f);\n"
                       "    q = fma(q, p, 0.0792044550f);\n"
                       "    q = fma(q, p, -0.137537956f);\n"
                       "    q = fma(q, p, 0.191536516f);\n"
                       "    q = fma(q, p, -0.248571634f);\n"
                       "    q = fma(q, p, 0.333213240f);\n"
                       "    q = fma(q, p, -0.499996483f);\n"
                       "    return fma(p * p, q, p);\n}\n");
    const std::string far = quick ? "a == b ? 0.0f : low - high" : "low - high";
    const std::string alike =
        "        if (a == b) return a + " + spell_constant(t, 0.69314718055994530942, needs_) + ";\n";
    const std::string share = call(op::exp, "far");
    return "\n        const " + type + " high = a > b ? a : b, low = a > b ? b : a, far = " + far + ";\n" +
           (quick ? "" : alike) + "        const " + type + " share = " + share + ";\n        return high + " +
           (quick ? "log1p_of_share(share)" : call(op::log1p, "share")) + ";\n    }\n";
}

std::string fold_writer::join_ordered(dtype t) const {
    if (kind_of(t) == kind::floating)  // the second wins, or is a NaN while the first is none
        return std::string(" return !(b.value ") + (greatest() ? "<=" : ">=") +
               " a.value) && a.value == a.value ? b : a; }\n";
    return std::string(" return b.value ") + (greatest() ? ">" : "<") + " a.value ? b : a; }\n";
}

std::string fold_writer::of_one(const std::string& entry) {
    return has_parts() ? of_part(with_one(part_start(), entry)) : entry;
}

std::string fold_writer::with(const std::string& part, const std::string& array, const std::string& present) {
    return joiner() + "::with(" + part + ", " + array + (present.empty() ? "" : ", " + present) + ')';
}

std::string fold_writer::with_one(const std::string& part, const std::string& entry) {
    if (!is_shifted()) return joined(part, entry);
    return joiner() + "::with<" + needs_.type(type_) + ", 1>(" + part + ", {" + entry + "})";
}

std::string fold_writer::of_part(const std::string& part) {
    return has_parts() ? joiner() + "::of_part(" + part + ')' : part;
}

std::string fold_writer::of_warp(const std::string& value) {
    if (row_.rule == fold_rule::truth)
        return (row_.join == op::bitwise_or ? "__any_sync(~0u, " : "__all_sync(~0u, ") + value + ") != 0";
    if (is_user() || row_.rule != fold_rule::own || kind_of(type_) != kind::integer || size_of(type_) > 4) return "";
    return type() + (row_.join == op::maximum ? "(__reduce_max_sync" : "(__reduce_min_sync") + "(~0u, " +
           needs_.type(is_signed(type_) ? dtype::i4 : dtype::u4) + '(' + value + ")))";
}

std::string fold_writer::element(const std::string& value, const std::string& at) {
    switch (row_.rule) {
        case fold_rule::arg_reduction:
            return type() + "{" + value + ", " + needs_.type(dtype::i8) + '(' + at + ")}";
        case fold_rule::truth:
        case fold_rule::counts: {
            const std::string truth = folded_ == dtype::b1 ? value : '(' + value + ") != 0";
            return row_.rule == fold_rule::truth ? truth : type() + '(' + truth + ')';
        }
        default:
            return value;
    }
}

std::string fold_writer::word(std::uint32_t i, const std::string& of) const {
    if (is_shifted()) return of + shifted_members(row_.of)[i];
    return !is_arg_reduction() ? of : of + (i == 0 ? ".value" : ".at");
}

std::vector<std::vector<fold_writer>> folds_of(const folding& f, const graph& g, prelude& needs) {
    std::vector<std::vector<fold_writer>> folds;
    std::size_t number = 0;
    for (const folded_space& s : f.spaces) {
        std::vector<fold_writer>& own = folds.emplace_back();
        for (const node_id r : s.reductions) own.emplace_back(g, r, number++, needs);
    }
    return folds;
}

std::vector<fold_writer> folds_of(const scanning& s, const graph& g, prelude& needs) {
    std::vector<fold_writer> folds;
    for (const node_id scan : s.scans) folds.emplace_back(g, scan, folds.size(), needs);
    return folds;
}

}  // namespace ingot::codegen
