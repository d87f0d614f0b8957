// Signals and filters to compare with SciPy's.
#pragma once

#include <string>
#include <vector>

#include <ingot/signal.hpp>

#include "tests/ndimage/scipy.hpp"

namespace ingot::testing {

/// Chooses others in each run, by INGOT_TEST_SEED.
class draw {
public:
    explicit draw(unsigned long which) : random_(test::drawing_seed() + which) {}
    index_t number(index_t least, index_t most) {
        return least + static_cast<index_t>(random_() % static_cast<unsigned long>(most - least + 1));
    }
    template <class T>
    T one_of(std::initializer_list<T> each) {
        return each.begin()[static_cast<std::size_t>(number(0, static_cast<index_t>(each.size()) - 1))];
    }
    unsigned seed() { return static_cast<unsigned>(random_()); }

private:
    std::mt19937_64 random_;
};

inline std::string text_of(index_t n) { return std::to_string(n); }
inline std::string text_of(bool truth) { return truth ? "True" : "False"; }

/// Calls f(type_identity<T>) for one of the types in which signals are computed.
template <class F>
void for_a_type(draw& d, const F& f) {
    switch (d.number(0, 3)) {
        case 0:
            return f(std::type_identity<float>{});
        case 1:
            return f(std::type_identity<std::complex<float>>{});
        case 2:
            return f(std::type_identity<std::complex<double>>{});
        default:
            return f(std::type_identity<double>{});
    }
}

}  // namespace ingot::testing
