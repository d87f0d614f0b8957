// The values of the INGOT_* environment variables. They are read on each call, not cached here, and ignored in a
// set-user-id program. An empty variable counts as unset; a malformed one causes a warning and the default, never an
// error.
#pragma once

#include <cstddef>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

namespace ingot::runtime {

std::optional<std::string> environment_text(const char* name);

/// The folders of a list such as $PATH, without empty ones.
std::vector<std::filesystem::path> path_list(const char* name);

/// Parses "4096", "64K", "512M", "2G".
std::optional<std::size_t> parse_size(const std::string& text);

/// $INGOT_CACHE_DIR, else $XDG_CACHE_HOME/ingot, else ~/.cache/ingot; empty where there is no home.
std::optional<std::filesystem::path> cache_directory();

/// $INGOT_CACHE_SIZE, else 1 GiB. 0 disables the disk cache.
std::size_t cache_size_cap();

}  // namespace ingot::runtime
