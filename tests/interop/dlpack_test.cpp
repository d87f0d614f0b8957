// DLPack both ways, with the structs as others declare them.
#include <complex>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <numeric>

#include "tests/arrays/expect.hpp"
#include "tests/untested.hpp"

// dlpack.h 1.0's declarations, in its own words.
extern "C" {
typedef struct {
    uint32_t major;
    uint32_t minor;
} DLPackVersion;
typedef enum : int32_t { kDLCPU = 1, kDLCUDA = 2, kDLROCM = 10 } DLDeviceType;
typedef struct {
    DLDeviceType device_type;
    int32_t device_id;
} DLDevice;
typedef struct {
    uint8_t code;
    uint8_t bits;
    uint16_t lanes;
} DLDataType;
typedef struct {
    void* data;
    DLDevice device;
    int32_t ndim;
    DLDataType dtype;
    int64_t* shape;
    int64_t* strides;
    uint64_t byte_offset;
} DLTensor;
typedef struct DLManagedTensor {
    DLTensor dl_tensor;
    void* manager_ctx;
    void (*deleter)(struct DLManagedTensor* self);
} DLManagedTensor;
struct DLManagedTensorVersioned {
    DLPackVersion version;
    void* manager_ctx;
    void (*deleter)(struct DLManagedTensorVersioned* self);
    uint64_t flags;
    DLTensor dl_tensor;
};
}

using namespace ingot;

namespace {

static_assert(sizeof(DLManagedTensor) == sizeof(dlpack::managed_tensor) &&
              sizeof(DLManagedTensorVersioned) == sizeof(dlpack::managed_tensor_versioned) &&
              offsetof(DLManagedTensorVersioned, dl_tensor) == offsetof(dlpack::managed_tensor_versioned, dl_tensor) &&
              offsetof(DLTensor, byte_offset) == offsetof(dlpack::tensor, byte_offset));

/// Somebody else's tensor over the host's memory, which counts how often it ends.
struct lent {
    std::vector<float> values = std::vector<float>(24);
    std::vector<std::int64_t> shape{2, 3}, strides{3, 1};
    int ended = 0;
    DLManagedTensorVersioned tensor{};

    lent() {
        std::iota(values.begin(), values.end(), 0.0f);
        tensor.version = {1, 0};
        tensor.manager_ctx = this;
        tensor.deleter = [](DLManagedTensorVersioned* self) { ++static_cast<lent*>(self->manager_ctx)->ended; };
        tensor.dl_tensor = {values.data(), {kDLCPU, 0}, 2, {2, 32, 1}, shape.data(), strides.data(), 0};
    }
    lent(const lent&) = delete;
};

/// The error of from_dlpack for a spoilt tensor, which it must not take over.
template <class E, class F>
std::string refused(F spoil) {
    lent l;
    spoil(l);
    const std::string text = thrown<E>([&] { (void)from_dlpack<float>(&l.tensor); });
    CHECK(l.ended == 0);
    return text;
}

template <class T>
void goes_and_comes_back(std::uint8_t code) {
    CAPTURE(name(array<T>::type));
    std::vector<T> bits;
    for (const bool b : {false, true, true, false, true, false}) bits.push_back(static_cast<T>(b));
    array<T> x = asarray(bits, {2, 3});
    auto* m = to_dlpack<DLManagedTensorVersioned>(x);
    CHECK(m->dl_tensor.dtype.code == code);
    CHECK(m->dl_tensor.dtype.bits == 8 * sizeof(T));
    CHECK(m->dl_tensor.dtype.lanes == 1);
    CHECK(m->dl_tensor.data == x.data());
    const std::vector<T> before = x.to_host();
    const array<T> back = from_dlpack<T>(m);
    CHECK(back.data() == x.data());
    CHECK(holds(back, {2, 3}, before));
}

}  // namespace

