// Users' own CUDA kernels. The texts under CuPy's names are those of its documentation, unchanged.
#include <doctest/doctest.h>

#include <complex>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include <unistd.h>

#include "runtime/device/device_facts.hpp"
#include "runtime/kernels/compile.hpp"
#include "runtime/kernels/nvrtc.hpp"
#include "runtime/kernels/raw_source.hpp"
#include "tests/arrays/expect.hpp"
#include "tests/untested.hpp"
#include "tests/walls/count.hpp"

using namespace ingot;

namespace {

constexpr std::string_view add_text = R"(
extern "C" __global__
void my_add(const float* x1, const float* x2, float* y) {
    int tid = blockDim.x * blockIdx.x + threadIdx.x;
    y[tid] = x1[tid] + x2[tid];
}
)";

constexpr std::string_view complex_text = R"(
#include <cupy/complex.cuh>
extern "C" __global__
void my_func(const complex<float>* x1, const complex<float>* x2,
             complex<float>* y, float a) {
    int tid = blockDim.x * blockIdx.x + threadIdx.x;
    y[tid] = x1[tid] + a * x2[tid];
}
)";

constexpr std::string_view two_kernels_text = R"(
extern "C"{

__global__ void test_sum(const float* x1, const float* x2, float* y, \
                         unsigned int N)
{
    unsigned int tid = blockDim.x * blockIdx.x + threadIdx.x;
    if (tid < N)
    {
        y[tid] = x1[tid] + x2[tid];
    }
}

__global__ void test_multiply(const float* x1, const float* x2, float* y, \
                              unsigned int N)
{
    unsigned int tid = blockDim.x * blockIdx.x + threadIdx.x;
    if (tid < N)
    {
        y[tid] = x1[tid] * x2[tid];
    }
}

}
)";

constexpr std::string_view template_text = R"(
template<typename T>
__global__ void fx3(T* arr, int N) {
    unsigned int tid = blockIdx.x * blockDim.x + threadIdx.x;
    if (tid < N) {
        arr[tid] = arr[tid] * 3;
    }
}
)";

// In addition to CuPy's: each kind of parameter, a variable, a namespace, and lines that look like kernels.
constexpr std::string_view mixed_text = R"(
struct pair { int first; float second; };
// __global__ void commented(int* x) {}
static const char* const said = "__global__ void quoted(int* x) {}";
#ifdef NO_SUCH_MACRO
extern "C" __global__ void conditional(nothing* x) {}
#endif
namespace own { namespace inner {
__device__ int twice(int n) { return 2 * n; }
__global__ void __launch_bounds__(64) fill(int* x, pair p, short s, bool b, const void* there) {
    x[threadIdx.x] = twice(p.first) + int(p.second) + s + (b ? 1000 : 0) + (there == nullptr ? 10000 : 0);
}
} }
extern "C" {
__constant__ float factors[3];
__device__ int calls = 7;
__global__ void scale(float* x) { x[threadIdx.x] *= factors[threadIdx.x]; }
__global__ void count_up(int* x) { x[0] = calls; }
}
)";

bool on_host() { return current_device().is_host(); }

}  // namespace

TEST_CASE("CuPy's example of a raw kernel runs, and an expression is evaluated for it") {
    const raw_kernel add_kernel(add_text, "my_add");
    const array<float> x1 = reshape(arange<float>(25), {5, 5}), x2 = x1;
    array<float> y = zeros<float>({5, 5});
    CHECK(launches([&] { add_kernel(5, 5, x1, x2, out(y)); }) == 1);
    CHECK(all(y == 2 * x1).item());
    add_kernel({5}, {5, 1}, x1 + 1, transpose(x1), out(y));
    CHECK(all(y == x1 + 1 + transpose(x1)).item());
}

TEST_CASE("CuPy's example with complex numbers runs") {
    const raw_kernel complex_kernel(complex_text, "my_func");
    using c8 = std::complex<float>;
    const array<c8> x1 = reshape(arange<float>(25), {5, 5}) * c8(1, 2), x2 = x1 * 2;
    array<c8> y = zeros<c8>({5, 5});
    complex_kernel(5, 5, x1, x2, out(y), 2.0f);
    CHECK(all(y == x1 + 2 * x2).item());
}

