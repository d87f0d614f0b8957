// A repeated statement allocates nothing on the heap. Its results' memory comes from the pool, which in a build with
// guard bands allocates for each block that it checks.
#include <doctest/doctest.h>

#include <cstdlib>
#include <functional>
#include <new>
#include <string>
#include <tuple>

#include <ingot/distributed.hpp>
#include <ingot/ingot.hpp>

#include "runtime/distributed/plan.hpp"

using namespace ingot;

namespace {

thread_local std::size_t allocations = 0;

void* counted_memory(std::size_t bytes) {
    ++allocations;
    if (void* const memory = std::malloc(bytes)) return memory;
    throw std::bad_alloc();
}

/// Heap allocations of ten warm statements.
std::size_t warm(const std::function<void()>& statement) {
    for (int k = 0; k < 4; ++k) statement();
    const std::size_t before = allocations;
    for (int k = 0; k < 10; ++k) statement();
    return allocations - before;
}

array<float> matrix(index_t rows, index_t columns) {
    return reshape(arange<float>(rows * columns) % 23.0f - 11.0f, {rows, columns});
}

}  // namespace

[[gnu::noinline]] void* operator new(std::size_t bytes) { return counted_memory(bytes); }
[[gnu::noinline]] void* operator new(std::size_t bytes, const std::nothrow_t&) noexcept {
    ++allocations;
    return std::malloc(bytes);
}
[[gnu::noinline]] void* operator new(std::size_t bytes, std::align_val_t alignment) {
    ++allocations;
    const auto a = static_cast<std::size_t>(alignment);
    if (void* const memory = std::aligned_alloc(a, (bytes + a - 1) / a * a)) return memory;
    throw std::bad_alloc();
}
[[gnu::noinline]] void operator delete(void* memory) noexcept { std::free(memory); }
[[gnu::noinline]] void operator delete(void* memory, std::size_t) noexcept { std::free(memory); }
[[gnu::noinline]] void operator delete(void* memory, std::align_val_t) noexcept { std::free(memory); }
[[gnu::noinline]] void operator delete(void* memory, std::size_t, std::align_val_t) noexcept { std::free(memory); }

