// Exceptions name the user's statement, where the call has a parameter for it.
#include <string_view>

#include "expect.hpp"

using namespace ingot;

namespace {

/// The line of the exception that f throws; 0 where none is known.
template <class F>
int line_of(const F& f) {
    try {
        f();
    } catch (const error& e) {
        if (e.file() == nullptr) return 0;
        CHECK(std::string_view(e.file()).ends_with("source_place_test.cpp"));
        return e.line();
    }
    return -1;
}

}  // namespace

TEST_CASE("exceptions say the file and the line of the statement that threw") {
    const array<int> x{1, 2, 3};
    const int here = __LINE__;
    CHECK(line_of([&] { x.item(); }) == here + 1);
    CHECK(line_of([&] { zeros({-1}); }) == here + 2);
    CHECK(line_of([&] { reshape(x, {2, 2}); }) == here + 3);
    CHECK(line_of([&] { broadcast_to(x, {2}); }) == here + 4);
    CHECK(line_of([&] { concatenate({x, zeros<int>({1, 1})}); }) == here + 5);
    CHECK(line_of([&] { matmul(x, zeros<int>({2, 2})); }) == here + 6);
    CHECK(line_of([&] { load<float>("/there/is/no/such/file.npy"); }) == here + 7);
    CHECK(line_of([&] { (void)sort(x, 1); }) == here + 8);
    CHECK(line_of([&] { (void)topk(x, 9); }) == here + 9);
    CHECK(line_of([&] { (void)searchsorted(zeros({2, 2}), x); }) == here + 10);
    CHECK(line_of([&] { (void)linalg::inv(zeros({2, 3})); }) == here + 11);
    CHECK(line_of([&] { (void)fft::fft2(zeros(3)); }) == here + 12);
    CHECK(line_of([&] { (void)quantile(x, 2.0); }) == here + 13);
    CHECK(line_of([&] { (void)bincount(zeros<int>({2, 2})); }) == here + 14);
    CHECK(line_of([&] { (void)random::integers<int>(5, 2, {3}); }) == here + 15);
    CHECK(line_of([&] { (void)random::choice(3, {5}, false); }) == here + 16);
}

TEST_CASE("an evaluation's own calls are the statement's, and nothing is left behind it") {
    const array<int> index{7};
    const array<int> x{1, 2, 3};
    const int here = __LINE__;
    const int thrown_at = line_of([&] {
        const array<int> read = take(x, index);
        read.to_host();
    });
    CHECK((thrown_at == here + 2 || thrown_at == here + 3));
    // Operators have no place.
    CHECK(line_of([&] { (void)(x + zeros<int>(2)); }) == 0);
}