TEST_CASE("CuPy's examples of modules run: two kernels of one text, and instances of a template") {
    const raw_module module(two_kernels_text);
    const raw_kernel sum = module.get_function("test_sum"), times = module.get_function("test_multiply");
    const unsigned n = 10;
    const array<float> x1 = reshape(arange<float>(n * n), {10, 10}), x2 = ones<float>({10, 10});
    array<float> y = zeros<float>({10, 10});
    sum(n, n, x1, x2, out(y), n * n);
    CHECK(all(y == x1 + x2).item());
    times(n, n, x1, x2, out(y), n * n);
    CHECK(all(y == x1 * x2).item());

    const raw_module instances(template_text, {"-std=c++11"}, {"fx3<float>", "fx3<double>"});
    const raw_kernel of_float = instances.get_function("fx3<float>"), of_double = instances.get_function("fx3<double>");
    array<float> a = arange<float>(10);
    array<double> b = arange<double>(10);
    of_float(1, 10, inout(a), 10);
    of_double(1, 10, inout(b), 10);
    CHECK(all(a == arange<float>(10) * 3).item());
    CHECK(all(b == arange<double>(10) * 3).item());
    CHECK_THROWS_AS((void)instances.get_function("fx3<int>"), error);
}

TEST_CASE("a raw kernel has CUDA's device math beside C's") {
    const raw_kernel bits(R"(extern "C" __global__ void bits(const float* x, unsigned int* y) {
        y[0] = __brev(1u) >> 31;
        y[1] = __float_as_uint(x[0]);
        y[2] = (unsigned int)__float2int_ru(x[0]) + __umulhi(0x80000000u, 4u) + __popc(7u);
        y[3] = (unsigned int)(rsqrtf(0.25f) + rcbrt(0.125) + __fadd_rd(1.0f, 1e-10f) + sinpif(0.5f) + ldexpf(1.0f, 2));
    })",
                          "bits");
    array<std::uint32_t> y = zeros<std::uint32_t>(4);
    bits(1, 1, array<float>{2.5f}, out(y));
    CHECK(y.to_host() == std::vector<std::uint32_t>{1, 0x40200000u, 8, 10});
}

TEST_CASE("what is written has memory of its own, and what is read is as it was before") {
    const raw_kernel next("extern \"C\" __global__ void next(const int* x, int* y) { *y += *x; }", "next");
    array<int> x{1}, before = x;
    const auto pending = x + 100;
    next(1, 1, x, inout(x));
    CHECK(holds(x, {1}, {2}));
    CHECK(holds(before, {1}, {1}));
    CHECK(holds(pending, {1}, {101}));
    const int* const place = x.data();
    next(1, 1, before, inout(x));
    CHECK(x.data() == place);  // nothing else holds it
    const raw_kernel set("extern \"C\" __global__ void set(int* y) { *y = 5; }", "set");
    array<int> shared = x;
    set(1, 1, out(shared));
    CHECK(holds(shared + x, {1}, {8}));
}

TEST_CASE("numbers, structs and pointers are arguments, and a module has variables and namespaces") {
    const raw_module module(mixed_text);
    struct pair {
        int first;
        float second;
    };
    array<int> x = zeros<int>(3);
    const raw_kernel fill = module.get_function("own::inner::fill");
    fill(1, 3, out(x), pair{1, 30}, short{400}, true, nullptr);
    CHECK(holds(x, {3}, {11432, 11432, 11432}));
    fill(1, 2, inout(x), pair{1, 30}, short{400}, false, x.data());
    CHECK(holds(x, {3}, {432, 432, 11432}));
    CHECK(thrown<error>([&] { (void)module.get_function("commented"); }) ==
          "[raw_module] there is no kernel 'commented'; there are own::inner::fill, scale, count_up");

    array<float> factors = module.get_global<float>("factors"), y{1, 2, 3};
    CHECK(factors.size() == 3);
    factors(all) = array<float>{10, 20, 30};
    module.get_function("scale")(1, 3, inout(y));
    CHECK(holds(y, {3}, {10, 40, 90}));
    module.get_function("count_up")(1, 1, inout(x));
    CHECK(x(0).item() == 7);
    CHECK(raw_module(mixed_text).get_global<int>("calls")(0).item() == 7);
    CHECK_THROWS_AS((void)module.get_global<double>("factors"), dtype_error);
    CHECK(thrown<error>([&] { (void)module.get_global<int>("fill"); }) == "[raw_module] there is no variable 'fill'");
}

