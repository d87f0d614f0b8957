#include <unistd.h>

#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <limits>
#include <random>
#include <sstream>
#include <thread>

#include "expect.hpp"
#include "tests/untested.hpp"

using namespace ingot;

namespace {

template <array_expression E>
std::string printed(const E& e) {
    std::ostringstream out;
    out << e;
    return out.str();
}

constexpr double not_a_number = std::numeric_limits<double>::quiet_NaN(), inf = std::numeric_limits<double>::infinity();

/// Arrays as Ingot prints them, and as bytes for NumPy.
class comparison {
public:
    template <class T>
    void add(const array<T>& x) {
        ours_.push_back(printed(x));
        ours_.push_back(repr(x));
        const print_options o;
        bytes_ << name(x.dtype()) << ' ' << o.precision << ' ' << o.threshold << ' ' << o.edgeitems << ' '
               << o.linewidth << ' ' << o.suppress << ' ' << x.ndim();
        for (index_t extent : x.shape()) bytes_ << ' ' << extent;
        bytes_ << '\n';
        const std::vector<T> values = x.to_host();
        bytes_.write(reinterpret_cast<const char*>(values.data()), x.nbytes());
    }

    void run(const std::string& python) {
        const auto folder = std::filesystem::temp_directory_path();
        const std::string own = std::to_string(getpid());
        const std::string cases = folder / ("ingot_prints_" + own), texts = cases + "_texts";
        std::ofstream(cases, std::ios::binary) << bytes_.str();
        const std::string command =
            "'" + python + "' '" INGOT_TEST_SOURCES "/oracle/prints.py' '" + cases + "' '" + texts + "'";
        REQUIRE(std::system(command.c_str()) == 0);
        std::ifstream theirs(texts, std::ios::binary);
        for (const std::string& our : ours_) {
            std::string their;
            REQUIRE(std::getline(theirs, their, '\0'));
            REQUIRE_MESSAGE((our == their || their == "another version's"), our, "\nNumPy: ", their);
        }
        std::filesystem::remove(cases);
        std::filesystem::remove(texts);
    }

private:
    std::vector<std::string> ours_;
    std::ostringstream bytes_;
};

class random_arrays {
public:
    shape_like shape() {
        const int kind = draw(0, 9);
        if (kind == 0) return {};
        if (kind == 1) return {draw(900, 1100)};
        if (kind == 2) return {draw(20, 40), draw(20, 60)};
        std::vector<int> extents(static_cast<std::size_t>(draw(1, 4)));
        for (int& n : extents) n = draw(1, 5);
        return extents;
    }
    /// Values of one order of magnitude or of all, with few digits or all, some of them special.
    template <class T>
    array<T> make() {
        const shape_like s = shape();
        return asarray(values<T>(static_cast<std::size_t>(empty<T>(s).size())), s);
    }
    /// Any options but the largest.
    print_options options() {
        return {.precision = draw(0, 2) ? draw(0, 5) : draw(0, 20),
                .threshold = draw(0, 2) ? draw(0, 30) : 1000,
                .edgeitems = draw(1, 4),
                .linewidth = draw(0, 2) ? draw(10, 100) : draw(1, 10),
                .suppress = draw(0, 1) == 1};
    }

private:
    template <class T>
    std::vector<T> values(std::size_t n) {
        std::vector<T> values(n);
        const int style = draw(0, 5), centre = draw(-12, 18), special = draw(0, 3);
        for (T& v : values) {
            const double unit = std::uniform_real_distribution(-1.0, 1.0)(random_);
            v = static_cast<T>(style == 0   ? draw(-100, 100)
                               : style == 1 ? draw(-100, 100) / 8.0
                               : style == 2 ? unit
                               : style == 3 ? unit * std::pow(10.0, centre)
                               : style == 4 ? unit * std::pow(10.0, draw(-30, 30))
                                            : draw(1, 999) * std::pow(10.0, draw(-5, 3)));
            if (special == 0 && draw(0, 5) == 0) {
                const double specials[] = {not_a_number, inf, -inf, 0.0, -0.0, 1e8, 1e-4};
                v = static_cast<T>(specials[draw(0, 6)]);
            }
        }
        return values;
    }
    template <std::integral T>
    std::vector<T> values(std::size_t n) {
        std::vector<T> values(n);
        const int shift = draw(0, 63);
        for (T& v : values) v = static_cast<T>(static_cast<std::int64_t>(random_()) >> shift);
        return values;
    }
    template <detail::complex_number T>
    std::vector<T> values(std::size_t n) {
        const auto parts = values<typename T::value_type>(2 * n);
        std::vector<T> values(n);
        for (std::size_t i = 0; i < n; ++i) values[i] = {parts[2 * i], parts[2 * i + 1]};
        return values;
    }
    int draw(int low, int high) { return std::uniform_int_distribution(low, high)(random_); }
    std::mt19937_64 random_{2024};
};

}  // namespace

