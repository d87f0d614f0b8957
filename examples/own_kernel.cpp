// A CUDA kernel of one's own between fused expressions, all on one stream and without a wait: a signal with outliers, a
// median of three, and how far off it is. The kernel, own_kernel.cu, is nvcc's where there was one, else raw_kernel's.
// own_kernel [ELEMENTS]
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <iterator>
#include <string>

#include <ingot/ingot.hpp>

using namespace ingot;

void launch_median_of_three(const float* from, float* to, int n, void* stream);

namespace {

bool is_of_nvcc() {
#ifdef EXAMPLE_HAS_NVCC
    return current_device().is_cuda();
#else
    return false;
#endif
}

void median_of_three(const array<float>& from, array<float>& to) {
    const int n = static_cast<int>(from.size());
#ifdef EXAMPLE_HAS_NVCC
    // Pointers and the current stream are all that a launch needs: what Ingot puts there before and after is in order.
    if (is_of_nvcc())
        return launch_median_of_three(from.data(), to.mutable_data(), n, current_stream().native_handle());
#endif
    static const raw_kernel kernel = [] {
        std::ifstream text(EXAMPLE_KERNEL);
        return raw_kernel(std::string(std::istreambuf_iterator<char>(text), {}), "median_of_three");
    }();
    kernel((n + 255) / 256, 256, from, out(to), n);
}

}  // namespace

int main(int argc, char** argv) {
    const index_t n = argc > 1 ? std::atoll(argv[1]) : 1 << 22;
    const stream work;
    const with_stream in(work);

    random::seed(7);
    const auto t = arange<float>(static_cast<float>(n)) / 1000.0f;
    const array<float> signal = sin(t) + 0.3f * cos(7 * t);
    const array<float> measured = where(random::uniform<float>(signal.shape()) < 0.01f, 5.0f, signal);
    array<float> cleaned = empty_like(measured);
    median_of_three(measured, cleaned);
    const auto [before, after] = eval(mean(square(measured - signal)), mean(square(cleaned - signal)));

    std::printf("%lld elements on %s, the kernel by %s\n", static_cast<long long>(n),
                to_string(current_device()).c_str(), is_of_nvcc() ? "nvcc" : "raw_kernel");
    std::printf("mean square of the error: %.6f, after the median: %.6f\n", static_cast<double>(before.item()),
                static_cast<double>(after.item()));
}
