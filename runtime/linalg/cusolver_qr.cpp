// The QR decomposition on a GPU. A batch of small matrices is factorised by cuBLAS, and its Q made by products.
#if defined(INGOT_HAS_CUDA_HEADERS) && __has_include(<cusolverDn.h>) && __has_include(<cublas_v2.h>)

#include <algorithm>
#include <complex>
#include <vector>

#include <ingot/linalg/products.hpp>

#include "runtime/device/copy_view.hpp"
#include "runtime/linalg/cublas.hpp"
#include "runtime/linalg/cusolver_call.hpp"

namespace ingot::runtime {

void gpu_call::qr() {
    take_matrices(false);
    const index_t lesser = std::min(rows_, columns_), wide = option_ != 0 ? rows_ : lesser;
    const matrices a = load(0), tau = make(type_, lesser, 1);
    if (lesser > 0 && is_batch_of_small(std::max(rows_, columns_)) && qr_of_batch(a, tau, wide)) return;
    const cudaDataType t = cusolver_type(type_);
    work& w = work_area([&](std::size_t* device, std::size_t* host) {
        return api_.geqrf_size(handle_.handle, handle_.params, rows_, columns_, t, a.data(), a.leading(), t, tau.data(),
                               t, device, host);
    });
    int* info = infos();
    for (index_t i = 0; i < count(); ++i)
        check(api_.geqrf(handle_.handle, handle_.params, rows_, columns_, t, a.at(i), a.leading(), t, tau.at(i), t,
                         w.device->data, w.device_bytes, w.host.data(), w.host.size(), info + i));
    check_infos([](index_t, int) {});
    // The reflections that form Q stand below R; further columns of a complete Q may hold anything.
    const matrices q = make(type_, rows_, wide);
    layout from = strided(a, rows_, std::min(columns_, wide), 1, rows_), to = from;
    for (std::size_t j = 0; j < batch_.size(); ++j)
        to.strides()[j] = from.strides()[j] / std::max<index_t>(columns_, 1) * wide;
    stream_.backend->fill(q.data(), 0, static_cast<std::size_t>(count() * rows_ * wide) * q.bytes_each, stream_.native);
    buffer_ref into = q.memory;
    copy_view(type_, *a.memory, from, into, to);
    form_q(q, tau, static_cast<int>(lesser));
    store(0, q, rows_);
    store(1, a, wide);
}

bool gpu_call::qr_of_batch(const matrices& a, const matrices& tau, index_t wide) {
    switch (type_) {
        case dtype::f4:
            return qr_of_batch_in<float>(a, tau, wide);
        case dtype::f8:
            return qr_of_batch_in<double>(a, tau, wide);
        case dtype::c8:
            return qr_of_batch_in<std::complex<float>>(a, tau, wide);
        default:
            return qr_of_batch_in<std::complex<double>>(a, tau, wide);
    }
}

template <class N>
bool gpu_call::qr_of_batch_in(const matrices& a, const matrices& tau, index_t wide) {
    const std::vector<bool> unusable = not_finite(a, part::whole).to_host();
    if (std::find(unusable.begin(), unusable.end(), true) != unusable.end()) return false;
    in_type([&](const auto& functions, auto zero) {
        using T = decltype(zero);
        T **const where = pointers<T>(a), **const of_tau = pointers<T>(tau);
        int wrong = 0;
        const cublas_use use = use_cublas(operation_, stream_);
        check(functions.geqrf(use.handle, as_int(rows_), as_int(columns_), where, as_int(a.leading()), of_tau, &wrong,
                              as_int(count())));
        check_argument(wrong);
    });
    const on_stream_of_call there(stream_);
    const index_t k = tau.rows;
    const array<index_t> row = arange(rows_), column = reshape(arange(k), {-1, 1}), along = arange(k);
    const array<N> given = as_array<N>(a), factor = as_array<N>(tau)(all, 0);
    const auto used = expand_dims(factor != N(0), -1);
    // In column order, as all matrices here.
    const array<N> v = where(used, where(row > column, given(all, slice(0, k)), astype<N>(row == column)), N(0));
    const array<N> adjoint = conj(mT(v)), products = matmul(v, adjoint);
    matrices inverse = of_array<N>(where(
        along < column, products, where(along == column, where(used, N(1) / expand_dims(factor, -1), N(1)), N(0))));
    const matrices t_v = of_array<N>(adjoint(all, slice(0, wide)));
    solve_batch(inverse, factorise_batch(inverse), t_v);
    const array<index_t> across = reshape(arange(wide), {-1, 1});
    const matrices q = of_array<N>(astype<N>(row == across) - matmul(as_array<N>(t_v), v));
    store(0, q, rows_);
    store(1, a, wide);
    return true;
}

void gpu_call::form_q(const matrices& q, const matrices& tau, int reflections) {
    switch (type_) {
        case dtype::f4:
            return form_q_in<float>(api_.sorgqr_size, api_.sorgqr, q, tau, reflections);
        case dtype::f8:
            return form_q_in<double>(api_.dorgqr_size, api_.dorgqr, q, tau, reflections);
        case dtype::c8:
            return form_q_in<cuComplex>(api_.cungqr_size, api_.cungqr, q, tau, reflections);
        default:
            return form_q_in<cuDoubleComplex>(api_.zungqr_size, api_.zungqr, q, tau, reflections);
    }
}

template <class T, class Size, class Form>
void gpu_call::form_q_in(Size size, Form form, const matrices& q, const matrices& tau, int reflections) {
    const int m = as_int(q.rows), n = as_int(q.columns), lda = as_int(q.leading());
    const auto in = [](std::byte* p) { return reinterpret_cast<T*>(p); };
    int elements = 0;
    check(size(handle_.handle, m, n, reflections, in(q.data()), lda, in(tau.data()), &elements));
    const buffer_ref device = room(static_cast<std::size_t>(elements) * sizeof(T));
    int* const info = infos();
    for (index_t i = 0; i < count(); ++i)
        check(form(handle_.handle, m, n, reflections, in(q.at(i)), lda, in(tau.at(i)), static_cast<T*>(device->data),
                   elements, info + i));
    check_infos([](index_t, int) {});
}

}  // namespace ingot::runtime

#endif
