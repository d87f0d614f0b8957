// cuSOLVER as a typed table, and the solvers on it. A handle belongs to one stream. One kernel copies matrices into
// column order, another copies results into C order. At its end a call waits for the library's status of each matrix,
// and throws errors. Many small matrices are one call of a batched function, others one call each.
#include "runtime/linalg/solvers.hpp"

#include <ingot/core/error.hpp>

#if defined(INGOT_HAS_CUDA_HEADERS) && __has_include(<cusolverDn.h>) && __has_include(<cublas_v2.h>)

#include <cusolverDn.h>

#include <algorithm>
#include <deque>
#include <limits>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <utility>

#include <ingot/core/buffer.hpp>

#include <ingot/core/functions.hpp>
#include <ingot/core/grids.hpp>
#include <ingot/core/random.hpp>
#include <ingot/core/reductions.hpp>
#include <ingot/linalg/products.hpp>

#include "runtime/device/copy_view.hpp"
#include "runtime/device/ordering.hpp"
#include "runtime/device/transfer.hpp"
#include "runtime/linalg/batched_functions.hpp"
#include "runtime/linalg/cusolver_newer.hpp"
#include "runtime/system/dynamic_library.hpp"

namespace ingot::runtime {

namespace {

using detail::destination;
using detail::layout;
using detail::matrix_operand;
using detail::solver;

struct cusolver_api {
    decltype(&::cusolverDnCreate) create;
    decltype(&::cusolverDnSetStream) set_stream;
    decltype(&::cusolverDnCreateParams) create_params;
    decltype(&::cusolverDnXpotrf_bufferSize) potrf_size;
    decltype(&::cusolverDnXpotrf) potrf;
    decltype(&::cusolverDnXgetrf_bufferSize) getrf_size;
    decltype(&::cusolverDnXgetrf) getrf;
    decltype(&::cusolverDnXgetrs) getrs;
    decltype(&::cusolverDnXgeqrf_bufferSize) geqrf_size;
    decltype(&::cusolverDnXgeqrf) geqrf;
    decltype(&::cusolverDnXsyevd_bufferSize) syevd_size;
    decltype(&::cusolverDnXsyevd) syevd;
    decltype(&::cusolverDnXgesvd_bufferSize) gesvd_size;
    decltype(&::cusolverDnXgesvd) gesvd;
    geev_size_function* geev_size = nullptr;  // since cuSOLVER 11.7.1, of CUDA 12.6
    geev_function* geev = nullptr;
    syev_batched_size_function* syev_batched_size = nullptr;  // also since CUDA 12.6
    syev_batched_function* syev_batched = nullptr;
    decltype(&::cusolverDnCreateSyevjInfo) create_syevj_info;
    decltype(&::cusolverDnCreateGesvdjInfo) create_gesvdj_info;
    // These functions have no 64-bit form.
    decltype(&::cusolverDnSorgqr_bufferSize) sorgqr_size;
    decltype(&::cusolverDnDorgqr_bufferSize) dorgqr_size;
    decltype(&::cusolverDnCungqr_bufferSize) cungqr_size;
    decltype(&::cusolverDnZungqr_bufferSize) zungqr_size;
    decltype(&::cusolverDnSorgqr) sorgqr;
    decltype(&::cusolverDnDorgqr) dorgqr;
    decltype(&::cusolverDnCungqr) cungqr;
    decltype(&::cusolverDnZungqr) zungqr;
};

/// Throws library_error where it is missing.
dynamic_library open_cusolver(const char* operation) {
    const auto path = find_cuda_library("cusolver", {12, 11});
    if (!path)
        throw library_error("[" + std::string(operation) +
                            "] libcusolver.so.12 or .11 was not found (from NVIDIA's repository: libcusolver-13-0); "
                            "CUDA_HOME can name where it is");
    return dynamic_library(path->string());
}

/// Opened once, for ever. Throws library_error.
const cusolver_api& cusolver(const char* operation) {
    static std::mutex mutex;
    static const cusolver_api* known = nullptr;
    const std::lock_guard lock(mutex);
    if (known != nullptr) return *known;
    dynamic_library library = open_cusolver(operation);
    auto made = std::make_unique<cusolver_api>();
    library.get(made->create, "cusolverDnCreate");
    library.get(made->set_stream, "cusolverDnSetStream");
    library.get(made->create_params, "cusolverDnCreateParams");
    library.get(made->potrf_size, "cusolverDnXpotrf_bufferSize");
    library.get(made->potrf, "cusolverDnXpotrf");
    library.get(made->getrf_size, "cusolverDnXgetrf_bufferSize");
    library.get(made->getrf, "cusolverDnXgetrf");
    library.get(made->getrs, "cusolverDnXgetrs");
    library.get(made->geqrf_size, "cusolverDnXgeqrf_bufferSize");
    library.get(made->geqrf, "cusolverDnXgeqrf");
    library.get(made->syevd_size, "cusolverDnXsyevd_bufferSize");
    library.get(made->syevd, "cusolverDnXsyevd");
    library.get(made->gesvd_size, "cusolverDnXgesvd_bufferSize");
    library.get(made->gesvd, "cusolverDnXgesvd");
    if (library.find("cusolverDnXgeev") != nullptr) {
        library.get(made->geev_size, "cusolverDnXgeev_bufferSize");
        library.get(made->geev, "cusolverDnXgeev");
    }
    if (library.find("cusolverDnXsyevBatched") != nullptr) {
        library.get(made->syev_batched_size, "cusolverDnXsyevBatched_bufferSize");
        library.get(made->syev_batched, "cusolverDnXsyevBatched");
    }
    library.get(made->create_syevj_info, "cusolverDnCreateSyevjInfo");
    library.get(made->create_gesvdj_info, "cusolverDnCreateGesvdjInfo");
    library.get(made->sorgqr_size, "cusolverDnSorgqr_bufferSize");
    library.get(made->dorgqr_size, "cusolverDnDorgqr_bufferSize");
    library.get(made->cungqr_size, "cusolverDnCungqr_bufferSize");
    library.get(made->zungqr_size, "cusolverDnZungqr_bufferSize");
    library.get(made->sorgqr, "cusolverDnSorgqr");
    library.get(made->dorgqr, "cusolverDnDorgqr");
    library.get(made->cungqr, "cusolverDnCungqr");
    library.get(made->zungqr, "cusolverDnZungqr");
    library.keep_loaded();
    known = made.release();
    return *known;
}

/// Host memory in which the library works. It is kept from call to call: the pages of a new area are made while the
/// library works, and a megabyte of them takes a quarter of a millisecond.
class host_area {
public:
    host_area() = default;
    explicit host_area(std::size_t size) : bytes_(std::make_unique_for_overwrite<std::byte[]>(size)), size_(size) {}
    std::byte* data() const { return bytes_.get(); }
    std::size_t size() const { return size_; }

private:
    std::unique_ptr<std::byte[]> bytes_;
    std::size_t size_ = 0;
};

/// A stream's handle; one thread uses it at a time.
struct stream_handle {
    std::mutex mutex;
    cusolverDnHandle_t handle = nullptr;
    cusolverDnParams_t params = nullptr;
    syevjInfo_t of_eigenvalues = nullptr;  // Jacobi's method: to the dtype's precision, values sorted
    gesvdjInfo_t of_singular_values = nullptr;
    std::vector<host_area> spare;
};
stream_handle& handle_of(stream_state& stream) {
    static std::mutex& mutex = *new std::mutex;
    static auto& all = *new std::map<const stream_state*, stream_handle>;  // leaked, as streams are
    const std::lock_guard lock(mutex);
    return all[&stream];
}

cudaDataType data_type(dtype t) {
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

/// Expressions within a call are ordered on its stream, and computed with standard math.
struct on_stream_of_call : current_guard {
    explicit on_stream_of_call(stream_state& s) noexcept {
        current_of_thread.device = s.device;
        current_of_thread.stream = &s;
        current_of_thread.math = math_mode::standard;
    }
};

class gpu_call : solver_problem {
public:
    gpu_call(const char* operation, int option, dtype type, std::span<const matrix_operand> operands,
             std::span<const destination> results, stream_state& stream)
        : solver_problem(operation, operands),
          option_(option),
          type_(type),
          part_(detail::kind_of(type) == detail::kind::complex ? detail::part_of(type) : type),
          results_(results),
          stream_(stream),
          api_(cusolver(operation)),
          handle_(handle_of(stream)),
          lock_(handle_.mutex) {
        stream.backend->bind_thread();
        if (handle_.handle == nullptr) check(api_.create(&handle_.handle));
        if (handle_.params == nullptr) check(api_.create_params(&handle_.params));
        if (handle_.of_eigenvalues == nullptr) check(api_.create_syevj_info(&handle_.of_eigenvalues));
        if (handle_.of_singular_values == nullptr) check(api_.create_gesvdj_info(&handle_.of_singular_values));
        check(api_.set_stream(handle_.handle, reinterpret_cast<cudaStream_t>(stream.native)));
    }

    ~gpu_call() {
        constexpr std::size_t most_spare = 4;
        for (work& w : areas_)
            if (w.host.size() > 0 && handle_.spare.size() < most_spare) handle_.spare.push_back(std::move(w.host));
    }
    gpu_call(const gpu_call&) = delete;
    gpu_call& operator=(const gpu_call&) = delete;

    void run(solver which) {
        switch (which) {
            case solver::cholesky:
                return cholesky();
            case solver::qr:
                return qr();
            case solver::svd:
                return svd(option_ != 0 ? 'A' : 'S');
            case solver::svdvals:
                return svd('N');
            case solver::eigh:
                return eigh(true);
            case solver::eigvalsh:
                return eigh(false);
            case solver::eig:
                return eig(true);
            case solver::eigvals:
                return eig(false);
            case solver::solve:
                return solve(false);
            case solver::inv:
                return solve(true);
            case solver::det:
            case solver::slogdet:
                return det(which == solver::slogdet);
            case solver::lu:
                return lu();
            case solver::triangular:
                return triangular();
            case solver::lstsq:
                break;  // built from other solvers
        }
    }

private:
    void check(cublasStatus_t status) const { runtime::check(status, operation_); }
    void check(cusolverStatus_t status) const {
        if (status != CUSOLVER_STATUS_SUCCESS)
            throw library_error("[" + std::string(operation_) + "] cuSOLVER: status " +
                                std::to_string(static_cast<int>(status)));
    }

    enum class part : std::uint8_t { whole, lower, upper, diagonal };
    /// The matrices of a batch, one behind the other, each in column order.
    struct matrices {
        buffer_ref memory;
        index_t rows = 0, columns = 0;
        std::size_t bytes_each = 0;

        std::byte* at(index_t i) const { return data() + static_cast<std::size_t>(i * rows * columns) * bytes_each; }
        std::byte* data() const { return static_cast<std::byte*>(memory->data); }
        index_t leading() const { return std::max<index_t>(rows, 1); }
    };

    buffer_ref room(std::size_t bytes) {
        buffer_ref made = allocate_buffer(std::max<std::size_t>(bytes, 1), stream_.device, stream_);
        order_write(*made, stream_);
        return made;
    }
    matrices make(dtype type, index_t rows, index_t columns) {
        const std::size_t each = detail::size_of(type);
        return {room(static_cast<std::size_t>(count() * rows * columns) * each), rows, columns, each};
    }
    /// The layout of the batch's axes, then rows and columns, of which rows vary fastest.
    layout by_columns(const matrices& m) const { return strided(m, m.rows, m.columns, 1, m.rows); }
    layout strided(const matrices& m, index_t rows, index_t columns, index_t down, index_t across) const {
        layout made(static_cast<int>(batch_.size()) + 2);
        std::copy(batch_.begin(), batch_.end(), made.shape());
        index_t stride = m.rows * m.columns;
        for (std::size_t j = batch_.size(); j-- > 0; stride *= batch_[j]) made.strides()[j] = stride;
        index_t *const shape = made.shape() + batch_.size(), *const strides = made.strides() + batch_.size();
        shape[0] = rows, shape[1] = columns;
        strides[0] = down, strides[1] = across;
        return made;
    }

    /// Copies an operand's matrices into column order, or transposes them.
    matrices load(std::size_t operand, bool transposed = false, bool vector = false) {
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
    /// Stores the first rows in C order; with `transposed`, the transposed matrices.
    void store(std::size_t result, const matrices& m, index_t rows, bool transposed = false, bool vector = false) {
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
    /// A single column is in C order already: its memory becomes the result's.
    void store_column(std::size_t result, const matrices& m, bool vector) {
        std::vector<index_t> shape = batch_;
        shape.push_back(m.rows);
        if (!vector) shape.push_back(1);
        results_[result].where = detail::contiguous_layout(shape);
        results_[result].memory = m.memory;
    }
    /// Memory for a result that the library writes itself, with these axes behind the batch's.
    std::byte* make_result(std::size_t result, std::vector<index_t> own) {
        std::vector<index_t> shape = batch_;
        shape.insert(shape.end(), own.begin(), own.end());
        const destination& to = results_[result];
        to.where = detail::contiguous_layout(shape);
        to.memory = room(static_cast<std::size_t>(to.where.size()) * detail::size_of(to.type));
        return static_cast<std::byte*>(to.memory->data);
    }

    /// Memory for the library's status of each matrix.
    int* infos() {
        infos_ = room(static_cast<std::size_t>(count()) * sizeof(int));
        return static_cast<int*>(infos_->data);
    }
    /// Waits, then calls f(i, info) for the first status that is not 0.
    template <class F>
    void check_infos(const F& f) {
        std::vector<int> all(static_cast<std::size_t>(count()));
        const buffer_ref statuses = statuses_with_not_finite();
        copy_to_host(*statuses, 0, all.size() * sizeof(int), all.data(), stream_);
        for (std::size_t i = 0; i < all.size(); ++i) {
            if (all[i] == status_not_finite) fail_not_finite(static_cast<index_t>(i));
            if (all[i] < 0)
                throw library_error("[" + std::string(operation_) + "] cuSOLVER: argument " + std::to_string(-all[i]));
            if (all[i] > 0) f(static_cast<index_t>(i), all[i]);
        }
    }

    static constexpr int status_not_finite = std::numeric_limits<int>::min();
    /// The library's status, replaced for matrices that have elements that are not finite.
    buffer_ref statuses_with_not_finite() {
        if (!not_finite_) return infos_;
        const on_stream_of_call there(stream_);
        const array<bool> found = *std::exchange(not_finite_, std::nullopt);
        return array<int>(where(found, status_not_finite, as_vector<int>(infos_, count()))).as_leaf().memory();
    }
    /// Memory as an array of elements.
    template <class T>
    static array<T> as_vector(const buffer_ref& memory, index_t elements) {
        detail::leaf<T> values;
        values.memory() = memory;
        const index_t shape[] = {elements};
        values.where() = detail::contiguous_layout(shape);
        return array<T>(detail::adopted{}, std::move(values));
    }

    struct work {
        buffer_ref device;
        host_area host;
        std::size_t device_bytes = 0;
    };
    /// f(device bytes, host bytes) is a function of the library that returns both sizes.
    template <class F>
    work& work_area(const F& f) {
        work& made = areas_.emplace_back();
        std::size_t host_bytes = 0;
        check(f(&made.device_bytes, &host_bytes));
        made.device = room(made.device_bytes);
        if (host_bytes > 0) made.host = take_host_area(host_bytes);
        return made;
    }
    host_area take_host_area(std::size_t bytes) {
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

    /// Whether one call for all matrices pays: the matrices are so small that most of a call of one would be its start.
    /// From side / 8 matrices on, a batch fills a GPU better than one matrix does.
    bool is_batch_of_small(index_t side) const {
        constexpr index_t longest_side = 256;
        return count() > 1 && side <= longest_side && 8 * count() >= side && count() <= std::numeric_limits<int>::max();
    }
    /// f(functions of the matrices' type, a zero of NVIDIA's type)
    template <class F>
    void in_type(const F& f) {
        const auto with = [&]<class T, class R>(T zero, R) {
            f(batched<T, R>(operation_, [&] { return open_cusolver(operation_); }), zero);
        };
        switch (type_) {
            case dtype::f4:
                return with(float{}, float{});
            case dtype::f8:
                return with(double{}, double{});
            case dtype::c8:
                return with(cuComplex{}, float{});
            default:
                return with(cuDoubleComplex{}, double{});
        }
    }
    /// The addresses of the matrices, in the GPU's memory, until the call ends.
    template <class T>
    T** pointers(const matrices& m) {
        const on_stream_of_call there(stream_);
        const index_t shape[] = {count()};
        const detail::random_leaf<index_t, detail::generator_kind::position> number({0, 0},
                                                                                    detail::contiguous_layout(shape));
        const auto first = static_cast<std::uint64_t>(reinterpret_cast<std::uintptr_t>(m.data()));
        const auto bytes = static_cast<std::uint64_t>(m.rows * m.columns) * m.bytes_each;
        const array<std::uint64_t> all = first + astype<std::uint64_t>(number) * bytes;
        return static_cast<T**>(buffers_.emplace_back(all.as_leaf().memory())->data);
    }
    /// A work area of that many elements.
    template <class T>
    T* elements_of(int elements) {
        return static_cast<T*>(buffers_.emplace_back(room(static_cast<std::size_t>(elements) * sizeof(T)))->data);
    }
    /// f(first, count) for parts of the batch, because the libraries count bytes of all matrices in 32 bits.
    template <class F>
    void for_each_part(index_t elements_each, const F& f) const {
        const index_t most = std::max<index_t>((index_t{1} << 26) / elements_each, 1);
        for (index_t first = 0; first < count(); first += most)
            f(first, static_cast<int>(std::min(most, count() - first)));
    }
    void check_argument(int wrong) const {
        if (wrong != 0)
            throw library_error("[" + std::string(operation_) + "] cuBLAS: argument " + std::to_string(-wrong));
    }

    /// Matrices as an array with their columns along its last axis, and back.
    template <class T>
    array<T> as_array(const matrices& m) const {
        detail::leaf<T> values;
        values.memory() = m.memory;
        const index_t shape[] = {count(), m.columns, m.rows};
        values.where() = detail::contiguous_layout(shape);
        return array<T>(detail::adopted{}, std::move(values));
    }
    template <class T, class E>
    static matrices of_array(const E& e) {
        const array<T> made = e;
        const shape_like shape = made.shape();
        return {made.as_leaf().memory(), shape[2], shape[1], sizeof(T)};
    }
    matrices conjugate_of(const matrices& m) const {
        const on_stream_of_call there(stream_);
        if (type_ == dtype::c8) return of_array<std::complex<float>>(conj(as_array<std::complex<float>>(m)));
        if (type_ == dtype::c16) return of_array<std::complex<double>>(conj(as_array<std::complex<double>>(m)));
        return m;
    }
    /// Stores each matrix's first columns in C order, or transposed.
    void store_columns(std::size_t result, const matrices& m, index_t columns, bool transposed) {
        const layout from =
            transposed ? strided(m, columns, m.rows, m.rows, 1) : strided(m, m.rows, columns, 1, m.rows);
        copy_view(results_[result].type, *m.memory, from, results_[result].memory, results_[result].where);
    }

    void cholesky() {
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
        const cudaDataType t = data_type(type_);
        work& w = work_area([&](std::size_t* device, std::size_t* host) {
            return api_.potrf_size(handle_.handle, handle_.params, uplo, rows_, t, a.data(), a.leading(), t, device,
                                   host);
        });
        int* const info = infos();
        for (index_t i = 0; i < count(); ++i)
            check(api_.potrf(handle_.handle, handle_.params, uplo, rows_, t, a.at(i), a.leading(), t, w.device->data,
                             w.device_bytes, w.host.data(), w.host.size(), info + i));
        check_infos([&](index_t i, int order) { fail_not_definite(i, order); });
        store(0, a, rows_);
    }

    /// Pivots: for each matrix, the lesser of rows and columns. They have 32 bits where the matrices are factorised as
    /// a batch.
    struct pivots {
        buffer_ref memory;
        bool batched = false;
        void* factors = nullptr;  // addresses of a batch's matrices

        template <class Pivot>
        Pivot* data() const {
            return static_cast<Pivot*>(memory->data);
        }
    };
    /// Overwrites a with the factors.
    pivots factorise(const matrices& a) {
        if (a.rows == a.columns && is_batch_of_small(a.rows)) return factorise_batch(a);
        const cudaDataType t = data_type(type_);
        work& w = work_area([&](std::size_t* device, std::size_t* host) {
            return api_.getrf_size(handle_.handle, handle_.params, a.rows, a.columns, t, a.data(), a.leading(), t,
                                   device, host);
        });
        const index_t lesser = std::min(a.rows, a.columns);
        pivots found{room(static_cast<std::size_t>(count() * lesser) * sizeof(std::int64_t))};
        auto* const to = found.data<std::int64_t>();
        int* const info = infos();
        for (index_t i = 0; i < count(); ++i)
            check(api_.getrf(handle_.handle, handle_.params, a.rows, a.columns, t, a.at(i), a.leading(),
                             to + i * lesser, t, w.device->data, w.device_bytes, w.host.data(), w.host.size(),
                             info + i));
        return found;
    }
    pivots factorise_batch(const matrices& a) {
        pivots found{room(static_cast<std::size_t>(count() * a.rows) * sizeof(int)), true};
        in_type([&](const auto& functions, auto zero) {
            using T = decltype(zero);
            T** const where = pointers<T>(a);
            found.factors = where;
            int* const info = infos();
            const cublas_use use = use_cublas(operation_, stream_);
            check(functions.getrf(use.handle, as_int(a.rows), where, as_int(a.leading()), found.template data<int>(),
                                  info, as_int(count())));
        });
        return found;
    }
    /// Overwrites b with the solutions.
    void solve_batch(const matrices& a, const pivots& of, const matrices& b) {
        in_type([&](const auto& functions, auto zero) {
            using T = decltype(zero);
            T** const right = pointers<T>(b);
            int wrong = 0;
            const cublas_use use = use_cublas(operation_, stream_);
            check(functions.getrs(use.handle, CUBLAS_OP_N, as_int(a.rows), as_int(b.columns),
                                  static_cast<T**>(of.factors), as_int(a.leading()), of.template data<int>(), right,
                                  as_int(b.leading()), &wrong, as_int(count())));
            check_argument(wrong);
        });
    }
    void lu() {
        take_matrices(false);
        const matrices a = load(0);
        const pivots of = factorise(a);
        check_infos([](index_t, int) {});  // a singular matrix has factors
        store(0, a, rows_);
        const index_t lesser = std::min(rows_, columns_), all = count() * lesser;
        make_result(1, {lesser});
        const on_stream_of_call there(stream_);
        const array<std::int64_t> exchanged = of.batched
                                                  ? lazy<std::int64_t>(as_vector<int>(of.memory, all) - 1)
                                                  : lazy<std::int64_t>(as_vector<std::int64_t>(of.memory, all) - 1);
        results_[1].memory = exchanged.as_leaf().memory();
    }
    void triangular() {
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
                                 has_ones ? CUBLAS_DIAG_UNIT : CUBLAS_DIAG_NON_UNIT, as_int(rows_), as_int(b.columns),
                                 &one, matrix, as_int(a.leading()), sides, as_int(b.leading()), as_int(count())));
        });
        store(0, b, rows_, false, right.vector);
    }
    array<bool> zero_on_diagonal(const matrices& m) {
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
    void det(bool logarithm) {
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
    /// The diagonals are multiplied on the host.
    template <class T, class R>
    void det_in(bool logarithm) {
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
    /// Stores one number for each matrix.
    template <class T>
    void write_result(std::size_t result, const std::vector<T>& values) {
        make_result(result, {});
        copy_from_host(*results_[result].memory, 0, values.size() * sizeof(T), values.data(), stream_);
    }
    void solve(bool inverse) {
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
            copy_from_host(*b.memory, static_cast<std::size_t>(b.at(i) - b.data()), infinities.size(),
                           infinities.data(), stream_);
        }
        store(0, b, rows_, false, right.vector);
    }
    void solve_each(const matrices& a, const std::int64_t* of, const matrices& b) {
        const cudaDataType t = data_type(type_);
        int* const info = infos();
        for (index_t i = 0; i < count(); ++i)
            check(api_.getrs(handle_.handle, handle_.params, CUBLAS_OP_N, rows_, b.columns, t, a.at(i), a.leading(),
                             of + i * rows_, t, b.at(i), b.leading(), info + i));
        check_infos([](index_t, int) {});
    }
    /// A row on the host: n zeros, except for a number at one index, or at all.
    std::vector<std::byte> zeros_but(double number, index_t n, index_t place, bool everywhere = false) const {
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
    /// Identity matrices, from a row with a one in its middle: each row of a matrix is a part of it, shifted by one.
    matrices identities() {
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

    void qr() {
        take_matrices(false);
        const index_t lesser = std::min(rows_, columns_), wide = option_ != 0 ? rows_ : lesser;
        const matrices a = load(0), tau = make(type_, lesser, 1);
        if (lesser > 0 && is_batch_of_small(std::max(rows_, columns_)) && qr_of_batch(a, tau, wide)) return;
        const cudaDataType t = data_type(type_);
        work& w = work_area([&](std::size_t* device, std::size_t* host) {
            return api_.geqrf_size(handle_.handle, handle_.params, rows_, columns_, t, a.data(), a.leading(), t,
                                   tau.data(), t, device, host);
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
        stream_.backend->fill(q.data(), 0, static_cast<std::size_t>(count() * rows_ * wide) * q.bytes_each,
                              stream_.native);
        buffer_ref into = q.memory;
        copy_view(type_, *a.memory, from, into, to);
        form_q(q, tau, static_cast<int>(lesser));
        store(0, q, rows_);
        store(1, a, wide);
    }
    /// Returns false, with the matrices unchanged, where one has an element that is not finite.
    bool qr_of_batch(const matrices& a, const matrices& tau, index_t wide) {
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
    /// The libraries have no batched product of reflections. Q is 1 - V T V^H, where V has the reflections' vectors and
    /// T is upper triangular; the inverse of T is the part of V^H V above the diagonal, with 1 / tau on the diagonal.
    template <class N>
    bool qr_of_batch_in(const matrices& a, const matrices& tau, index_t wide) {
        const std::vector<bool> unusable = not_finite(a, part::whole).to_host();
        if (std::find(unusable.begin(), unusable.end(), true) != unusable.end()) return false;
        in_type([&](const auto& functions, auto zero) {
            using T = decltype(zero);
            T **const where = pointers<T>(a), **const of_tau = pointers<T>(tau);
            int wrong = 0;
            const cublas_use use = use_cublas(operation_, stream_);
            check(functions.geqrf(use.handle, as_int(rows_), as_int(columns_), where, as_int(a.leading()), of_tau,
                                  &wrong, as_int(count())));
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
    void form_q(const matrices& q, const matrices& tau, int reflections) {
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
    void form_q_in(Size size, Form form, const matrices& q, const matrices& tau, int reflections) {
        const int m = as_int(q.rows), n = as_int(q.columns), lda = as_int(q.leading());
        const auto in = [](std::byte* p) { return reinterpret_cast<T*>(p); };
        int elements = 0;
        check(size(handle_.handle, m, n, reflections, in(q.data()), lda, in(tau.data()), &elements));
        const buffer_ref device = room(static_cast<std::size_t>(elements) * sizeof(T));
        int* const info = infos();
        for (index_t i = 0; i < count(); ++i)
            check(form(handle_.handle, m, n, reflections, in(q.at(i)), lda, in(tau.at(i)),
                       static_cast<T*>(device->data), elements, info + i));
        check_infos([](index_t, int) {});
    }

    /// The library requires at least as many rows as columns. A wider matrix is transposed: its decomposition is V' S
    /// U', and results that are read by rows are transposed again.
    void svd(char job) {
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
        const cudaDataType t = data_type(type_), r = data_type(part_);
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

    /// Uses Jacobi's method, whose V is not transposed and whose U is always square.
    void svd_of_batch(const matrices& a, bool wide, char job) {
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
                check(functions.gesvdj_size(handle_.handle, mode, rows, columns, in(a.at(first)), rows,
                                            values + first * n, in(u.at(first)), rows, in(v.at(first)), columns,
                                            &elements, handle_.of_singular_values, some));
                check(functions.gesvdj(handle_.handle, mode, rows, columns, in(a.at(first)), rows, values + first * n,
                                       in(u.at(first)), rows, in(v.at(first)), columns, elements_of<T>(elements),
                                       elements, info + first, handle_.of_singular_values, some));
            });
        });
        check_infos([&](index_t i, int) { fail_at(i, "has singular values that the iteration did not converge to"); });
        if (!vectors) return;
        const matrices conjugate = conjugate_of(v);
        store_columns(wide ? 2 : 0, u, job == 'A' ? m : n, wide);
        store_columns(wide ? 0 : 2, conjugate, n, !wide);
    }

    void eigh(bool vectors) {
        take_matrices(true);
        const matrices a = load(0);
        const bool batch =
            rows_ > 0 && is_batch_of_small(rows_) && (rows_ < least_of_syev || api_.syev_batched != nullptr);
        // Jacobi's method ends after a fixed number of sweeps; the other methods may not end if an element is not
        // finite.
        const part triangle = option_ != 0 ? part::upper : part::lower;
        if (batch && rows_ < least_of_syev)
            note_not_finite(a, triangle);
        else
            check_finite(a, triangle);
        auto* const values = make_result(0, {rows_});
        const auto part_bytes = static_cast<index_t>(detail::size_of(part_));
        const cudaDataType t = data_type(type_), r = data_type(part_);
        const auto mode = vectors ? CUSOLVER_EIG_MODE_VECTOR : CUSOLVER_EIG_MODE_NOVECTOR;
        const auto uplo = option_ != 0 ? CUBLAS_FILL_MODE_UPPER : CUBLAS_FILL_MODE_LOWER;
        if (batch) {
            eigh_of_batch(a, values, mode, uplo);
            check_infos([&](index_t i, int) { fail_at(i, "has eigenvalues that the iteration did not converge to"); });
            if (vectors) store(1, a, rows_);
            return;
        }
        work& w = work_area([&](std::size_t* device, std::size_t* host) {
            return api_.syevd_size(handle_.handle, handle_.params, mode, uplo, rows_, t, a.data(), a.leading(), r,
                                   values, t, device, host);
        });
        int* const info = infos();
        for (index_t i = 0; i < count(); ++i)
            check(api_.syevd(handle_.handle, handle_.params, mode, uplo, rows_, t, a.at(i), a.leading(), r,
                             values + i * rows_ * part_bytes, t, w.device->data, w.device_bytes, w.host.data(),
                             w.host.size(), info + i));
        check_infos([&](index_t i, int) { fail_at(i, "has eigenvalues that the iteration did not converge to"); });
        if (vectors) store(1, a, rows_);
    }

    static constexpr index_t least_of_syev = 32;  // from this many rows on, syev is faster
    /// Very small matrices use Jacobi's method.
    void eigh_of_batch(const matrices& a, std::byte* w, cusolverEigMode_t mode, cublasFillMode_t uplo) {
        int* const info = infos();
        if (rows_ >= least_of_syev) {
            const cudaDataType t = data_type(type_), r = data_type(part_);
            const auto part_bytes = static_cast<index_t>(detail::size_of(part_));
            for_each_part(rows_ * rows_, [&](index_t first, int some) {
                std::byte* const values = w + first * rows_ * part_bytes;
                work& area = work_area([&](std::size_t* device, std::size_t* host) {
                    return api_.syev_batched_size(handle_.handle, handle_.params, mode, uplo, rows_, t, a.at(first),
                                                  a.leading(), r, values, t, device, host, some);
                });
                check(api_.syev_batched(handle_.handle, handle_.params, mode, uplo, rows_, t, a.at(first), a.leading(),
                                        r, values, t, area.device->data, area.device_bytes, area.host.data(),
                                        area.host.size(), info + first, some));
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
                check(functions.syevj(handle_.handle, mode, uplo, n, matrix, n, values, elements_of<T>(elements),
                                      elements, info + first, handle_.of_eigenvalues, some));
            });
        });
    }

    void eig(bool vectors) {
        if (api_.geev == nullptr)
            throw library_error("[" + std::string(operation_) + "] wants the cuSOLVER of CUDA 12.6 or a newer one");
        take_matrices(true);
        const matrices a = load(0), v = make(type_, vectors ? rows_ : 0, vectors ? rows_ : 0);
        check_finite(a);
        const dtype wide = results_[0].type;
        auto* const values = make_result(0, {rows_});
        const auto value_bytes = static_cast<index_t>(detail::size_of(wide));
        const cudaDataType t = data_type(type_), c = data_type(wide);
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
    /// Runs on the host: it is a small part of the work.
    template <class R>
    void unpack(const matrices& v) {
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

    [[noreturn]] void fail_not_finite(index_t i) const { fail_at(i, "has elements that are infinite or NaN"); }
    /// Throws if an element of a matrix, or of its triangle, is not finite. It waits, because the iteration might not
    /// end.
    void check_finite(const matrices& m, part p = part::whole) {
        const std::vector<bool> found = not_finite(m, p).to_host();
        const auto first = std::find(found.begin(), found.end(), true);
        if (first != found.end()) fail_not_finite(first - found.begin());
    }
    /// Notes such matrices where the library ends in any case: check_infos reports them, with a single wait.
    void note_not_finite(const matrices& m, part p = part::whole) { not_finite_ = not_finite(m, p); }

    array<bool> not_finite(const matrices& m, part p) {
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
    array<bool> not_finite_in(const matrices& m, part p) {
        return holding<T>(m, p, [](const auto& x) { return !isfinite(x); });
    }
    /// For each matrix, whether that part has an element for which bad_one holds.
    template <class T, class F>
    array<bool> holding(const matrices& m, part p, const F& bad_one) {
        const on_stream_of_call there(stream_);
        const array<T> x = as_array<T>(m);
        const auto bad = bad_one(x);
        if (p == part::whole) return any(bad, {1, 2});
        const array<index_t> row = arange(m.rows), column = reshape(arange(m.columns), {-1, 1});
        if (p == part::diagonal) return any(bad && row == column, {1, 2});
        if (p == part::lower) return any(bad && row >= column, {1, 2});
        return any(bad && row <= column, {1, 2});
    }

    int option_;
    dtype type_, part_;
    std::span<const destination> results_;
    stream_state& stream_;
    const cusolver_api& api_;
    stream_handle& handle_;
    std::unique_lock<std::mutex> lock_;
    buffer_ref infos_;
    std::optional<array<bool>> not_finite_;
    std::deque<buffer_ref> buffers_;
    std::deque<work> areas_;  // kept until the call has waited: the library may use the host memory meanwhile
};

}  // namespace

void run_cusolver(const char* operation, solver which, int option, dtype type, std::span<const matrix_operand> operands,
                  std::span<const destination> results, stream_state& stream) {
    gpu_call(operation, option, type, operands, results, stream).run(which);
}

}  // namespace ingot::runtime

#else

namespace ingot::runtime {

void run_cusolver(const char* operation, detail::solver, int, dtype, std::span<const detail::matrix_operand>,
                  std::span<const detail::destination>, stream_state&) {
    throw library_error("[" + std::string(operation) +
                        "] Ingot was built without the headers of cuSOLVER (from NVIDIA's repository: "
                        "libcusolver-dev-13-0)");
}

}  // namespace ingot::runtime

#endif
