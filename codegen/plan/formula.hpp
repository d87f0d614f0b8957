// Sizes that are not known before a launch, as expressions over the extents of a key's axes and the device's
// processors:
//   ceil_divide(points_of(outer) * ceil_divide(points_of(inner), 4), 256)
// A formula is an immutable value: steps in order, each a function of earlier ones; the last is the result, and equal
// parts are one step. It is evaluated at each launch, without allocating. Values have 64 bits; a quotient by 0 is 0, so
// arrays without elements need no care. Recurring schedules are functions at the end.
#pragma once

#include <cstdint>
#include <initializer_list>
#include <span>
#include <string>
#include <vector>

#include <ingot/core/layout.hpp>

namespace ingot::codegen {

class formula {
public:
    /// A constant. The default is 1, the number of points of no axes.
    formula(std::uint64_t constant = 1) : steps_{{operation::constant, 0, 0, 0, constant}} {}

    std::uint64_t value(std::span<const detail::index_t> extents, std::uint32_t processors) const;
    /// All axes whose extents it depends on; bit a: axis a of the key.
    std::uint64_t axes() const;
    /// Returns this formula with axis a replaced by `axes[a]`.
    formula renamed(std::span<const int> axes) const;
    /// As one would write it, with "na" for the extent of axis a; a part used more than once has a name.
    std::string text() const;

    bool operator==(const formula&) const = default;

    friend formula points_of(std::uint64_t axes);
    friend formula processors();
    friend formula operator+(const formula& a, const formula& b) { return {operation::sum, {&a, &b}}; }
    friend formula operator*(const formula& a, const formula& b) { return {operation::product, {&a, &b}}; }
    friend formula operator/(const formula& a, const formula& b) { return {operation::quotient, {&a, &b}}; }
    friend formula ceil_divide(const formula& a, const formula& b) { return {operation::ceil_quotient, {&a, &b}}; }
    friend formula min(const formula& a, const formula& b) { return {operation::least, {&a, &b}}; }
    friend formula max(const formula& a, const formula& b) { return {operation::greatest, {&a, &b}}; }
    /// 1 where it holds, else 0.
    friend formula operator<(const formula& a, const formula& b) { return {operation::less, {&a, &b}}; }
    friend formula choose(const formula& condition, const formula& yes, const formula& no) {
        return {operation::choice, {&condition, &yes, &no}};
    }
    /// The largest power of two that is no more than a; 0 for 0.
    friend formula floor_power_of_two(const formula& a) { return {operation::floor_power, {&a}}; }
    /// The square root, rounded down.
    friend formula square_root(const formula& a) { return {operation::root, {&a}}; }
    friend formula busiest_width(const formula& parts, const formula& widest, const formula& threads) {
        return {operation::busiest, {&parts, &widest, &threads}};
    }

private:
    enum class operation : std::uint8_t {
        constant,  // `number`
        points,    // of the axes `number`
        processors,
        sum,
        product,
        quotient,
        ceil_quotient,
        least,
        greatest,
        less,
        choice,
        floor_power,
        root,
        busiest,
    };
    struct step {
        operation what;
        std::uint8_t a, b, c;  // earlier steps
        std::uint64_t number;  // of a leaf
        bool operator==(const step&) const = default;
    };
    static constexpr std::size_t most_steps = 48;

    formula(operation what, std::initializer_list<const formula*> arguments);
    explicit formula(const step& leaf) : steps_{leaf} {}
    bool is_leaf(operation what) const { return steps_.size() == 1 && steps_[0].what == what; }
    bool is_constant(std::uint64_t n) const { return is_leaf(operation::constant) && steps_[0].number == n; }
    std::uint8_t add(const step& s);

    std::vector<step> steps_;
};

/// The product of the extents of these axes.
formula points_of(std::uint64_t axes);
/// The multiprocessors of a GPU, the worker threads of a host.
formula processors();

/// The width of strips of at most `widest` parts, where the threads of a block have parts of neighbouring rows, as many
/// rows as fit: the fewest even strips, or up to half as many again where more threads are then busy; of equally busy
/// ones the fewest. Its time depends on `threads` and `widest` alone.
formula busiest_width(const formula& parts, const formula& widest, const formula& threads);

/// `all` in as few even pieces as possible, of at most `most` each.
struct even_pieces {
    formula count, size;
};
even_pieces balanced(const formula& all, const formula& most);

/// The largest power of two whose square is no more than `n`, from `least` to `most`, which are powers of two.
formula power_below_root(const formula& n, std::uint32_t least, std::uint32_t most);

/// The number of points, of `parts` parts each, that fit a room of that size; at least one.
formula points_per_room(std::uint32_t room, const formula& parts);
/// The number of points where threads share the room's rows and each point has some: rows are a multiple of `threads`,
/// or a power of two, unless that leaves more threads idle.
formula points_per_room(std::uint32_t room, const formula& parts, std::uint32_t threads, const formula& rows_per_point);

}  // namespace ingot::codegen