TEST_CASE("every dtype goes to DLPack and comes back over the same memory") {
    goes_and_comes_back<bool>(6);
    goes_and_comes_back<std::int8_t>(0);
    goes_and_comes_back<std::int16_t>(0);
    goes_and_comes_back<std::int32_t>(0);
    goes_and_comes_back<std::int64_t>(0);
    goes_and_comes_back<std::uint8_t>(1);
    goes_and_comes_back<std::uint16_t>(1);
    goes_and_comes_back<std::uint32_t>(1);
    goes_and_comes_back<std::uint64_t>(1);
    goes_and_comes_back<float16>(2);
    goes_and_comes_back<bfloat16>(4);
    goes_and_comes_back<float>(2);
    goes_and_comes_back<double>(2);
    goes_and_comes_back<std::complex<float>>(5);
    goes_and_comes_back<std::complex<double>>(5);
}

TEST_CASE("a tensor shares the array's memory until its deleter is called") {
    array<float> x{1, 2, 3};
    const array<float> before = x;
    auto* m = to_dlpack<DLManagedTensor>(x);
    CHECK(before.data() != x.data());  // the copy keeps what it had
    {
        array<float> other = from_dlpack<float>(to_dlpack(x));
        other(0) = 10;
        x *= 2;  // in place, though the tensor holds the memory
        CHECK(holds(other, {3}, {20, 4, 6}));
        CHECK(holds(x, {3}, {20, 4, 6}));
    }
    CHECK(m->dl_tensor.data == x.data());
    const array<float> deep = x;
    CHECK(deep.data() != x.data());
    x = array<float>{7};  // goes elsewhere; the tensor's memory stays
    const array<float> kept = from_dlpack<float>(m);
    CHECK(holds(kept, {3}, {20, 4, 6}));
    CHECK(holds(before, {3}, {1, 2, 3}));
}

TEST_CASE("memory that was given away is in use until the deleter is called") {
    memory_pool pool = default_memory_pool();
    pool.free_all_blocks();
    const std::size_t used = pool.used_bytes();
    auto* m = to_dlpack(zeros<double>({1000, 1000}));
    CHECK(pool.used_bytes() - used >= 8'000'000);
    m->deleter(m);
    CHECK(pool.used_bytes() == used);
}

TEST_CASE("a const array is given to be read alone and stays what it is") {
    array<float> x{1, 2, 3};
    auto* m = to_dlpack<DLManagedTensorVersioned>(std::as_const(x));
    CHECK(m->flags == 1);
    CHECK(m->dl_tensor.data == x.data());
    x += 1;
    CHECK(m->dl_tensor.data != x.data());
    array<float> seen = from_dlpack<float>(m);
    CHECK(holds(seen, {3}, {1, 2, 3}));
    CHECK_THROWS_AS(seen += 1, read_only_error);
    // A read-only array is exported as read-only, which the old tensors cannot express.
    auto* again = to_dlpack(seen);
    CHECK(again->flags == 1);
    again->deleter(again);
    CHECK_THROWS_AS((void)to_dlpack<DLManagedTensor>(seen), read_only_error);
}

TEST_CASE("a write to memory that is read alone throws, however it is made") {
    lent l;
    l.tensor.flags = 1;
    {
        array<float> x = from_dlpack<float>(&l.tensor);
        const array<float> other = zeros<float>({2, 3}).to(device::host());
        CHECK_THROWS_AS(x = other, read_only_error);
        CHECK_THROWS_AS(x = other + 1, read_only_error);
        CHECK_THROWS_AS(x = array<float>(other), read_only_error);
        CHECK_THROWS_AS(x += 1, read_only_error);
        CHECK_THROWS_AS(x.fill(1), read_only_error);
        CHECK_THROWS_AS(x.set({1, 2, 3, 4, 5, 6}), read_only_error);
        CHECK_THROWS_AS(assign(x, other), read_only_error);
        CHECK_THROWS_AS(x(0) = 7, read_only_error);
        CHECK_THROWS_AS(x(all, 1) += 7, read_only_error);
        CHECK_THROWS_AS(transpose(x) = 7, read_only_error);
        CHECK_THROWS_AS(x(other == 0) = 7, read_only_error);
        CHECK_THROWS_AS(x(array<int>{1}.to(device::host())) = 7, read_only_error);
        CHECK_THROWS_AS(x.mutable_data(), read_only_error);
        array<float> y = other;
        CHECK_THROWS_AS(assign(std::forward_as_tuple(x, y), other, other), read_only_error);
        array<float> copy = x;
        copy += 1;  // a copy is a value
        CHECK(copy.to_host() == std::vector<float>{1, 2, 3, 4, 5, 6});
        CHECK(sum(x).item() == 15);
        CHECK(l.ended == 0);
    }
    CHECK(l.ended == 1);
    CHECK(l.values[5] == 5);
}

