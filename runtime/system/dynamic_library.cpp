#include "runtime/system/dynamic_library.hpp"

#include <link.h>

#include <algorithm>
#include <ingot/core/error.hpp>
#include <vector>

#include "runtime/system/environment.hpp"

namespace ingot::runtime {

namespace fs = std::filesystem;

namespace {

#if defined(__aarch64__)
constexpr char target_folder[] = "targets/sbsa-linux/lib";
constexpr char multiarch_folder[] = "/usr/lib/aarch64-linux-gnu";
#else
constexpr char target_folder[] = "targets/x86_64-linux/lib";
constexpr char multiarch_folder[] = "/usr/lib/x86_64-linux-gnu";
#endif

/// /usr/local/cuda, then /usr/local/cuda-13.1, /usr/local/cuda-12.8, ...
std::vector<fs::path> installed_toolkits() {
    std::vector<fs::path> roots;
    std::error_code failure;
    for (fs::directory_iterator at("/usr/local", failure), end; at != end && !failure; at.increment(failure)) {
        if (at->path().filename().string().starts_with("cuda")) roots.push_back(at->path());
    }
    std::sort(roots.begin(), roots.end(), [](const fs::path& a, const fs::path& b) {
        const bool a_plain = a.filename() == "cuda", b_plain = b.filename() == "cuda";
        return a_plain != b_plain ? a_plain : a > b;
    });
    return roots;
}

std::vector<fs::path> cuda_library_folders() {
    std::vector<fs::path> folders = path_list("LD_LIBRARY_PATH");
    std::vector<fs::path> roots = path_list("CUDA_HOME");
    for (const fs::path& root : path_list("CUDA_PATH")) roots.push_back(root);
#ifdef INGOT_BUILD_CUDA_ROOT
    roots.emplace_back(INGOT_BUILD_CUDA_ROOT);
#endif
    for (const fs::path& root : installed_toolkits()) roots.push_back(root);
    for (const fs::path& root : roots) {
        for (const char* const below : {"lib64", "lib", target_folder}) folders.push_back(root / below);
    }
    for (const char* const folder : {multiarch_folder, "/usr/lib64", "/usr/lib"}) folders.emplace_back(folder);
    return folders;
}

std::optional<fs::path> find_with_loader(const std::string& file) {
    const unique_handle<library_traits> library(dlopen(file.c_str(), RTLD_LAZY | RTLD_LOCAL));
    link_map* map = nullptr;
    if (!library || dlinfo(library.get(), RTLD_DI_LINKMAP, &map) != 0) return std::nullopt;
    return fs::path(map->l_name);
}

}  // namespace

dynamic_library::dynamic_library(const std::string& name_or_path)
    : name_(name_or_path), library_(dlopen(name_or_path.c_str(), RTLD_NOW | RTLD_LOCAL)) {
    if (!library_) throw library_error("[open library] " + std::string(dlerror()));
}

void* dynamic_library::require(const char* symbol) const {
    void* const found = find(symbol);
    if (found == nullptr) throw library_error("[open library] " + name_ + " has no function " + symbol);
    return found;
}

std::optional<fs::path> find_cuda_library(const std::string& stem, std::initializer_list<int> majors) {
    const std::vector<fs::path> folders = cuda_library_folders();
    const auto file_of = [&](int major) { return "lib" + stem + ".so." + std::to_string(major); };
    for (const int major : majors) {
        for (const fs::path& folder : folders) {
            std::error_code ignored;
            if (fs::exists(folder / file_of(major), ignored)) return folder / file_of(major);
        }
    }
    for (const int major : majors) {
        if (auto path = find_with_loader(file_of(major))) return path;
    }
    return std::nullopt;
}

}  // namespace ingot::runtime
