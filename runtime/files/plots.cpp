// Curves as SVG: the function behind `plot` of include/ingot/files/images.hpp.
#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include <ingot/core/error.hpp>
#include <ingot/files/images.hpp>

#include "runtime/files/output_file.hpp"

namespace ingot::detail {

namespace {

constexpr const char* colours[] = {"#0072b2", "#d55e00", "#009e73", "#cc79a7", "#56b4e9", "#e69f00", "#555555"};

/// Values from the least to the greatest, widened where there is one only.
struct interval {
    double low = INFINITY, high = -INFINITY;

    void add(double v) {
        if (!std::isfinite(v)) return;
        low = std::min(low, v), high = std::max(high, v);
    }
    void widen() {
        if (!(low <= high)) low = 0, high = 1;
        if (low == high) low -= low == 0 ? 1 : std::abs(low) / 2, high += high == 0 ? 1 : std::abs(high) / 2;
    }
    double place(double v) const { return (v - low) / (high - low); }
    /// The step of some six numbers on the axis: 1, 2 or 5 times a power of ten.
    double step() const {
        const double rough = (high - low) / 6, power = std::pow(10, std::floor(std::log10(rough)));
        const double digits = rough / power;
        return power * (digits > 5 ? 10 : digits > 2 ? 5 : digits > 1 ? 2 : 1);
    }
};

std::string text_of(double v) {
    std::array<char, 32> room{};
    const auto [end, status] = std::to_chars(room.data(), room.data() + room.size(), v, std::chars_format::general, 6);
    return {room.data(), end};
}

/// Text within SVG.
std::string escaped(const std::string& text) {
    std::string out;
    for (const char c : text) out += c == '<' ? "&lt;" : c == '>' ? "&gt;" : c == '&' ? "&amp;" : std::string(1, c);
    return out;
}

class picture {
public:
    picture(const plot_options& options, interval x, interval y) : options_(options), x_(x), y_(y) {
        x_.widen();
        y_.widen();
        text_ = "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"" + std::to_string(options.width) + "\" height=\"" +
                std::to_string(options.height) +
                "\" font-family=\"sans-serif\" font-size=\"12\">\n<rect width=\"100%\" height=\"100%\" "
                "fill=\"white\"/>\n";
        write_axes();
    }

    void add_curve(std::size_t number, std::span<const double> x, std::span<const double> y) {
        const std::string colour = colours[number % std::size(colours)];
        std::string path;
        bool goes_on = false;
        for (std::size_t i = 0; i < x.size(); ++i) {
            const bool there = std::isfinite(x[i]) && std::isfinite(y[i]);
            if (there) path += (goes_on ? 'L' : 'M') + text_of(across(x[i])) + ' ' + text_of(down(y[i]));
            goes_on = there;
        }
        text_ += "<path fill=\"none\" stroke-width=\"1.5\" stroke=\"" + colour + "\" d=\"" + path + "\"/>\n";
        if (number < options_.labels.size())
            write(right() - 8, top + 16 * static_cast<double>(number + 1), "end", options_.labels[number],
                  " fill=\"" + colour + '"');
    }

    std::string finished() && { return std::move(text_) + "</svg>\n"; }

private:
    static constexpr double left = 64, top = 32;
    double right() const { return options_.width - 16; }
    double bottom() const { return options_.height - 48; }
    double across(double v) const { return left + x_.place(v) * (right() - left); }
    double down(double v) const { return bottom() - y_.place(v) * (bottom() - top); }

    void write(double x, double y, const char* anchor, const std::string& what, const std::string& further = "") {
        text_ += "<text x=\"" + text_of(x) + "\" y=\"" + text_of(y) + "\" text-anchor=\"" + anchor + '"' + further +
                 '>' + escaped(what) + "</text>\n";
    }
    void draw_line(double x1, double y1, double x2, double y2, const char* colour) {
        text_ += "<path stroke=\"" + std::string(colour) + "\" d=\"M" + text_of(x1) + ' ' + text_of(y1) + 'L' +
                 text_of(x2) + ' ' + text_of(y2) + "\"/>\n";
    }

    /// Calls `f` for each number on an axis.
    template <class F>
    static void for_numbers(const interval& of, const F& f) {
        const double step = of.step();
        for (double k = std::ceil(of.low / step); k * step <= of.high + step * 1e-9; ++k) f(k == 0 ? 0.0 : k * step);
    }

    void write_axes() {
        for_numbers(x_, [&](double v) {
            draw_line(across(v), top, across(v), bottom(), "#dddddd");
            write(across(v), bottom() + 16, "middle", text_of(v));
        });
        for_numbers(y_, [&](double v) {
            draw_line(left, down(v), right(), down(v), "#dddddd");
            write(left - 6, down(v) + 4, "end", text_of(v));
        });
        text_ += "<rect fill=\"none\" stroke=\"#333333\" x=\"" + text_of(left) + "\" y=\"" + text_of(top) +
                 "\" width=\"" + text_of(right() - left) + "\" height=\"" + text_of(bottom() - top) + "\"/>\n";
        write((left + right()) / 2, top - 12, "middle", options_.title, " font-size=\"14\"");
        write((left + right()) / 2, options_.height - 12, "middle", options_.xlabel);
        const std::string place = text_of((top + bottom()) / 2);
        write(14, (top + bottom()) / 2, "middle", options_.ylabel, " transform=\"rotate(-90 14 " + place + ")\"");
    }

    const plot_options& options_;
    interval x_, y_;
    std::string text_;
};

}  // namespace

void plot_curves(const std::string& path, const plot_options& options, const buffer_ref& x, const layout& x_where,
                 const buffer_ref& y, const layout& y_where) {
    const bool fit = x_where.rank() == 1 && (y_where.rank() == 1 || y_where.rank() == 2) &&
                     y_where.shape()[y_where.rank() - 1] == x_where.size();
    if (!fit)
        throw shape_error("[plot] x of shape " + to_text(x_where.extents()) + " and y of shape " +
                          to_text(y_where.extents()) + "; (n,), and (n,) or (curves, n), are wanted");
    const index_t curve_count = y_where.rank() == 2 ? y_where.shape()[0] : 1;
    if (std::cmp_greater(options.labels.size(), curve_count))
        throw shape_error("[plot] " + std::to_string(options.labels.size()) + " labels for " +
                          std::to_string(curve_count) + " curves; at most one for each is possible");
    constexpr int least = 160, most = 16384;
    if (options.width < least || options.height < least || options.width > most || options.height > most)
        throw shape_error("[plot] a picture of " + std::to_string(options.width) + " by " +
                          std::to_string(options.height) + " pixels; 160 to 16384 are possible");
    std::vector<double> along(static_cast<std::size_t>(x_where.size())),
        curves(static_cast<std::size_t>(y_where.size()));
    if (!along.empty()) read_values(x, x_where, sizeof(double), along.data());
    if (!curves.empty()) read_values(y, y_where, sizeof(double), curves.data());
    interval of_x, of_y;
    for (const double v : along) of_x.add(v);
    for (const double v : curves) of_y.add(v);
    picture p(options, of_x, of_y);
    for (std::size_t k = 0; !along.empty() && k < curves.size() / along.size(); ++k)
        p.add_curve(k, along, std::span(curves).subspan(k * along.size(), along.size()));
    const std::string file = std::move(p).finished();
    runtime::write_file("plot", path, std::as_bytes(std::span(file)));
}

}  // namespace ingot::detail