TEST_CASE("strides, offsets and shapes of tensors are read as NumPy reads them") {
    const auto read = [](std::vector<std::int64_t> shape, std::vector<std::int64_t> strides, std::size_t first,
                         bool null_strides = false) {
        lent l;
        l.shape = std::move(shape);
        l.strides = std::move(strides);
        l.tensor.dl_tensor.ndim = static_cast<int>(l.shape.size());
        l.tensor.dl_tensor.shape = l.shape.data();
        l.tensor.dl_tensor.strides = null_strides ? nullptr : l.strides.data();
        l.tensor.dl_tensor.byte_offset = 4 * first;
        std::vector<float> seen;
        {
            const array<float> x = from_dlpack<float>(&l.tensor);
            CHECK(x.shape() == shape_like(l.shape));
            seen = array<float>(x + 0).to_host();
        }
        CHECK(l.ended == 1);
        return seen;
    };
    using values = std::vector<float>;
    CHECK(read({2, 3}, {3, 1}, 0) == values{0, 1, 2, 3, 4, 5});
    CHECK(read({2, 3}, {}, 1, true) == values{1, 2, 3, 4, 5, 6});        // C order
    CHECK(read({2, 3}, {1, 2}, 2) == values{2, 4, 6, 3, 5, 7});          // Fortran's
    CHECK(read({3}, {-2}, 9) == values{9, 7, 5});                        // x[9:3:-2]
    CHECK(read({2, 2}, {-4, 3}, 12) == values{12, 15, 8, 11});           // below and above the first element
    CHECK(read({2, 3}, {0, 1}, 4) == values{4, 5, 6, 4, 5, 6});          // broadcast
    CHECK(read({}, {}, 7) == values{7});                                 // 0-d
    CHECK(read({1, 2}, {std::int64_t{1} << 62, 1}, 3) == values{3, 4});  // nothing moves on the first axis
    CHECK(read({0, 3}, {3, 1}, 0).empty());
    lent nothing;
    nothing.shape = {3, 0};
    nothing.tensor.dl_tensor.data = nullptr;
    CHECK(from_dlpack<float>(&nothing.tensor).size() == 0);
    CHECK(nothing.ended == 1);
}

TEST_CASE("a tensor whose elements stand for several is read alone, as NumPy's broadcast arrays are") {
    lent l;
    l.shape = {2, 3}, l.strides = {0, 1};
    l.tensor.dl_tensor.strides = l.strides.data();
    const std::vector<float> before = l.values;
    {
        array<float> x = from_dlpack<float>(&l.tensor);
        CHECK_THROWS_AS(x += 1, read_only_error);
        CHECK_THROWS_AS(x(0, 1) = 5, read_only_error);
        CHECK(array<float>(x * 2).to_host()[4] == 2 * before[1]);
    }
    CHECK(l.values == before);
    lent single;  // nothing moves along an axis of one
    single.shape = {1, 3}, single.strides = {0, 1};
    single.tensor.dl_tensor.strides = single.strides.data();
    array<float> y = from_dlpack<float>(&single.tensor);
    y += 1;
    CHECK(single.values[2] == before[2] + 1);
}

TEST_CASE("an array's strides are the tensor's") {
    std::vector<float> values(12);
    array<float> columns = asarray<float>(unowned_memory(values.data(), 48), {3, 2}, {4, 24});
    auto* m = to_dlpack<DLManagedTensorVersioned>(columns);
    CHECK(m->dl_tensor.shape[0] == 3);
    CHECK(m->dl_tensor.strides[0] == 1);
    CHECK(m->dl_tensor.strides[1] == 6);
    static_cast<float*>(m->dl_tensor.data)[6] = 5;
    CHECK(columns(0, 1).item() == 5);
    m->deleter(m);
    lent backwards;
    backwards.strides = {-3, -1};
    backwards.tensor.dl_tensor.byte_offset = 20;
    array<float> flipped = from_dlpack<float>(&backwards.tensor);
    auto* again = to_dlpack<DLManagedTensor>(flipped);
    CHECK(again->dl_tensor.strides[0] == -3);
    CHECK(again->dl_tensor.data == backwards.values.data() + 5);
    again->deleter(again);
    flipped(0, 0) = 50;
    CHECK(backwards.values[5] == 50);
}

