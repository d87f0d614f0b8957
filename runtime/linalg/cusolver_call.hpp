// One call of a solver on a GPU, by cuSOLVER. One kernel copies matrices into column order, another copies results into
// C order. At its end a call waits for the library's status of each matrix, and throws errors. Many small matrices are
// one call of a batched function, others one call each.
#pragma once

#include <algorithm>
#include <complex>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <limits>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include <ingot/core/buffer.hpp>
#include <ingot/core/error.hpp>
#include <ingot/core/functions.hpp>
#include <ingot/core/grids.hpp>
#include <ingot/core/random.hpp>
#include <ingot/core/reductions.hpp>

#include "runtime/device/transfer.hpp"
#include "runtime/linalg/batched_functions.hpp"
#include "runtime/linalg/cusolver_library.hpp"
#include "runtime/linalg/solvers.hpp"

namespace ingot::runtime {

/// Expressions within a call are ordered on its stream, and computed with standard math.
struct on_stream_of_call : current_guard {
    explicit on_stream_of_call(stream_state& s) noexcept {
        current_of_thread.device = s.device;
        current_of_thread.stream = &s;
        current_of_thread.math = math_mode::standard;
    }
};

class gpu_call : solver_problem {
    using destination = detail::destination;
    using layout = detail::layout;
    using matrix_operand = detail::matrix_operand;
    using solver = detail::solver;

public:
    gpu_call(const char* operation, int option, dtype type, std::span<const matrix_operand> operands,
             std::span<const destination> results, stream_state& stream);
    ~gpu_call();
    gpu_call(const gpu_call&) = delete;
    gpu_call& operator=(const gpu_call&) = delete;

    void run(solver which);

private:
    void check(cublasStatus_t status) const { runtime::check(status, operation_); }
    void check(cusolverStatus_t status) const;

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

    buffer_ref room(std::size_t bytes);
    matrices make(dtype type, index_t rows, index_t columns);
    /// The layout of the batch's axes, then rows and columns, of which rows vary fastest.
    layout by_columns(const matrices& m) const { return strided(m, m.rows, m.columns, 1, m.rows); }
    layout strided(const matrices& m, index_t rows, index_t columns, index_t down, index_t across) const;

    /// Copies an operand's matrices into column order, or transposes them.
    matrices load(std::size_t operand, bool transposed = false, bool vector = false);
    /// Stores the first rows in C order; with `transposed`, the transposed matrices.
    void store(std::size_t result, const matrices& m, index_t rows, bool transposed = false, bool vector = false);
    /// A single column is in C order already: its memory becomes the result's.
    void store_column(std::size_t result, const matrices& m, bool vector);
    /// Memory for a result that the library writes itself, with these axes behind the batch's.
    std::byte* make_result(std::size_t result, std::vector<index_t> own);

    /// Memory for the library's status of each matrix.
    int* infos();
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
    buffer_ref statuses_with_not_finite();
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
    host_area take_host_area(std::size_t bytes);

    /// Whether one call for all matrices pays: the matrices are so small that most of a call of one would be its start.
    /// From side / 8 matrices on, a batch fills a GPU better than one matrix does.
    bool is_batch_of_small(index_t side) const;
    /// f(functions of the matrices' type, a zero of NVIDIA's type)
    template <class F>
    void in_type(const F& f) {
        const auto with = [&]<class T, class R>(T zero, R) { f(batched_functions<T, R>(operation_), zero); };
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
    void check_argument(int wrong) const;

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
    matrices conjugate_of(const matrices& m) const;
    /// Stores each matrix's first columns in C order, or transposed.
    void store_columns(std::size_t result, const matrices& m, index_t columns, bool transposed);
    [[noreturn]] void fail_not_finite(index_t i) const { fail_at(i, "has elements that are infinite or NaN"); }
    /// Throws if an element of a matrix, or of its triangle, is not finite. It waits, because the iteration might not
    /// end.
    void check_finite(const matrices& m, part p = part::whole);
    /// Notes such matrices where the library ends in any case: check_infos reports them, with a single wait.
    void note_not_finite(const matrices& m, part p = part::whole) { not_finite_ = not_finite(m, p); }
    array<bool> not_finite(const matrices& m, part p);
    template <class T>
    array<bool> not_finite_in(const matrices& m, part p);
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

    // Linear systems.

    void cholesky();

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
    pivots factorise(const matrices& a);
    pivots factorise_batch(const matrices& a);
    /// Overwrites b with the solutions.
    void solve_batch(const matrices& a, const pivots& of, const matrices& b);
    void lu();
    void triangular();
    array<bool> zero_on_diagonal(const matrices& m);
    void det(bool logarithm);
    /// The diagonals are multiplied on the host.
    template <class T, class R>
    void det_in(bool logarithm);
    /// Stores one number for each matrix.
    template <class T>
    void write_result(std::size_t result, const std::vector<T>& values);
    void solve(bool inverse);
    void solve_each(const matrices& a, const std::int64_t* of, const matrices& b);
    /// A row on the host: n zeros, except for a number at one index, or at all.
    std::vector<std::byte> zeros_but(double number, index_t n, index_t place, bool everywhere = false) const;
    /// Identity matrices, from a row with a one in its middle: each row of a matrix is a part of it, shifted by one.
    matrices identities();

    // QR.

    void qr();
    /// Returns false, with the matrices unchanged, where one has an element that is not finite.
    bool qr_of_batch(const matrices& a, const matrices& tau, index_t wide);
    /// The libraries have no batched product of reflections. Q is 1 - V T V^H, where V has the reflections' vectors and
    /// T is upper triangular; the inverse of T is the part of V^H V above the diagonal, with 1 / tau on the diagonal.
    template <class N>
    bool qr_of_batch_in(const matrices& a, const matrices& tau, index_t wide);
    void form_q(const matrices& q, const matrices& tau, int reflections);
    template <class T, class Size, class Form>
    void form_q_in(Size size, Form form, const matrices& q, const matrices& tau, int reflections);

    // Singular values.

    /// The library requires at least as many rows as columns. A wider matrix is transposed: its decomposition is V' S
    /// U', and results that are read by rows are transposed again.
    void svd(char job);

    /// Uses Jacobi's method, whose V is not transposed and whose U is always square.
    void svd_of_batch(const matrices& a, bool wide, char job);

    // Eigenvalues.

    void eigh(bool vectors);

    static constexpr index_t least_of_syev = 32;  // from this many rows on, syev is faster
    /// Very small matrices use Jacobi's method.
    void eigh_of_batch(const matrices& a, std::byte* w, cusolverEigMode_t mode, cublasFillMode_t uplo);
    void eig(bool vectors);
    /// Runs on the host: it is a small part of the work.
    template <class R>
    void unpack(const matrices& v);

    int option_;
    dtype type_, part_;
    std::span<const destination> results_;
    stream_state& stream_;
    const cusolver_api& api_;
    cusolver_handle& handle_;
    std::unique_lock<std::mutex> lock_;
    buffer_ref infos_;
    std::optional<array<bool>> not_finite_;
    std::deque<buffer_ref> buffers_;
    std::deque<work> areas_;  // kept until the call has waited: the library may use the host memory meanwhile
};

}  // namespace ingot::runtime
