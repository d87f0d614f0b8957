// Bad input ends in a typed error that names operation, shapes and dtypes, in the statement that is wrong, and leaves
// everything as it was. What does not compile is in tests/arrays/rejected_test.cpp.
#include "count.hpp"
#include "tests/arrays/expect.hpp"

using namespace ingot;

namespace {

/// Sets a limit on the current device's pool until its end.
class pool_limit {
public:
    explicit pool_limit(std::size_t more) {
        pool_.free_all_blocks();
        pool_.set_limit(pool_.total_bytes() + more);
    }
    pool_limit(const pool_limit&) = delete;
    ~pool_limit() { pool_.set_limit(0); }

private:
    memory_pool pool_ = default_memory_pool();
};

}  // namespace

TEST_CASE("shapes that do not broadcast name the operation and all shapes") {
    const array<float> x = zeros<float>({2, 3}), y = zeros<float>({4}), z = zeros<float>({0});
    CHECK(thrown<shape_error>([&] { (void)(x + y); }) == "[add] shapes (2, 3) and (4,) do not broadcast");
    CHECK(thrown<shape_error>([&] { (void)where(x > 0, x, y); }) ==
          "[where] shapes (2, 3), (2, 3) and (4,) do not broadcast");
    CHECK(thrown<shape_error>([&] { (void)maximum(exp(x), z); }).find("[maximum] shapes (2, 3) and (0,)") == 0);
    CHECK(thrown<shape_error>([&] { (void)(lazy<float>(x) * lazy<float>(y)); }) ==
          "[multiply] shapes (2, 3) and (4,) do not broadcast");
    CHECK(thrown<shape_error>([&] { (void)broadcast_to(x, {3, 2}); }).find("[broadcast_to] ") == 0);
    CHECK(thrown<shape_error>([&] {
              array<float> a = x;
              a += zeros<float>({5, 2, 3});
          }) == "[add] shape (5, 2, 3) does not broadcast into (2, 3)");
}

TEST_CASE("two devices in one expression are named") {
    const array<float> here = array<float>{1, 2}.to(device::host()), there = here.to(device::host(1));
    for (const std::string& text :
         {thrown<device_error>([&] { (void)(here + there); }), thrown<device_error>([&] { (void)(there * 2 - here); }),
          thrown<device_error>([&] { (void)where(here > 0, there, 1.0f); }),
          thrown<device_error>([&] { (void)(lazy<float>(here) / there); })}) {
        CAPTURE(text);
        CHECK(text.find("host:0") != text.npos);
        CHECK(text.find("host:1") != text.npos);
        CHECK(text[0] == '[');
    }
    // Each device computes alone, whatever the thread's current device, and keeps the result.
    const array<float> r = there + 1;
    CHECK(r.device() == device::host(1));
    CHECK(holds(r, {2}, {2, 3}));
    const auto [a, b] = eval(here + 1, there + 1);
    CHECK(a.device() == device::host());
    CHECK(b.device() == device::host(1));
    CHECK(holds(b, {2}, {2, 3}));
}

TEST_CASE("an integer that does not fit its array's dtype is named with the dtype") {
    const array<std::int8_t> i{1};
    const array<std::uint8_t> u{1};
    const array<int> n{1};
    CHECK(thrown<dtype_error>([&] { (void)(i + 128); }) == "[add] scalar 128 does not fit int8");
    CHECK(thrown<dtype_error>([&] { (void)(u * -1); }) == "[multiply] scalar -1 does not fit uint8");
    CHECK(thrown<dtype_error>([&] { (void)(n - (1ll << 31)); }) == "[subtract] scalar 2147483648 does not fit int32");
    CHECK(thrown<dtype_error>([&] { (void)(lazy<int>(n) - (1ll << 31)); }) ==
          "[subtract] scalar 2147483648 does not fit int32");
    CHECK(holds(u < 300, {1}, {true}));
    CHECK(holds(i + 127, {1}, {-128}));
    const array<float> f{1};
    CHECK(holds(f * 1e300, {1}, {std::numeric_limits<float>::infinity()}));
}

