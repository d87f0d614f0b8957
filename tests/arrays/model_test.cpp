// Random statements over a few arrays that share, against the same statements over std::vectors that do not.
#include <memory>
#include <random>
#include <vector>

#include "expect.hpp"

using namespace ingot;

namespace {

constexpr int rows = 4, columns = 5;
using values = std::vector<int>;

class model {
public:
    explicit model(unsigned seed) : random_(seed) {
        for (int k = 0; k < 3; ++k) {
            arrays_.push_back(counted({rows, columns}) * (k + 1));
            models_.push_back(arrays_.back().to_host());
        }
    }

    void run(int statements) {
        for (int n = 0; n < statements; ++n) {
            const int a = draw(0, 2), b = draw(0, 2);
            CAPTURE(n);
            step(draw(0, 8), a, b);
            for (int k = 0; k < 3; ++k) REQUIRE(arrays_[at(k)].to_host() == models_[at(k)]);
            for (const auto& [e, expected] : pending_) REQUIRE(e->to_host() == expected);
            if (pending_.size() > 3) pending_.erase(pending_.begin());
        }
    }

private:
    using tree = decltype(std::declval<array<int>&>() + std::declval<array<int>&>());
    struct pending {
        std::shared_ptr<tree> e;  // trees are not assigned to, so a vector cannot move them
        values expected;
    };
    /// A view of a whole matrix: a start and a step along each axis, the same extents for all.
    struct part {
        int row, row_step, column, column_step;
        slice along_rows() const { return cut(row, row_step, 3); }
        slice along_columns() const { return cut(column, column_step, 2); }
        int element(int i, int j) const { return (row + i * row_step) * columns + column + j * column_step; }
        static slice cut(int start, int step, int count) {
            const int stop = start + count * step;
            return stop < 0 ? slice(start, none, step) : slice(start, stop, step);
        }
    };

    void step(int kind, int a, int b) {
        array<int>&x = arrays_[at(a)], &y = arrays_[at(b)];
        values &u = models_[at(a)], &v = models_[at(b)];
        const part p = draw_part(), q = draw_part();
        const values old = v;
        const auto each = [&](auto f) {
            for (int i = 0; i < 3; ++i)
                for (int j = 0; j < 2; ++j) f(u[at(p.element(i, j))], old[at(q.element(i, j))]);
        };
        switch (kind) {
            case 0:
                x = y;
                u = old;
                break;
            case 1:
                x(p.along_rows(), p.along_columns()) = y(q.along_rows(), q.along_columns());
                each([](int& to, int from) { to = from; });
                break;
            case 2:
                x(p.along_rows(), p.along_columns()) += y(q.along_rows(), q.along_columns());
                each([](int& to, int from) { to += from; });
                break;
            case 3:
                x(p.along_rows(), p.along_columns()) = y(q.along_rows(), q.along_columns()) * 2 - 1;
                each([](int& to, int from) { to = from * 2 - 1; });
                break;
            case 4:
                x = flip(y);
                u.assign(old.rbegin(), old.rend());
                break;
            case 5:
                x -= y;
                for (std::size_t i = 0; i < u.size(); ++i) u[i] -= old[i];
                break;
            case 6: {
                pending_.push_back({std::make_shared<tree>(x + y), {}});
                for (std::size_t i = 0; i < u.size(); ++i) pending_.back().expected.push_back(u[i] + old[i]);
                break;
            }
            case 7: {
                array<int> taken = std::move(y);
                taken(p.row) = 7;
                y = taken;
                for (int j = 0; j < columns; ++j) v[at(p.row * columns + j)] = 7;
                break;
            }
            default:
                x(p.row) = y(q.row);
                for (int j = 0; j < columns; ++j) u[at(p.row * columns + j)] = old[at(q.row * columns + j)];
        }
    }

    part draw_part() {
        const bool up = draw(0, 1) == 1, right = draw(0, 1) == 1;
        const int column_step = draw(1, 3);
        return {up ? draw(0, 1) : draw(2, 3), up ? 1 : -1,
                right ? draw(0, columns - 1 - column_step) : draw(column_step, columns - 1),
                right ? column_step : -column_step};
    }
    int draw(int low, int high) { return std::uniform_int_distribution(low, high)(random_); }
    static std::size_t at(int i) { return static_cast<std::size_t>(i); }

    std::mt19937 random_;
    std::vector<array<int>> arrays_;
    std::vector<values> models_;
    std::vector<pending> pending_;
};

}  // namespace

TEST_CASE("arrays that share buffers hold what arrays that do not would hold") {
    for (unsigned seed = 0; seed < 20; ++seed) {
        CAPTURE(seed);
        model(seed).run(60);
    }
}
