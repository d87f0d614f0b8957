// cuRAND as a typed table, and its generators: on a GPU, or on the host, where cuRAND needs no driver.
#include <ingot/distributions/curand_generator.hpp>

#include <cmath>
#include <memory>
#include <mutex>
#include <string>

#include <ingot/core/error.hpp>

#include "runtime/device/graphs.hpp"
#include "runtime/device/ordering.hpp"
#include "runtime/front/evaluate.hpp"
#include "runtime/system/counters.hpp"
#include "runtime/system/number_text.hpp"
#include "runtime/system/opened_library.hpp"

namespace ingot {

namespace {

using random::curand_kind;
using kind_of_draw = detail::curand_draw::distribution;

constexpr index_t most_dimensions = 20000;

const char* name_of(curand_kind kind) {
    return kind == curand_kind::xorwow ? "xorwow" : kind == curand_kind::mrg32k3a ? "mrg32k3a" : "sobol";
}

/// Throws error where there is no such generator.
void check_generator(curand_kind kind, index_t dimensions) {
    if (kind > curand_kind::sobol)
        throw error("[curand_generator] kind " + std::to_string(static_cast<int>(kind)) +
                    ": xorwow, mrg32k3a or sobol is wanted");
    const index_t most = kind == curand_kind::sobol ? most_dimensions : 1;
    if (dimensions < 1 || dimensions > most)
        throw error(std::string("[curand_generator] ") + std::to_string(dimensions) + " dimensions: " + name_of(kind) +
                    " has 1" + (most > 1 ? " to " + std::to_string(most) : ""));
}

std::string prefix_of(const char* operation) { return "[curand_generator] " + std::string(operation) + ": "; }

/// Throws dtype_error for parameters that a distribution does not allow, or words that the generator does not have.
void check_draw(const char* operation, const detail::curand_draw& what, curand_kind kind, dtype type) {
    if (what.of == kind_of_draw::bits && kind == curand_kind::sobol && detail::size_of(type) == 8)
        throw dtype_error(prefix_of(operation) + "sobol has words of uint32, not of " + std::string(name(type)));
    const auto refuse = [&](const char* name, double given, const char* wanted) {
        throw dtype_error(prefix_of(operation) + name + " is " + runtime::number_text(given) + ", and " + wanted +
                          " is wanted");
    };
    if (what.of == kind_of_draw::poisson && !(what.first > 0 && std::isfinite(what.first)))
        refuse("lam", what.first, "a positive number");
    if (what.of != kind_of_draw::normal && what.of != kind_of_draw::lognormal) return;
    if (!std::isfinite(what.first)) refuse("mean", what.first, "a finite number");
    if (!(what.second >= 0 && std::isfinite(what.second))) refuse("deviation", what.second, "one that is not negative");
}

}  // namespace

}  // namespace ingot

#if defined(INGOT_HAS_CUDA_HEADERS) && __has_include(<curand.h>)

#include <curand.h>

namespace ingot::runtime {

namespace {

struct curand_api : api_table {
    using api_table::api_table;
    static library_files files() { return files_of_cuda_library("curand", {10}); }

