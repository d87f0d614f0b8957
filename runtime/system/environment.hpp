// What the INGOT_* variables of the environment say. They are read when asked for, never cached here, and not at all in
// a set-user-id program. Empty is unset; nonsense is a warning and the default, never an error.
#pragma once

#include <cstddef>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

namespace ingot::runtime {

std::optional<std::string> environment_text(const char* name);

/// The folders of a list such as $PATH, empty ones left out.
std::vector<std::filesystem::path> path_list(const char* name);

/// "4096", "64K", "512M", "2G".
std::optional<std::size_t> parse_size(const std::string& text);

/// $INGOT_CACHE_DIR, else $XDG_CACHE_HOME/ingot, else ~/.cache/ingot; none where there is no home either.
std::optional<std::filesystem::path> cache_directory();

/// $INGOT_CACHE_SIZE, else 1 GiB. 0: no disk cache.
std::size_t cache_size_cap();

}  // namespace ingot::runtime