TEST_CASE("a negative exponent of an integer power throws as a scalar, and is NumPy's 0 or 1 in an array") {
    const array<int> i{-1, 1, 2, 0};
    CHECK(thrown<dtype_error>([&] { (void)power(i, -3); }).find("[power] exponent -3 is negative") == 0);
    CHECK(holds(power(i, array<int>{-3}), {4}, {-1, 1, 0, 0}));
    CHECK(holds(power(array<double>{2}, -3), {1}, {0.125}));
}

TEST_CASE("axes of reductions are checked, and named") {
    const array<float> x = zeros<float>({2, 3});
    CHECK(thrown<shape_error>([&] { (void)sum(x, 2); }) == "[sum] axis 2 is out of range for rank 2");
    CHECK(thrown<shape_error>([&] { (void)sum(x, -3); }) == "[sum] axis -3 is out of range for rank 2");
    CHECK(thrown<shape_error>([&] { (void)sum(x, {0, 1, 2}); }) == "[sum] axis 2 is out of range for rank 2");
    CHECK(thrown<shape_error>([&] { (void)sum(x, {0, -2}); }) == "[sum] axis -2 is given twice");
    CHECK(thrown<shape_error>([&] { (void)sum(full<float>({}, 1.0f), 0); }).find("[sum] axis 0") == 0);
    CHECK(thrown<shape_error>([&] { (void)sum(x, std::vector<int>(65, 0)); }).find("more than 64 axes") == 0);
}

TEST_CASE("reductions along more axes than a key numbers are made in parts, but beneath one reduction refused") {
    const array<double> x = ones<double>(std::vector<int>(14, 2));
    const auto turned = [&](int step) {
        std::vector<int> order;
        for (int i = 0; i < 14; ++i) order.push_back((i * step) % 14);
        return permute_dims(x, order);
    };
    const auto total = [&](int k) { return sum(x * turned(k % 2 == 0 ? 3 : 5) * k); };
    const auto whole = total(0) + total(1) + total(2) + total(3) + total(4);
    CHECK(eval(whole).item() == 10.0 * (1 << 14));
    const auto beneath = sum(whole * array<double>{1, 2, 3});
    const std::string refused = thrown<shape_error>([&] { (void)eval(beneath); });
    CHECK(refused.find("[evaluate] the axes of the result and those that its ") == 0);
    lazy<double> parts = total(0);
    for (int k = 1; k < 7; ++k) parts = parts + total(k);
    CHECK(eval(parts).item() == 21.0 * (1 << 14));
}

TEST_CASE("indices are checked, and named") {
    array<float> x = zeros<float>({2, 3});
    CHECK(thrown<index_error>([&] { (void)x(2); }).find("[index] 2 is out of range for axis 0") == 0);
    CHECK(thrown<index_error>([&] { (void)x(0, -4); }).find("[index] -4 is out of range for axis 1") == 0);
    CHECK(thrown<index_error>([&] { x(0, 3) = 1; }).find("[index] 3 is out of range") == 0);
    CHECK(thrown<index_error>([&] { (void)x(slice(0, 2, 0)); }) == "[index] slice step 0 on axis 0");
    CHECK(thrown<index_error>([&] { (void)x(0, 0, 0); }).find("[index] 3 indices for an array of ") == 0);
    CHECK(thrown<index_error>([&] { (void)x(ellipsis, 0, ellipsis); }) == "[index] more than one ellipsis");
}

TEST_CASE("a reshape that does not fit names both shapes") {
    const array<float> x = zeros<float>({2, 3});
    for (const shape_like& wanted :
         {shape_like{4}, shape_like{-1, 4}, shape_like{-1, -1}, shape_like{2, -3}, shape_like{0}})
        CHECK(thrown<shape_error>([&] { (void)reshape(x, wanted); }).find("[reshape] shape (2, 3) as ") == 0);
}

