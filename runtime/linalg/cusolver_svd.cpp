// The singular value decomposition on a GPU, by Jacobi's method for a batch of small matrices.
#if defined(INGOT_HAS_CUDA_HEADERS) && __has_include(<cusolverDn.h>) && __has_include(<cublas_v2.h>)

#include <algorithm>
#include <type_traits>

#include "runtime/linalg/cusolver_call.hpp"

namespace ingot::runtime {

void gpu_call::svd(char job) {
    take_matrices(false);
    const bool wide = rows_ < columns_, vectors = job != 'N';
    const index_t m = std::max(rows_, columns_), n = std::min(rows_, columns_);
    const matrices a = load(0, wide);
    check_finite(a);
    constexpr index_t most_of_jacobi = 32;  // largest side that the library's Jacobi method takes
    if (n > 0 && m <= most_of_jacobi && is_batch_of_small(m)) return svd_of_batch(a, wide, job);
    const matrices u = make(type_, m,
                            job == 'A' ? m
                            : vectors  ? n
                                       : 0),
                   vt = make(type_, vectors ? n : 0, vectors ? n : 0);
    auto* const s = make_result(vectors ? 1 : 0, {n});
    const auto part_bytes = static_cast<index_t>(detail::size_of(part_));
    const cudaDataType t = cusolver_type(type_), r = cusolver_type(part_);
    const auto jobs = static_cast<signed char>(job);
    work& w = work_area([&](std::size_t* device, std::size_t* host) {
        return api_.gesvd_size(handle_.handle, handle_.params, jobs, jobs, m, n, t, a.data(), a.leading(), r, s, t,
                               u.data(), m, t, vt.data(), n, t, device, host);
    });
    int* const info = infos();
    for (index_t i = 0; i < count(); ++i)
        check(api_.gesvd(handle_.handle, handle_.params, jobs, jobs, m, n, t, a.at(i), a.leading(), r,
                         s + i * n * part_bytes, t, u.at(i), m, t, vt.at(i), n, t, w.device->data, w.device_bytes,
                         w.host.data(), w.host.size(), info + i));
    check_infos([&](index_t i, int) { fail_at(i, "has singular values that the iteration did not converge to"); });
    if (!vectors) return;
    store(wide ? 2 : 0, u, u.rows, wide);
    store(wide ? 0 : 2, vt, vt.rows, wide);
}

void gpu_call::svd_of_batch(const matrices& a, bool wide, char job) {
    const index_t m = a.rows, n = a.columns;
    const bool vectors = job != 'N';
    const matrices u = make(type_, m, m), v = make(type_, n, n);
    auto* const s = make_result(vectors ? 1 : 0, {n});
    int* const info = infos();
    in_type([&](const auto& functions, auto zero) {
        using T = decltype(zero);
        using R = typename std::remove_cvref_t<decltype(functions)>::part;
        const auto mode = vectors ? CUSOLVER_EIG_MODE_VECTOR : CUSOLVER_EIG_MODE_NOVECTOR;
        const int rows = as_int(m), columns = as_int(n);
        const auto in = [](std::byte* p) { return reinterpret_cast<T*>(p); };
        R* const values = reinterpret_cast<R*>(s);
        for_each_part(m * m, [&](index_t first, int some) {
            int elements = 0;
            check(functions.gesvdj_size(handle_.handle, mode, rows, columns, in(a.at(first)), rows, values + first * n,
                                        in(u.at(first)), rows, in(v.at(first)), columns, &elements,
                                        handle_.of_singular_values, some));
            check(functions.gesvdj(handle_.handle, mode, rows, columns, in(a.at(first)), rows, values + first * n,
                                   in(u.at(first)), rows, in(v.at(first)), columns, elements_of<T>(elements), elements,
                                   info + first, handle_.of_singular_values, some));
        });
    });
    check_infos([&](index_t i, int) { fail_at(i, "has singular values that the iteration did not converge to"); });
    if (!vectors) return;
    const matrices conjugate = conjugate_of(v);
    store_columns(wide ? 2 : 0, u, job == 'A' ? m : n, wide);
    store_columns(wide ? 0 : 2, conjugate, n, !wide);
}

}  // namespace ingot::runtime

#endif
