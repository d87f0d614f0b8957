// A file of compiled kernels that ships with a program. What a kernel is known by here says nothing of the compiler
// that made it: the machine that it runs on has none, perhaps.
//
//   content   mark, version of the layout, number of kernels; of each its identity and its code, each behind its
//   length;
//             the hash of all that
#pragma once

#include <cstddef>
#include <map>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "runtime/kernels/compile.hpp"

namespace ingot::runtime {

struct bundle_state {
    std::string path;
    std::mutex mutex;
    std::map<std::string, std::vector<std::byte>> kernels;  // by identity
    bool is_changed = false;
};

/// From the file, or empty where there is none. Throws file_error.
std::map<std::string, std::vector<std::byte>> read_bundle(const std::string& path, const std::string& version);
void write_bundle(const std::string& path, const std::string& version,
                  const std::map<std::string, std::vector<std::byte>>& kernels);

/// Whether any is open.
bool has_bundles() noexcept;
/// The code of a kernel from the bundles that are open, by its identity without the compiler.
std::optional<std::vector<std::byte>> find_in_bundles(const std::string& identity);
/// Puts it into the one that was opened last, where there is one.
void add_to_bundle(const std::string& identity, const std::vector<std::byte>& code);
/// What to add to the text of an error where a kernel cannot be compiled: what the open bundles have instead.
std::string kernels_of_bundles(const std::string& architecture);

}  // namespace ingot::runtime