TEST_CASE("options are the compiler's, and grids have three dimensions") {
    const raw_kernel where(R"(
extern "C" __global__ void where(int* x) {
    const int block = (blockIdx.z * gridDim.y + blockIdx.y) * gridDim.x + blockIdx.x;
    const int thread = (threadIdx.z * blockDim.y + threadIdx.y) * blockDim.x + threadIdx.x;
    x[block * blockDim.x * blockDim.y * blockDim.z + thread] = FACTOR * (100 * block + thread);
})",
                           "where", {"-DFACTOR=3", "--std=c++17"});
    array<int> x = empty<int>({24, 24});
    where({2, 3, 4}, {4, 3, 2}, out(x));
    CHECK(all(x == 3 * (100 * reshape(arange<int>(24), {24, 1}) + arange<int>(24))).item());
}

TEST_CASE("arguments that do not fit are told apart before anything is launched") {
    const raw_kernel add(add_text, "my_add");
    const array<float> x{1, 2};
    const array<double> wide{1, 2};
    array<float> y = zeros<float>(2);
    const auto before = counters().kernel_launches;
    CHECK(thrown<error>([&] { add(1, 2, x, out(y)); }) ==
          "[my_add] 2 arguments were given, and the kernel has 3 parameters");
    CHECK(thrown<dtype_error>([&] { add(1, 2, x, wide, out(y)); }) ==
          "[my_add] argument 2 of 3 is an array of float64, and the parameter is a pointer to const float32");
    CHECK(thrown<dtype_error>([&] { add(1, 2, x, x, y); }) ==
          "[my_add] argument 3 of 3 is an array of float32, and the parameter is a pointer to float32, through which "
          "the kernel may write: give out(x) or inout(x)");
    CHECK(thrown<dtype_error>([&] {
              add(1, 2, inout(y), x, out(y));
          }).ends_with("through which the kernel cannot write"));
    CHECK(thrown<dtype_error>([&] { add(1, 2, x, 1, out(y)); }) ==
          "[my_add] argument 2 of 3 is int32, and the parameter is a pointer to const float32");
    CHECK(thrown<dtype_error>([&] { add(1, 2, x, wide.data(), out(y)); }) ==
          "[my_add] argument 2 of 3 is a pointer to const float64, and the parameter is a pointer to const float32");
    const raw_kernel scale("extern \"C\" __global__ void scale(float* x, float by, unsigned n) {}", "scale");
    CHECK(thrown<dtype_error>([&] { scale(1, 1, inout(y), 2.0, 1u); }) ==
          "[scale] argument 2 of 3 is float64, and the parameter is float32");
    CHECK(thrown<dtype_error>([&] { scale(1, 1, inout(y), 2.0f, 1); }) ==
          "[scale] argument 3 of 3 is int32, and the parameter is uint32");
    const raw_kernel both("extern \"C\" __global__ void both(float* x, float* y) {}", "both");
    const array<float> copy = y;
    CHECK_THROWS_AS(both(1, 1, out(y), inout(y)), error);
    CHECK(std::as_const(y).data() == copy.data());  // un-shared is what a launch writes, and not before
    array<float> elsewhere = x.to(device::host(1));
    CHECK_THROWS_AS(both(1, 1, out(y), inout(elsewhere)), device_error);
    CHECK(counters().kernel_launches == before);
    add(1, 2, x, x, out(y));  // all is usable
    CHECK(holds(y, {2}, {2, 4}));
}