    decltype(&::curandCreateGenerator) create = function("curandCreateGenerator");
    decltype(&::curandCreateGeneratorHost) create_on_host = function("curandCreateGeneratorHost");
    decltype(&::curandDestroyGenerator) destroy = function("curandDestroyGenerator");
    decltype(&::curandSetStream) set_stream = function("curandSetStream");
    decltype(&::curandSetPseudoRandomGeneratorSeed) set_seed = function("curandSetPseudoRandomGeneratorSeed");
    decltype(&::curandSetGeneratorOffset) set_offset = function("curandSetGeneratorOffset");
    decltype(&::curandSetQuasiRandomGeneratorDimensions) set_dimensions =
        function("curandSetQuasiRandomGeneratorDimensions");
    decltype(&::curandGenerate) bits = function("curandGenerate");
    decltype(&::curandGenerateUniform) uniform = function("curandGenerateUniform");
    decltype(&::curandGenerateUniformDouble) uniform_double = function("curandGenerateUniformDouble");
    decltype(&::curandGenerateNormal) normal = function("curandGenerateNormal");
    decltype(&::curandGenerateNormalDouble) normal_double = function("curandGenerateNormalDouble");
    decltype(&::curandGenerateLogNormal) lognormal = function("curandGenerateLogNormal");
    decltype(&::curandGenerateLogNormalDouble) lognormal_double = function("curandGenerateLogNormalDouble");
    decltype(&::curandGeneratePoisson) poisson = function("curandGeneratePoisson");
};

const curand_api& curand() { return opened_library<curand_api>::get("curand_generator"); }

void check(curandStatus_t status, const char* operation) {
    if (status == CURAND_STATUS_SUCCESS) return;
    const std::string why = status == CURAND_STATUS_ALLOCATION_FAILED ? "there is not enough memory"
                            : status == CURAND_STATUS_TYPE_ERROR      ? "this generator does not do this"
                            : status == CURAND_STATUS_INITIALIZATION_FAILED
                                ? "it finds no driver that it works with"
                                : "status " + std::to_string(static_cast<int>(status));
    throw library_error(prefix_of(operation) + "cuRAND: " + why);
}

curandRngType_t type_of(curand_kind kind) {
    return kind == curand_kind::xorwow     ? CURAND_RNG_PSEUDO_XORWOW
           : kind == curand_kind::mrg32k3a ? CURAND_RNG_PSEUDO_MRG32K3A
                                           : CURAND_RNG_QUASI_SOBOL32;
}

}  // namespace

class curand_state {
public:
    curand_state(std::uint64_t seed, curand_kind kind, index_t dimensions)
        : kind_(kind), dimensions_(dimensions), device_(current_device()) {
        check_generator(kind, dimensions);
        const curand_api& api = curand();
        if (device_.is_cuda()) {
            context_on(device_).stream->backend->bind_thread();
            check(api.create(&generator_, type_of(kind)), "create");
        } else {
            check(api.create_on_host(&generator_, type_of(kind)), "create");
        }
        try {
            if (kind == curand_kind::sobol)
                check(api.set_dimensions(generator_, static_cast<unsigned>(dimensions)), "create");
            set_seed(seed);
        } catch (...) {
            api.destroy(generator_);
            throw;
        }
    }
    curand_state(const curand_state&) = delete;
    curand_state& operator=(const curand_state&) = delete;
    ~curand_state() {
        // The generator's last work may still run, and destroying it frees memory.
        if (last_stream_ != nullptr && device_.is_cuda()) {
            last_stream_->backend->bind_thread();
            last_stream_->backend->synchronize(last_stream_->native);
        }
        curand().destroy(generator_);
    }

    device_id device() const noexcept { return device_; }
    curand_kind kind() const noexcept { return kind_; }

    void seed(std::uint64_t value) {
        const std::lock_guard lock(mutex_);
        set_seed(value);
    }

    void fill(const char* operation, const detail::curand_draw& what, buffer& to, dtype type,
              std::span<const index_t> shape) {
        check_draw(operation, what, kind_, type);
        if (dimensions_ > 1 && (shape.empty() || shape[0] != dimensions_))
            throw shape_error(prefix_of(operation) + "shape " + detail::to_text(shape) +
                              ": the first axis of sobol's points of " + std::to_string(dimensions_) +
                              " dimensions has that extent");
        std::size_t n = 1;
        for (const index_t extent : shape) n *= static_cast<std::size_t>(extent);
        stream_state& stream = *context_on(device_).stream;
        check_not_recorded(stream, "work of cuRAND's generators");
        const std::lock_guard lock(mutex_);
        order_write(to, stream);
        if (device_.is_cuda()) move_to(stream);
        const bool in_pairs = kind_ != curand_kind::sobol && n % 2 != 0 &&
                              (what.of == kind_of_draw::normal || what.of == kind_of_draw::lognormal);
        if (!in_pairs) {
            check(draw(what, to.data, type, n), operation);
        } else {
            const std::size_t bytes = n * detail::size_of(type);
            const buffer_ref aside = allocate_buffer(bytes + detail::size_of(type), device_, stream);
            order_write(*aside, stream);
            check(draw(what, aside->data, type, n + 1), operation);
            stream.backend->copy(to.data, aside->data, bytes, copy_direction::within, stream.native);
        }
        add(counter::library_calls);
    }

private:
    void set_seed(std::uint64_t value) {
        if (last_stream_ != nullptr) curand().set_stream(generator_, native_of(*last_stream_));
        if (kind_ != curand_kind::sobol) check(curand().set_seed(generator_, value), "seed");
        check(curand().set_offset(generator_, kind_ == curand_kind::sobol ? value : 0), "seed");
    }
    static cudaStream_t native_of(const stream_state& stream) { return reinterpret_cast<cudaStream_t>(stream.native); }
    /// The generator's state is memory of the GPU that calls on its former stream may still write.
    void move_to(stream_state& stream) {
        stream.backend->bind_thread();
        if (last_stream_ == &stream) return;
        if (last_stream_ != nullptr) wait_for_stream(stream, *last_stream_);
        check(curand().set_stream(generator_, native_of(stream)), "set the stream");
        last_stream_ = &stream;
    }