TEST_CASE("what holds a tensor's memory holds it until all have gone") {
    lent l;
    {
        auto pending = from_dlpack<float>(&l.tensor) + 1;
        l.values[0] = 100;  // read when it is evaluated
        CHECK(l.ended == 0);
        CHECK(pending.to_host() == std::vector<float>{101, 2, 3, 4, 5, 6});
    }
    device::host().synchronize();
    CHECK(l.ended == 1);
    lent silent;  // nobody to tell
    silent.tensor.deleter = nullptr;
    CHECK(sum(from_dlpack<float>(&silent.tensor)).item() == 15);
}

TEST_CASE("any dtype is dispatched") {
    const auto name_of = [](const auto& x) { return std::string(name(x.dtype())); };
    CHECK(from_dlpack_any(to_dlpack(array<bfloat16>{1}), name_of) == "bfloat16");
    auto* m = to_dlpack(array<std::uint16_t>{1});
    CHECK(dlpack_dtype(m) == dtype::u2);
    CHECK(from_dlpack_any(m, name_of) == "uint16");
}

TEST_CASE("tensors that no array can be over are refused by name, and stay their owner's") {
    CHECK(refused<dtype_error>([](lent& l) { l.tensor.dl_tensor.dtype = {0, 32, 1}; }) ==
          "[from_dlpack] the tensor holds int32, and float32 is wanted");
    CHECK(refused<dtype_error>([](lent& l) { l.tensor.dl_tensor.dtype.lanes = 4; }) ==
          "[from_dlpack] elements of code 2, 32 bits and 4 lanes: vectors are no elements of an array");
    CHECK(refused<dtype_error>([](lent& l) { l.tensor.dl_tensor.dtype = {10, 8, 1}; }) ==  // float8_e4m3fn
          "[from_dlpack] elements of code 10, 8 bits and 1 lanes are of no dtype of Ingot");
    CHECK(refused<dtype_error>([](lent& l) { l.tensor.dl_tensor.dtype = {0, 4, 1}; }) ==
          "[from_dlpack] elements of code 0, 4 bits and 1 lanes are of no dtype of Ingot");
    CHECK(refused<device_error>([](lent& l) { l.tensor.dl_tensor.device = {kDLROCM, 1}; }) ==
          "[from_dlpack] the tensor is on device type 10 (ROCm), number 1, which Ingot cannot reach");
    CHECK(refused<device_error>([](lent& l) { l.tensor.dl_tensor.device.device_type = DLDeviceType{77}; }) ==
          "[from_dlpack] the tensor is on device type 77, number 0, which Ingot cannot reach");
    CHECK(refused<device_error>([](lent& l) { l.tensor.dl_tensor.device = {kDLCUDA, 50}; }) ==
          "[from_dlpack] the tensor is on device type 2 (CUDA), number 50; usable GPUs: " +
              std::to_string(device::cuda_count()));
    CHECK(refused<device_error>([](lent& l) { l.tensor.dl_tensor.data = nullptr; }) ==
          "[from_dlpack] a null pointer was given for shape (2, 3)");
    CHECK(refused<device_error>([](lent& l) { l.tensor.dl_tensor.byte_offset = 2; }) ==
          "[from_dlpack] the memory is not aligned to the 4 bytes that float32 wants");
    CHECK(refused<shape_error>([](lent& l) { l.tensor.dl_tensor.byte_offset = ~std::uint64_t{0} - 3; }) ==
          "[from_dlpack] the elements begin 18446744073709551612 bytes behind the tensor's pointer, beyond the "
          "end of the address space");
    CHECK(refused<shape_error>([](lent& l) { l.tensor.dl_tensor.ndim = 65; }) ==
          "[from_dlpack] a tensor of 65 axes; an array has 0 to 64");
    CHECK(refused<shape_error>([](lent& l) { l.tensor.dl_tensor.ndim = -1; }) ==
          "[from_dlpack] a tensor of -1 axes; an array has 0 to 64");
    CHECK(refused<shape_error>([](lent& l) { l.tensor.dl_tensor.shape = nullptr; }) ==
          "[from_dlpack] a tensor of 2 axes; an array has 0 to 64");
    CHECK(refused<shape_error>([](lent& l) { l.shape[0] = -2; }).find("-2") != std::string::npos);
    CHECK(refused<shape_error>([](lent& l) { l.strides[0] = std::int64_t{1} << 61; }) ==
          "[from_dlpack] shape (2, 3) of float32 reaches beyond the end of the address space");
    CHECK(refused<error>([](lent& l) { l.tensor.version = {2, 1}; }) ==
          "[from_dlpack] the tensor is of DLPack 2.1; version 1 is known");
    CHECK(thrown<error>([] { (void)from_dlpack<float>(static_cast<DLManagedTensor*>(nullptr)); }) ==
          "[from_dlpack] a null tensor was given");
    lent l;
    const stream elsewhere(device::host(40));
    CHECK(thrown<device_error>([&] { (void)from_dlpack<float>(&l.tensor, elsewhere); }) ==
          "[from_dlpack] a stream of host:40 cannot be in order with memory of host:0");
    CHECK(l.ended == 0);
    // An export that throws does not un-share the array.
    array<float> x{1, 2, 3};
    const array<float> copy = x;
    CHECK_THROWS_AS((void)to_dlpack(x, elsewhere), device_error);
    CHECK(std::as_const(x).data() == copy.data());
}