TEST_CASE("printing is NumPy's") {
    CHECK(printed(array<int>{1, 20, -300}) == R"([   1   20 -300])");
    CHECK(printed(array<float>{1, 2, 3}) == R"([1. 2. 3.])");
    CHECK(printed(array<double>{0.1, 2.25, -3}) == R"([ 0.1   2.25 -3.  ])");
    CHECK(printed(array<float>{0.1, 1.0 / 3, 100}) == R"([  0.1          0.33333334 100.        ])");
    CHECK(printed(array<double>{0.1, 1.0 / 3, 100}) == R"([  0.1          0.33333333 100.        ])");
    CHECK(printed(array<double>{1e-5, 1}) == R"([1.e-05 1.e+00])");
    CHECK(printed(array<double>{1e8, 1}) == R"([1.e+08 1.e+00])");
    CHECK(printed(array<double>{1e300, -2.5e-300, 0}) == R"([ 1.0e+300 -2.5e-300  0.0e+000])");
    CHECK(printed(array<float>{0.0001, 0.05}) == R"([0.0001 0.05  ])");
    CHECK(printed(array<double>{0.001, 1}) == R"([0.001 1.   ])");
    CHECK(printed(array<double>{0.001, 1.1}) == R"([1.0e-03 1.1e+00])");
    CHECK(printed(array<double>{not_a_number, 1, inf, -inf, -0.0}) == R"([ nan   1.  inf -inf  -0.])");
    CHECK(printed(array<double>{not_a_number, not_a_number}) == R"([nan nan])");
    CHECK(printed(array<double>{-inf, 1e20}) == R"([  -inf 1.e+20])");
    CHECK(printed(array<bool>{{true, false}, {false, false}}) ==
          R"([[ True False]
 [False False]])");
    CHECK(printed(array<bool>{true, true}) == R"([ True  True])");
    CHECK(printed(array<std::int8_t>{-128, 127}) == R"([-128  127])");
    CHECK(printed(array<std::uint64_t>{0, 18446744073709551615u}) == R"([                   0 18446744073709551615])");
    CHECK(printed(full<double>({}, 1.0)) == R"(1.0)");
    CHECK(printed(full({}, std::complex<double>(0, -22))) == R"(-22j)");
    CHECK(printed(full({}, std::complex<double>(-0.0, 1.5))) == R"((-0+1.5j))");
    CHECK(printed(full<float>({}, 0.1f)) == R"(0.1)");
    CHECK(printed(full<double>({}, 1e16)) == R"(1e+16)");
    CHECK(printed(full<double>({}, 1.5e-5)) == R"(1.5e-05)");
    CHECK(printed(full<float>({}, 123456789.0f)) == R"(123456790.0)");
    CHECK(printed(full<double>({}, -inf)) == R"(-inf)");
    CHECK(printed(full<bool>({}, true)) == R"(True)");
    CHECK(printed(full<int>({}, -7)) == R"(-7)");
    CHECK(printed(zeros<float>({0})) == R"([])");
    CHECK(printed(zeros<float>({2, 0, 3})) == R"([])");
    CHECK(printed(counted({2, 3})) ==
          R"([[0 1 2]
 [3 4 5]])");
    CHECK(printed(counted({2, 2, 3})) ==
          R"([[[ 0  1  2]
  [ 3  4  5]]

 [[ 6  7  8]
  [ 9 10 11]]])");
    CHECK(printed(counted({1, 2, 1, 2})) ==
          R"([[[[0 1]]

  [[2 3]]]])");
    CHECK(printed(counted({30})) ==
          R"([ 0  1  2  3  4  5  6  7  8  9 10 11 12 13 14 15 16 17 18 19 20 21 22 23
 24 25 26 27 28 29])");
    CHECK(printed(counted<float>({20}) / 7) ==
          R"([0.         0.14285715 0.2857143  0.42857143 0.5714286  0.71428573
 0.85714287 1.         1.1428572  1.2857143  1.4285715  1.5714285
 1.7142857  1.8571428  2.         2.142857   2.2857144  2.4285715
 2.5714285  2.7142856 ])");
    CHECK(printed(counted({1001})) == R"([   0    1    2 ...  998  999 1000])");
    CHECK(printed(counted({1000})(slice(0, 40)) * 12345) ==
          R"([     0  12345  24690  37035  49380  61725  74070  86415  98760 111105
 123450 135795 148140 160485 172830 185175 197520 209865 222210 234555
 246900 259245 271590 283935 296280 308625 320970 333315 345660 358005
 370350 382695 395040 407385 419730 432075 444420 456765 469110 481455])");
    CHECK(printed(counted<double>({40, 50}) / 8) ==
          R"([[0.00000e+00 1.25000e-01 2.50000e-01 ... 5.87500e+00 6.00000e+00
  6.12500e+00]
 [6.25000e+00 6.37500e+00 6.50000e+00 ... 1.21250e+01 1.22500e+01
  1.23750e+01]
 [1.25000e+01 1.26250e+01 1.27500e+01 ... 1.83750e+01 1.85000e+01
  1.86250e+01]
 ...
 [2.31250e+02 2.31375e+02 2.31500e+02 ... 2.37125e+02 2.37250e+02
  2.37375e+02]
 [2.37500e+02 2.37625e+02 2.37750e+02 ... 2.43375e+02 2.43500e+02
  2.43625e+02]
 [2.43750e+02 2.43875e+02 2.44000e+02 ... 2.49625e+02 2.49750e+02
  2.49875e+02]])");
    CHECK(printed(counted({20, 10, 7})) ==
          R"([[[   0    1    2 ...    4    5    6]
  [   7    8    9 ...   11   12   13]
  [  14   15   16 ...   18   19   20]
  ...
  [  49   50   51 ...   53   54   55]
  [  56   57   58 ...   60   61   62]
  [  63   64   65 ...   67   68   69]]

 [[  70   71   72 ...   74   75   76]
  [  77   78   79 ...   81   82   83]
  [  84   85   86 ...   88   89   90]
  ...
  [ 119  120  121 ...  123  124  125]
  [ 126  127  128 ...  130  131  132]
  [ 133  134  135 ...  137  138  139]]

 [[ 140  141  142 ...  144  145  146]
  [ 147  148  149 ...  151  152  153]
  [ 154  155  156 ...  158  159  160]
  ...
  [ 189  190  191 ...  193  194  195]
  [ 196  197  198 ...  200  201  202]
  [ 203  204  205 ...  207  208  209]]

 ...

 [[1190 1191 1192 ... 1194 1195 1196]
  [1197 1198 1199 ... 1201 1202 1203]
  [1204 1205 1206 ... 1208 1209 1210]
  ...
  [1239 1240 1241 ... 1243 1244 1245]
  [1246 1247 1248 ... 1250 1251 1252]
  [1253 1254 1255 ... 1257 1258 1259]]

 [[1260 1261 1262 ... 1264 1265 1266]
  [1267 1268 1269 ... 1271 1272 1273]
  [1274 1275 1276 ... 1278 1279 1280]
  ...
  [1309 1310 1311 ... 1313 1314 1315]
  [1316 1317 1318 ... 1320 1321 1322]
  [1323 1324 1325 ... 1327 1328 1329]]

 [[1330 1331 1332 ... 1334 1335 1336]
  [1337 1338 1339 ... 1341 1342 1343]
  [1344 1345 1346 ... 1348 1349 1350]
  ...
  [1379 1380 1381 ... 1383 1384 1385]
  [1386 1387 1388 ... 1390 1391 1392]
  [1393 1394 1395 ... 1397 1398 1399]]])");
    CHECK(printed(counted({4, 2, 200})) ==
          R"([[[   0    1    2 ...  197  198  199]
  [ 200  201  202 ...  397  398  399]]

 [[ 400  401  402 ...  597  598  599]
  [ 600  601  602 ...  797  798  799]]

 [[ 800  801  802 ...  997  998  999]
  [1000 1001 1002 ... 1197 1198 1199]]

 [[1200 1201 1202 ... 1397 1398 1399]
  [1400 1401 1402 ... 1597 1598 1599]]])");
    CHECK(printed(transpose(counted({300, 4}))) ==
          R"([[   0    4    8 ... 1188 1192 1196]
 [   1    5    9 ... 1189 1193 1197]
 [   2    6   10 ... 1190 1194 1198]
 [   3    7   11 ... 1191 1195 1199]])");
}

