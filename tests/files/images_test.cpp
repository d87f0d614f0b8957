// Pictures and plots in files.
#include <doctest/doctest.h>

#include <cmath>
#include <fstream>
#include <limits>
#include <string>

#include <ingot/ingot.hpp>

#include "tests/cache/fixture.hpp"

using namespace ingot;
using namespace ingot::test;

namespace {

std::string contents_of(const std::string& path) {
    std::ifstream in(path, std::ios::binary);
    return {std::istreambuf_iterator<char>(in), {}};
}

std::size_t count_of(const std::string& text, const std::string& what) {
    std::size_t n = 0;
    for (std::size_t at = text.find(what); at != std::string::npos; at = text.find(what, at + 1)) ++n;
    return n;
}

template <class E>
std::string message_of(const auto& f) {
    try {
        f();
    } catch (const E& e) {
        return e.what();
    }
    return "nothing was thrown";
}

}  // namespace

TEST_CASE("pictures of one to four channels come back from PNG as they were") {
    const scratch_directory scratch;
    const std::string file = scratch.path() / "p.png";
    const auto given = arange<int>(0, 7 * 5 * 4) * 37 % 256;
    for (const index_t channels : {1, 2, 3, 4}) {
        const array<std::uint8_t> x =
            reshape(astype<std::uint8_t>(given)(slice(0, 35 * channels)), {7, 5, channels}).eval();
        save_png(file, x);
        const array<std::uint8_t> y = load_png(file);
        if (channels == 1)
            CHECK(array_equal(y, x(all, all, 0)).item());
        else
            CHECK(array_equal(y, x).item());
    }
    save_png(file, reshape(given(slice(0, 35)), {7, 5}) > 100);
    CHECK(array_equal(load_png(file), where(reshape(given(slice(0, 35)), {7, 5}) > 100, 255, 0)).item());
    const float nan = std::numeric_limits<float>::quiet_NaN();
    save_png(file, array<float>{{-1, 0, 0.5f, 1}, {2, 0.001f, 0.25f, nan}});
    CHECK(array_equal(load_png(file), array<int>{{0, 0, 128, 255}, {255, 0, 64, 0}}).item());
    save_png(file, array<std::uint16_t>{{0x1234, 0xff00}});
    CHECK(array_equal(load_png(file), array<int>{{0x12, 0xff}}).item());
    // An expression over views, and a picture of random bytes, which do not compress.
    const array<std::uint8_t> noise = random::integers<std::uint8_t>(0, 255, {300, 200, 3});
    save_png(file, noise(slice(none, none, -1), slice(1, 150)));
    CHECK(array_equal(load_png(file), noise(slice(none, none, -1), slice(1, 150))).item());
}

TEST_CASE("a PGM is a header and bytes") {
    const scratch_directory scratch;
    const std::string file = scratch.path() / "p.pgm";
    save_pgm(file, array<std::uint8_t>{{1, 2, 3}, {4, 5, 6}});
    CHECK(contents_of(file) == "P5\n3 2\n255\n\1\2\3\4\5\6");
    save_pgm(file, array<std::uint16_t>{{0x1234, 5}});
    CHECK(contents_of(file) == std::string("P5\n2 1\n65535\n\x12\x34\0\5", 17));
    save_pgm(file, array<float>{{{0, 1, 0.2f}}});
    CHECK(contents_of(file) == std::string("P6\n1 1\n255\n\0\xff\x33", 14));
}