TEST_CASE("shapes that no memory holds are errors, whatever their product wraps to") {
    CHECK_THROWS_AS((void)zeros<float>({1ll << 31, 1ll << 31}), shape_error);
    CHECK_THROWS_AS((void)zeros<double>({1ll << 32, 1ll << 32, 0, 1ll << 32}), shape_error);
    CHECK_THROWS_AS((void)zeros<float>({-1}), shape_error);
    CHECK_THROWS_AS((void)empty<double>(1ll << 55), out_of_memory);
    const array<float> one{1};
    const array<float> v = ones<float>(1 << 16);
    CHECK_THROWS_AS((void)eval(broadcast_to(one, {1ll << 50}) + 1), out_of_memory);
    CHECK_THROWS_AS((void)eval(broadcast_to(one, {1ll << 32, 1ll << 32}) + 1), error);
    const std::string text = thrown<shape_error>(
        [&] { (void)eval(v(all, newaxis, newaxis, newaxis) + v(all, newaxis, newaxis) + v(all, newaxis) + v); });
    CHECK(text == "[add] shape (65536, 65536, 65536, 65536) has too many elements");
    CHECK(holds(one + 1, {1}, {2}));
}

TEST_CASE("out of memory says how much was wanted, frees what is cached first, and changes nothing") {
    array<float> x = ones<float>(1 << 22);
    const array<float> shared = x;
    {
        const pool_limit limit(std::size_t{1} << 12);
        const std::string text = thrown<out_of_memory>([&] { (void)eval(x * 2); });
        CAPTURE(text);
        CHECK(text.find("[allocate] out of memory on " + to_string(current_device())) == 0);
        CHECK(text.find("16777216") != text.npos);
        CHECK_THROWS_AS(x += 1, out_of_memory);  // it shares its buffer
        CHECK_THROWS_AS(x(slice(5)) = 1, out_of_memory);
        CHECK_THROWS_AS((void)zeros<float>(1 << 22), out_of_memory);
        CHECK_THROWS_AS((void)eval(x + 1, x - 1), out_of_memory);
    }
    CHECK(sum(x).item() == 1 << 22);
    CHECK(sum(shared).item() == 1 << 22);
    x += 1;
    CHECK(sum(x).item() == 2 << 22);
    CHECK(sum(shared).item() == 1 << 22);
    {
        const pool_limit limit(std::size_t{40} << 20);  // two results, not twenty
        for (int k = 0; k < 20; ++k) CHECK(eval(x * k)(7).item() == static_cast<float>(2 * k));
    }
}

TEST_CASE("an assignment that does not fit changes nothing") {
    array<float> x{1, 2, 3};
    const array<float> before = x;
    CHECK(thrown<shape_error>([&] { x(all) = zeros<float>(2); }) == "[assign] shape (2,) does not broadcast into (3,)");
    CHECK(thrown<shape_error>([&] { assign(x, zeros<float>({2, 3})); }) ==
          "[assign] shape (2, 3) does not broadcast into (3,)");
    CHECK(thrown<shape_error>([&] { x.set(std::vector<float>(4)); }).find("[set] ") == 0);
    CHECK(thrown<shape_error>([&] { (void)x.item(); }).find("[item] ") == 0);
    CHECK(thrown<dtype_error>([&] {
              array<std::int8_t> i{1};
              i(0) = 400;
          }) == "[assign] scalar 400 does not fit int8");
    CHECK(holds(x, {3}, {1, 2, 3}));
    CHECK(holds(before, {3}, {1, 2, 3}));
}

TEST_CASE("outputs of different shapes are refused at the door, and computed apart by eval") {
    const array<float> x{1, 2, 3};
    const auto [a, b] = eval(x + 1, x(slice(0, 2)) * 2);
    CHECK(holds(a, {3}, {2, 3, 4}));
    CHECK(holds(b, {2}, {2, 4}));
}

TEST_CASE("an index outside its axis is thrown by whoever waits, and the stream stays usable") {
    const array<float> x = ones<float>({4, 5});
    for (const int bad : {4, -5, 1 << 30, -(1 << 30)}) {
        const array<int> places{1, bad, 0};
        const array<float> taken = take(x * 2, places, 0);
        const std::string text = thrown<index_error>([&] { (void)taken.to_host(); });
        CHECK_MESSAGE(text.find("index " + std::to_string(bad) + " is outside an axis of 4 elements") != text.npos,
                      text);
        CHECK_MESSAGE(text.find("take(x0 * s0, x1)") != text.npos, text);
        CHECK(sum(take(x, array<int>{-1, 3}, 0)).item() == 10);
    }
}