TEST_CASE("any expression prints, and a shape as a tuple") {
    const array<int> x{{1, 2}, {3, 4}};
    CHECK(printed(x + 1) == "[[2 3]\n [4 5]]");
    CHECK(printed(x(1)) == "[3 4]");
    CHECK(printed(x.T() > 1) == "[[False  True]\n [ True  True]]");
    std::ostringstream out;
    out << x.shape() << x.strides() << x(0).shape() << x(0, 0).shape();
    CHECK(out.str() == "(2, 2)(8, 4)(2,)()");
}

TEST_CASE("printing random arrays agrees with NumPy itself") {
    const char* python = std::getenv("INGOT_PYTHON");
    if (!python) return ingot::test::untested("INGOT_PYTHON names no Python with NumPy, as tests/run does");
    comparison both;
    random_arrays random;
    for (int round = 0; round < 400; ++round) {
        both.add(random.make<double>());
        both.add(random.make<float>());
        if (round % 4 == 0) {
            both.add(random.make<std::int64_t>());
            both.add(random.make<std::uint8_t>());
            both.add(random.make<int>());
        }
    }
    both.run(python);
}

TEST_CASE("options change what is printed as they do in NumPy") {
    const char* python = std::getenv("INGOT_PYTHON");
    if (!python) return ingot::test::untested("INGOT_PYTHON names no Python with NumPy, as tests/run does");
    comparison both;
    random_arrays random;
    for (int round = 0; round < 300; ++round) {
        const with_print_options drawn(random.options());
        both.add(random.make<double>());
        both.add(random.make<float>());
        both.add(random.make<float16>());
        both.add(random.make<std::complex<double>>());
        both.add(random.make<std::complex<float>>());
        both.add(random.make<int>());
    }
    both.run(python);
}

