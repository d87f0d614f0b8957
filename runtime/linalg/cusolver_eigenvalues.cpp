// Eigenvalues and eigenvectors on a GPU: of symmetric matrices, also a batch at once, and of general ones.
#if defined(INGOT_HAS_CUDA_HEADERS) && __has_include(<cusolverDn.h>) && __has_include(<cublas_v2.h>)

#include <algorithm>
#include <complex>
#include <string>
#include <type_traits>
#include <vector>

#include <ingot/core/error.hpp>

#include "runtime/linalg/cusolver_call.hpp"

namespace ingot::runtime {

void gpu_call::eigh(bool vectors) {
    take_matrices(true);
    const matrices a = load(0);
    const bool batch = rows_ > 0 && is_batch_of_small(rows_) && (rows_ < least_of_syev || api_.syev_batched != nullptr);
    // Jacobi's method ends after a fixed number of sweeps; the other methods may not end if an element is not
    // finite.
    const part triangle = option_ != 0 ? part::upper : part::lower;
    if (batch && rows_ < least_of_syev)
        note_not_finite(a, triangle);
    else
        check_finite(a, triangle);
    auto* const values = make_result(0, {rows_});
    const auto part_bytes = static_cast<index_t>(detail::size_of(part_));
    const cudaDataType t = cusolver_type(type_), r = cusolver_type(part_);
    const auto mode = vectors ? CUSOLVER_EIG_MODE_VECTOR : CUSOLVER_EIG_MODE_NOVECTOR;
    const auto uplo = option_ != 0 ? CUBLAS_FILL_MODE_UPPER : CUBLAS_FILL_MODE_LOWER;
    if (batch) {
        eigh_of_batch(a, values, mode, uplo);
        check_infos([&](index_t i, int) { fail_at(i, "has eigenvalues that the iteration did not converge to"); });
        if (vectors) store(1, a, rows_);
        return;
    }
    work& w = work_area([&](std::size_t* device, std::size_t* host) {
        return api_.syevd_size(handle_.handle, handle_.params, mode, uplo, rows_, t, a.data(), a.leading(), r, values,
                               t, device, host);
    });
    int* const info = infos();
    for (index_t i = 0; i < count(); ++i)
        check(api_.syevd(handle_.handle, handle_.params, mode, uplo, rows_, t, a.at(i), a.leading(), r,
                         values + i * rows_ * part_bytes, t, w.device->data, w.device_bytes, w.host.data(),
                         w.host.size(), info + i));
    check_infos([&](index_t i, int) { fail_at(i, "has eigenvalues that the iteration did not converge to"); });
    if (vectors) store(1, a, rows_);
}

void gpu_call::eigh_of_batch(const matrices& a, std::byte* w, cusolverEigMode_t mode, cublasFillMode_t uplo) {
    int* const info = infos();
    if (rows_ >= least_of_syev) {
        const cudaDataType t = cusolver_type(type_), r = cusolver_type(part_);
        const auto part_bytes = static_cast<index_t>(detail::size_of(part_));
        for_each_part(rows_ * rows_, [&](index_t first, int some) {
            std::byte* const values = w + first * rows_ * part_bytes;
            work& area = work_area([&](std::size_t* device, std::size_t* host) {
                return api_.syev_batched_size(handle_.handle, handle_.params, mode, uplo, rows_, t, a.at(first),
                                              a.leading(), r, values, t, device, host, some);
            });
            check(api_.syev_batched(handle_.handle, handle_.params, mode, uplo, rows_, t, a.at(first), a.leading(), r,
                                    values, t, area.device->data, area.device_bytes, area.host.data(), area.host.size(),
                                    info + first, some));
        });
        return;
    }
    in_type([&](const auto& functions, auto zero) {
        using T = decltype(zero);
        using R = typename std::remove_cvref_t<decltype(functions)>::part;
        const int n = as_int(rows_);
        for_each_part(rows_ * rows_, [&](index_t first, int some) {
            auto* const matrix = reinterpret_cast<T*>(a.at(first));
            R* const values = reinterpret_cast<R*>(w) + first * rows_;
            int elements = 0;
            check(functions.syevj_size(handle_.handle, mode, uplo, n, matrix, n, values, &elements,
                                       handle_.of_eigenvalues, some));
            check(functions.syevj(handle_.handle, mode, uplo, n, matrix, n, values, elements_of<T>(elements), elements,
                                  info + first, handle_.of_eigenvalues, some));
        });
    });
}

void gpu_call::eig(bool vectors) {
    if (api_.geev == nullptr)
        throw library_error("[" + std::string(operation_) + "] wants the cuSOLVER of CUDA 12.6 or a newer one");
    take_matrices(true);
    const matrices a = load(0), v = make(type_, vectors ? rows_ : 0, vectors ? rows_ : 0);
    check_finite(a);
    const dtype wide = results_[0].type;
    auto* const values = make_result(0, {rows_});
    const auto value_bytes = static_cast<index_t>(detail::size_of(wide));
    const cudaDataType t = cusolver_type(type_), c = cusolver_type(wide);
    const auto mode = vectors ? CUSOLVER_EIG_MODE_VECTOR : CUSOLVER_EIG_MODE_NOVECTOR;
    work& w = work_area([&](std::size_t* device, std::size_t* host) {
        return api_.geev_size(handle_.handle, handle_.params, CUSOLVER_EIG_MODE_NOVECTOR, mode, rows_, t, a.data(),
                              a.leading(), c, values, t, nullptr, a.leading(), t, v.data(), a.leading(), t, device,
                              host);
    });
    int* const info = infos();
    for (index_t i = 0; i < count(); ++i)
        check(api_.geev(handle_.handle, handle_.params, CUSOLVER_EIG_MODE_NOVECTOR, mode, rows_, t, a.at(i),
                        a.leading(), c, values + i * rows_ * value_bytes, t, nullptr, a.leading(), t, v.at(i),
                        a.leading(), t, w.device->data, w.device_bytes, w.host.data(), w.host.size(), info + i));
    check_infos([&](index_t i, int) { fail_at(i, "has eigenvalues that the iteration did not converge to"); });
    if (!vectors) return;
    if (type_ == wide) return store(1, v, rows_);
    part_ == dtype::f4 ? unpack<float>(v) : unpack<double>(v);
}

template <class R>
void gpu_call::unpack(const matrices& v) {
    using C = std::complex<R>;
    const auto n = static_cast<std::size_t>(rows_), all = static_cast<std::size_t>(count()) * n;
    std::vector<C> w(all), vectors(all * n);
    std::vector<R> packed(all * n);
    copy_to_host(*results_[0].memory, 0, all * sizeof(C), w.data(), stream_);
    copy_to_host(*v.memory, 0, packed.size() * sizeof(R), packed.data(), stream_);
    for (std::size_t i = 0; i < all; i += n)
        for (std::size_t k = 0; k < n; ++k)
            for (std::size_t j = 0; j < n; ++j)
                vectors[i * n + j * n + k] = eigenvector_element(
                    [&](std::size_t column) { return packed[(i + column) * n + j]; }, k, w[i + k].imag());
    make_result(1, {rows_, rows_});
    copy_from_host(*results_[1].memory, 0, vectors.size() * sizeof(C), vectors.data(), stream_);
}

}  // namespace ingot::runtime

#endif
