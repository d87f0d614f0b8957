// Prints a user's functions. The text is printed unchanged; the functions that it calls on the host, where no header
// declares anything, are found among its names.
#include "codegen/text/user_text.hpp"

#include <algorithm>

#include <ingot/core/error.hpp>
#include <ingot/kernels/kernel_text.hpp>

#include "codegen/graph/names_in_text.hpp"
#include "codegen/text/complex_in_text.hpp"
#include "codegen/text/device_math.hpp"
#include "codegen/text/raw_array.cuh.hpp"
#include "codegen/text/spelling.hpp"
#include "codegen/text/writer.hpp"

namespace ingot::codegen {

using namespace detail;

namespace {

/// Declares a name of a text where it names a function or a constant.
void declare(std::string_view given, prelude& needs) {
    const bool host = needs.where() == target::host;
    const std::string name(given);
    if (name == "INFINITY" || name == "NAN") {
        const bool nan = name == "NAN";
        const std::string value = host  ? nan ? "__builtin_nanf(\"\")" : "__builtin_inff()"
                                  : nan ? "__int_as_float(0x7fffffff)"
                                        : "__int_as_float(0x7f800000)";
        needs.add(name, "#ifndef " + name + "\n#define " + name + ' ' + value + "\n#endif\n");
    } else if (host) {  // NVRTC knows the rest
        declare_device_function(given, needs);
    }
    declare_complex_function(given, needs);
}

void declare_names(const std::string& text, prelude& needs) {
    for_each_name(text, [&](std::string_view name) { declare(name, needs); });
}

/// The text unchanged, so that code may be printed around it on the same lines. It gets a newline behind a final
/// comment, directive or backslash, and before a directive at its start.
std::string enclosed(const std::string& text) {
    constexpr std::string_view blanks = " \t\r\n";
    const std::size_t first = text.find_first_not_of(blanks), last = text.find_last_not_of(blanks);
    if (first == text.npos) return text;
    std::string whole = text[first] == '#' && text.find('\n') > first ? '\n' + text : text;
    if (text[last] == '\\') whole = whole.substr(0, whole.find_last_not_of(blanks)) + '\n';
    const std::size_t line = text.find_last_of('\n', last) + 1;  // npos + 1 is 0
    const bool directive = text[text.find_first_not_of(blanks, line)] == '#';
    if (directive || end_of_text(whole) == text_end::line_comment) whole += '\n';
    return whole;
}

std::size_t lines_in(std::string_view text) {
    return static_cast<std::size_t>(std::count(text.begin(), text.end(), '\n'));
}

constexpr std::string_view open_struct = " {\n";
std::string struct_of(const std::string& kernel) { return "user_" + kernel; }

/// "float x, int64 n"
std::string parameters(const std::vector<user_text::parameter>& list) {
    std::string out;
    for (const user_text::parameter& p : list) out += (out.empty() ? "" : ", ") + p.type + ' ' + p.name;
    return out;
}

/// Prints a text's functions, one after the other.
class printer {
public:
    printer(const user_text& t, prelude& needs) : text_(t), out_(1) {
        prefix_ = "static " + std::string(needs.where() == target::cuda ? "__device__ __forceinline__ " : "");
        for (const auto& [letter, type] : t.types)
            out_.line("using ", std::string(1, letter), " = ", type_in_text(type, needs), ";");
    }

    void expression(const std::string& name, const std::string& given, const std::string& value) {
        note("the " + name + " of " + text_.name, value);
        out_.line(prefix_, text_.partial.type, ' ', name, '(', given, ") { return ", enclosed(value), "; }");
    }
    /// `statements` set the outputs; the output `result` is returned, a complex one as it lies in memory. Without
    /// `result` the outputs are written to their arrays.
    void statements(const std::string& name, const std::string& given, const std::string& statements,
                    const user_text::parameter* result) {
        const bool complex = result != nullptr && kind_of(result->of) == kind::complex;
        const std::string type = result == nullptr ? "int64" : complex ? type_name(result->of) : result->type;
        out_.open(prefix_, type, ' ', name, '(', given, ")");
        for (const user_text::parameter& p : text_.outputs)
            if (!p.raw) out_.line(p.type, ' ', p.name, ";");
        const std::vector<const char*> all = text_.reduces() ? std::vector{"_in_ind", "_out_ind"} : std::vector{"_ind"};
        for (const char* known : all)
            if (has_name(statements, known))
                out_.line("const struct { int64 n; ", prefix_.substr(prefix_.find(' ') + 1),
                          "int64 size() const { return n; } } ", known, '{', known, "_size};");
        note((text_.reduces() ? "the post of " : "the text of ") + text_.name, statements);
        out_.line(enclosed(statements), ";");
        if (result == nullptr) {
            for (const user_text::parameter& p : text_.outputs)
                if (!p.raw) out_.line("all_of_", p.name, "[i] = ", p.name, ";");
            out_.line("return -1;");
        } else if (complex) {
            out_.line("return ", type, '(', result->name, ".real(), ", result->name, ".imag());");
        } else {
            out_.line("return ", result->name, ";");
        }
        out_.close();
    }
    const std::string& text() const { return out_.text(); }
    /// The places, in lines of this text alone.
    const std::vector<text_range>& ranges() const { return ranges_; }

private:
    /// Notes a part: it begins in the line that is printed next, or in the line behind where `enclosed` adds a newline.
    void note(std::string of, const std::string& part) {
        const bool has_own_lines = enclosed(part).starts_with('\n') && !part.starts_with('\n');
        ranges_.push_back({std::move(of), lines_in(out_.text()) + (has_own_lines ? 2 : 1), 1 + lines_in(part)});
    }

