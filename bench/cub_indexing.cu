// Measures CUB on the rows of indexing.cpp and sorting.cpp that it has: x(mask), nonzero, a histogram and unique, by a
// sort and a selection. Prints a JSON line a row, the median of eleven calls; each result is checked once.
//   nvcc -O3 -std=c++17 -arch=native
//   cub_indexing [SHRINK]
// SHRINK divides the sizes by 2^SHRINK.
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <vector>

#include <cuda_runtime.h>
#include <thrust/iterator/counting_iterator.h>
#include <cub/device/device_histogram.cuh>
#include <cub/device/device_radix_sort.cuh>
#include <cub/device/device_select.cuh>

static void check(cudaError_t status) {
    if (status == cudaSuccess) return;
    std::fprintf(stderr, "cub_indexing: %s\n", cudaGetErrorString(status));
    std::exit(1);
}
static void require(bool holds, const char* name) {
    if (holds) return;
    std::fprintf(stderr, "cub_indexing: %s: wrong\n", name);
    std::exit(1);
}

template <class T>
T* device_array(std::size_t n) {
    void* memory;
    check(cudaMalloc(&memory, n * sizeof(T)));
    return static_cast<T*>(memory);
}

__global__ void fill(float* x, std::uint8_t* mask, std::int64_t n) {
    for (std::int64_t i = blockIdx.x * std::int64_t{blockDim.x} + threadIdx.x; i < n;
         i += std::int64_t{gridDim.x} * blockDim.x) {
        std::uint64_t z = (i + 1) * 0x9e3779b97f4a7c15ull;
        z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9ull;
        z = (z ^ (z >> 27)) * 0x94d049bb133111ebull;
        z ^= z >> 31;
        x[i] = float(z >> 40) * 0x1p-24f;
        mask[i] = z & 1;
    }
}

/// `call(storage, bytes)` as CUB's functions are called: without storage it says how much it wants.
template <class Call>
void measure(const char* name, Call call) {
    std::size_t bytes = 0;
    check(call(nullptr, bytes));
    std::uint8_t* const storage = device_array<std::uint8_t>(bytes);
    cudaEvent_t from, to;
    check(cudaEventCreate(&from));
    check(cudaEventCreate(&to));
    std::vector<float> times;
    for (int turn = 0; turn < 14; ++turn) {
        check(cudaEventRecord(from));
        check(call(storage, bytes));
        check(cudaEventRecord(to));
        check(cudaEventSynchronize(to));
        float milliseconds = 0;
        check(cudaEventElapsedTime(&milliseconds, from, to));
        if (turn >= 3) times.push_back(1e3f * milliseconds);
    }
    check(cudaFree(storage));
    std::sort(times.begin(), times.end());
    std::printf("{\"section\": \"by CUB\", \"name\": \"%s\", \"unit\": \"us\", \"time\": %.1f}\n", name,
                times[times.size() / 2]);
    std::fflush(stdout);
}

int main(int argc, char** argv) {
    const std::int64_t n = (std::int64_t{1} << 28) >> (argc > 1 ? std::atoi(argv[1]) : 0);
    float* const x = device_array<float>(n);
    float* const kept = device_array<float>(n);
    std::uint8_t* const mask = device_array<std::uint8_t>(n);
    std::int64_t* const places = device_array<std::int64_t>(n);
    std::int64_t* const count = device_array<std::int64_t>(1);
    int* const bins = device_array<int>(256);
    fill<<<1024, 256>>>(x, mask, n);
    check(cudaGetLastError());
    std::vector<float> values(n);
    std::vector<std::uint8_t> flags(n);
    check(cudaMemcpy(values.data(), x, n * sizeof(float), cudaMemcpyDefault));
    check(cudaMemcpy(flags.data(), mask, n, cudaMemcpyDefault));
    std::int64_t wanted = 0;
    std::vector<int> wanted_bins(256, 0);
    std::vector<std::int64_t> some;
    for (std::int64_t i = 0; i < n; ++i) {
        wanted += flags[i];
        if (flags[i] && some.size() < 1000) some.push_back(i);
        ++wanted_bins[static_cast<int>(values[i] * 256)];
    }
    const auto require_count = [&](const char* name) {
        std::int64_t found = 0;
        check(cudaMemcpy(&found, count, sizeof found, cudaMemcpyDefault));
        require(found == wanted, name);
    };

    measure("x(mask)", [&](void* storage, std::size_t& bytes) {
        return cub::DeviceSelect::Flagged(storage, bytes, x, mask, kept, count, n);
    });
    require_count("x(mask)");
    std::vector<float> first(some.size());
    check(cudaMemcpy(first.data(), kept, first.size() * sizeof(float), cudaMemcpyDefault));
    for (std::size_t i = 0; i < some.size(); ++i) require(first[i] == values[some[i]], "x(mask)");

    measure("nonzero(mask)", [&](void* storage, std::size_t& bytes) {
        return cub::DeviceSelect::Flagged(storage, bytes, thrust::counting_iterator<std::int64_t>(0), mask, places,
                                          count, n);
    });
    require_count("nonzero(mask)");
    std::vector<std::int64_t> first_places(some.size());
    check(cudaMemcpy(first_places.data(), places, some.size() * sizeof(std::int64_t), cudaMemcpyDefault));
    require(first_places == some, "nonzero(mask)");

    measure("histogram of 256 bins", [&](void* storage, std::size_t& bytes) {
        return cub::DeviceHistogram::HistogramEven(storage, bytes, x, bins, 257, 0.0f, 1.0f, n);
    });
    std::vector<int> found(256);
    check(cudaMemcpy(found.data(), bins, sizeof(int) * 256, cudaMemcpyDefault));
    require(found == wanted_bins, "histogram of 256 bins");

    const std::int64_t many = n / 4;
    int* const keys = reinterpret_cast<int*>(kept);
    int* const sorted = reinterpret_cast<int*>(places);
    int* const different = sorted + many;
    std::vector<int> of_keys(many);
    for (std::int64_t i = 0; i < many; ++i) of_keys[i] = static_cast<int>(values[i] * (1 << 20));
    check(cudaMemcpy(keys, of_keys.data(), sizeof(int) * many, cudaMemcpyDefault));
    std::sort(of_keys.begin(), of_keys.end());
    wanted = std::unique(of_keys.begin(), of_keys.end()) - of_keys.begin();
    measure("unique of 2^26 int32 below 2^20", [&](void* storage, std::size_t& bytes) {
        std::size_t of_sort = 0, of_select = 0;
        const cudaError_t asked = cub::DeviceRadixSort::SortKeys(nullptr, of_sort, keys, sorted, many);
        if (asked != cudaSuccess) return asked;
        const cudaError_t asked_too = cub::DeviceSelect::Unique(nullptr, of_select, sorted, different, count, many);
        if (asked_too != cudaSuccess) return asked_too;
        if (storage == nullptr) return bytes = std::max(of_sort, of_select), cudaSuccess;
        const cudaError_t status = cub::DeviceRadixSort::SortKeys(storage, of_sort, keys, sorted, many);
        if (status != cudaSuccess) return status;
        return cub::DeviceSelect::Unique(storage, of_select, sorted, different, count, many);
    });
    require_count("unique");
}
