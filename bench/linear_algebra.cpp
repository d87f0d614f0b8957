// Products of matrices and solvers, compared with direct calls of cuBLAS, cublasLt and cuSOLVER in the same process, on
// the same stream and arrays; their results are compared too.
//   linear_algebra RESULTS.jsonl [SHRINK [PART_OF_A_NAME]]
// SHRINK divides the sides by 2^SHRINK, for trials without goals. On the host there is no comparison.
#include <algorithm>
#include <concepts>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <ingot/ingot.hpp>

#include "gpu.hpp"
#include "host_data.hpp"
#include "report.hpp"
#include "roofs.hpp"

#if __has_include(<cublas_v2.h>) && __has_include(<cublasLt.h>) && __has_include(<cusolverDn.h>)

#include "bare_libraries.hpp"

namespace {

using namespace ingot;

template <class T>
constexpr const char* type_name = std::same_as<T, double>  ? "float64"
                                  : std::same_as<T, float> ? "float32"
                                                           : "bfloat16";

/// gelu by its approximation with tanh; the other form uses erf.
template <class E>
auto gelu_by_tanh(const E& x) {
    return 0.5 * x * (1 + tanh(0.7978845608028654 * (x + 0.044715 * (x * x * x))));
}

class table {
public:
    table(bench::report& out, int shrink, std::string_view only)
        : out_(out), shrink_(shrink), only_(only), gpu_(current_device().is_cuda()) {}

    int run() {
        product<float>("matmul float32 8192", 8192);
        {
            const with_math guard(tf32);
            product<float>("matmul float32 8192 in tf32", 8192, true);
        }
        product<bfloat16>("matmul bfloat16 8192", 8192);
        product<double>("matmul float64 4096", 4096);
        batch_of_products();
        attempt("exp(matmul(a, b) + c) float32 4096", [&](const auto& name) { exponential_of_product(name); });
        biases<float>(4096, false);
        {
            const with_math guard(tf32);
            biases<float>(4096, true);
        }
        biases<bfloat16>(4096, false);
        biases<bfloat16>(8192, false);
        attempt("matmul float32 (16384, 16384) by a vector", [&](const auto& name) { by_vector(name); });
        solvers();
        return failures_;
    }

private:
    index_t shrunk(index_t side) const { return std::max<index_t>(side >> shrink_, 4); }

    template <class T>
    array<T> drawn(const shape_like& shape) {
        index_t n = 1;
        for (const index_t extent : shape) n *= extent;
        const auto values = bench::uniform<float>(static_cast<std::size_t>(n), ++seed_, -1, 1);
        return array<T>(astype<T>(reshape(asarray(values), shape)));
    }

    template <class F>
    void attempt(const std::string& name, F measure) try {
        if (name.find(only_) != name.npos) measure(name);
    } catch (const std::exception& reason) {
        ++failures_;
        std::printf("%-73s FAILED: %s\n", name.c_str(), reason.what());
        out_.add({.section = "failed",
                  .name = name,
                  .unit = "us",
                  .time = std::nan(""),
                  .note = std::string(reason.what())});
    }

