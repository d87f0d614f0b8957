// Indented source text, and the argument struct of a kernel: every emitter writes into these two.
#pragma once

#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

#include "codegen/plan/plan.hpp"

namespace ingot::codegen {

/// Lines of a C-like language; blocks indent by four spaces.
class source_writer {
public:
    explicit source_writer(int depth = 0) : depth_(depth) {}

    /// Compilers differ in the order in which they evaluate the parts: a line may have only one part that adds to the
    /// argument struct or the prelude, or the source would depend on the compiler that built the generator.
    template <class... Parts>
    void line(const Parts&... parts) {
        text_.append(4 * static_cast<std::size_t>(depth_), ' ');
        (append(parts), ...);
        text_ += '\n';
    }
    /// A line at the left margin, whatever the depth: for the preprocessor.
    template <class... Parts>
    void margin(const Parts&... parts) {
        (append(parts), ...);
        text_ += '\n';
    }
    template <class... Parts>
    void open(const Parts&... parts) {
        line(parts..., " {");
        ++depth_;
    }
    /// A block of its own, for names that end with it.
    void open() {
        line("{");
        ++depth_;
    }
    template <class... Parts>
    void close(const Parts&... parts) {
        --depth_;
        line("}", parts...);
    }
    /// `} else {`
    void otherwise() {
        --depth_;
        line("} else {");
        ++depth_;
    }
    void blank() { text_ += '\n'; }
    void paste(std::string_view text) { text_ += text; }
    const std::string& text() const { return text_; }

private:
    template <class Part>
    void append(const Part& part) {
        if constexpr (std::is_integral_v<Part> && !std::is_same_v<Part, char>) {
            text_ += std::to_string(part);
        } else {
            text_ += part;
        }
    }

    std::string text_;
    int depth_;
};

/// The members of a kernel's argument struct: the emitter asks for them as it needs them; they are laid out at the end,
/// widest first, so that there is no padding.
class argument_struct {
public:
    /// The member that holds `requested`, which is added if missing; `type` declares it ("const float*").
    std::string member(argument requested, std::string type, std::string name);
    /// Writes `struct <name> { ... };` and fills the launch's recipe.
    void declare(source_writer& out, std::string_view name, launch& to) const;

private:
    struct entry {
        codegen::argument argument;
        std::string type, name;
    };
    std::vector<entry> entries_;
};

}  // namespace ingot::codegen