TEST_CASE("NumPy's own tensors have these members at these places") {
    const char* const python = std::getenv("INGOT_PYTHON");
    if (python == nullptr || *python == '\0') {
        return test::untested("INGOT_PYTHON names no Python with NumPy, as tests/run does");
    }
    // The bytes of the struct that NumPy exports, old and versioned, and the exported array.
    const std::string script =
        "import ctypes as c, numpy as n\n"
        "a = n.arange(24, dtype='i2').reshape(4, 6)[::2, ::-1]\n"
        "get = c.pythonapi.PyCapsule_GetPointer; get.restype = c.c_void_p; get.argtypes = [c.py_object, c.c_char_p]\n"
        "old, new = a.__dlpack__(), a.__dlpack__(max_version=(1, 0))\n"
        "print(c.string_at(get(old, b'dltensor'), 64).hex(), c.string_at(get(new, b'dltensor_versioned'), 80).hex(),\n"
        "      a.ctypes.data)\n";
    std::FILE* const out = popen((std::string(python) + " -c \"" + script + "\"").c_str(), "r");
    REQUIRE(out != nullptr);
    char old_hex[256] = "", new_hex[256] = "";
    unsigned long long address = 0;
    const int read = std::fscanf(out, "%255s %255s %llu", old_hex, new_hex, &address);
    pclose(out);
    REQUIRE(read == 3);
    const auto fill = [](const char* hex, auto& to) {
        REQUIRE(std::strlen(hex) == 2 * sizeof to);
        for (std::size_t i = 0; i < sizeof to; ++i) {
            const std::string byte(hex + 2 * i, 2);
            reinterpret_cast<unsigned char*>(&to)[i] = static_cast<unsigned char>(std::stoi(byte, nullptr, 16));
        }
    };
    dlpack::managed_tensor plain;
    dlpack::managed_tensor_versioned versioned;
    fill(old_hex, plain);
    fill(new_hex, versioned);
    CHECK(versioned.version.major == 1);
    CHECK(versioned.flags == 0);
    for (const dlpack::tensor& t : {plain.dl_tensor, versioned.dl_tensor}) {
        CHECK(reinterpret_cast<std::uintptr_t>(t.data) + t.byte_offset == address);
        CHECK(t.device.device_type == dlpack::cpu);
        CHECK(t.device.device_id == 0);
        CHECK(t.ndim == 2);
        CHECK(detail::dtype_of_tensor(t) == dtype::i2);
        CHECK(t.shape != nullptr);
        CHECK(t.strides != nullptr);
    }
}
