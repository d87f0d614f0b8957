#include "runtime/linalg/lapack.hpp"

#include <memory>
#include <string>

#include <ingot/error.hpp>

#include "runtime/dynamic_library.hpp"

namespace ingot::runtime {

namespace {

struct lapack_api {
    lapack_functions<float> s;
    lapack_functions<double> d;
    lapack_functions<std::complex<float>> c;
    lapack_functions<std::complex<double>> z;
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
            library.keep_loaded();
            return made.release();
        } catch (const library_error&) {
            continue;
        }
    return nullptr;
}

}  // namespace

template <class T>
const lapack_functions<T>& lapack(const char* operation) {
    static const lapack_api* const api = open_lapack();
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
