#include "expect.hpp"

using namespace ingot;

TEST_CASE("transpose and its kin") {
    const array<int> x = counted({2, 3, 4});
    CHECK(transpose(x).shape() == shape_like{4, 3, 2});
    CHECK(transpose(x)(3, 2, 1).item() == 23);
    CHECK(x.T()(1, 0, 1).item() == 13);
    CHECK(permute_dims(x, {2, 0, 1}).shape() == shape_like{4, 2, 3});
    CHECK(permute_dims(x, {2, 0, 1})(1, 0, 2).item() == 9);
    CHECK(transpose(x, {-1, 0, 1}).shape() == shape_like{4, 2, 3});
    CHECK(swapaxes(x, 0, -1).shape() == shape_like{4, 3, 2});
    CHECK(moveaxis(x, 0, -1).shape() == shape_like{3, 4, 2});
    CHECK(moveaxis(x, {0, 2}, {1, 0}).shape() == shape_like{4, 2, 3});
    CHECK(moveaxis(x, 0, -1)(2, 3, 1).item() == 23);
    CHECK(holds(transpose(counted({2, 2}) + 1) * 2, {2, 2}, {2, 6, 4, 8}));
}

TEST_CASE("flip") {
    const array<int> x{{1, 2, 3}, {4, 5, 6}};
    CHECK(holds(flip(x), {2, 3}, {6, 5, 4, 3, 2, 1}));
    CHECK(holds(flip(x, 0), {2, 3}, {4, 5, 6, 1, 2, 3}));
    CHECK(holds(flip(x + 1, {-1}), {2, 3}, {4, 3, 2, 7, 6, 5}));
    CHECK(holds(flip(zeros<int>({0})), {0}, {}));
}

TEST_CASE("squeeze and expand_dims") {
    const array<int> x = counted({1, 3, 1});
    CHECK(squeeze(x).shape() == shape_like{3});
    CHECK(squeeze(x, 0).shape() == shape_like{3, 1});
    CHECK(squeeze(x, {0, -1}).shape() == shape_like{3});
    CHECK(expand_dims(x, 0).shape() == shape_like{1, 1, 3, 1});
    CHECK(expand_dims(counted({3}), {0, 2}).shape() == shape_like{1, 3, 1});
    CHECK(holds(expand_dims(counted({3}) + 1, -1), {3, 1}, {1, 2, 3}));
}

TEST_CASE("broadcast_to and diagonal") {
    const array<int> x{1, 2, 3};
    CHECK(holds(broadcast_to(x, {2, 3}), {2, 3}, {1, 2, 3, 1, 2, 3}));
    CHECK(holds(broadcast_to(x(all, newaxis) + 1, {3, 2}), {3, 2}, {2, 2, 3, 3, 4, 4}));
    CHECK(broadcast_to(x, {0, 3}).size() == 0);
    const array<int> m = counted({3, 4});
    CHECK(holds(diagonal(m), {3}, {0, 5, 10}));
    CHECK(holds(diagonal(m, 2), {2}, {2, 7}));
    CHECK(holds(diagonal(m + 1, -1), {2}, {5, 10}));
    CHECK(diagonal(m, 9).size() == 0);
    CHECK(holds(diagonal(counted({2, 3, 2}), 0, 0, 2), {3, 2}, {0, 7, 2, 9, 4, 11}));
}

TEST_CASE("bad axes throw and say which") {
    const array<int> x = counted({2, 3});
    CHECK(thrown<shape_error>([&] { (void)permute_dims(x, {0, 0}); }) == "[permute_dims] axis 0 is given twice");
    CHECK(thrown<shape_error>([&] { (void)permute_dims(x, {0}); }) == "[permute_dims] 1 axes for rank 2");
    CHECK(thrown<shape_error>([&] { (void)transpose(x, {1, 1}); }) == "[transpose] axis 1 is given twice");
    CHECK(thrown<shape_error>([&] { (void)flip(x, 2); }) == "[flip] axis 2 is out of range for rank 2");
    CHECK(thrown<shape_error>([&] { (void)squeeze(x, 0); }) == "[squeeze] axis 0 of shape (2, 3) is not of extent 1");
    CHECK(thrown<shape_error>([&] { (void)broadcast_to(x, {3, 3}); }) ==
          "[broadcast_to] shape (2, 3) does not broadcast to (3, 3)");
    CHECK_THROWS_AS((void)broadcast_to(x, {3}), shape_error);
    CHECK_THROWS_AS((void)broadcast_to(x, {-1, 2, 3}), shape_error);
    CHECK_THROWS_AS((void)swapaxes(x, 0, -3), shape_error);
    CHECK_THROWS_AS((void)moveaxis(x, {0, 1}, {0}), shape_error);
    CHECK_THROWS_AS((void)diagonal(x(0)), shape_error);
    CHECK_THROWS_AS((void)diagonal(x, 0, 1, 1), shape_error);
    CHECK_THROWS_AS((void)expand_dims(x, {0, 0}), shape_error);
}

TEST_CASE("shapes that do not broadcast throw in the statement and name the operation") {
    const array<int> x = counted({2, 3}), y = counted({4});
    CHECK(thrown<shape_error>([&] { (void)(x + y); }) == "[add] shapes (2, 3) and (4,) do not broadcast");
    CHECK(thrown<shape_error>([&] { (void)where(x > 0, x, y); }) ==
          "[where] shapes (2, 3), (2, 3) and (4,) do not broadcast");
    CHECK((zeros<int>({0}) + zeros<int>({1})).shape() == shape_like{0});
    CHECK_THROWS_AS((void)(zeros<int>({0}) + zeros<int>({3})), shape_error);
}

TEST_CASE("a view of a scalar, of a tree or a lazy over scalars has its shape") {
    const auto expect_threes = [](const auto& e) {
        CHECK(e.shape() == shape_like({2, 3}));
        CHECK(array_equal(e, full<double>({2, 3}, 3)).item());
        CHECK(array_equal(e + zeros<double>({2, 3}), full<double>({2, 3}, 3)).item());
    };
    expect_threes(broadcast_to(scalar<double>(3), {2, 3}));
    expect_threes(broadcast_to(scalar<double>(1) + scalar<double>(2), {2, 3}));
    expect_threes(broadcast_to(sum(scalar<double>(3)), {2, 3}));
    expect_threes(broadcast_to(lazy<double>(scalar<double>(3)), {2, 3}));
    expect_threes(broadcast_to(lazy<double>(scalar<double>(1)) + 2, {2, 3}));
    expect_threes(transpose(broadcast_to(broadcast_to(scalar<double>(3), {3}), {3, 3}))(slice(0, 2)));
    CHECK(expand_dims(scalar<int>(7), 0).shape() == shape_like({1}));
    CHECK(sum(broadcast_to(scalar<int>(7), {4, 5}), 0).eval().to_host() == std::vector<std::int64_t>(5, 28));
}
