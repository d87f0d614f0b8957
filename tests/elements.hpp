// The bytes of an array's elements, as oracles read them.
#pragma once

#include <concepts>
#include <ostream>

namespace ingot::test {

/// One write of all of them: tests are not optimised, and an array has millions.
template <class E>
void write_elements(std::ostream& to, const E& e) {
    using value = typename E::value_type;
    const auto values = e.to_host();
    if constexpr (std::same_as<value, bool>) {
        for (const bool v : values) to.put(static_cast<char>(v));
    } else {
        to.write(reinterpret_cast<const char*>(values.data()),
                 static_cast<std::streamsize>(values.size() * sizeof(value)));
    }
}

}  // namespace ingot::test