    const user_text& text_;
    std::string prefix_;
    source_writer out_;
    std::vector<text_range> ranges_;
};

printer print_functions(const user_text& t, prelude& needs) {
    printer print(t, needs);
    const std::string inputs = parameters(t.inputs), type = t.partial.type;
    if (t.reduces()) {
        print.expression("map", inputs, t.parts[0]);
        print.expression("join", type + " a, " + type + " b", t.parts[1]);
        print.expression("identity", "", t.parts[3]);
        const std::string counts = t.counts() ? ", int64 _in_ind_size, int64 _out_ind_size" : "";
        print.statements("post", type + " a" + counts, t.parts[2], &t.outputs[0]);
    } else if (t.writes) {
        print.statements("write", inputs, t.parts[0], nullptr);
    } else {
        for (const user_text::parameter& p : t.outputs) print.statements(p.name, inputs, t.parts[0], &p);
    }
    return print;
}

std::string heading_of(const user_text& t, const std::string& as) {
    return "/// The text of " + t.name + ".\nstruct " + as;
}

std::string heading_of_preamble(const user_text& t) { return "/// The preamble of " + t.name + ".\n"; }

constexpr std::string_view cuda_words =
    "#ifndef __device__\n#define __device__\n#define __host__\n#define __constant__\n"
    "#define __forceinline__ inline __attribute__((always_inline))\n"
    "#define __noinline__ __attribute__((noinline))\n#endif\n";

}  // namespace

void add_raw_array(prelude& needs) {
    static_assert(most_raw_axes == 8);  // as the text has it
    needs.type(dtype::i8);
    needs.add("raw_array", for_target(embedded::raw_array, needs, ""));
}

text_end end_of_text(std::string_view text) {
    text_end now = text_end::code;
    char quote = 0;  // the quote that ends the literal
    const auto follows = [&](std::size_t i, std::string_view what) { return text.substr(i, what.size()) == what; };
    for (std::size_t i = 0; i < text.size(); ++i) {
        const char c = text[i];
        if (follows(i, "\\\n")) {
            ++i;  // joins two lines, in a comment too
        } else if (now == text_end::line_comment) {
            if (c == '\n') now = text_end::code;
        } else if (now == text_end::block_comment) {
            if (follows(i, "*/")) now = text_end::code, ++i;
        } else if (quote != 0) {
            if (c == '\\') ++i;
            if (c == quote || c == '\n') quote = 0;
        } else if (follows(i, "//")) {
            now = text_end::line_comment;
        } else if (follows(i, "/*")) {
            now = text_end::block_comment, ++i;
        } else if (c == '"' || (c == '\'' && (i == 0 || !continues_name(text[i - 1])))) {  // not 1'000
            quote = c;
        }
    }
    return now;
}

std::string spell_user_text(const std::vector<user_text>& all, std::uint16_t which, prelude& needs) {
    const user_text& t = all[which];
    std::string name = struct_of(t.name);
    for (std::uint16_t i = 0; i < which; ++i)
        if (all[i].name == t.name) name = struct_of(t.name) + '_' + std::to_string(which);
    if (needs.has(name)) return name;
    for (const auto* list : {&t.inputs, &t.outputs})
        for (const user_text::parameter& p : *list) type_in_text(p.of, needs);
    for (const std::string& part : t.parts) declare_names(part, needs);
    if (!t.preamble.empty()) {
        declare_names(t.preamble, needs);
        if (needs.where() == target::host) needs.add("cuda_words", cuda_words);
        needs.add(t.preamble, heading_of_preamble(t) + t.preamble + '\n');
    }
    if (t.reduces()) needs.type(t.partial.of);
    if (t.reduces() && t.counts()) needs.type(dtype::i8);
    for (const auto* list : {&t.inputs, &t.outputs})
        for (const user_text::parameter& p : *list)
            if (p.raw) add_raw_array(needs);
    needs.add(name, heading_of(t, name) + std::string(open_struct) + print_functions(t, needs).text() + "};\n");
    return name;
}

std::vector<text_range> text_ranges_of(const user_text& t, detail::target where, std::string_view source) {
    prelude unused(where);
    const printer print = print_functions(t, unused);
    const std::string heading = heading_of(t, struct_of(t.name));
    const std::string before = heading_of_preamble(t) + t.preamble;
    const std::size_t preamble = t.preamble.empty() ? source.npos : source.find(before);
    // Several texts may have one name; this loop finds the one with these functions.
    for (std::size_t at = source.find(heading); at != source.npos; at = source.find(heading, at + 1)) {
        const std::size_t body = source.find(open_struct, at + heading.size()) + open_struct.size();
        if (!source.substr(body).starts_with(print.text())) continue;
        std::vector<text_range> ranges = print.ranges();
        for (text_range& p : ranges) p.first_line += lines_in(source.substr(0, body));
        if (preamble != source.npos)
            ranges.push_back(
                {"the preamble of " + t.name, 2 + lines_in(source.substr(0, preamble)), 1 + lines_in(t.preamble)});
        return ranges;
    }
    return {};
}

}  // namespace ingot::codegen