TEST_CASE("repr tells the dtype where the values do not") {
    CHECK(repr(array<double>{1, 2.5}) == "array([1. , 2.5])");
    CHECK(repr(array<float>{{1, 2}, {3, 4}}) == "array([[1., 2.],\n       [3., 4.]], dtype=float32)");
    CHECK(repr(array<std::int64_t>{1, -2}) == "array([ 1, -2])");
    CHECK(repr(array<bool>{true, false}) == "array([ True, False])");
    CHECK(repr(array<bfloat16>{1.5}) == "array([1.5], dtype=bfloat16)");
    CHECK(repr(zeros<float>({2, 0})) == "array([], shape=(2, 0), dtype=float32)");
    CHECK(repr(scalar(1e-10)) == "array(1.e-10)");
    CHECK(repr(scalar(true)) == "array(True)");
    CHECK(repr(array<int>{1, 2} * 2.5) == "array([2.5, 5. ])");
}

TEST_CASE("options hold until their guard ends, for their thread, and what is not named stays") {
    const array<double> x{1.23456, 2};
    {
        const with_print_options outer({.precision = 2});
        CHECK(printed(x) == "[1.23 2.  ]");
        {
            const with_print_options inner({.linewidth = 6});
            CHECK(printed(x) == "[1.23\n 2.  ]");
            std::thread([&] { CHECK(printed(x) == "[1.23456 2.     ]"); }).join();
        }
        CHECK(printed(x) == "[1.23 2.  ]");
        CHECK(print_options().precision == 2);
    }
    CHECK(printed(x) == "[1.23456 2.     ]");
    CHECK(thrown<dtype_error>([] { const with_print_options wrong({.precision = -1}); }) ==
          "[print] precision -1; at least 0 is wanted");
    CHECK(thrown<dtype_error>([] { const with_print_options wrong({.edgeitems = 0}); }) ==
          "[print] edgeitems 0; at least 1 is wanted");
    CHECK(print_options().precision == 8);
}

#ifdef __cpp_lib_format
TEST_CASE("std::format gives what is printed") {
    const array<double> x{1.23456, 2};
    CHECK(std::format("{} {:.2} {}", x, x + 1, x.shape()) == "[1.23456 2.     ] [2.23 3.  ] (2,)");
    CHECK(std::format("{} {:.2f}", float16(1.5), bfloat16(2)) == "1.5 2.00");
    CHECK_THROWS_AS((void)std::vformat("{:x}", std::make_format_args(x)), std::format_error);
}
#endif
