#include "runtime/system/opened_library.hpp"

#include "runtime/system/fork.hpp"

namespace ingot::runtime {

library_files files_of_cuda_library(const std::string& stem, std::initializer_list<int> majors) {
    if (const auto path = find_cuda_library(stem, majors)) return {{path->string()}, {}};
    std::string file = "lib" + stem + ".so";
    for (const int major : majors) file += (major == *majors.begin() ? "." : " or .") + std::to_string(major);
    return {{},
            file + " was not found (from NVIDIA's repository: lib" + stem + "-13-0); CUDA_HOME can name where it is"};
}

std::mutex& opening_mutex() {
    static std::mutex& mutex = lock_across_fork(mutex_rank::libraries, *new std::mutex);
    return mutex;
}

void throw_absence(const char* operation, const std::string& absence) {
    const bool names_operation = absence.starts_with('[');  // the loader's reason does
    throw library_error(names_operation ? absence : "[" + std::string(operation) + "] " + absence);
}

}  // namespace ingot::runtime
