// Shared by the solvers on a GPU: matrices copied in and out, work areas, the library's statuses, elements that are
// not finite.
#if defined(INGOT_HAS_CUDA_HEADERS) && __has_include(<cusolverDn.h>) && __has_include(<cublas_v2.h>)

#include <algorithm>
#include <complex>
#include <string>
#include <utility>
#include <vector>

#include "runtime/device/copy_view.hpp"
#include "runtime/device/ordering.hpp"
#include "runtime/linalg/cusolver_call.hpp"

namespace ingot::runtime {

cudaDataType cusolver_type(dtype t) {
    switch (t) {
        case dtype::f4:
            return CUDA_R_32F;
        case dtype::f8:
            return CUDA_R_64F;
        case dtype::c8:
            return CUDA_C_32F;
        default:
            return CUDA_C_64F;
    }
}

gpu_call::gpu_call(const char* operation, int option, dtype type, std::span<const matrix_operand> operands,
                   std::span<const destination> results, stream_state& stream)
    : solver_problem(operation, operands),
      option_(option),
      type_(type),
      part_(detail::kind_of(type) == detail::kind::complex ? detail::part_of(type) : type),
      results_(results),
      stream_(stream),
      api_(opened_library<cusolver_api>::get(operation)),
      handle_(of_stream<cusolver_handle>(stream)),
      lock_(handle_.mutex) {
    stream.backend->bind_thread();
    if (handle_.handle == nullptr) check(api_.create(&handle_.handle));
    if (handle_.params == nullptr) check(api_.create_params(&handle_.params));
    if (handle_.of_eigenvalues == nullptr) check(api_.create_syevj_info(&handle_.of_eigenvalues));
    if (handle_.of_singular_values == nullptr) check(api_.create_gesvdj_info(&handle_.of_singular_values));
    check(api_.set_stream(handle_.handle, reinterpret_cast<cudaStream_t>(stream.native)));
}

gpu_call::~gpu_call() {
    constexpr std::size_t most_spare = 4;
    for (work& w : areas_)
        if (w.host.size() > 0 && handle_.spare.size() < most_spare) handle_.spare.push_back(std::move(w.host));
}

void gpu_call::check(cusolverStatus_t status) const {
    if (status != CUSOLVER_STATUS_SUCCESS)
        throw library_error("[" + std::string(operation_) + "] cuSOLVER: status " +
                            std::to_string(static_cast<int>(status)));
}

buffer_ref gpu_call::room(std::size_t bytes) {
    buffer_ref made = allocate_buffer(std::max<std::size_t>(bytes, 1), stream_.device, stream_);
    order_write(*made, stream_);
    return made;
}

gpu_call::matrices gpu_call::make(dtype type, index_t rows, index_t columns) {
    const std::size_t each = detail::size_of(type);
    return {room(static_cast<std::size_t>(count() * rows * columns) * each), rows, columns, each};
}

detail::layout gpu_call::strided(const matrices& m, index_t rows, index_t columns, index_t down, index_t across) const {
    layout made(static_cast<int>(batch_.size()) + 2);
    std::copy(batch_.begin(), batch_.end(), made.shape());
    index_t stride = m.rows * m.columns;
    for (std::size_t j = batch_.size(); j-- > 0; stride *= batch_[j]) made.strides()[j] = stride;
    index_t *const shape = made.shape() + batch_.size(), *const strides = made.strides() + batch_.size();
    shape[0] = rows, shape[1] = columns;
    strides[0] = down, strides[1] = across;
    return made;
}

gpu_call::matrices gpu_call::load(std::size_t operand, bool transposed, bool vector) {
    const layout& given = operands_[operand].where;
    const index_t rows = given.shape()[given.rank() - (vector ? 1 : 2)],
                  columns = vector ? 1 : given.shape()[given.rank() - 1];
    matrices made = make(type_, transposed ? columns : rows, transposed ? rows : columns);
    layout from(static_cast<int>(batch_.size()) + 2);
    from.offset = given.offset;
    const int missing = from.rank() - (given.rank() + (vector ? 1 : 0));
    for (int j = 0; j < from.rank() - 2; ++j) {
        const int axis = j - missing;
        from.shape()[j] = batch_[static_cast<std::size_t>(j)];
        from.strides()[j] = axis < 0 || vector || given.shape()[axis] == 1 ? 0 : given.strides()[axis];
    }
    index_t *const shape = from.shape() + from.rank() - 2, *const strides = from.strides() + from.rank() - 2;
    shape[0] = rows, shape[1] = columns;
    strides[0] = given.strides()[given.rank() - (vector ? 1 : 2)];
    strides[1] = vector ? 0 : given.strides()[given.rank() - 1];
    if (transposed) std::swap(shape[0], shape[1]), std::swap(strides[0], strides[1]);
    layout to = by_columns(made);
    copy_view(type_, *operands_[operand].memory, from, made.memory, to);
    return made;
}

void gpu_call::store(std::size_t result, const matrices& m, index_t rows, bool transposed, bool vector) {
    if (m.columns == 1 && rows == m.rows && !transposed) return store_column(result, m, vector);
    layout from = transposed ? strided(m, m.columns, m.rows, m.rows, 1) : strided(m, rows, m.columns, 1, m.rows);
    if (vector) {
        layout without(from.rank() - 1);
        std::copy_n(from.shape(), without.rank(), without.shape());
        std::copy_n(from.strides(), without.rank(), without.strides());
        from = without;
    }
    copy_view(results_[result].type, *m.memory, from, results_[result].memory, results_[result].where);
}

void gpu_call::store_column(std::size_t result, const matrices& m, bool vector) {
    std::vector<index_t> shape = batch_;
    shape.push_back(m.rows);
    if (!vector) shape.push_back(1);
    results_[result].where = detail::contiguous_layout(shape);
    results_[result].memory = m.memory;
}

std::byte* gpu_call::make_result(std::size_t result, std::vector<index_t> own) {
    std::vector<index_t> shape = batch_;
    shape.insert(shape.end(), own.begin(), own.end());
    const destination& to = results_[result];
    to.where = detail::contiguous_layout(shape);
    to.memory = room(static_cast<std::size_t>(to.where.size()) * detail::size_of(to.type));
    return static_cast<std::byte*>(to.memory->data);
}

int* gpu_call::infos() {
    infos_ = room(static_cast<std::size_t>(count()) * sizeof(int));
    return static_cast<int*>(infos_->data);
}

buffer_ref gpu_call::statuses_with_not_finite() {
    if (!not_finite_) return infos_;
    const on_stream_of_call there(stream_);
    const array<bool> found = *std::exchange(not_finite_, std::nullopt);
    return array<int>(where(found, status_not_finite, as_vector<int>(infos_, count()))).as_leaf().memory();
}

host_area gpu_call::take_host_area(std::size_t bytes) {
    std::vector<host_area>& spare = handle_.spare;
    const auto fits = std::ranges::find_if(spare, [&](const host_area& a) { return a.size() >= bytes; });
    if (fits == spare.end()) {
        if (!spare.empty()) spare.pop_back();  // too small: a larger one replaces it
        return host_area(bytes);
    }
    host_area found = std::move(*fits);
    spare.erase(fits);
    return found;
}

bool gpu_call::is_batch_of_small(index_t side) const {
    constexpr index_t longest_side = 256;
    return count() > 1 && side <= longest_side && 8 * count() >= side && count() <= std::numeric_limits<int>::max();
}

void gpu_call::check_argument(int wrong) const {
    if (wrong != 0) throw library_error("[" + std::string(operation_) + "] cuBLAS: argument " + std::to_string(-wrong));
}

gpu_call::matrices gpu_call::conjugate_of(const matrices& m) const {
    const on_stream_of_call there(stream_);
    if (type_ == dtype::c8) return of_array<std::complex<float>>(conj(as_array<std::complex<float>>(m)));
    if (type_ == dtype::c16) return of_array<std::complex<double>>(conj(as_array<std::complex<double>>(m)));
    return m;
}

void gpu_call::store_columns(std::size_t result, const matrices& m, index_t columns, bool transposed) {
    const layout from = transposed ? strided(m, columns, m.rows, m.rows, 1) : strided(m, m.rows, columns, 1, m.rows);
    copy_view(results_[result].type, *m.memory, from, results_[result].memory, results_[result].where);
}

void gpu_call::check_finite(const matrices& m, part p) {
    const std::vector<bool> found = not_finite(m, p).to_host();
    const auto first = std::find(found.begin(), found.end(), true);
    if (first != found.end()) fail_not_finite(first - found.begin());
}

array<bool> gpu_call::not_finite(const matrices& m, part p) {
    switch (type_) {
        case dtype::f4:
            return not_finite_in<float>(m, p);
        case dtype::f8:
            return not_finite_in<double>(m, p);
        case dtype::c8:
            return not_finite_in<std::complex<float>>(m, p);
        default:
            return not_finite_in<std::complex<double>>(m, p);
    }
}

template <class T>
array<bool> gpu_call::not_finite_in(const matrices& m, part p) {
    return holding<T>(m, p, [](const auto& x) { return !isfinite(x); });
}

}  // namespace ingot::runtime

#endif