    struct beside {
        const char* name;
        double goal = 1 / 1.05;  // of its rate
        int rounds = 11;
        std::uint64_t bytes = 0;
    };
    /// error(): between the results of both, relative.
    template <class Error>
    void report(const std::string& name, const beside& other, const bench::work& ours, const bench::work& bare,
                double bound, Error error) {
        ours(0);
        const counter_values before = counters();
        ours(0);
        const counter_values after = counters();
        char note[128];
        int written = std::snprintf(note, sizeof note, "%llu library calls, %llu kernels",
                                    static_cast<unsigned long long>(after.library_calls - before.library_calls),
                                    static_cast<unsigned long long>(after.kernel_launches - before.kernel_launches));
        bench::row row{.section = "linalg", .name = name, .unit = "us", .bytes = other.bytes};
        if (gpu_) {
            bare(0);
            const double off = error();
            if (!(off <= bound)) throw std::runtime_error("results differ by " + std::to_string(off));
            std::snprintf(note + written, sizeof note - static_cast<std::size_t>(written), ", differs by %.2g", off);
            const auto times = bench::time_in_turn({ours, bare}, other.rounds);
            row.time = bench::median(times[0]);
            row.baseline = other.name, row.baseline_time = bench::median(times[1]);
            row.kind = shrink_ == 0 ? bench::promise::share : bench::promise::none;
            row.reached = bench::paired_ratio(times[1], times[0]), row.goal = other.goal;
            row.note = note;
            out_.add(row);
            std::printf("    %s %.5g us, ratio %.3f; %s\n", other.name, row.baseline_time,
                        bench::paired_ratio(times[0], times[1]), note);
        } else {
            row.time = bench::median(bench::time_in_turn({ours}, other.rounds)[0]);
            row.note = note;
            out_.add(row);
        }
    }
    template <class A, class B>
    static double difference(const A& a, const B& b) {
        return max(absolute(astype<double>(a) - astype<double>(b))).item() / max(absolute(astype<double>(b))).item();
    }
    template <class T>
    static constexpr double tolerance = std::same_as<T, double>  ? 1e-12
                                        : std::same_as<T, float> ? 1e-5
                                                                 : 1e-2;

    bench::bare_cublas& cublas() {
        if (!cublas_) cublas_ = std::make_unique<bench::bare_cublas>();
        return *cublas_;
    }
    bench::bare_cusolver& cusolver() {
        if (!cusolver_) cusolver_ = std::make_unique<bench::bare_cusolver>();
        return *cusolver_;
    }

    template <class T>
    void product(const char* title, index_t full, bool in_tf32 = false) {
        attempt(title, [&](const std::string& name) {
            const index_t n = shrunk(full);
            const array<T> a = drawn<T>({n, n}), b = drawn<T>({n, n});
            array<T> by_hand = zeros<T>({n, n}), made;
            const T *const x = a.data(), *const y = b.data();
            T* const z = by_hand.mutable_data();
            report(
                name, {"cuBLAS"}, [&](int) { made = matmul(a, b); },
                [&](int) { cublas().multiply(x, y, z, n, n, n, 1, in_tf32); }, tolerance<T>,
                [&] { return difference(made, by_hand); });
        });
    }
    void batch_of_products() {
        attempt("matmul float32 4096 of 64", [&](const std::string& name) {
            const index_t count = shrunk(4096), n = 64;
            const array<float> a = drawn<float>({count, n, n}), b = drawn<float>({count, n, n});
            array<float> by_hand = zeros<float>({count, n, n}), made;
            const float *const x = a.data(), *const y = b.data();
            float* const z = by_hand.mutable_data();
            report(
                name, {"cuBLAS", 1 / 1.05, 21}, [&](int) { made = matmul(a, b); },
                [&](int) { cublas().multiply(x, y, z, n, n, n, count); }, tolerance<float>,
                [&] { return difference(made, by_hand); });
        });
    }
    void exponential_of_product(const std::string& name) {
        const index_t n = shrunk(4096);
        const array<float> a = drawn<float>({n, n}), b = eval(drawn<float>({n, n}) / static_cast<float>(n)),
                           c = drawn<float>({n, n});
        array<float> by_hand = zeros<float>({n, n}), temporary = zeros<float>({n, n}), made;
        const float *const x = a.data(), *const y = b.data(), *const w = c.data();
        float *const t = temporary.mutable_data(), *const z = by_hand.mutable_data();
        std::optional<bench::hand_kernel> kernel;
        if (gpu_) kernel.emplace("linear_algebra.cu", "exp_of_sum");
        const auto vectors = static_cast<unsigned>(n * n / 4);
        report(
            name, {"cuBLAS and a kernel by hand"}, [&](int) { made = exp(matmul(a, b) + c); },
            [&](int) {
                cublas().multiply(x, y, t, n, n, n);
                (*kernel)((vectors + 255) / 256, 256, static_cast<const void*>(t), static_cast<const void*>(w),
                          static_cast<void*>(z), vectors);
            },
            1e-5, [&] { return difference(made, by_hand); });
    }

