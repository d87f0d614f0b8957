// A file of compiled kernels that ships with a program. A kernel's identity here does not contain its compiler, because
// the machine that runs it may have none.
//
//   content   mark, version of the layout, number of kernels; for each kernel its identity and its code, each
//             behind its length; the hash of all that
#pragma once

#include <cstddef>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "runtime/kernels/compile.hpp"

namespace ingot::runtime {

struct bundle_state {
    std::string path;
    std::map<std::string, std::vector<std::byte>> kernels;  // by identity
    bool is_changed = false;
};

/// Reads the file; the result is empty where there is none. Throws file_error.
std::map<std::string, std::vector<std::byte>> read_bundle(const std::string& path, const std::string& version);
void write_bundle(const std::string& path, const std::string& version,
                  const std::map<std::string, std::vector<std::byte>>& kernels);

/// Whether a bundle is open.
bool has_bundles() noexcept;
/// A kernel's code from the open bundles, by its identity without the compiler.
std::optional<std::vector<std::byte>> find_in_bundles(const std::string& identity);
/// Adds a kernel to the bundle that was opened last, if any.
void add_to_bundle(const std::string& identity, const std::vector<std::byte>& code);
/// The text that an error adds where a kernel cannot be compiled: the kernels of the open bundles.
std::string kernels_of_bundles(const std::string& architecture);

}  // namespace ingot::runtime
