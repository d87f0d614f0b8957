// Batches of small matrices on Ingot's workers: the library has one thread meanwhile, and its own again afterwards; the
// first matrix that fails is named, whichever is found first.
#include <atomic>
#include <thread>

#include "runtime/linalg/lapack.hpp"
#include "tests/arrays/expect.hpp"
#include "tests/linalg/has_blas.hpp"

using namespace ingot;

namespace {

/// Null where LAPACK is not called, or does not say.
const runtime::library_threads* threads_to_look_at() {
    if (current_device().is_cuda() || !test::has_blas()) return nullptr;
    const runtime::library_threads* const threads = runtime::threads_of_lapack();
    if (threads == nullptr) test::untested("a LAPACK that tells how many threads it has");
    return threads;
}

}  // namespace

TEST_CASE("the library has one thread while somebody wants one, then as many as before") {
    const runtime::library_threads* const threads = threads_to_look_at();
    if (threads == nullptr) return;
    const int given = threads->get();
    threads->set(3);
    {
        const runtime::one_library_thread not_wanted(false);
        CHECK(threads->get() == 3);
        const runtime::one_library_thread first(true);
        CHECK(threads->get() == 1);
        std::thread([] { const runtime::one_library_thread second(true); }).join();
        CHECK(threads->get() == 1);
    }
    CHECK(threads->get() == 3);
    threads->set(given);
}

TEST_CASE("a batch of small matrices is solved by one thread of the library") {
    const runtime::library_threads* const threads = threads_to_look_at();
    if (threads == nullptr) return;
    const int given = threads->get();
    threads->set(2);
    const array<double> a = random::generator(1).normal<double>({3000, 2, 2}) + 4 * eye(2), b = ones({3000, 2, 1});
    std::atomic<bool> alone{false}, ended{false};
    std::thread looks([&] {
        while (!ended && !alone) alone = threads->get() == 1;
    });
    for (int i = 0; i < 1000 && !alone; ++i) (void)linalg::solve(a, b);
    ended = true;
    looks.join();
    CHECK(alone);
    CHECK(threads->get() == 2);
    // For a large matrix the library uses its own number of threads.
    (void)linalg::inv(eye(200));
    CHECK(threads->get() == 2);
    threads->set(given);
}

TEST_CASE("matrices of a batch are each their own, and of several that fail the first is named") {
    if (!test::has_blas()) return;
    array<double> a = random::generator(2).normal<double>({500, 30, 30}) + 10 * eye(30);
    const array<double> one = matmul(a, linalg::inv(a)), of_each = linalg::det(a);
    CHECK(all(abs(one - eye(30)) < 1e-10).item());
    for (const index_t i : {0, 250, 499}) CHECK(allclose(of_each(i), linalg::det(array<double>(a(i))), 1e-12).item());
    for (const index_t i : {77, 78, 300, 499}) a(i) = 0;
    if (current_device().is_cuda()) return;
    CHECK_THROWS_WITH_AS(linalg::inv(a), doctest::Contains("matrix (77,) of shape"), linalg_error);
    CHECK_THROWS_WITH_AS(linalg::cholesky(-a * 0), doctest::Contains("matrix (0,) of shape"), linalg_error);
}
