#include "runtime/linalg/lapack.hpp"

#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <type_traits>

#include <ingot/core/error.hpp>

#include "runtime/system/dynamic_library.hpp"
#include "runtime/system/fork.hpp"

namespace ingot::runtime {

namespace {

struct lapack_api {
    lapack_functions<float> s;
    lapack_functions<double> d;
    lapack_functions<std::complex<float>> c;
    lapack_functions<std::complex<double>> z;
    std::optional<library_threads> threads;
};

/// Null where there is none.
const lapack_api* open_lapack() {
    for (const char* name : {"libopenblas.so.0", "libopenblas.so", "libmkl_rt.so.2", "liblapack.so.3"}) try {
            dynamic_library library(name);
            auto made = std::make_unique<lapack_api>();
            const auto get = [&](auto& function, const char* symbol) { library.get(function, symbol); };
            fill(made->s, 's', get);
            fill(made->d, 'd', get);
            fill(made->c, 'c', get);
            fill(made->z, 'z', get);
            const auto has = [&](auto& function, const char* symbol) {
                function = reinterpret_cast<std::remove_reference_t<decltype(function)>>(library.find(symbol));
                return function != nullptr;
            };
            library_threads threads{};
            if (has(threads.get, "openblas_get_num_threads") && has(threads.set, "openblas_set_num_threads"))
                made->threads = threads;
            library.keep_loaded();
            return made.release();
        } catch (const library_error&) {
            continue;
        }
    return nullptr;
}

const lapack_api* the_lapack() {
    static const lapack_api* const api = open_lapack();
    return api;
}

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
    const lapack_api* const api = the_lapack();
    return api != nullptr && api->threads ? &*api->threads : nullptr;
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
    const lapack_api* const api = the_lapack();
    if (api == nullptr)
        throw library_error("[" + std::string(operation) +
                            "] no library of LAPACK is here: libopenblas.so.0 is wanted (Debian: libopenblas0)");
    if constexpr (std::is_same_v<T, float>)
        return api->s;
    else if constexpr (std::is_same_v<T, double>)
        return api->d;
    else if constexpr (std::is_same_v<T, std::complex<float>>)
        return api->c;
    else
        return api->z;
}

template const lapack_functions<float>& lapack(const char*);
template const lapack_functions<double>& lapack(const char*);
template const lapack_functions<std::complex<float>>& lapack(const char*);
template const lapack_functions<std::complex<double>>& lapack(const char*);

}  // namespace ingot::runtime
