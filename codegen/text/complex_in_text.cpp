#include "codegen/text/complex_in_text.hpp"

#include "codegen/text/complex_class.cuh.hpp"
#include "codegen/type_names.hpp"

namespace ingot::codegen {

using namespace detail;

namespace {

// In these texts T is the type of a part, and # before a name the target's function of it.

struct complex_function {
    std::string_view name, signature, body;
    std::string_view calls = "", also = "";  // further rows
};
constexpr complex_function functions[] = {
    {"real", "T real(const complex<T>& z)", "return z.real();"},
    {"imag", "T imag(const complex<T>& z)", "return z.imag();"},
    {"conj", "complex<T> conj(const complex<T>& z)", "return complex<T>(z.real(), -z.imag());"},
    {"norm", "T norm(const complex<T>& z)", "return z.real() * z.real() + z.imag() * z.imag();"},
    {"abs", "T abs(const complex<T>& z)", "return #hypot(z.real(), z.imag());"},
    {"arg", "T arg(const complex<T>& z)", "return #atan2(z.imag(), z.real());"},
    {"polar", "complex<T> polar(T r, T angle = 0)", "return complex<T>(r * #cos(angle), r * #sin(angle));"},
    {"exp", "complex<T> exp(const complex<T>& z)",
     "const T r = #exp(z.real());\n"
     "return z.imag() == 0 ? complex<T>(r, z.imag()) : complex<T>(r * #cos(z.imag()), r * #sin(z.imag()));"},
    {"log", "complex<T> log(const complex<T>& z)",
     "return complex<T>(#log(#hypot(z.real(), z.imag())), #atan2(z.imag(), z.real()));"},
    {"sqrt", "complex<T> sqrt(const complex<T>& z)",
     "if (z == complex<T>()) return complex<T>(0, z.imag());\n"
     "const T root = #sqrt((#fabs(z.real()) + #hypot(z.real(), z.imag())) / 2);\n"
     "return z.real() >= 0 ? complex<T>(root, z.imag() / (2 * root))\n"
     "                     : complex<T>(#fabs(z.imag()) / (2 * root), #copysign(root, z.imag()));"},
    {"pow", "complex<T> pow(const complex<T>& a, const complex<T>& b)",
     "if (a == complex<T>()) return b == complex<T>() ? complex<T>(1) : complex<T>();\nreturn exp(b * log(a));", "exp",
     "log"},
    {"sin", "complex<T> sin(const complex<T>& z)",
     "return complex<T>(#sin(z.real()) * #cosh(z.imag()), #cos(z.real()) * #sinh(z.imag()));"},
    {"cos", "complex<T> cos(const complex<T>& z)",
     "return complex<T>(#cos(z.real()) * #cosh(z.imag()), -#sin(z.real()) * #sinh(z.imag()));"},
    {"tan", "complex<T> tan(const complex<T>& z)", "return sin(z) / cos(z);", "sin", "cos"},
    {"sinh", "complex<T> sinh(const complex<T>& z)",
     "return complex<T>(#sinh(z.real()) * #cos(z.imag()), #cosh(z.real()) * #sin(z.imag()));"},
    {"cosh", "complex<T> cosh(const complex<T>& z)",
     "return complex<T>(#cosh(z.real()) * #cos(z.imag()), #sinh(z.real()) * #sin(z.imag()));"},
    {"tanh", "complex<T> tanh(const complex<T>& z)", "return sinh(z) / cosh(z);", "sinh", "cosh"},
};

bool continues(char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
}

/// A function's text for parts of this type.
std::string with_part(std::string_view text, const std::string& part, bool host) {
    std::string out;
    for (std::size_t i = 0; i < text.size(); ++i) {
        const bool whole = (i == 0 || !continues(text[i - 1])) && (i + 1 == text.size() || !continues(text[i + 1]));
        if (text[i] == 'T' && whole) {
            out += part;
        } else if (text[i] == '#') {
            std::size_t end = i + 1;
            while (continues(text[end])) ++end;
            out += (host ? "__builtin_" : "") + std::string(text.substr(i + 1, end - i - 1)) +
                   (host && part == "float" ? "f" : "");
            i = end - 1;
        } else {
            out += text[i];
            if (text[i] == '\n') out += "    ";
        }
    }
    return out;
}

}  // namespace

std::string type_in_text(dtype t, prelude& needs) {
    needs.type(t);
    if (kind_of(t) == kind::complex) needs.add("complex", for_target(embedded::complex_class, needs, ""));
    return type_name_in_text(t);
}

void declare_complex_function(std::string_view name, prelude& needs) {
    if (!needs.has("complex")) return;
    const bool host = needs.where() == target::host;
    for (const complex_function& f : functions) {
        const std::string key = "complex " + std::string(name);
        if (f.name != name || needs.has(key)) continue;
        declare_complex_function(f.calls, needs);
        declare_complex_function(f.also, needs);
        std::string text;
        for (const char* part : {"float", "double"})
            text += std::string(needs.function_prefix()) + ' ' + with_part(f.signature, part, host) + " {\n    " +
                    with_part(f.body, part, host) + "\n}\n";
        needs.add(key, text);
    }
}

}  // namespace ingot::codegen
