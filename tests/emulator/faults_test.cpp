// The emulated GPU itself: it runs correct kernels, and ends a program whose kernel does something that CUDA leaves
// undefined.
#include <doctest/doctest.h>

#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <csignal>
#include <cstdlib>
#include <string>
#include <thread>
#include <vector>

#include "runtime/device/driver.hpp"
#include "runtime/kernels/kernel_module.hpp"

namespace ingot::runtime {

namespace {

constexpr unsigned threads = 64;

/// The kernel `k(int* to)`.
source_text source_of(const std::string& body) {
    source_text source;
    source.where = target::cuda;
    source.architecture = "sm_90";
    source.text = "extern \"C\" __global__ void k(int* to) {\n" + body + "\n}\n";
    source.kernels = {"k"};
    return source;
}

/// The 256 elements that the kernel writes, over blocks of 64 threads with that many bytes of dynamic shared memory.
std::vector<int> results_of(const std::string& body, unsigned blocks, unsigned shared_bytes = 0) {
    const driver_api& api = need_driver("test");
    const auto module = load(source_of(body));
    CUfunction function = nullptr;
    CUstream stream = nullptr;
    CUdeviceptr to = 0;
    std::vector<int> results(256, -1);
    check(api.cuKernelGetFunction(&function, module->kernel("k")), "test");
    check(api.cuStreamCreate(&stream, CU_STREAM_DEFAULT), "test");
    check(api.cuMemAlloc(&to, 4 * results.size()), "test");
    check(api.cuMemcpyHtoDAsync(to, results.data(), 4 * results.size(), stream), "test");
    void* arguments[] = {&to};
    check(api.cuLaunchKernel(function, blocks, 1, 1, threads, 1, 1, shared_bytes, stream, arguments, nullptr), "test");
    check(api.cuMemcpyDtoHAsync(results.data(), to, 4 * results.size(), stream), "test");
    check(api.cuStreamSynchronize(stream), "test");
    check(api.cuMemFree(to), "test");
    return results;
}

/// The message of a process that runs the kernel, before it dies.
std::string fault_of(const std::string& body, unsigned blocks = 1, unsigned shared_bytes = 0) {
    std::array<int, 2> ends{};
    REQUIRE(pipe(ends.data()) == 0);
    const pid_t child = fork();
    if (child == 0) {
        dup2(ends[1], STDERR_FILENO);
        std::signal(SIGABRT, SIG_DFL);
        results_of(body, blocks, shared_bytes);
        _exit(0);
    }
    close(ends[1]);
    std::string said;
    std::array<char, 4096> piece{};
    for (ssize_t n = 0; (n = read(ends[0], piece.data(), piece.size())) > 0;)
        said.append(piece.data(), static_cast<std::size_t>(n));
    close(ends[0]);
    int status = 0;
    waitpid(child, &status, 0);
    CHECK((WIFSIGNALED(status) && WTERMSIG(status) == SIGABRT));
    return said;
}

bool says(const std::string& said, const char* what) {
    return said.find("emulated kernel k") != said.npos && said.find(what) != said.npos;
}

constexpr char reversed[] = R"(
    __shared__ int all[64];
    all[threadIdx.x] = threadIdx.x;
    BARRIER
    to[blockIdx.x * 64 + threadIdx.x] = all[63 - threadIdx.x] + __shfl_xor_sync(~0u, 1, 16);)";

std::string with_barrier(const std::string& barrier) {
    std::string body = reversed;
    return body.replace(body.find("BARRIER"), 7, barrier);
}

}  // namespace

TEST_CASE("threads that are ordered compute what they should") {
    const std::vector<int> seen = results_of(with_barrier("__syncthreads();"), 3);
    for (int i = 0; i < 192; ++i) CHECK(seen[static_cast<std::size_t>(i)] == 64 - i % 64);
    CHECK(seen[192] == -1);
    const std::vector<int> counted = results_of("if (atomicAdd(to, 1) == 254) to[1] = 7;", 4);
    CHECK(counted[0] == 255);
    CHECK(counted[1] == 7);
}

TEST_CASE("what nothing orders is a fault") {
    CHECK(says(fault_of(with_barrier("")), "shared memory is "));
    CHECK(says(fault_of(with_barrier("__syncwarp();")), "and nothing orders the two"));
    CHECK(says(fault_of("to[0] = blockIdx.x;", 2), "memory is written after it was written"));
    CHECK(says(fault_of("to[threadIdx.x] = to[threadIdx.x ^ 1] + 1;"), "and nothing orders the two"));
}

TEST_CASE("threads that wait for ever, for other functions, or in other groups are a fault") {
    CHECK(says(fault_of("if (threadIdx.x < 5) __syncthreads(); else __syncwarp();"), "wait for each other for ever"));
    CHECK(says(fault_of("if (threadIdx.x < 5) __syncwarp(); else __ballot_sync(~0u, 1);"), "different functions"));
    CHECK(says(fault_of("__syncwarp(threadIdx.x % 2 ? ~0u : 0x55555555u);"), "other masks"));
}