TEST_CASE("a statement that comes again takes nothing from the heap") {
    using result = const array<float>;
    const array<float> y = matrix(6, 8), row = matrix(1, 8)(0).eval();
    array<float> x = matrix(6, 8), z = matrix(6, 8), u = matrix(1, 48)(0).eval();
    const array<bool> mask = x > 0;
    const lazy<float> later = lazy<float>(y) * 2 + x, deep = sum(later * later, -1);
    const auto s = slice(1, 5);
    const auto product = later * y, part = later(s);  // to build nodes of lazies is to allocate them

    const std::size_t block = warm([&] { result r = y + y; });
    const auto is_lean = [&](const std::string& what, std::size_t blocks, const std::function<void()>& statement) {
        INFO(what);
        CHECK(warm(statement) <= blocks * block);
    };
    is_lean("x + y", 1, [&] { result r = x + y; });
    is_lean("x = x + y", 1, [&] { x = x + y; });
    is_lean("x += y", 0, [&] { x += y; });
    is_lean("x += 1", 0, [&] { x += 1; });
    is_lean("x(s) += y(s)", 0, [&] { x(s) += y(s); });
    is_lean("x(s, s) += y(s, s)", 0, [&] { x(s, s) += y(s, s); });
    is_lean("x(s) = e", 0, [&] { x(s) = y(s) * 2 - z(s); });
    is_lean("x(all, 0) = x(all, 1)", 0, [&] { x(all, 0) = x(all, 1); });
    is_lean("x(1) = a scalar", 0, [&] { x(1) = 3; });
    is_lean("fill", 0, [&] { x.fill(2); });
    is_lean("transpose(x)(s) = e", 0, [&] { transpose(x)(s) = transpose(y)(s); });
    is_lean("assign of an expression", 0, [&] { assign(x, x * y); });
    is_lean("assign of a tuple", 0, [&] { assign(std::forward_as_tuple(x, z), z, x); });
    is_lean("assign of parts", 0, [&] { assign(std::tuple(x(0), x(1)), y(1), y(0)); });
    is_lean("eval of two", 2, [&] { const auto r = eval(x + y, x - y); });
    is_lean("eval of two shapes", 2, [&] { const auto r = eval(x + y, sum(x, -1)); });
    is_lean("sides that overlap", 1, [&] { u(slice(1)) = u(slice(0, -1)); });
    is_lean("sides that overlap, updated", 1, [&] { u(slice(1)) += u(slice(0, -1)); });
    is_lean("a joint assignment that overlaps", 2,
            [&] { assign(std::tuple(u(slice(0, 8)), u(slice(8, 16))), u(slice(1, 9)), u(slice(2, 10))); });
    is_lean("x(all) = flip(x)", 1, [&] { x(all) = flip(x); });
    is_lean("x / norm(x)", 2, [&] { result r = y / sqrt(sum(y * y)); });
    is_lean("x / norms of rows", 1, [&] { result r = y / sqrt(sum(y * y, -1, keepdims)); });
    is_lean("softmax", 1, [&] {
        const auto e = exp(y - max(y, -1, keepdims));
        result r = e / sum(e, -1, keepdims);
    });
    is_lean("a reduction in place", 1, [&] { z -= mean(z, -1, keepdims); });
    is_lean("a reduction into a column", 0, [&] { x(all, 0) = sum(y, -1); });
    is_lean("a scan", 1, [&] { result r = cumsum(y, -1); });
    is_lean("a scan in place", 1, [&] { u(all) = cumsum(u); });
    is_lean("scalars on the left", 1, [&] { result r = 2 - 1 / (3 + y); });
    is_lean("rows and scalars broadcast", 1, [&] { result r = y * row + 1; });
    is_lean("where with a mask", 1, [&] { result r = where(mask, y, -y); });
    is_lean("a masked write", 0, [&] { assign(x, where(mask, 0, x)); });
    is_lean("a transposed copy", 1, [&] { result r = transpose(y); });
    is_lean("a transposed sum", 1, [&] { result r = transpose(y) + transpose(z); });
    is_lean("random numbers", 1, [&] { result r = random::uniform<float>({6, 8}); });
    is_lean("a conversion", 1, [&] { const array<double> r = y; });
    is_lean("a lazy", 1, [&] { result r = later; });
    is_lean("a lazy in a tree", 1, [&] { result r = product; });
    is_lean("a lazy with a reduction", 1, [&] { result r = deep; });
    is_lean("a lazy into a part", 0, [&] { x(s) = part; });
    is_lean("a copy of a shared array, split", 1, [&] {
        const array<float> shared = x;
        x += 1;
    });
    const std::size_t to_host = current_device().is_cuda() ? 1 : 0;  // page-locked memory on the way
    is_lean("item", 1 + to_host, [&] { static_cast<void>(sum(y).item()); });
}

TEST_CASE("a statement over arrays in parts that comes again takes nothing from the heap") {
    namespace dist = ingot::distributed;
    runtime::compares_statements = false;  // a debug build's comparison takes memory
    dist::run_local(2, [](dist::session& session) {
        const dist::mesh m(session);
        const array<float> y = dist::redistribute(matrix(6, 8), dist::split(m, dist::ghost(1)));
        array<float> x = eval(y * 2);
        const array<float> row = matrix(1, 8)(0).eval(), own = matrix(3, 8);
        const slice in(1, -1), low(0, -2), high(2, none);
        const std::size_t block = warm([&] { const array<float> r = own + own; });
        const auto is_lean = [&](const std::string& what, std::size_t blocks, const std::function<void()>& statement) {
            const std::size_t found = warm(statement);
            INFO(what);
            if (session.rank() == 0 || found > blocks * block) CHECK(found <= blocks * block);
        };
        is_lean("x += y", 0, [&] { x += y; });
        is_lean("x = where(...)", 0, [&] { x = where(y > 0, x * row, x + 1); });
        is_lean("a new array", 1, [&] { const array<float> r = x + y; });
        array<float> z = eval(x * 2);
        is_lean("ghost layers", 0, [&] {
            z(in, all) = 0.5f * (x(low, all) + x(high, all));
            std::swap(x, z);
        });
        is_lean("a sum", 2, [&] { const array<float> r = sum(x * y); });
        is_lean("x / sum of columns", 3, [&] { const array<float> r = x / sum(y, 0); });
    });
    runtime::compares_statements = true;
}