TEST_CASE("grids and blocks are within the limits") {
    const raw_kernel f("extern \"C\" __global__ void f(int* x) {}", "f");
    array<int> x{1};
    CHECK(thrown<shape_error>([&] { f(1, 2048, out(x)); }) ==
          "[f] a block of (2048, 1, 1) was given; extents from 1 to (1024, 1024, 64) with a product of at most 1024 "
          "are wanted");
    CHECK_THROWS_AS(f(1, {32, 64}, out(x)), shape_error);
    CHECK_THROWS_AS(f(0, 1, out(x)), shape_error);
    CHECK_THROWS_AS(f({1, 65536}, 1, out(x)), shape_error);
    CHECK_THROWS_AS(f({.grid = 3, .block = 1, .cluster = 2}, out(x)), error);
    if (on_host()) {
        CHECK_THROWS_AS(f({.block = 1, .cooperative = true}, out(x)), device_error);
    }
}

TEST_CASE("a text that does not compile says where, by the text's own lines, and names that are none say so") {
    const raw_kernel bad("extern \"C\" __global__ void bad(int* x) {\n    *x = 1;\n    *x = nothing;\n}\n", "bad");
    array<int> x{1};
    try {
        bad(1, 1, out(x));
        FAIL("it compiled");
    } catch (const compile_error& e) {
        const bool by_gcc = e.log().find(":3:") != e.log().npos, by_nvrtc = e.log().find("(3)") != e.log().npos;
        CHECK((by_gcc || by_nvrtc));
        CHECK(e.source().find("   3      *x = nothing;\n   4  }") != e.source().npos);
        CHECK(std::string(e.what()).find("nothing") != std::string::npos);
    }
    CHECK(holds(x, {1}, {1}));
    CHECK(thrown<error>([] {
              raw_kernel(add_text, "my_ad").compile();
          }).starts_with("[raw_kernel] the text has not all of the kernels my_ad; it has my_add\n"));
    using namespace std::string_view_literals;
    CHECK(thrown<error>([] { raw_kernel("extern \"C\" __global__ void f() {}\0 void g();"sv, "f"); }) ==
          "[raw_kernel] the source has a zero byte behind 33 characters");
    CHECK_THROWS_AS(raw_kernel(add_text, "my_add\0"sv), error);
    CHECK_THROWS_AS(raw_kernel(add_text, "my_add", {std::string("-DN=1\0x"sv)}), error);
    CHECK_THROWS_AS(raw_module(add_text, {}, {std::string("f\0"sv)}), error);
    CHECK_THROWS_AS((void)raw_module(add_text).get_function("my_add\0"sv), error);
    CHECK_THROWS_AS((void)raw_module(add_text).get_global<float>("x\0"sv), error);
    CHECK_THROWS_AS(raw_module::from_file("/dev/null\0"sv), file_error);
    CHECK_THROWS_AS(raw_kernel(add_text, ""), error);
    CHECK_THROWS_AS(raw_kernel("  ", "f"), error);
    CHECK_THROWS_AS(raw_module(add_text, {}, {""}), error);
    CHECK_THROWS_AS((void)raw_module(add_text).get_function(""), error);
    static_assert(!std::is_constructible_v<raw_kernel, std::string_view, std::nullptr_t>);
}