    template <class T>
    void biases(index_t full, bool in_tf32) {
        const std::string ending =
            std::string(" ") + type_name<T> + " " + std::to_string(full) + (in_tf32 ? " in tf32" : "");
        const auto same = [](const auto& e) { return e; };
        const auto rectified = [](const auto& e) { return relu(e); };
        const auto by_tanh = [](const auto& e) { return gelu_by_tanh(e); };
        bias<T>("matmul(a, b) + bias" + ending, full, CUBLASLT_EPILOGUE_BIAS, in_tf32, same);
        bias<T>("relu(matmul(a, b) + bias)" + ending, full, CUBLASLT_EPILOGUE_RELU_BIAS, in_tf32, rectified);
        bias<T>("gelu(matmul(a, b) + bias) by tanh" + ending, full, CUBLASLT_EPILOGUE_GELU_BIAS, in_tf32, by_tanh);
    }
    template <class T, class F>
    void bias(const std::string& title, index_t full, cublasLtEpilogue_t epilogue, bool in_tf32, F then) {
        attempt(title, [&](const std::string& name) {
            const index_t n = shrunk(full);
            const array<T> a = drawn<T>({n, n}), b = drawn<T>({n, n}), row = drawn<T>({n});
            array<T> by_hand = zeros<T>({n, n}), made;
            const T *const x = a.data(), *const y = b.data(), *const r = row.data();
            T* const z = by_hand.mutable_data();
            const auto side = static_cast<std::uint64_t>(n);
            std::optional<bench::bare_epilogue<T>> product;
            if (gpu_) product.emplace(x, y, r, z, side, side, side, epilogue, in_tf32);
            report(
                name, {"cublasLt with its epilogue"}, [&](int) { made = then(matmul(a, b) + row); },
                [&](int) { (*product)(); }, in_tf32 ? 1e-3 : tolerance<T>, [&] { return difference(made, by_hand); });
        });
    }

    void by_vector(const std::string& name) {
        const index_t n = shrunk(16384);
        const array<float> a = drawn<float>({n, n}), v = drawn<float>({n});
        array<float> by_hand = zeros<float>({n}), made;
        const float *const x = a.data(), *const y = v.data();
        float* const z = by_hand.mutable_data();
        const auto bytes = 4 * static_cast<std::uint64_t>(n * n + 2 * n);
        report(
            name, {"cuBLAS", 1 / 1.05, 21, bytes}, [&](int) { made = matmul(a, v); },
            [&](int) { cublas().multiply_vector(x, y, z, n, n); }, 1e-5, [&] { return difference(made, by_hand); });
        const array<float> other = drawn<float>({n, n});
        const bench::roofs roof(out_, a, other);
        out_.add({.section = "linalg",
                  .name = name + ": the roof",
                  .unit = "us",
                  .time = roof.time_of(bytes, 0),
                  .bytes = bytes,
                  .note = roof.name_of(bytes, 0)});
    }

    // ---- solvers: a symmetric matrix is the same by columns and by rows ---------------------------------------------

    template <class T>
    array<T> symmetric(const shape_like& shape, double on_diagonal) {
        const array<T> x = drawn<T>(shape);
        const index_t n = x.shape()[x.ndim() - 1];
        return array<T>((x + mT(x)) / 2 + on_diagonal * eye<T>(n));
    }
    void solvers() {
        attempt("cholesky float64 4096", [&](const auto& name) { cholesky(name); });
        attempt("solve float64 4096, a vector", [&](const auto& name) { solve(name, 4096, false); });
        attempt("inv float64 2048", [&](const auto& name) { solve(name, 2048, true); });
        attempt("qr float64 2048", [&](const auto& name) { qr(name); });
        attempt("eigh float64 2048", [&](const auto& name) { eigh(name); });
        attempt("svd float64 1024", [&](const auto& name) { svd(name); });
        attempt("solve float32 4096 of 32", [&](const auto& name) { solve_batch(name); });
        attempt("eigh float32 4096 of 16", [&](const auto& name) { eigh_batch(name); });
    }

