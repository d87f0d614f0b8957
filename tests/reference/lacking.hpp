// A header that docs/reference.py has to refuse.
#pragma once

namespace ingot {

int plain();

/// Has an example that shows nothing.
///
///     silent();
void silent();

/// Has a member that no example calls and a hidden one.
///
///     std::cout << box().size();
///     // prints: 0
class box {
public:
    /// The number of entries.
    int size() const;
    void open();

    // Inner
    void hidden();
};

}  // namespace ingot