TEST_CASE("files that are no kernels are refused, and kernels of files run") {
    CHECK(thrown<file_error>([] { raw_module::from_file("/no/such.cubin"); }) ==
          "[raw_module] /no/such.cubin: No such file or directory");
    CHECK(thrown<file_error>([] { raw_module::from_file("/"); }) == "[raw_module] /: Is a directory");
    const std::vector<std::byte> short_elf{std::byte{0x7f}, std::byte{'E'}, std::byte{'L'}, std::byte{'F'}};
    CHECK(thrown<file_error>([&] { raw_module::from_image(short_elf); }) == "[raw_module] the image is cut short");
    const raw_module garbage = raw_module::from_image(std::as_bytes(std::span("this is no program", 18)));
    CHECK_THROWS_AS((void)garbage.get_function("f"), error);
    if (on_host()) return;

    runtime::source_text source{runtime::target::cuda,
                                "sm_" + std::to_string(runtime::architecture_of(current_device())),
                                std::string(add_text),
                                {},
                                {"my_add"}};
    const std::vector<std::byte> code = runtime::compile(source);
    const std::string path =
        (std::filesystem::temp_directory_path() / "ingot_raw.cubin").string() + std::to_string(getpid());
    std::ofstream(path, std::ios::binary)
        .write(reinterpret_cast<const char*>(code.data()), static_cast<std::streamsize>(code.size()));
    const raw_module module = raw_module::from_file(path);
    std::filesystem::remove(path);
    const raw_kernel add = module.get_function("my_add");
    array<float> x{1, 2}, y = zeros<float>(2);
    add(1, 2, x, x, out(y));
    CHECK(holds(y, {2}, {2, 4}));
    CHECK_THROWS_AS((void)module.get_function("my_ad"), error);
    // The driver knows how many parameters there are, and their sizes, from 12.4 on.
    CHECK_THROWS_AS(add(1, 2, x, out(y)), error);
    CHECK_THROWS_AS(add(1, 2, x, 1, out(y)), dtype_error);
}

TEST_CASE("a block's threads share memory and wait for each other, and clusters and attributes are a GPU's") {
    if (thread_sanitizer) return ingot::test::untested("the sanitizer knows nothing of a block's threads");
    const raw_kernel backwards(R"(
extern "C" __global__ void backwards(const int* x, int* y) {
    extern __shared__ int shared_[];
    __shared__ alignas(16) int one[32];
    shared_[threadIdx.x] = x[blockIdx.x * blockDim.x + threadIdx.x];
    one[threadIdx.x] = 1;
    __syncthreads();
    y[blockIdx.x * blockDim.x + threadIdx.x] = shared_[blockDim.x - 1 - threadIdx.x] + one[31 - threadIdx.x];
})",
                               "backwards");
    const array<int> x = arange<int>(128);
    array<int> y = empty<int>(128);
    const auto is_reversed = [&] {
        return all(reshape(y, {4, 32})(ingot::all, slice(none, none, -1)) == reshape(x, {4, 32}) + 1).item();
    };
    backwards({.grid = 4, .block = 32, .shared_bytes = 128}, x, out(y));
    CHECK(is_reversed());
    y.fill(0);
    backwards({.grid = 4, .block = 32, .shared_bytes = 64 << 10}, x, out(y));  // more than is had without asking
    CHECK(is_reversed());
    backwards.set_max_dynamic_shared_bytes(64 << 10);
    CHECK(backwards.attributes().max_threads_per_block == 1024);
    if (on_host()) return;

    backwards({.grid = 4, .block = 32, .shared_bytes = 128, .cluster = 2}, x + 1, out(y));
    CHECK(y(31).item() == 2);
    backwards({.grid = 4, .block = 32, .shared_bytes = 128, .cooperative = true}, x, out(y));
    CHECK(is_reversed());
    const kernel_attributes a = backwards.attributes();
    CHECK(a.shared_bytes >= 128);
    CHECK(a.max_dynamic_shared_bytes >= std::size_t{64} << 10);
    CHECK_THROWS_AS(backwards.set_max_dynamic_shared_bytes(std::size_t{1} << 30), device_error);
    CHECK_THROWS_AS(backwards({.grid = 1, .block = 32, .shared_bytes = std::size_t{1} << 30}, x, out(y)), device_error);
}

