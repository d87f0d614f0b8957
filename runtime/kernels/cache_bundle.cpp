// See cache_bundle.hpp.
#include "runtime/kernels/cache_bundle.hpp"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <memory>
#include <mutex>
#include <set>

#include <ingot/core/error.hpp>
#include <ingot/kernels/compiling.hpp>

#include "runtime/files/output_file.hpp"
#include "runtime/kernels/kernel_module.hpp"
#include "runtime/system/fork.hpp"
#include "runtime/system/hash.hpp"
#include "runtime/system/warning.hpp"
#include "runtime/system/whole_file.hpp"

namespace ingot {
namespace runtime {

namespace {

constexpr std::string_view mark = "ingot bundle\n";

/// Guards the list, and the bundles on it.
std::mutex& open_mutex() {
    static std::mutex& mutex = lock_across_fork(mutex_rank::tables, *new std::mutex);
    return mutex;
}
std::vector<bundle_state*>& open_bundles() {
    static auto& bundles = *new std::vector<bundle_state*>;
    return bundles;
}

void put(std::string& to, std::string_view bytes) {
    const std::uint64_t n = bytes.size();
    to.append(reinterpret_cast<const char*>(&n), sizeof n);
    to += bytes;
}

/// Reads the numbers and texts of a bundle; throws file_error where the file ends early.
class bundle_reader {
public:
    bundle_reader(std::string_view all_bytes, const std::string& path) : rest_(all_bytes), path_(path) {}
    std::uint64_t number() {
        std::uint64_t n = 0;
        std::memcpy(&n, take(sizeof n).data(), sizeof n);
        return n;
    }
    std::string_view bytes() { return take(number()); }

private:
    std::string_view take(std::uint64_t n) {
        if (n > rest_.size()) throw file_error("[bundle] " + path_ + " is cut short");
        const std::string_view taken = rest_.substr(0, n);
        rest_.remove_prefix(n);
        return taken;
    }
    std::string_view rest_;
    const std::string& path_;
};

}  // namespace

std::map<std::string, std::vector<std::byte>> read_bundle(const std::string& path, const std::string& version) {
    check_path("bundle", path);
    const auto read = read_whole_file(path);
    if (!read && errno == ENOENT) return {};
    if (!read) throw file_error("[bundle] " + path + ": " + std::strerror(errno));
    const std::string_view content(reinterpret_cast<const char*>(read->data()), read->size());
    if (!content.starts_with(mark)) throw file_error("[bundle] " + path + " is no bundle of kernels");
    const std::size_t hashed = content.size() - std::min(content.size(), sizeof(hash128));
    bundle_reader in(content.substr(0, std::max(hashed, mark.size())).substr(mark.size()), path);
    if (const std::string_view made = in.bytes(); made != version)
        throw file_error("[bundle] " + path + " was made by version " + std::string(made) + ", and this is " + version);
    std::map<std::string, std::vector<std::byte>> kernels;
    for (std::uint64_t left = in.number(); left > 0; --left) {
        const std::string_view identity = in.bytes(), code = in.bytes();
        const auto* const bytes = reinterpret_cast<const std::byte*>(code.data());
        kernels.emplace(identity, std::vector<std::byte>(bytes, bytes + code.size()));
    }
    const hash128 wanted = hash_of(content.substr(0, hashed));
    if (std::memcmp(&wanted, content.data() + hashed, sizeof wanted) != 0)
        throw file_error("[bundle] " + path + " is damaged");
    return kernels;
}

void write_bundle(const std::string& path, const std::string& version,
                  const std::map<std::string, std::vector<std::byte>>& kernels) {
    std::string content(mark);
    put(content, version);
    const std::uint64_t count = kernels.size();
    content.append(reinterpret_cast<const char*>(&count), sizeof count);
    for (const auto& [identity, code] : kernels) {
        put(content, identity);
        put(content, {reinterpret_cast<const char*>(code.data()), code.size()});
    }
    const hash128 hash = hash_of(std::string_view(content));
    content.append(reinterpret_cast<const char*>(&hash), sizeof hash);
    output_file file("bundle", path);
    file.append(std::as_bytes(std::span(content)));
    file.publish();
}

bool has_bundles() noexcept {
    const std::lock_guard lock(open_mutex());
    return !open_bundles().empty();
}

std::optional<std::vector<std::byte>> find_in_bundles(const std::string& identity) {
    const std::lock_guard lock(open_mutex());
    for (bundle_state* const b : open_bundles()) {
        if (const auto found = b->kernels.find(identity); found != b->kernels.end()) return found->second;
    }
    return std::nullopt;
}

void add_to_bundle(const std::string& identity, const std::vector<std::byte>& code) {
    const std::lock_guard lock(open_mutex());
    if (open_bundles().empty()) return;
    bundle_state& b = *open_bundles().back();
    b.is_changed |= b.kernels.emplace(identity, code).second;
}

std::string kernels_of_bundles(const std::string& architecture) {
    const std::lock_guard lock(open_mutex());
    std::string text;
    for (bundle_state* const b : open_bundles()) {
        std::set<std::string> there;
        constexpr std::string_view before = "\narchitecture ";
        for (const auto& [identity, code] : b->kernels) {
            const std::size_t at = identity.find(before) + before.size();
            there.insert(identity.substr(at, identity.find('\n', at) - at));
        }
        text += "\nThe bundle " + b->path + " has not this kernel for " + architecture + "; its " +
                std::to_string(b->kernels.size()) + " kernels are for";
        for (const std::string& other : there) text += " " + other;
    }
    return text;
}

}  // namespace runtime

with_cache_bundle::with_cache_bundle(std::string_view path) {
    auto made = std::make_unique<runtime::bundle_state>();
    made->path = path;
    made->kernels = runtime::read_bundle(made->path, runtime::cache_version());
    const std::lock_guard lock(runtime::open_mutex());
    runtime::open_bundles().push_back(made.get());
    state_ = made.release();
}

with_cache_bundle::~with_cache_bundle() {
    {
        const std::lock_guard lock(runtime::open_mutex());
        std::erase(runtime::open_bundles(), state_);
    }
    try {
        save();
    } catch (const std::exception& e) {
        runtime::warn_once(e.what());
    }
    delete state_;
}

void with_cache_bundle::save() const {
    const std::lock_guard lock(runtime::open_mutex());
    if (!state_->is_changed) return;
    runtime::write_bundle(state_->path, runtime::cache_version(), state_->kernels);
    state_->is_changed = false;
}

std::size_t with_cache_bundle::size() const {
    const std::lock_guard lock(runtime::open_mutex());
    return state_->kernels.size();
}

}  // namespace ingot