    curandStatus_t draw(const detail::curand_draw& what, void* to, dtype type, std::size_t n) {
        const curand_api& api = curand();
        const bool single = type == dtype::f4;
        auto* const words = static_cast<unsigned*>(to);
        auto* const floats = static_cast<float*>(to);
        auto* const doubles = static_cast<double*>(to);
        const auto first = static_cast<float>(what.first), second = static_cast<float>(what.second);
        switch (what.of) {
            case kind_of_draw::bits:
                return api.bits(generator_, words, n * detail::size_of(type) / 4);
            case kind_of_draw::uniform:
                return single ? api.uniform(generator_, floats, n) : api.uniform_double(generator_, doubles, n);
            case kind_of_draw::normal:
                return single ? api.normal(generator_, floats, n, first, second)
                              : api.normal_double(generator_, doubles, n, what.first, what.second);
            case kind_of_draw::lognormal:
                return single ? api.lognormal(generator_, floats, n, first, second)
                              : api.lognormal_double(generator_, doubles, n, what.first, what.second);
            case kind_of_draw::poisson:
                return api.poisson(generator_, words, n, what.first);
        }
        return CURAND_STATUS_TYPE_ERROR;
    }

    std::mutex mutex_;
    curand_kind kind_;
    index_t dimensions_;
    device_id device_;
    curandGenerator_t generator_ = nullptr;
    stream_state* last_stream_ = nullptr;
};

}  // namespace ingot::runtime

#else

namespace ingot::runtime {

class curand_state {
public:
    curand_state(std::uint64_t, curand_kind kind, index_t dimensions) {
        check_generator(kind, dimensions);
        throw library_error(
            "[curand_generator] Ingot was built without the headers of cuRAND (from NVIDIA's repository: "
            "libcurand-dev-13-0)");
    }
    device_id device() const noexcept { return {}; }
    curand_kind kind() const noexcept { return curand_kind::xorwow; }
    void seed(std::uint64_t) {}
    void fill(const char* operation, const detail::curand_draw& what, buffer&, dtype type, std::span<const index_t>) {
        check_draw(operation, what, kind(), type);
    }
};

}  // namespace ingot::runtime

#endif

namespace ingot::random {

curand_generator::curand_generator(std::uint64_t seed, curand_kind kind, index_t dimensions)
    : state_(new runtime::curand_state(seed, kind, dimensions)) {}
curand_generator::~curand_generator() { delete state_; }

detail::device_id curand_generator::device() const noexcept { return state_->device(); }
curand_kind curand_generator::kind() const noexcept { return state_->kind(); }
void curand_generator::seed(std::uint64_t value) { state_->seed(value); }
void curand_generator::fill(const char* operation, detail::curand_draw what, detail::buffer& to, dtype type,
                            std::span<const index_t> shape) {
    state_->fill(operation, what, to, type, shape);
}
array<std::uint32_t> curand_generator::poisson(double lam, const shape_like& shape) {
    return filled<std::uint32_t>("poisson", {detail::curand_draw::distribution::poisson, lam}, shape);
}

}  // namespace ingot::random
