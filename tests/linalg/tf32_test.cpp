// TF32, which a GPU may multiply in where it is asked for, and nowhere else.
#include <complex>

#include "tests/arrays/expect.hpp"
#include "tests/linalg/has_blas.hpp"

using namespace ingot;

namespace {

template <class E>
std::string reason_of_call(const E& e) {
    for (const kernel_explanation& k : explain(e).kernels)
        if (k.kind == step_kind::library_call) return k.reason;
    return "no call";
}

/// The relative error of a product whose operands are cut to ten bits of their fractions.
template <class T>
double error_of_product() {
    const array<T> a = full<T>({128, 128}, T(1 + 0x1p-12f)), b = full<T>({128, 128}, T(1));
    const array<T> product = matmul(a, b);
    return static_cast<double>(max(abs(product - T(128 * (1 + 0x1p-12f)))).item()) / 128;
}

}  // namespace

TEST_CASE("products are of TF32 where it is asked for, on a GPU, and say so") {
    if (!test::has_blas()) return;
    const bool gpu = current_device().is_cuda();
    const array<float> a = ones<float>({16, 16});
    const array<double> d = ones<double>({16, 16});
    const std::string as_ever = reason_of_call(matmul(a, a));
    CHECK(as_ever.find("TF32") == std::string::npos);
    CHECK(error_of_product<float>() < 1e-6);
    {
        const with_math g(tf32);
        CHECK(reason_of_call(matmul(a, a)) == as_ever + (gpu ? ", rounded to TF32" : ""));
        CHECK(reason_of_call(matmul(d, d)) == as_ever);
        CHECK(error_of_product<double>() < 1e-15);
        for (const double error : {error_of_product<float>(), error_of_product<std::complex<float>>()}) {
            CHECK(error < 1e-3);
            CHECK((error > 1e-5) == gpu);
        }
        CHECK(error_of_product<double>() < 1e-15);
    }
    CHECK(error_of_product<float>() < 1e-6);
    CHECK(error_of_product<std::complex<float>>() < 1e-6);
}
