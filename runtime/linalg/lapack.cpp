#include "runtime/linalg/lapack.hpp"

#include <mutex>
#include <type_traits>

#include "runtime/system/fork.hpp"
#include "runtime/system/opened_library.hpp"

namespace ingot::runtime {

namespace {

struct lapack_api : api_table {
    explicit lapack_api(const dynamic_library& library) : api_table(library) {
        const auto get = [&](auto& function, const char* symbol) { library.get(function, symbol); };
        fill(s, 's', get);
        fill(d, 'd', get);
        fill(c, 'c', get);
        fill(z, 'z', get);
    }
    static library_files files() {
        return {{"libopenblas.so.0", "libopenblas.so", "libmkl_rt.so.2", "liblapack.so.3"},
                "no library of LAPACK is here: libopenblas.so.0 is wanted (Debian: libopenblas0)"};
    }

    lapack_functions<float> s;
    lapack_functions<double> d;
    lapack_functions<std::complex<float>> c;
    lapack_functions<std::complex<double>> z;
    library_threads threads{optional_function("openblas_get_num_threads"),
                            optional_function("openblas_set_num_threads")};
};

/// The number of users that want one thread, and the number of threads before.
struct single_threads {
    std::mutex mutex;
    int users = 0, before = 0;
};
single_threads& singles() {
    static single_threads& made = []() -> single_threads& {
        single_threads& s = *new single_threads;
        lock_across_fork(mutex_rank::libraries, s.mutex);
        return s;
    }();
    return made;
}

}  // namespace

const library_threads* threads_of_lapack() {
    const lapack_api* const api = opened_library<lapack_api>::find();
    return api != nullptr && api->threads.get != nullptr && api->threads.set != nullptr ? &api->threads : nullptr;
}

one_library_thread::one_library_thread(bool enabled) : threads_(enabled ? threads_of_lapack() : nullptr) {
    if (threads_ == nullptr) return;
    single_threads& s = singles();
    const std::lock_guard lock(s.mutex);
    if (s.users++ != 0) return;
    s.before = threads_->get();
    if (s.before != 1) threads_->set(1);
}
one_library_thread::~one_library_thread() {
    if (threads_ == nullptr) return;
    single_threads& s = singles();
    const std::lock_guard lock(s.mutex);
    if (--s.users == 0 && s.before != 1) threads_->set(s.before);
}

template <class T>
const lapack_functions<T>& lapack(const char* operation) {
    const lapack_api& api = opened_library<lapack_api>::get(operation);
    if constexpr (std::is_same_v<T, float>)
        return api.s;
    else if constexpr (std::is_same_v<T, double>)
        return api.d;
    else if constexpr (std::is_same_v<T, std::complex<float>>)
        return api.c;
    else
        return api.z;
}

template const lapack_functions<float>& lapack(const char*);
template const lapack_functions<double>& lapack(const char*);
template const lapack_functions<std::complex<float>>& lapack(const char*);
template const lapack_functions<std::complex<double>>& lapack(const char*);

}  // namespace ingot::runtime
