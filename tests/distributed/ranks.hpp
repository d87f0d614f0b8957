// Checks that run on several ranks of one process.
#pragma once

#include <doctest/doctest.h>

#include <functional>
#include <sstream>

#include <ingot/distributed.hpp>
#include <ingot/ingot.hpp>

namespace ingot::test {

/// Runs f on 1 to 4 ranks, or, on GPUs, which may be emulated ones, on 2 and 4. doctest's checks are made by rank 0's
/// thread alone, for they may not meet.
inline void on_ranks(const std::function<void(distributed::session&)>& f) {
    for (const int ranks : {1, 2, 3, 4}) {
        if (ranks % 2 != 0 && !current_device().is_host()) continue;
        CAPTURE(ranks);
        distributed::run_local(ranks, f);
    }
}

template <class T>
void check_equal(const distributed::session& s, const array<T>& found, const array<T>& wanted) {
    const bool same = array_equal(found, wanted).item();
    if (!same || s.rank() == 0) {
        std::ostringstream text;
        text << "found " << found << ", wanted " << wanted;
        CHECK_MESSAGE(same, text.str());
    }
}

template <class T>
void check_close(const distributed::session& s, const array<T>& found, const array<T>& wanted, double tolerance) {
    const bool same = allclose(found, wanted, tolerance, tolerance).item();
    if (!same || s.rank() == 0) {
        std::ostringstream text;
        text << "found " << found << ", wanted " << wanted;
        CHECK_MESSAGE(same, text.str());
    }
}

}  // namespace ingot::test
