#include "runtime/system/environment.hpp"

#include <charconv>
#include <cstdlib>
#include <limits>
#include <sstream>
#include <string_view>

#include "runtime/system/warning.hpp"

namespace ingot::runtime {

std::optional<std::string> environment_text(const char* name) {
    const char* text = secure_getenv(name);
    if (text == nullptr || *text == '\0') return std::nullopt;
    return text;
}

std::vector<std::filesystem::path> path_list(const char* name) {
    std::vector<std::filesystem::path> folders;
    std::istringstream list(environment_text(name).value_or(""));
    for (std::string folder; std::getline(list, folder, ':');) {
        if (!folder.empty()) folders.emplace_back(folder);
    }
    return folders;
}

std::optional<std::size_t> parse_size(const std::string& text) {
    std::size_t value = 0;
    const char* const last = text.data() + text.size();
    const auto [unit, status] = std::from_chars(text.data(), last, value);
    if (status != std::errc{} || last - unit > 1) return std::nullopt;

    int shift = 0;
    if (unit != last) {
        constexpr std::string_view units = "KMG";
        const std::size_t which = units.find(*unit);
        if (which == units.npos) return std::nullopt;
        shift = 10 * static_cast<int>(which + 1);
    }
    if (value > std::numeric_limits<std::size_t>::max() >> shift) return std::nullopt;
    return value << shift;
}

std::optional<std::filesystem::path> cache_directory() {
    if (const auto given = environment_text("INGOT_CACHE_DIR")) return *given;
    if (const auto xdg = environment_text("XDG_CACHE_HOME")) return std::filesystem::path(*xdg) / "ingot";
    if (const auto home = environment_text("HOME")) return std::filesystem::path(*home) / ".cache" / "ingot";
    return std::nullopt;
}

std::size_t cache_size_cap() {
    constexpr std::size_t standard = std::size_t{1} << 30;
    const auto text = environment_text("INGOT_CACHE_SIZE");
    if (!text) return standard;
    const auto size = parse_size(*text);
    if (!size) warn_once("INGOT_CACHE_SIZE is not a size such as 512M: " + *text + "; using 1G");
    return size.value_or(standard);
}

}  // namespace ingot::runtime