    struct areas {
        bench::room device, info;
        std::vector<std::byte> host;
    };
    /// size(device bytes, host bytes) asks the library.
    template <class F>
    static areas areas_for(F size) {
        std::size_t device = 0, host = 0;
        bench::check(size(&device, &host));
        return {bench::room(device), bench::room(sizeof(int)), std::vector<std::byte>(host)};
    }

    void cholesky(const std::string& name) {
        const index_t n = shrunk(4096);
        const array<double> a = symmetric<double>({n, n}, static_cast<double>(n));
        array<double> by_hand = zeros<double>({n, n}), made;
        const auto bytes = static_cast<std::size_t>(n * n) * sizeof(double);
        const double* const given = a.data();
        double* const w = by_hand.mutable_data();
        std::optional<areas> work;
        if (gpu_)
            work.emplace(areas_for([&](auto* device, auto* host) {
                return cusolver().potrf_size(cusolver().handle, cusolver().params, CUBLAS_FILL_MODE_UPPER, n,
                                             CUDA_R_64F, w, n, CUDA_R_64F, device, host);
            }));
        report(
            name, {"a copy and cuSOLVER", 1 / 1.1}, [&](int) { made = linalg::cholesky(a); },
            [&](int) {
                copy(w, given, bytes);
                bench::check(cusolver().potrf(cusolver().handle, cusolver().params, CUBLAS_FILL_MODE_UPPER, n,
                                              CUDA_R_64F, w, n, CUDA_R_64F, work->device.data(), work->device.size(),
                                              work->host.data(), work->host.size(), work->info.data<int>()));
                bench::bare_cusolver::check_infos(work->info);
            },
            1e-10, [&] { return difference(made, tril(by_hand)); });
    }
    /// Solves for a vector, or for as many columns as rows.
    void solve(const std::string& name, index_t full, bool inverse) {
        const index_t n = shrunk(full), columns = inverse ? n : 1;
        const array<double> a = symmetric<double>({n, n}, 0),
                            b = inverse ? array<double>(eye<double>(n)) : drawn<double>({n});
        array<double> by_hand = zeros<double>(b.shape()), factors = zeros<double>({n, n}), made;
        array<std::int64_t> pivots = zeros<std::int64_t>(n);
        const auto bytes = static_cast<std::size_t>(n * n) * sizeof(double);
        const double *const given = a.data(), *const right = b.data();
        double *const w = factors.mutable_data(), *const x = by_hand.mutable_data();
        std::int64_t* const exchanged = pivots.mutable_data();
        std::optional<areas> work;
        if (gpu_)
            work.emplace(areas_for([&](auto* device, auto* host) {
                return cusolver().getrf_size(cusolver().handle, cusolver().params, n, n, CUDA_R_64F, w, n, CUDA_R_64F,
                                             device, host);
            }));
        report(
            name, {"a copy and cuSOLVER", 1 / 1.1, 7},
            [&](int) {
                if (inverse)
                    made = linalg::inv(a);
                else
                    made = linalg::solve(a, b);
            },
            [&](int) {
                copy(w, given, bytes);
                copy(x, right, static_cast<std::size_t>(n * columns) * sizeof(double));
                const bench::bare_cusolver& s = cusolver();
                bench::check(s.getrf(s.handle, s.params, n, n, CUDA_R_64F, w, n, exchanged, CUDA_R_64F,
                                     work->device.data(), work->device.size(), work->host.data(), work->host.size(),
                                     work->info.data<int>()));
                bench::bare_cusolver::check_infos(work->info);
                bench::check(s.getrs(s.handle, s.params, CUBLAS_OP_N, n, columns, CUDA_R_64F, w, n, exchanged,
                                     CUDA_R_64F, x, n, work->info.data<int>()));
            },
            1e-6, [&] { return difference(made, by_hand); });
    }
    void qr(const std::string& name) {
        const index_t n = shrunk(2048);
        const int side = static_cast<int>(n);
        const array<double> a = symmetric<double>({n, n}, 0);
        array<double> by_hand = zeros<double>({n, n}), factors = zeros<double>({n, n}), taus = zeros<double>(n), made;
        const auto bytes = static_cast<std::size_t>(n * n) * sizeof(double);
        const double* const given = a.data();
        double *const w = factors.mutable_data(), *const q = by_hand.mutable_data(), *const tau = taus.mutable_data();
        std::optional<areas> work, forming;
        int elements = 0;
        if (gpu_) {
            const bench::bare_cusolver& s = cusolver();
            work.emplace(areas_for([&](auto* device, auto* host) {
                return s.geqrf_size(s.handle, s.params, n, n, CUDA_R_64F, w, n, CUDA_R_64F, tau, CUDA_R_64F, device,
                                    host);
            }));
            bench::check(s.dorgqr_size(s.handle, side, side, side, q, side, tau, &elements));
            forming.emplace(areas_for([&](auto* device, auto*) {
                *device = static_cast<std::size_t>(elements) * sizeof(double);
                return CUSOLVER_STATUS_SUCCESS;
            }));
        }
        // R's diagonal tells of both: a column of Q has either sign.
        array<double> ours_r;
        report(
            name, {"a copy and cuSOLVER", 1 / 1.1, 7}, [&](int) { std::tie(made, ours_r) = linalg::qr(a); },
            [&](int) {
                const bench::bare_cusolver& s = cusolver();
                copy(w, given, bytes);
                bench::check(s.geqrf(s.handle, s.params, n, n, CUDA_R_64F, w, n, CUDA_R_64F, tau, CUDA_R_64F,
                                     work->device.data(), work->device.size(), work->host.data(), work->host.size(),
                                     work->info.data<int>()));
                copy(q, w, bytes);
                bench::check(s.dorgqr(s.handle, side, side, side, q, side, tau, forming->device.data<double>(),
                                      elements, work->info.data<int>()));
                bench::bare_cusolver::check_infos(work->info);
            },
            1e-8,
            [&] {
                return difference(absolute(made), absolute(mT(by_hand))) +
                       difference(absolute(diagonal(ours_r)), absolute(diagonal(factors)));
            });
    }
    void eigh(const std::string& name) {
        const index_t n = shrunk(2048);
        const array<double> a = symmetric<double>({n, n}, 0);
        array<double> vectors = zeros<double>({n, n}), by_hand = zeros<double>(n), made, made_vectors;
        const auto bytes = static_cast<std::size_t>(n * n) * sizeof(double);
        const double* const given = a.data();
        double *const v = vectors.mutable_data(), *const values = by_hand.mutable_data();
        std::optional<areas> work;
        if (gpu_)
            work.emplace(areas_for([&](auto* device, auto* host) {
                const bench::bare_cusolver& s = cusolver();
                return s.syevd_size(s.handle, s.params, CUSOLVER_EIG_MODE_VECTOR, CUBLAS_FILL_MODE_LOWER, n, CUDA_R_64F,
                                    v, n, CUDA_R_64F, values, CUDA_R_64F, device, host);
            }));
        report(
            name, {"a copy and cuSOLVER", 1 / 1.1, 5}, [&](int) { std::tie(made, made_vectors) = linalg::eigh(a); },
            [&](int) {
                const bench::bare_cusolver& s = cusolver();
                copy(v, given, bytes);
                bench::check(s.syevd(s.handle, s.params, CUSOLVER_EIG_MODE_VECTOR, CUBLAS_FILL_MODE_LOWER, n,
                                     CUDA_R_64F, v, n, CUDA_R_64F, values, CUDA_R_64F, work->device.data(),
                                     work->device.size(), work->host.data(), work->host.size(),
                                     work->info.data<int>()));
                bench::bare_cusolver::check_infos(work->info);
            },
            1e-10, [&] { return difference(made, by_hand); });
    }
    void svd(const std::string& name) {
        const index_t n = shrunk(1024);
        const array<double> a = symmetric<double>({n, n}, 0);
        array<double> factors = zeros<double>({n, n}), left = zeros<double>({n, n}), right = zeros<double>({n, n}),
                      by_hand = zeros<double>(n), u, made, vh;
        const auto bytes = static_cast<std::size_t>(n * n) * sizeof(double);
        const double* const given = a.data();
        double *const w = factors.mutable_data(), *const values = by_hand.mutable_data(),
                      *const of_u = left.mutable_data(), *const of_v = right.mutable_data();
        std::optional<areas> work;
        if (gpu_)
            work.emplace(areas_for([&](auto* device, auto* host) {
                const bench::bare_cusolver& s = cusolver();
                return s.gesvd_size(s.handle, s.params, 'A', 'A', n, n, CUDA_R_64F, w, n, CUDA_R_64F, values,
                                    CUDA_R_64F, of_u, n, CUDA_R_64F, of_v, n, CUDA_R_64F, device, host);
            }));
        report(
            name, {"a copy and cuSOLVER", 1 / 1.1, 5}, [&](int) { std::tie(u, made, vh) = linalg::svd(a); },
            [&](int) {
                const bench::bare_cusolver& s = cusolver();
                copy(w, given, bytes);
                bench::check(s.gesvd(s.handle, s.params, 'A', 'A', n, n, CUDA_R_64F, w, n, CUDA_R_64F, values,
                                     CUDA_R_64F, of_u, n, CUDA_R_64F, of_v, n, CUDA_R_64F, work->device.data(),
                                     work->device.size(), work->host.data(), work->host.size(),
                                     work->info.data<int>()));
                bench::bare_cusolver::check_infos(work->info);
            },
            1e-10, [&] { return difference(made, by_hand); });
    }