TEST_CASE("imshow scales values to the colours of a map") {
    const scratch_directory scratch;
    const std::string file = scratch.path() / "m.png";
    const double nan = std::numeric_limits<double>::quiet_NaN();
    imshow(array<double>{{-3, 0, 3}, {nan, 1.5, 3}}, file, {.colormap = colormap::grey});
    CHECK(array_equal(load_png(file)(all, all, 0), array<int>{{0, 128, 255}, {255, 191, 255}}).item());
    imshow(array<int>{{0, 10}}, file);
    // The ends of viridis.
    CHECK(array_equal(load_png(file), array<int>{{{0x44, 0x01, 0x54}, {0xfd, 0xe7, 0x25}}}).item());
    imshow(array<float>{{0, 10}, {20, 30}}, file, {.colormap = colormap::grey, .vmin = 10, .vmax = 20, .pixels = 2});
    CHECK(array_equal(load_png(file)(all, all, 1),
                      array<int>{{0, 0, 0, 0}, {0, 0, 0, 0}, {255, 255, 255, 255}, {255, 255, 255, 255}})
              .item());
    for (const colormap m :
         {colormap::magma, colormap::inferno, colormap::plasma, colormap::cividis, colormap::coolwarm}) {
        imshow(reshape(arange<float>(0, 256), {1, 256}), file, {.colormap = m});
        // Neighbouring colours are alike.
        CHECK(max(abs(diff(astype<int>(load_png(file)), 1, 1))).item() <= 12);
    }
    imshow(full({2, 2}, 7.0), file);  // all equal: the first colour
    CHECK(load_png(file)(0, 0, 0).item() == 0x44);
}

TEST_CASE("plot draws a curve for each row, interrupted where values are not finite") {
    const scratch_directory scratch;
    const std::string file = scratch.path() / "p.svg";
    const array<double> x = linspace(0.0, 1.0, 50);
    plot(x, where(x > 0.3 && x < 0.5, 1 / zeros<double>({50}), x * x), file, {.title = "a < b", .xlabel = "time"});
    std::string text = contents_of(file);
    CHECK(count_of(text, "<path fill=") == 1);
    const std::string curve = text.substr(text.find("<path fill="));
    CHECK(count_of(curve.substr(0, curve.find("/>")), "M") == 2);
    CHECK(count_of(text, "a &lt; b") == 1);
    CHECK(count_of(text, ">0.2<") == 2);  // numbers on both axes
    plot(arange(0, 4), array<float>{{1, 2, 3, 4}, {4, 4, 4, 4}}, file, {.labels = {"up", "level"}});
    text = contents_of(file);
    CHECK(count_of(text, "<path fill=") == 2);
    CHECK(count_of(text, ">level<") == 1);
    plot(ones<double>({3}), full({3}, 5.0), file);  // a point
    plot(zeros<double>({0}), zeros<double>({0}), file);
    CHECK(contents_of(file).ends_with("</svg>\n"));
}

TEST_CASE("pictures of wrong shapes and files that are no PNG are refused") {
    const scratch_directory scratch;
    const std::string file = scratch.path() / "p.png";
    CHECK(message_of<shape_error>([&] { save_png(file, ones<float>({4})); }).find("shape (4,); (rows, columns)") !=
          std::string::npos);
    CHECK(message_of<shape_error>([&] { save_png(file, ones<float>({4, 4, 5})); }).find("1 to 4 channels") !=
          std::string::npos);
    CHECK(message_of<shape_error>([&] { save_png(file, ones<float>({0, 4})); }).find("(0, 4)") != std::string::npos);
    CHECK(message_of<shape_error>([&] { save_pgm(file, ones<float>({4, 4, 2})); }).find("(4, 4, 2)") !=
          std::string::npos);
    CHECK(message_of<shape_error>([&] { imshow(ones<float>({4, 4, 1}), file); }).find("two axes") != std::string::npos);
    CHECK(message_of<shape_error>([&] { plot(ones<float>({4}), ones<float>({4}), file, {.labels = {"a", "b"}}); }) ==
          "[plot] 2 labels for 1 curves; at most one for each is possible");
    CHECK(message_of<file_error>([&] { imshow(ones<float>({4, 4}), "im.jpg"); }) ==
          "[imshow] im.jpg: the file holds PNG, so a name that ends with .png is wanted");
    CHECK(message_of<shape_error>([&] { plot(ones<float>({4}), ones<float>({5}), file); }).find("(4,)") !=
          std::string::npos);
    std::ofstream(file) << "no picture";
    CHECK(message_of<file_error>([&] { load_png(file); }).find("libpng") != std::string::npos);
    CHECK(message_of<file_error>([&] { load_png(scratch.path() / "none.png"); }).find("none.png") != std::string::npos);
    // A PNG that is cut short.
    save_png(file, ones<float>({64, 64}));
    const std::string whole = contents_of(file);
    std::ofstream(file, std::ios::binary) << whole.substr(0, whole.size() / 2);
    CHECK_THROWS_AS(load_png(file), file_error);
}
