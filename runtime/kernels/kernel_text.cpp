// The texts of all kernels that users wrote. Each is stored once, for ever, as are the kernels made from them.
#include <ingot/kernels/kernel_text.hpp>

#include <cstring>
#include <map>
#include <mutex>

#include <ingot/core/error.hpp>

#include "codegen/text/user_text.hpp"
#include "runtime/system/fork.hpp"

namespace ingot::detail {

namespace {

std::vector<std::uint32_t> words_of(const std::string& text) {
    std::vector<std::uint32_t> words(1 + (text.size() + 3) / 4);
    words[0] = static_cast<std::uint32_t>(text.size());
    std::memcpy(words.data() + 1, text.data(), text.size());
    return words;
}

std::string name_in_quotes(std::string_view name) { return '\'' + std::string(name) + '\''; }

/// Throws where the statements do not name an output: it would have its register's old value.
void check_sets_outputs(const std::initializer_list<std::string_view>& parts) {
    if (parts.size() < 4) return;  // not the text of a kernel
    const std::string_view name = parts.begin()[0], outputs = parts.begin()[2];
    const bool reduces = parts.size() > 5;
    const std::string_view statements = parts.begin()[reduces ? 5 : 3];
    for (const kernel_parameter& output : parse_parameters(outputs))
        if (!codegen::has_name(statements, output.name))
            throw error("[kernel] " + std::string(reduces ? "the post of " : "the text of ") + name_in_quotes(name) +
                        " does not set the output '" + std::string(output.name) + "': statements that set (" +
                        std::string(outputs) + ") are wanted, \"" + std::string(output.name) +
                        (reduces ? " = a\"" : " = ...\""));
}

}  // namespace

const kernel_text& keep_text(std::initializer_list<std::string_view> parts, std::string_view preamble) {
    const std::string_view name = *parts.begin();
    if (!is_identifier(name)) throw error("[kernel] a kernel cannot be called " + name_in_quotes(name));
    std::string text;
    const auto add = [&](std::string_view part) {
        if (const std::size_t zero = part.find('\0'); zero != part.npos)
            throw error("[kernel] a text of " + name_in_quotes(name) + " has a zero byte behind " +
                        std::to_string(zero) + " characters");
        if (codegen::end_of_text(part) == codegen::text_end::block_comment)
            throw compile_error("[kernel] a text of " + name_in_quotes(name) + " has a comment /* without an end */",
                                "unterminated comment", std::string(part));
        text += part;
        text += '\0';
    };
    for (const std::string_view part : parts) add(part);
    if (!preamble.empty()) add(preamble);
    text.pop_back();
    check_sets_outputs(parts);
    static std::mutex& mutex = runtime::lock_across_fork(runtime::mutex_rank::tables, *new std::mutex);
    static auto& kept = *new std::map<std::string, kernel_text>;  // leaked: keys name them
    const std::lock_guard lock(mutex);
    const auto [at, inserted] = kept.try_emplace(text);
    if (inserted) at->second = {std::string(name), words_of(text)};
    return at->second;
}

}  // namespace ingot::detail