    /// The addresses of these matrices, in the GPU's memory.
    static bench::room pointers_to(float* first, index_t count, index_t stride) {
        std::vector<float*> all;
        for (index_t i = 0; i < count; ++i) all.push_back(first + i * stride);
        bench::room made(all.size() * sizeof(float*));
        runtime::check(runtime::driver()->cuMemcpyHtoDAsync(reinterpret_cast<CUdeviceptr>(made.data()), all.data(),
                                                            all.size() * sizeof(float*), bench::native_stream()),
                       "copying pointers");
        synchronize();
        return made;
    }
    void solve_batch(const std::string& name) {
        const index_t count = shrunk(4096), n = 32;
        const int side = static_cast<int>(n), many = static_cast<int>(count);
        const array<float> a = symmetric<float>({count, n, n}, 8), b = drawn<float>({count, n, 1});
        array<float> factors = zeros<float>({count, n, n}), by_hand = zeros<float>({count, n, 1}), made;
        array<int> pivots = zeros<int>(count * n);
        const float *const given = a.data(), *const right = b.data();
        float *const w = factors.mutable_data(), *const x = by_hand.mutable_data();
        int* const exchanged = pivots.mutable_data();
        std::optional<bench::room> of_w, of_x, infos;
        if (gpu_) {
            of_w.emplace(pointers_to(w, count, n * n)), of_x.emplace(pointers_to(x, count, n));
            infos.emplace(static_cast<std::size_t>(count) * sizeof(int));
        }
        report(
            name, {"copies and cuBLAS", 1 / 1.1, 21}, [&](int) { made = linalg::solve(a, b); },
            [&](int) {
                copy(w, given, static_cast<std::size_t>(count * n * n) * sizeof(float));
                copy(x, right, static_cast<std::size_t>(count * n) * sizeof(float));
                int wrong = 0;
                bench::check(cusolver().batched.getrf(cublas().handle(), side, of_w->data<float*>(), side, exchanged,
                                                      infos->data<int>(), many));
                bench::check(cusolver().batched.getrs(cublas().handle(), CUBLAS_OP_N, side, 1, of_w->data<float*>(),
                                                      side, exchanged, of_x->data<float*>(), side, &wrong, many));
                bench::bare_cusolver::check_infos(*infos, static_cast<std::size_t>(count));
            },
            1e-4, [&] { return difference(made, by_hand); });
    }
    void eigh_batch(const std::string& name) {
        const index_t count = shrunk(4096), n = 16;
        const int side = static_cast<int>(n), many = static_cast<int>(count);
        const array<float> a = symmetric<float>({count, n, n}, 0);
        array<float> vectors = zeros<float>({count, n, n}), by_hand = zeros<float>({count, n}), made, made_vectors;
        const float* const given = a.data();
        float *const v = vectors.mutable_data(), *const values = by_hand.mutable_data();
        std::optional<bench::room> work, infos;
        int elements = 0;
        if (gpu_) {
            const bench::bare_cusolver& s = cusolver();
            bench::check(s.batched.syevj_size(s.handle, CUSOLVER_EIG_MODE_VECTOR, CUBLAS_FILL_MODE_LOWER, side, v, side,
                                              values, &elements, s.of_jacobi, many));
            work.emplace(static_cast<std::size_t>(elements) * sizeof(float));
            infos.emplace(static_cast<std::size_t>(count) * sizeof(int));
        }
        report(
            name, {"a copy and cuSOLVER", 1 / 1.1, 21}, [&](int) { std::tie(made, made_vectors) = linalg::eigh(a); },
            [&](int) {
                const bench::bare_cusolver& s = cusolver();
                copy(v, given, static_cast<std::size_t>(count * n * n) * sizeof(float));
                bench::check(s.batched.syevj(s.handle, CUSOLVER_EIG_MODE_VECTOR, CUBLAS_FILL_MODE_LOWER, side, v, side,
                                             values, work->data<float>(), elements, infos->data<int>(), s.of_jacobi,
                                             many));
                bench::bare_cusolver::check_infos(*infos, static_cast<std::size_t>(count));
            },
            1e-4, [&] { return difference(made, by_hand); });
    }