TEST_CASE("blocks begin in any order, and one that waits for all others to begin is a fault") {
    bool later_first = false, in_order = false;
    for (int launch = 0; launch < 16; ++launch) {
        const std::vector<int> seen = results_of("if (threadIdx.x == 0) to[1 + blockIdx.x] = atomicAdd(to, 1);", 64);
        CHECK(seen[0] == 63);
        (seen[64] < seen[1] ? later_first : in_order) = true;
    }
    CHECK(later_first);
    CHECK(in_order);
    const std::string said = fault_of(R"(
    if (threadIdx.x != 0) return;
    atomicAdd(to, 1);
    while (atomicAdd(to, 0) < 15) continue;)",
                                      16);
    CHECK(says(said, "which may begin when one of them has ended"));
    CHECK(says(said, "of EMULATOR_SEED="));
}

TEST_CASE("an access that is not aligned is a fault, to global memory and to shared") {
    const char* const what = "not aligned to the size of the access";
    CHECK(says(fault_of("reinterpret_cast<uint4*>(to + 1)[0] = uint4{1, 2, 3, 4};"), what));
    CHECK(says(fault_of("to[0] = __ldg(reinterpret_cast<const uint2*>(to + 1)).x;"), what));
    CHECK(says(fault_of("to[0] = int(reinterpret_cast<double2*>(to + 2)->y);"), what));
    CHECK(says(fault_of("to[threadIdx.x] = *reinterpret_cast<short*>(reinterpret_cast<char*>(to) + 513);"), what));
    CHECK(says(fault_of("__shared__ alignas(16) float all[64];\n"
                        "reinterpret_cast<float4*>(all + 1 + 4 * (threadIdx.x % 8))[0] = float4{};"),
               what));
    CHECK(says(fault_of(R"(
    __shared__ alignas(16) int all[64];
    asm volatile("cp.async.cg.shared.global [%0], [%1], 16;"
                 :: "r"(unsigned(__cvta_generic_to_shared(all)) + 8), "l"(to) : "memory");)"),
               what));
    CHECK(results_of("if (threadIdx.x == 0) reinterpret_cast<uint4*>(to + 4)[0] = uint4{1, 2, 3, 4};", 1)[7] == 4);
}

TEST_CASE("shared memory that does not fit is a fault") {
    const auto kernel = [](const char* bytes) {
        return std::string("__shared__ char all[") + bytes +
               "];\nall[threadIdx.x] = 1;\nto[threadIdx.x] = all[threadIdx.x];";
    };
    CHECK(says(fault_of(kernel("48 * 1024 + 4")), "more than 48 KiB"));
    CHECK(says(fault_of(kernel("40 * 1024"), 1, 16 * 1024), "a block has not as much shared memory"));
    CHECK(results_of(kernel("48 * 1024"), 1)[0] == 1);
    const std::string dynamic =
        "extern __shared__ int all[];\nall[threadIdx.x] = 1;\nto[threadIdx.x] = all[threadIdx.x];";
    CHECK(says(fault_of(dynamic, 1, 128), "beyond what the launch asked for"));
    CHECK(results_of(dynamic, 1, 256)[63] == 1);
    CHECK_THROWS(results_of(dynamic, 1, 48 * 1024 + 16));
}

TEST_CASE("memory beyond an allocation is a fault, and a copy is not there before it is waited for") {
    CHECK(says(fault_of("if (threadIdx.x == 0) to[256] = 1;"), "memory that is not allocated"));
    const std::vector<int> seen = results_of(R"(
    __shared__ alignas(16) int all[64];
    if (threadIdx.x != 0) return;
    asm volatile("cp.async.ca.shared.global [%0], [%1], 4;"
                 :: "r"(unsigned(__cvta_generic_to_shared(all))), "l"(to) : "memory");
    to[1] = all[0];
    asm volatile("cp.async.wait_all;" ::: "memory");
    to[2] = all[0];)",
                                             1);
    CHECK(seen[1] != -1);
    CHECK(seen[2] == -1);
}

TEST_CASE("a library is asked for its kernel by many threads at once, and gives one") {
    const std::vector<std::byte> code = kernels().code(source_of("to[0] = 1;"));
    for (int round = 0; round < 200; ++round) {
        const kernel_module library(target::cuda, "k", code);
        std::array<CUkernel, 16> found{};
        std::atomic<std::size_t> waiting{found.size()};
        std::vector<std::thread> team;
        for (CUkernel& mine : found)
            team.emplace_back([&] {
                --waiting;
                while (waiting > 0) std::this_thread::yield();
                mine = library.kernel("k");
            });
        for (std::thread& member : team) member.join();
        for (const CUkernel one : found) CHECK(one == found[0]);
    }
}

}  // namespace ingot::runtime
