#include "runtime/kernels/own_kernels.hpp"

#ifdef INGOT_HAS_CUDA_HEADERS

#include <map>
#include <mutex>

#include "runtime/system/fork.hpp"

namespace ingot::runtime {

const void* kept_kernels(const kernels_key& key, std::shared_ptr<const void> given) {
    static std::mutex& mutex = lock_across_fork(mutex_rank::tables, *new std::mutex);
    static auto& all = *new std::map<kernels_key, std::shared_ptr<const void>>;
    const std::lock_guard lock(mutex);
    const auto known = all.find(key);
    if (known != all.end()) return known->second.get();
    return given == nullptr ? nullptr : all.emplace(key, std::move(given)).first->second.get();
}

std::shared_ptr<const kernel_module> load_own_text(std::string text, std::span<const char* const> names,
                                                   std::uint32_t architecture) {
    source_text source;
    source.where = target::cuda;
    source.architecture = "sm_" + std::to_string(architecture);
    source.kernels.assign(names.begin(), names.end());
    source.text = std::move(text);
    return load(source);
}

}  // namespace ingot::runtime

#endif
