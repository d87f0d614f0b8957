// Errors of sparse matrices, in words, and invariants of their entries.
#include <doctest/doctest.h>

#include <string>
#include <vector>

#include <ingot/ingot.hpp>
#include <ingot/sparse.hpp>

using namespace ingot;

namespace {

template <class Error, class F>
std::string message_of(const F& f) {
    try {
        f();
    } catch (const Error& e) {
        return e.what();
    }
    return "nothing was thrown";
}

}  // namespace

TEST_CASE("triplets that are no matrix are rejected") {
    using coo = sparse::coo<double>;
    CHECK(message_of<shape_error>([] { coo({1, 2}, {0}, {0, 1}, {2, 2}); }) ==
          "[sparse::coo] rows has shape (1,); a vector of length 2 is wanted");
    CHECK(message_of<shape_error>([] { coo({1}, {0}, {0}, {2, 2, 2}); }) ==
          "[sparse::coo] shape (2, 2, 2) was given; a matrix, with two axes, is wanted");
    CHECK(message_of<index_error>([] { coo({1, 2}, {0, 2}, {0, 1}, {2, 2}); }) ==
          "[sparse::coo] row 2 is out of range for a matrix with 2 rows");
    CHECK(message_of<index_error>([] { coo({1, 2}, {0, 1}, {0, -1}, {2, 2}); }) ==
          "[sparse::coo] column -1 is out of range for a matrix with 2 columns");
    CHECK(message_of<shape_error>([] { coo({std::int64_t{1} << 31, 2}); }).find("indices of 32 bits") !=
          std::string::npos);
    CHECK(sparse::coo<double, std::int64_t>({1, 2}, {0, std::int64_t{1} << 40}, {0, 1}, {std::int64_t{1} << 41, 2})
              .nnz() == 2);
    CHECK(message_of<shape_error>([] { coo(zeros<double>(3)); }) ==
          "[sparse::coo] shape (3,) was given; a matrix, with two axes, is wanted");
}

TEST_CASE("parts of a csr that do not belong together are rejected") {
    using csr = sparse::csr<double>;
    CHECK(message_of<shape_error>([] { csr({1, 2}, {0, 1}, {0, 2}, {2, 2}); }) ==
          "[sparse::csr] indptr has shape (2,); a vector of length 3 is wanted");
    CHECK(message_of<index_error>([] { csr({1, 2}, {0, 1}, {0, 2, 1}, {2, 2}); }) ==
          "[sparse::csr] indptr descends; it must ascend from 0 to 2, the number of values");
    CHECK(message_of<index_error>([] { csr({1, 2}, {0, 1}, {0, 1, 1}, {2, 2}); }) ==
          "[sparse::csr] indptr goes from 0 to 1; it must ascend from 0 to 2, the number of values");
    CHECK(message_of<index_error>([] { csr({1, 2}, {0, 2}, {0, 1, 2}, {2, 2}); }) ==
          "[sparse::csr] column 2 is out of range for a matrix with 2 columns");
}

TEST_CASE("columns in any order are sorted, and values for one place added") {
    const sparse::csr<double> a({1, 2, 3, 4}, {2, 0, 1, 1}, {0, 2, 4}, {2, 3});
    CHECK(a.values().to_host() == std::vector<double>{2, 1, 7});
    CHECK(a.indices().to_host() == std::vector<std::int32_t>{0, 2, 1});
    CHECK(a.indptr().to_host() == std::vector<std::int32_t>{0, 2, 3});
}

TEST_CASE("operands that do not fit are rejected") {
    const sparse::csr<double> a({2, 3}), b({3, 2});
    CHECK(
        message_of<shape_error>([&] { matmul(a, ones(2)); }) ==
        "[matmul] a sparse matrix of shape (2, 3) is multiplied by an array of shape (2,); a vector or a matrix with 3 "
        "rows is wanted");
    CHECK(message_of<shape_error>([&] { a.transpose().dot(ones(3)); }) ==
          "[matmul] a transposed sparse matrix of shape (2, 3) is multiplied by an array of shape (3,); a vector or a "
          "matrix with 2 rows is wanted");
    CHECK(message_of<shape_error>([&] { matmul(a, a); }) ==
          "[matmul] sparse matrices of shapes (2, 3) and (2, 3) were given; a second matrix with 3 rows is wanted, as "
          "many "
          "as the first has columns");
    CHECK(message_of<shape_error>([&] { a + b; }) ==
          "[add] shapes (2, 3) and (3, 2) were given; operands of one shape are wanted");
    CHECK(message_of<index_error>([&] { a(2); }) == "[index] 2 is out of range for axis 0 of extent 2");
    CHECK(message_of<shape_error>([&] { a.sum(2); }).find("[sum]") == 0);
    CHECK(message_of<shape_error>([&] { sparse::vstack({a, b}); }) ==
          "[vstack] shapes (2, 3) and (3, 2) were given; matrices with as many columns as the first are wanted");
    CHECK(message_of<shape_error>([&] { sparse::diags<double>({ones(3)}, {1}, {2, 3}); }) ==
          "[sparse::diags] a diagonal has shape (3,); a vector of length 2 or 1 is wanted at offset 1");
    CHECK(message_of<shape_error>([&] { sparse::hstack(std::vector<sparse::csr<double>>()); }) ==
          "[hstack] no matrix was given; one or more are wanted");
    CHECK(message_of<shape_error>([&] { sparse::diags<double>({ones(3)}, {1, 2}, {2, 3}); }) ==
          "[sparse::diags] 1 diagonals and 2 offsets were given; one offset for each diagonal is wanted");
    CHECK(message_of<error>([&] { (void)(a < 1); }) ==
          "[less] this comparison is true for elements without an entry, which are 0, so its result would be dense; "
          "compare a.to_dense() instead");
    CHECK(message_of<index_error>([&] { a(slice(0, 2, 0)); }) ==
          "[index] a slice has the step 0; a step other than 0 is wanted");
    CHECK(message_of<shape_error>([] { sparse::csr<float>({0, 3}).max(); }) ==
          "[max] a sparse matrix of shape (0, 3) has no elements; one with elements is wanted");
    CHECK(message_of<file_error>([] { sparse::load_npz<float>("nowhere.npz"); }).find("nowhere.npz") !=
          std::string::npos);
}

TEST_CASE("products of rows of every length are those of dense matrices") {
    // Up to and beyond what a vector, the unbranched part, and the buffer of products hold.
    for (const index_t columns : {1, 7, 8, 9, 15, 16, 17, 40, 5000}) {
        CAPTURE(columns);
        const array<double> dense = astype<double>(where(random::uniform<double>({40, columns}) < 0.6, 1.0, 0.0)) *
                                    random::uniform<double>({40, columns});
        const array<double> x = random::uniform<double>({columns}) - 0.5;
        const array<double> wanted = sum(dense * x, 1);
        CHECK(allclose(matmul(sparse::csr<double>(dense), x), wanted).item());
        CHECK(max(abs(matmul(sparse::csr<float>(array<float>(dense)), array<float>(x)) - wanted)).item() < 1e-3);
    }
}
