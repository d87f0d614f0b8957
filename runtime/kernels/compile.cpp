#include "runtime/kernels/compile.hpp"

#include <fcntl.h>
#include <sys/stat.h>

#include <algorithm>
#include <charconv>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <sstream>

#include "runtime/kernels/compile_cuda.hpp"
#include "runtime/kernels/compile_host.hpp"
#include "runtime/kernels/nvrtc.hpp"
#include "runtime/system/counters.hpp"
#include "runtime/system/file_descriptor.hpp"

namespace ingot::runtime {

std::string numbered(const std::string& text) {
    std::istringstream lines(text);
    std::string result, line;
    for (int number = 1; std::getline(lines, line); ++number) {
        char label[16];
        std::snprintf(label, sizeof label, "%4d  ", number);
        result += label + line + '\n';
    }
    return result;
}

namespace {

/// Saves the source in a new file in the folder for temporaries, which the user may keep or delete; returns an empty
/// path where none can be written.
std::string save_rejected(const source_text& source) {
    const std::string suffix = source.where == target::cuda ? ".cu" : ".cpp";
    std::error_code failure;
    std::filesystem::path path = std::filesystem::temp_directory_path(failure);
    if (failure) return {};
    std::string name = (path / ("ingot_rejected_XXXXXX" + suffix)).string();
    const file_descriptor file(mkostemps(name.data(), static_cast<int>(suffix.size()), O_CLOEXEC));
    if (!file || !write_all(file.get(), std::as_bytes(std::span(source.text)))) return {};
    return name;
}

/// The source line that a log's line names: "file(3): ", "file:3: " or "file:3:7: "; else 0.
std::size_t source_line_of(std::string_view log_line) {
    const std::size_t mark = log_line.find_first_of(":(");
    if (mark == log_line.npos || mark == 0 || log_line.find_first_of(" \t") < mark) return 0;
    std::size_t line = 0;
    const auto [end, failure] = std::from_chars(log_line.data() + mark + 1, log_line.data() + log_line.size(), line);
    if (failure != std::errc{}) return 0;
    const std::string_view behind = log_line.substr(static_cast<std::size_t>(end - log_line.data()));
    return behind.starts_with(log_line[mark] == '(' ? "): " : ":") ? line : 0;
}

/// The log, with the line of a user's text before messages about that text: "line 2 of the text of pick: ".
std::string with_lines_of_texts(const std::string& log, const std::vector<codegen::text_range>& texts) {
    if (texts.empty()) return log;
    std::istringstream lines(log);
    std::string result;
    for (std::string log_line; std::getline(lines, log_line); result += log_line + '\n') {
        const std::size_t line = source_line_of(log_line);
        const auto in = std::ranges::find_if(
            texts, [&](const codegen::text_range& t) { return line - t.first_line < t.lines && line >= t.first_line; });
        if (in != texts.end()) result += "line " + std::to_string(line - in->first_line + 1) + " of " + in->of + ": ";
    }
    return result;
}

[[noreturn]] void throw_rejected(const source_text& source, const std::string& compilers_log) {
    std::string log = with_lines_of_texts(compilers_log, source.user_texts);
    std::string text = "[compile] ";
    text += source.where == target::cuda ? "NVRTC" : "the host compiler";
    text += " rejected the source of";
    for (const std::string& kernel : source.kernels) text += " " + kernel;
    const std::string saved = save_rejected(source);
    text += saved.empty() ? "; it could not be saved to a file" : "; it is saved in " + saved;
    std::string listing = numbered(source.text);
    text += "\n" + log + "\n" + listing;
    throw compile_error(text, std::move(log), std::move(listing));
}

}  // namespace

namespace {

constexpr std::string_view names_mark = "ingot names";

}  // namespace

// Appends each name with a zero byte, the number of these bytes, and the mark.
std::vector<std::byte> with_names(std::vector<std::byte> code, const std::vector<std::string>& names) {
    std::string behind;
    for (const std::string& name : names) behind += name + '\0';
    const std::uint64_t bytes = behind.size();
    behind.append(reinterpret_cast<const char*>(&bytes), sizeof bytes);
    behind += names_mark;
    const auto added = std::as_bytes(std::span(behind));
    code.insert(code.end(), added.begin(), added.end());
    return code;
}

std::vector<std::string> appended_names(std::span<const std::byte> code) {
    const std::string_view all(reinterpret_cast<const char*>(code.data()), code.size());
    std::uint64_t bytes = 0;
    if (!all.ends_with(names_mark) || all.size() < names_mark.size() + sizeof bytes) return {};
    const std::size_t end = all.size() - names_mark.size() - sizeof bytes;
    std::memcpy(&bytes, all.data() + end, sizeof bytes);
    if (bytes > end) return {};
    std::vector<std::string> names;
    for (std::string_view rest = all.substr(end - bytes, bytes); !rest.empty();) {
        names.emplace_back(rest.substr(0, rest.find('\0')));
        rest.remove_prefix(names.back().size() + 1);
    }
    return names;
}

std::vector<std::string> compiler_options(const source_text& source) {
    return source.where == target::cuda ? cuda_options(source) : host_options(source);
}

std::string compiler_identity(target where) {
    const std::filesystem::path path = where == target::cuda ? nvrtc_path().value_or("") : host_compiler();
    std::error_code failure;
    const std::filesystem::path real = std::filesystem::canonical(path, failure);
    struct stat file {};
    if (failure || stat(real.c_str(), &file) != 0) return "none";
    std::ostringstream text;
    text << real.string() << ' ' << file.st_size << ' ' << file.st_mtim.tv_sec << '.' << file.st_mtim.tv_nsec;
    return text.str();
}

std::vector<std::byte> compile(const source_text& source) {
    compilation result = source.where == target::cuda ? compile_cuda(source) : compile_host(source);
    add(counter::compiles);  // judged, whatever the verdict
    if (!result.accepted) throw_rejected(source, result.log);
    return std::move(result.code);
}

}  // namespace ingot::runtime