TEST_CASE("a reduction over blocks of threads that end early and wait by warps, with atomics") {
    if (thread_sanitizer) return ingot::test::untested("the sanitizer knows nothing of a block's threads");
    const raw_kernel total(R"(
__device__ void add_warp(volatile int* all, int lane) {
    for (int far = 16; far > 0; far /= 2) {
        int sum = all[lane] + (lane + far < 32 ? all[lane + far] : 0);
        __syncwarp();
        all[lane] = sum;
        __syncwarp();
    }
}
extern "C" __global__ void total(const int* x, int* sum, int n) {
    __shared__ int all[8][32];
    const int i = blockIdx.x * blockDim.x * blockDim.y + threadIdx.y * blockDim.x + threadIdx.x;
    all[threadIdx.y][threadIdx.x] = i < n ? x[i] : 0;
    __syncthreads();
    add_warp(all[threadIdx.y], threadIdx.x);
    __syncthreads();
    if (threadIdx.x != 0 || threadIdx.y != 0) return;
    for (int w = 0; w < 8; ++w) atomicAdd(sum, all[w][0]);
})",
                           "total");
    const array<int> x = arange<int>(5000);
    array<int> sums = zeros<int>(1);
    total(20, {32, 8}, x, inout(sums), 5000);
    CHECK(sums(0).item() == 12497500);
    if (!on_host()) return;
    const raw_kernel stuck(
        "extern \"C\" __global__ void stuck(int* x) { if (threadIdx.x < 2) __syncthreads(); else "
        "__syncwarp(); }",
        "stuck");
    CHECK(thrown<error>([&] { stuck(1, 4, inout(sums)); }) ==
          "[raw_kernel] threads of a block wait at a barrier that the others never reach");
    CHECK(sums(0).item() == 12497500);
}

TEST_CASE("launches are in order with expressions, on other streams too") {
    const raw_kernel next("extern \"C\" __global__ void next(int* x, int n) { if (threadIdx.x < n) x[threadIdx.x]++; }",
                          "next");
    array<int> x = zeros<int>(64);
    stream one, two;
    for (int i = 0; i < 5; ++i) {
        {
            with_stream in(one);
            next(1, 64, inout(x), 64);
        }
        with_stream in(two);
        x *= 2;
    }
    CHECK(all(x == 62).item());
}

TEST_CASE("a kernel may have the name of a function of the C library") {
    const raw_kernel read("extern \"C\" __global__ void read(float* y) { y[threadIdx.x] = 7; }", "read");
    array<float> y = zeros<float>({4});
    read({1}, {4}, out(y));
    CHECK(all(y == 7).item());
}

TEST_CASE("kernels are found in a text by their names") {
    using runtime::kernels_in;
    CHECK(kernels_in(add_text) == std::vector<std::string>{"my_add"});
    CHECK(kernels_in(template_text).empty());
    CHECK(kernels_in(two_kernels_text) == std::vector<std::string>{"test_sum", "test_multiply"});
    CHECK(kernels_in(mixed_text) == std::vector<std::string>{"own::inner::fill", "scale", "count_up"});
    CHECK(kernels_in("__global__ void f(int); __global__ void f(float) {} static __global__ void g() {}") ==
          std::vector<std::string>{"g"});
    CHECK(kernels_in("__global__ void __launch_bounds__(4, (2)) f() {} auto s = R\"(__global__ void h() {})\";") ==
          std::vector<std::string>{"f"});
    CHECK(kernels_in("").empty());
    CHECK(kernels_in("__global__").empty());
}

TEST_CASE("NVRTC compiles the texts as they are given to it") {
    if (!runtime::nvrtc_path()) return ingot::test::untested("NVRTC is not here");
    const auto compiled = [](std::string_view text, std::vector<std::string> kernels,
                             std::vector<std::string> options = {}) {
        runtime::source_text source{runtime::target::cuda, "compute_90", runtime::cuda_text(text, kernels),
                                    std::move(options),    kernels,      kernels};
        const std::vector<std::byte> code = runtime::compile(source);
        return std::pair(std::string(reinterpret_cast<const char*>(code.data()), code.size()),
                         runtime::appended_names(code));
    };
    const auto [sum, names] = compiled(two_kernels_text, {"test_sum", "test_multiply"});
    CHECK(names.size() == 2);  // NVRTC keeps those of extern "C"
    CHECK(sum.find("ingot_parameters_1") != sum.npos);
    CHECK(compiled(template_text, {"fx3<float>"}, {"-std=c++11"}).second.size() == 1);
    CHECK(!compiled(complex_text, {"my_func"}).first.empty());
    CHECK(compiled(mixed_text, runtime::kernels_in(mixed_text)).second.size() == 3);
}
