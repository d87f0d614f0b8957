// Building, evaluating and printing formulas.
#include "codegen/plan/formula.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <utility>

#include <ingot/core/error.hpp>

namespace ingot::codegen {

namespace {

constexpr std::uint64_t floor_quotient(std::uint64_t a, std::uint64_t b) { return b == 0 ? 0 : a / b; }
constexpr std::uint64_t ceil_quotient(std::uint64_t a, std::uint64_t b) { return b == 0 ? 0 : a / b + (a % b != 0); }

std::uint64_t square_root_of(std::uint64_t n) {
    constexpr std::uint64_t most = 0xffffffff;
    auto root = std::min(most, static_cast<std::uint64_t>(std::sqrt(static_cast<double>(n))));
    while (root * root > n) --root;
    while (root < most && (root + 1) * (root + 1) <= n) ++root;
    return root;
}

/// Narrower strips are tried at the widest width with one more row of a block at once: the loop is over these rows.
std::uint64_t busiest_width_of(std::uint64_t parts, std::uint64_t widest, std::uint64_t threads) {
    if (parts == 0) return 0;
    const std::uint64_t fewest = ceil_quotient(parts, widest);
    std::uint64_t width = ceil_quotient(parts, fewest), strips = fewest;
    std::uint64_t rows = floor_quotient(threads, width);  // that a block has at once
    for (std::uint64_t at_once = rows + 1; at_once <= threads; ++at_once) {
        const std::uint64_t more = ceil_quotient(parts, threads / at_once);
        if (2 * more > 3 * fewest) break;
        const std::uint64_t narrow = ceil_quotient(parts, more);
        at_once = threads / narrow;
        if (strips * at_once > more * rows) width = narrow, strips = more, rows = at_once;
    }
    return width;
}

std::uint64_t product_of(std::span<const detail::index_t> extents, std::uint64_t axes) {
    std::uint64_t n = 1;
    for (; axes != 0; axes &= axes - 1)
        n *= static_cast<std::uint64_t>(extents[static_cast<std::size_t>(std::countr_zero(axes))]);
    return n;
}

}  // namespace

std::uint8_t formula::add(const step& s) {
    const auto known = std::ranges::find(steps_, s);
    if (known != steps_.end()) return static_cast<std::uint8_t>(known - steps_.begin());
    if (steps_.size() == most_steps) throw error("[plan] a size needs a formula of more than 48 steps");
    steps_.push_back(s);
    return static_cast<std::uint8_t>(steps_.size() - 1);
}

formula::formula(operation what, std::initializer_list<const formula*> arguments) {
    const formula &a = **arguments.begin(), &b = **(arguments.end() - 1);
    const bool divides = what == operation::quotient || what == operation::ceil_quotient;
    if ((divides || what == operation::product) && b.is_constant(1)) {
        steps_ = a.steps_;
        return;
    }
    if ((what == operation::product && a.is_constant(1)) || (what == operation::sum && a.is_constant(0))) {
        steps_ = b.steps_;
        return;
    }
    if (what == operation::sum && b.is_constant(0)) {
        steps_ = a.steps_;
        return;
    }
    if (what == operation::product && a.is_leaf(operation::points) && b.is_leaf(operation::points) &&
        (a.steps_[0].number & b.steps_[0].number) == 0) {
        steps_ = {{operation::points, 0, 0, 0, a.steps_[0].number | b.steps_[0].number}};
        return;
    }
    step last{what, 0, 0, 0, 0};
    std::uint8_t* const operand_fields[] = {&last.a, &last.b, &last.c};
    std::size_t next_field = 0;
    for (const formula* f : arguments) {
        std::vector<std::uint8_t> here;  // the index here of each step of f
        for (step s : f->steps_) {
            if (s.what > operation::processors) s.a = here[s.a], s.b = here[s.b], s.c = here[s.c];
            here.push_back(add(s));
        }
        *operand_fields[next_field++] = here.back();
    }
    add(last);
    if (std::ranges::all_of(arguments, [](const formula* f) { return f->is_leaf(operation::constant); }))
        steps_ = formula(value({}, 0)).steps_;
}

formula points_of(std::uint64_t axes) {
    return axes == 0 ? formula() : formula(formula::step{formula::operation::points, 0, 0, 0, axes});
}

formula processors() { return formula(formula::step{formula::operation::processors, 0, 0, 0, 0}); }

std::uint64_t formula::value(std::span<const detail::index_t> extents, std::uint32_t processors) const {
    std::uint64_t values[most_steps], *next = values;
    for (const step& s : steps_) {
        const std::uint64_t a = values[s.a];
        const auto b = [&] { return values[s.b]; };
        const auto c = [&] { return values[s.c]; };
        switch (s.what) {
            case operation::constant:
                *next++ = s.number;
                break;
            case operation::points:
                *next++ = product_of(extents, s.number);
                break;
            case operation::processors:
                *next++ = processors;
                break;
            case operation::sum:
                *next++ = a + b();
                break;
            case operation::product:
                *next++ = a * b();
                break;
            case operation::quotient:
                *next++ = floor_quotient(a, b());
                break;
            case operation::ceil_quotient:
                *next++ = ceil_quotient(a, b());
                break;
            case operation::least:
                *next++ = std::min(a, b());
                break;
            case operation::greatest:
                *next++ = std::max(a, b());
                break;
            case operation::less:
                *next++ = a < b();
                break;
            case operation::choice:
                *next++ = a != 0 ? b() : c();
                break;
            case operation::floor_power:
                *next++ = std::bit_floor(a);
                break;
            case operation::root:
                *next++ = square_root_of(a);
                break;
            case operation::busiest:
                *next++ = busiest_width_of(a, b(), c());
                break;
        }
    }
    return next[-1];
}

std::uint64_t formula::axes() const {
    std::uint64_t all = 0;
    for (const step& s : steps_)
        if (s.what == operation::points) all |= s.number;
    return all;
}

formula formula::renamed(std::span<const int> axes) const {
    formula f = *this;
    for (step& s : f.steps_) {
        if (s.what != operation::points) continue;
        std::uint64_t renamed = 0;
        for (; s.number != 0; s.number &= s.number - 1)
            renamed |= std::uint64_t{1} << axes[static_cast<std::size_t>(std::countr_zero(s.number))];
        s.number = renamed;
    }
    return f;
}

std::string formula::text() const {
    enum binding { loose, additive, multiplicative, tight };
    struct printed {
        std::string text;
        binding how = tight;
        std::string inside(binding required) const { return how < required ? '(' + text + ')' : text; }
    };
    const auto arity = [](operation what) {
        return what <= operation::processors                               ? 0
               : what == operation::floor_power || what == operation::root ? 1
               : what == operation::choice || what == operation::busiest   ? 3
                                                                           : 2;
    };
    std::vector<int> uses(steps_.size());
    for (const step& s : steps_) {
        const std::uint8_t arguments[] = {s.a, s.b, s.c};
        for (int i = 0; i < arity(s.what); ++i) ++uses[arguments[i]];
    }
    std::vector<printed> all;
    std::string names;
    char name = 'a';
    for (std::size_t i = 0; i < steps_.size(); ++i) {
        const step& s = steps_[i];
        const auto infix = [&](const char* sign, binding how) {
            // The right operand of a sign is not regrouped: a / (b / c).
            return printed{all[s.a].inside(how) + sign + all[s.b].inside(static_cast<binding>(how + 1)), how};
        };
        const auto call = [&](const char* function) {
            std::string text = function + ('(' + all[s.a].text);
            if (arity(s.what) > 1) text += ", " + all[s.b].text;
            if (arity(s.what) > 2) text += ", " + all[s.c].text;
            return printed{text + ')'};
        };
        const auto print = [&]() -> printed {
            switch (s.what) {
                case operation::constant:
                    return {std::to_string(s.number)};
                case operation::points: {
                    std::string text;
                    for (std::uint64_t left = s.number; left != 0; left &= left - 1)
                        text += (text.empty() ? "n" : " * n") + std::to_string(std::countr_zero(left));
                    return {text, std::has_single_bit(s.number) ? tight : multiplicative};
                }
                case operation::processors:
                    return {"processors"};
                case operation::sum:
                    return infix(" + ", additive);
                case operation::product:
                    return infix(" * ", multiplicative);
                case operation::quotient:
                    return infix(" / ", multiplicative);
                case operation::ceil_quotient:
                    return call("ceil_divide");
                case operation::least:
                    return call("min");
                case operation::greatest:
                    return call("max");
                case operation::less:
                    return {all[s.a].inside(additive) + " < " + all[s.b].inside(additive), loose};
                case operation::choice:
                    return {all[s.a].text + " ? " + all[s.b].inside(additive) + " : " + all[s.c].inside(additive),
                            loose};
                case operation::floor_power:
                    return call("floor_power_of_two");
                case operation::root:
                    return call("square_root");
                case operation::busiest:
                    return call("busiest_width");
            }
            return {};
        };
        all.push_back(print());
        if (uses[i] < 2 || arity(s.what) == 0) continue;
        names += (names.empty() ? " where " : ", ") + std::string(1, name) + " = " + all.back().text;
        all.back() = {std::string(1, name++)};
    }
    return all.back().text + names;
}

even_pieces balanced(const formula& all, const formula& most) {
    const formula count = ceil_divide(all, most);
    return {count, ceil_divide(all, count)};
}

formula power_below_root(const formula& n, std::uint32_t least, std::uint32_t most) {
    return min(max(floor_power_of_two(square_root(n)), least), most);
}

formula points_per_room(std::uint32_t room, const formula& parts) { return max(min(parts, 1), room / parts); }

formula points_per_room(std::uint32_t room, const formula& parts, std::uint32_t threads,
                        const formula& rows_per_point) {
    const formula most = points_per_room(room, parts), rows = most * rows_per_point;
    const formula even = choose(rows < threads, floor_power_of_two(rows), rows / threads * threads);
    const formula points = max(min(parts, 1), even / rows_per_point);
    // Where there are more threads than rows, a power of two of them works on a row.
    const auto busy = [&](const formula& n) { return n * floor_power_of_two(threads / n); };
    return choose(rows < threads, choose(busy(rows) < busy(points * rows_per_point), points, most), points);
}

}  // namespace ingot::codegen
