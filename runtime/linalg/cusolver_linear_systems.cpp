// Linear systems on a GPU: Cholesky and LU factors, solutions, inverses, determinants.
#if defined(INGOT_HAS_CUDA_HEADERS) && __has_include(<cusolverDn.h>) && __has_include(<cublas_v2.h>)

#include <algorithm>
#include <complex>
#include <cstdint>
#include <limits>
#include <type_traits>
#include <vector>

#include "runtime/device/copy_view.hpp"
#include "runtime/linalg/cublas.hpp"
#include "runtime/linalg/cusolver_call.hpp"

namespace ingot::runtime {

void gpu_call::cholesky() {
    take_matrices(true);
    const matrices a = load(0);
    note_not_finite(a, option_ != 0 ? part::upper : part::lower);
    const auto uplo = option_ != 0 ? CUBLAS_FILL_MODE_UPPER : CUBLAS_FILL_MODE_LOWER;
    if (is_batch_of_small(rows_)) {
        in_type([&](const auto& functions, auto zero) {
            using T = decltype(zero);
            check(functions.potrf(handle_.handle, uplo, as_int(rows_), pointers<T>(a), as_int(a.leading()), infos(),
                                  as_int(count())));
        });
        check_infos([&](index_t i, int order) { fail_not_definite(i, order); });
        return store(0, a, rows_);
    }
    const cudaDataType t = cusolver_type(type_);
    work& w = work_area([&](std::size_t* device, std::size_t* host) {
        return api_.potrf_size(handle_.handle, handle_.params, uplo, rows_, t, a.data(), a.leading(), t, device, host);
    });
    int* const info = infos();
    for (index_t i = 0; i < count(); ++i)
        check(api_.potrf(handle_.handle, handle_.params, uplo, rows_, t, a.at(i), a.leading(), t, w.device->data,
                         w.device_bytes, w.host.data(), w.host.size(), info + i));
    check_infos([&](index_t i, int order) { fail_not_definite(i, order); });
    store(0, a, rows_);
}

gpu_call::pivots gpu_call::factorise(const matrices& a) {
    if (a.rows == a.columns && is_batch_of_small(a.rows)) return factorise_batch(a);
    const cudaDataType t = cusolver_type(type_);
    work& w = work_area([&](std::size_t* device, std::size_t* host) {
        return api_.getrf_size(handle_.handle, handle_.params, a.rows, a.columns, t, a.data(), a.leading(), t, device,
                               host);
    });
    const index_t lesser = std::min(a.rows, a.columns);
    pivots found{room(static_cast<std::size_t>(count() * lesser) * sizeof(std::int64_t))};
    auto* const to = found.data<std::int64_t>();
    int* const info = infos();
    for (index_t i = 0; i < count(); ++i)
        check(api_.getrf(handle_.handle, handle_.params, a.rows, a.columns, t, a.at(i), a.leading(), to + i * lesser, t,
                         w.device->data, w.device_bytes, w.host.data(), w.host.size(), info + i));
    return found;
}

gpu_call::pivots gpu_call::factorise_batch(const matrices& a) {
    pivots found{room(static_cast<std::size_t>(count() * a.rows) * sizeof(int)), true};
    in_type([&](const auto& functions, auto zero) {
        using T = decltype(zero);
        T** const where = pointers<T>(a);
        found.factors = where;
        int* const info = infos();
        const cublas_use use = use_cublas(operation_, stream_);
        check(functions.getrf(use.handle, as_int(a.rows), where, as_int(a.leading()), found.template data<int>(), info,
                              as_int(count())));
    });
    return found;
}

void gpu_call::solve_batch(const matrices& a, const pivots& of, const matrices& b) {
    in_type([&](const auto& functions, auto zero) {
        using T = decltype(zero);
        T** const right = pointers<T>(b);
        int wrong = 0;
        const cublas_use use = use_cublas(operation_, stream_);
        check(functions.getrs(use.handle, CUBLAS_OP_N, as_int(a.rows), as_int(b.columns), static_cast<T**>(of.factors),
                              as_int(a.leading()), of.template data<int>(), right, as_int(b.leading()), &wrong,
                              as_int(count())));
        check_argument(wrong);
    });
}

void gpu_call::lu() {
    take_matrices(false);
    const matrices a = load(0);
    const pivots of = factorise(a);
    check_infos([](index_t, int) {});  // a singular matrix has factors
    store(0, a, rows_);
    const index_t lesser = std::min(rows_, columns_), all = count() * lesser;
    make_result(1, {lesser});
    const on_stream_of_call there(stream_);
    const array<std::int64_t> exchanged = of.batched ? lazy<std::int64_t>(as_vector<int>(of.memory, all) - 1)
                                                     : lazy<std::int64_t>(as_vector<std::int64_t>(of.memory, all) - 1);
    results_[1].memory = exchanged.as_leaf().memory();
}

void gpu_call::triangular() {
    take_matrices(true);
    const right_sides right = take_right_sides();
    if (right.columns == 0) return static_cast<void>(make_result(0, {rows_, 0}));
    const matrices a = load(0), b = load(1, false, right.vector);
    const bool has_ones = (option_ & 2) != 0;
    if (!has_ones) {
        const std::vector<bool> singular = zero_on_diagonal(a).to_host();
        const auto first = std::find(singular.begin(), singular.end(), true);
        if (first != singular.end()) fail_zero_on_diagonal(first - singular.begin());
    }
    in_type([&](const auto& functions, auto zero) {
        using T = decltype(zero);
        using of_parts = typename std::remove_cvref_t<decltype(functions)>::part;
        T one = zero;
        reinterpret_cast<of_parts&>(one) = 1;
        T **const matrix = pointers<T>(a), **const sides = pointers<T>(b);
        const cublas_use use = use_cublas(operation_, stream_);
        check(functions.trsm(use.handle, CUBLAS_SIDE_LEFT,
                             (option_ & 1) != 0 ? CUBLAS_FILL_MODE_UPPER : CUBLAS_FILL_MODE_LOWER, CUBLAS_OP_N,
                             has_ones ? CUBLAS_DIAG_UNIT : CUBLAS_DIAG_NON_UNIT, as_int(rows_), as_int(b.columns), &one,
                             matrix, as_int(a.leading()), sides, as_int(b.leading()), as_int(count())));
    });
    store(0, b, rows_, false, right.vector);
}

array<bool> gpu_call::zero_on_diagonal(const matrices& m) {
    const auto is_zero = [](const auto& x) { return x == 0; };
    switch (type_) {
        case dtype::f4:
            return holding<float>(m, part::diagonal, is_zero);
        case dtype::f8:
            return holding<double>(m, part::diagonal, is_zero);
        case dtype::c8:
            return holding<std::complex<float>>(m, part::diagonal, is_zero);
        default:
            return holding<std::complex<double>>(m, part::diagonal, is_zero);
    }
}

void gpu_call::det(bool logarithm) {
    switch (type_) {
        case dtype::f4:
            return det_in<float, float>(logarithm);
        case dtype::f8:
            return det_in<double, double>(logarithm);
        case dtype::c8:
            return det_in<std::complex<float>, float>(logarithm);
        default:
            return det_in<std::complex<double>, double>(logarithm);
    }
}

template <class T, class R>
void gpu_call::det_in(bool logarithm) {
    take_matrices(true);
    const matrices a = load(0);
    const std::vector<bool> unusable = holding<T>(a, part::whole, [](const auto& x) { return isnan(x); }).to_host();
    buffer_ref diagonals;
    const pivots of = factorise(a);
    check_infos([](index_t, int) {});  // a singular matrix has a determinant
    layout to, from = strided(a, rows_, 1, rows_ + 1, 0);
    copy_view(type_, *a.memory, from, diagonals, to);
    const auto n = static_cast<std::size_t>(count() * rows_);
    std::vector<T> values(n), found(static_cast<std::size_t>(count()));
    std::vector<R> logs(found.size());
    std::vector<std::int64_t> exchanged(n);
    std::vector<int> narrow(of.batched ? n : 0);
    copy_to_host(*diagonals, 0, n * sizeof(T), values.data(), stream_);
    if (of.batched)
        copy_to_host(*of.memory, 0, n * sizeof(int), narrow.data(), stream_);
    else
        copy_to_host(*of.memory, 0, n * sizeof(std::int64_t), exchanged.data(), stream_);
    std::copy(narrow.begin(), narrow.end(), exchanged.begin());
    for (std::size_t i = 0; i < found.size(); ++i) {
        const std::size_t first = i * static_cast<std::size_t>(rows_);
        found[i] = determinant(values.data() + first, 1, exchanged.data() + first, rows_,
                               logarithm ? &logs[i] : static_cast<R*>(nullptr));
        if (!unusable[i]) continue;
        found[i] = std::numeric_limits<R>::quiet_NaN();
        logs[i] = std::numeric_limits<R>::quiet_NaN();
    }
    write_result(0, found);
    if (logarithm) write_result(1, logs);
}

template <class T>
void gpu_call::write_result(std::size_t result, const std::vector<T>& values) {
    make_result(result, {});
    copy_from_host(*results_[result].memory, 0, values.size() * sizeof(T), values.data(), stream_);
}

void gpu_call::solve(bool inverse) {
    take_matrices(true);
    const right_sides right = inverse ? right_sides{false, rows_} : take_right_sides();
    if (right.columns == 0) return static_cast<void>(make_result(0, {rows_, 0}));
    const matrices a = load(0), b = inverse ? identities() : load(1, false, right.vector);
    note_not_finite(a);
    const pivots of = factorise(a);
    // A batch waits only once; the solutions for singular matrices are discarded.
    if (of.batched) solve_batch(a, of, b);
    std::vector<index_t> singular;
    check_infos([&](index_t i, int pivot) {
        if (option_ == 0) fail_singular(i, pivot);
        singular.push_back(i);
    });
    if (!of.batched) solve_each(a, of.data<std::int64_t>(), b);
    for (const index_t i : singular) {
        const std::vector<std::byte> infinities =
            zeros_but(std::numeric_limits<double>::infinity(), rows_ * rows_, 0, true);
        copy_from_host(*b.memory, static_cast<std::size_t>(b.at(i) - b.data()), infinities.size(), infinities.data(),
                       stream_);
    }
    store(0, b, rows_, false, right.vector);
}

void gpu_call::solve_each(const matrices& a, const std::int64_t* of, const matrices& b) {
    const cudaDataType t = cusolver_type(type_);
    int* const info = infos();
    for (index_t i = 0; i < count(); ++i)
        check(api_.getrs(handle_.handle, handle_.params, CUBLAS_OP_N, rows_, b.columns, t, a.at(i), a.leading(),
                         of + i * rows_, t, b.at(i), b.leading(), info + i));
    check_infos([](index_t, int) {});
}

std::vector<std::byte> gpu_call::zeros_but(double number, index_t n, index_t place, bool everywhere) const {
    const std::size_t each = detail::size_of(type_);
    std::vector<std::byte> row(static_cast<std::size_t>(n) * each);
    for (index_t i = everywhere ? 0 : place; i < (everywhere ? n : place + 1); ++i) {
        std::byte* const at = row.data() + static_cast<std::size_t>(i) * each;
        if (part_ == dtype::f4)
            *reinterpret_cast<float*>(at) = static_cast<float>(number);
        else
            *reinterpret_cast<double*>(at) = number;
    }
    return row;
}

gpu_call::matrices gpu_call::identities() {
    const std::vector<std::byte> row = zeros_but(1, 2 * rows_ - 1, rows_ - 1);
    buffer_ref from_host = room(row.size());
    copy_from_host(*from_host, 0, row.size(), row.data(), stream_);
    matrices made = make(type_, rows_, rows_);
    layout from = by_columns(made), to = from;
    std::fill_n(from.strides(), batch_.size(), 0);
    from.strides()[batch_.size()] = 1, from.strides()[batch_.size() + 1] = -1;
    from.offset = rows_ - 1;
    copy_view(type_, *from_host, from, made.memory, to);
    return made;
}

}  // namespace ingot::runtime

#endif