    static void copy(void* to, const void* from, std::size_t bytes) {
        runtime::check(
            runtime::driver()->cuMemcpyDtoDAsync(reinterpret_cast<CUdeviceptr>(to), reinterpret_cast<CUdeviceptr>(from),
                                                 bytes, bench::native_stream()),
            "copying on the device");
    }

    bench::report& out_;
    int shrink_;
    std::string_view only_;
    bool gpu_;
    std::unique_ptr<bench::bare_cublas> cublas_;
    std::unique_ptr<bench::bare_cusolver> cusolver_;
    std::uint64_t seed_ = 300;
    int failures_ = 0;
};

int run(int argc, char** argv) {
    if (argc < 2) return std::fprintf(stderr, "usage: linear_algebra RESULTS.jsonl [SHRINK [PART_OF_A_NAME]]\n"), 2;
    const int shrink = argc > 2 ? std::atoi(argv[2]) : 0;
    if (shrink < 0 || shrink > 10) return std::fprintf(stderr, "SHRINK: 0 to 10\n"), 2;
    bench::report out(argv[1]);
    return table(out, shrink, argc > 3 ? argv[3] : "").run() == 0 ? 0 : 1;
}

}  // namespace

int main(int argc, char** argv) try { return run(argc, argv); } catch (const std::exception& reason) {
    std::fprintf(stderr, "linear_algebra: %s\n", reason.what());
    return 1;
}

#else

int main() {
    std::fprintf(stderr, "linear_algebra: built without the headers of cuBLAS and cuSOLVER\n");
    return 1;
}

#endif
