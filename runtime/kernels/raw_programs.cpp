// Users' kernels: stored, compiled and loaded.
#include <ingot/kernels/raw_kernels.hpp>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <memory>
#include <sstream>
#include <string_view>
#include <utility>

#include <ingot/core/error.hpp>

#include "runtime/device/device.hpp"
#include "runtime/device/device_facts.hpp"
#include "runtime/device/driver.hpp"
#include "runtime/device/ordering.hpp"
#include "runtime/kernels/raw_kernels.hpp"
#include "runtime/system/fork.hpp"
#include "runtime/system/whole_file.hpp"

namespace ingot {

namespace runtime {

namespace {

std::string in(const raw_program& p) { return "[" + std::string(p.operation) + "] "; }

/// Throws where a text has a zero byte: a compiler or driver would read no further.
void check_whole(const char* operation, std::string_view text, const char* of) {
    if (const std::size_t zero = text.find('\0'); zero != text.npos)
        throw error("[" + std::string(operation) + "] the " + of + " has a zero byte behind " + std::to_string(zero) +
                    " characters");
}
void check_name(const char* operation, std::string_view name, const char* of) {
    if (name.find_first_not_of(" \t\n") == name.npos)
        throw error("[" + std::string(operation) + "] the " + of + " is empty");
    check_whole(operation, name, of);
}
void check_options(const char* operation, const std::vector<std::string>& options) {
    for (const std::string& option : options) check_whole(operation, option, "option");
}

const raw_program& keep_program(const char* operation, std::string_view text, const std::vector<std::string>& options,
                                std::vector<std::string> kernels, std::span<const std::byte> image,
                                std::string_view label) {
    std::string key = std::string(operation) + '\0' + std::string(text) + '\0';
    for (const std::vector<std::string>* list : {&options, &std::as_const(kernels)}) {
        for (const std::string& word : *list) key += word + '\0';
        key += '\0';
    }
    key.append(reinterpret_cast<const char*>(image.data()), image.size());
    static std::mutex& mutex = lock_across_fork(mutex_rank::tables, *new std::mutex);
    static auto& kept = *new std::map<std::string, std::unique_ptr<raw_program>>;  // leaked: kernels name them
    const std::lock_guard lock(mutex);
    std::unique_ptr<raw_program>& found = kept[std::move(key)];
    if (!found) {
        found = std::make_unique<raw_program>();
        lock_across_fork(mutex_rank::programs, found->mutex);
        found->operation = operation;
        found->text = text;
        found->options = options;
        found->kernels = std::move(kernels);
        found->image.assign(image.begin(), image.end());
        found->label = label;
    }
    return *found;
}

const raw_function& keep_function(const raw_program& program, std::string_view name) {
    const std::lock_guard lock(program.mutex);
    raw_function& f = program.functions[std::string(name)];
    f.program = &program;
    f.name = name;
    return f;
}

std::string architecture_name(device_id device) {
    return device.is_cuda() ? "sm_" + std::to_string(architecture_of(device)) : host_architecture();
}

std::string list_of(const std::vector<std::string>& names) {
    std::string out;
    for (const std::string& name : names) out += (out.empty() ? "" : ", ") + name;
    return out;
}

[[noreturn]] void throw_no_kernel(const raw_program& program, std::string_view name) {
    std::string text = in(program) + "there is no kernel '" + std::string(name) + "'";
    if (!program.image.empty()) text += " in " + program.label;
    const std::vector<std::string> there = program.text.empty() ? program.kernels : kernels_in(program.text);
    if (!there.empty()) text += "; there are " + list_of(there);
    throw error(text);
}

/// Whether the first error in the log is about a kernel's name behind the user's text.
bool is_about_names(const std::string& log) {
    const std::size_t first = log.find("error");
    if (first == log.npos) return false;
    const std::size_t line = log.rfind('\n', first);
    return log.substr(line == log.npos ? 0 : line + 1, first).find(names_file) != log.npos &&
           log.find(names_file) < first;
}

/// Whether a text includes a user's files: in quotes, or in brackets if include folders are given.
bool reads_files(const raw_program& program) {
    const auto begins = [&](std::initializer_list<std::string_view> words) {
        return std::ranges::any_of(program.options, [&](const std::string& option) {
            return std::ranges::any_of(words, [&](std::string_view word) { return option.starts_with(word); });
        });
    };
    if (begins({"-include", "--pre-include"})) return true;
    const bool has_folders = begins({"-I", "--include-path"});
    std::istringstream lines(program.text);
    for (std::string line; std::getline(lines, line);) {
        std::erase_if(line, [](char c) { return c == ' ' || c == '\t'; });
        if (line.starts_with("#include") && (has_folders || line.starts_with("#include\"")) &&
            !line.starts_with("#include<cupy/"))
            return true;
    }
    return false;
}

std::shared_ptr<const kernel_module> load_program(const raw_program& program, device_id device) {
    if (!program.image.empty()) {
        if (!device.is_cuda())
            throw device_error(in(program) + program.label + " is code for GPUs, and the current device is " +
                               to_string(device));
        return std::make_shared<const kernel_module>(target::cuda, program.label, program.image);
    }
    source_text source;
    source.where = device.is_cuda() ? target::cuda : target::host;
    source.architecture = architecture_name(device);
    source.kernels = program.kernels;
    source.reads_files = reads_files(program);
    if (device.is_cuda()) {
        source.text = cuda_text(program.text, program.kernels);
        source.options = program.options;
        source.name_expressions = program.kernels;
    } else {
        source.text = host_text(program.text, program.kernels);
        source.options = host_compiler_options(program.options);
    }
    try {
        return load(source);
    } catch (const compiler_unavailable& e) {
        throw library_error(in(program) + "a kernel's text needs the host's compiler: " + e.what());
    } catch (const compile_error& e) {
        if (is_about_names(e.log()))
            throw error(in(program) + "the text has not all of the kernels " + list_of(program.kernels) +
                        (kernels_in(program.text).empty() ? "" : "; it has " + list_of(kernels_in(program.text))) +
                        "\n" + e.log());
        std::string listing = numbered(program.text);
        throw compile_error(in(program) + (device.is_cuda() ? "NVRTC" : "the host compiler") +
                                " rejected the text of " + list_of(program.kernels) + "\n" + e.log() + "\n" + listing,
                            e.log(), std::move(listing));
    }
}

const kernel_module& module_of(const raw_program& program, device_id device) {
    const std::string architecture = architecture_name(device);
    {
        const std::lock_guard lock(program.mutex);
        const auto known = program.loaded.find(architecture);
        if (known != program.loaded.end()) return *known->second.module;
    }
    auto fresh = load_program(program, device);  // outside the lock; if two threads load, the first one's stays
    const std::lock_guard lock(program.mutex);
    return *program.loaded.try_emplace(architecture, loaded_program{std::move(fresh)}).first->second.module;
}

/// The parameters' words, from a variable of the module.
std::vector<raw_parameter> parameters_from(std::span<const std::byte> words) {
    std::vector<raw_parameter> parameters;
    for (std::size_t at = 8; at + 8 < words.size() + 0; at += 8) {  // the last word is no parameter
        std::uint64_t word = 0;
        std::memcpy(&word, words.data() + at, sizeof word);
        parameters.emplace_back(word);
    }
    return parameters;
}

void load_on_host(const raw_function& f, const kernel_module& module, std::size_t index, loaded_function& made) {
    if (index == f.program->kernels.size()) throw_no_kernel(*f.program, f.name);
    made.on_host = reinterpret_cast<raw_runner>(module.host_function(runner_symbol(index)));
    made.parameters = parameters_from(module.host_variable(parameters_symbol(index)));
    made.is_described = made.is_counted = true;
}

#ifdef INGOT_HAS_CUDA_HEADERS
void load_on_gpu(const raw_function& f, const kernel_module& module, std::size_t index, device_id device,
                 loaded_function& made) {
    device_state& d = state_of(device);
    d.backend->bind_thread();
    const bool is_listed = index < module.names().size();
    try {
        made.on_gpu = module.kernel(is_listed ? module.names()[index] : f.name);
    } catch (const device_error&) {
        throw_no_kernel(*f.program, f.name);
    }
    if (is_listed) {
        if (const std::span<std::byte> words = module.variable(parameters_symbol(index)); !words.empty()) {
            std::vector<std::byte> read(words.size());
            d.backend->copy(read.data(), words.data(), words.size(), copy_direction::to_host, d.default_stream->native);
            d.backend->synchronize(d.default_stream->native);
            made.parameters = parameters_from(read);
            made.is_described = made.is_counted = true;
            return;
        }
    }
    const auto get_parameter_info = driver()->cuKernelGetParamInfo;
    if (get_parameter_info == nullptr) return;
    constexpr std::size_t most = 4096;  // bytes, so also a bound on parameters, before CUDA 12.1; 32,764 since
    std::size_t offset = 0, bytes = 0;
    while (made.parameters.size() < 8 * most &&
           get_parameter_info(static_cast<CUkernel>(made.on_gpu), made.parameters.size(), &offset, &bytes) ==
               CUDA_SUCCESS)
        made.parameters.emplace_back(std::uint64_t{bytes} << 8);
    made.is_counted = true;
}
#endif

const loaded_function& find_loaded(const raw_function& f, device_id device) {
    const raw_program& program = *f.program;
    const std::string architecture = architecture_name(device);
    {
        const std::lock_guard lock(program.mutex);
        if (const auto known = f.loaded.find(architecture); known != f.loaded.end()) return *known->second;
    }
    const kernel_module& module = module_of(program, device);
    const auto index = static_cast<std::size_t>(std::ranges::find(program.kernels, f.name) - program.kernels.begin());
    auto made = std::make_unique<loaded_function>();
#ifdef INGOT_HAS_CUDA_HEADERS
    if (device.is_cuda())
        load_on_gpu(f, module, index, device, *made);
    else
#endif
        load_on_host(f, module, index, *made);
    const std::lock_guard lock(program.mutex);
    return *f.loaded.try_emplace(architecture, std::move(made)).first->second;
}

}  // namespace

const loaded_function& loaded_on(const raw_function& f, device_id device) {
    const std::size_t slot = device.is_cuda() ? 1 + static_cast<std::size_t>(device.index()) : 0;
    if (slot > cached_devices) return find_loaded(f, device);
    if (const loaded_function* const known = f.recent[slot].load(std::memory_order_acquire)) return *known;
    const loaded_function& found = find_loaded(f, device);
    f.recent[slot].store(&found, std::memory_order_release);
    return found;
}

void order_variables(const raw_program& program, const stream_state& s) {
    if ((program.launched_on.load(std::memory_order_relaxed) & s.reader_bit) == 0)
        program.launched_on.fetch_or(s.reader_bit, std::memory_order_acq_rel);
    if (!program.has_variables.load(std::memory_order_acquire)) return;
    const std::lock_guard lock(program.mutex);
    for (auto& [of, memory] : program.variables)
        if (memory && memory->device == s.device) order_write(*memory, s);
}

}  // namespace runtime

namespace detail {

module_variable variable_of(const runtime::raw_program& program, std::string_view name, dtype type) {
    using namespace runtime;
    check_whole(program.operation, name, "variable's name");
    const device_id device = current().device;
    const kernel_module& module = module_of(program, device);
    std::span<std::byte> bytes;
#ifdef INGOT_HAS_CUDA_HEADERS
    if (device.is_cuda()) {
        state_of(device).backend->bind_thread();
        bytes = module.variable(name);
    } else
#endif
        bytes = module.host_variable(name);
    if (bytes.empty()) throw error(in(program) + "there is no variable '" + std::string(name) + "'");
    if (bytes.size() % size_of(type) != 0)
        throw dtype_error(in(program) + "the " + std::to_string(bytes.size()) + " bytes of '" + std::string(name) +
                          "' are no whole number of " + std::string(ingot::name(type)));
    const std::lock_guard lock(program.mutex);
    buffer_ref& memory = program.variables[{std::string(name), device.is_cuda() ? device.index() : -1}];
    if (!memory) {
        buffer_ref made = unowned_buffer(bytes.data(), bytes.size(), device);
        // Until now, launches were not ordered with the variable.
        const stream_state& s = *current().stream;
        for_each_reader(program.launched_on.load(std::memory_order_acquire), [&](const stream_state& r) {
            if (r.capture.load(std::memory_order_relaxed) == nullptr) wait_for_stream(s, r);
        });
        // In a capture the variable has no writer, so that the graph notes its use.
        if (s.capture.load(std::memory_order_relaxed) == nullptr)
            made->writer.store(s.index, std::memory_order_relaxed);
        memory = std::move(made);
        program.has_variables.store(true, std::memory_order_release);
    }
    return {memory, static_cast<index_t>(bytes.size() / size_of(type))};
}

}  // namespace detail

raw_kernel::raw_kernel(std::string_view source, std::string_view name, const std::vector<std::string>& options) {
    runtime::check_name("raw_kernel", source, "source");
    runtime::check_name("raw_kernel", name, "kernel's name");
    runtime::check_options("raw_kernel", options);
    const auto& program = runtime::keep_program("raw_kernel", source, options, {std::string(name)}, {}, {});
    function_ = &runtime::keep_function(program, name);
}

void raw_kernel::compile() const { runtime::loaded_on(*function_, runtime::current().device); }

std::string_view raw_kernel::name() const noexcept { return function_->name; }

raw_module::raw_module(std::string_view source, const std::vector<std::string>& options,
                       const std::vector<std::string>& name_expressions) {
    runtime::check_name("raw_module", source, "source");
    runtime::check_options("raw_module", options);
    std::vector<std::string> kernels = runtime::kernels_in(source);
    for (const std::string& name : name_expressions) {
        runtime::check_name("raw_module", name, "name expression");
        if (std::ranges::find(kernels, name) == kernels.end()) kernels.push_back(name);
    }
    program_ = &runtime::keep_program("raw_module", source, options, std::move(kernels), {}, {});
}

namespace {

/// Checks that an ELF file is complete; appends a zero byte, which PTX needs.
std::vector<std::byte> checked_image(std::vector<std::byte> image, const std::string& label) {
    const auto number = [&](std::size_t at, std::size_t bytes) {
        std::uint64_t value = 0;
        std::memcpy(&value, image.data() + at, bytes);
        return value;
    };
    constexpr std::size_t header = 64, sections_at = 0x28, section_bytes = 0x3a, section_count = 0x3c;
    if (image.empty()) throw file_error("[raw_module] " + label + " is empty");
    const bool is_elf = image.size() >= 4 && std::memcmp(image.data(), "\177ELF", 4) == 0;
    if (is_elf && (image.size() < header ||
                   number(sections_at, 8) + number(section_bytes, 2) * number(section_count, 2) > image.size()))
        throw file_error("[raw_module] " + label + " is cut short");
    image.push_back(std::byte{0});
    return image;
}

}  // namespace

raw_module raw_module::from_file(std::string_view path) {
    const std::string name(path);
    runtime::check_path("raw_module", name);
    auto image = runtime::read_whole_file(name);
    if (!image) throw file_error("[raw_module] " + name + ": " + std::strerror(errno));
    return raw_module(runtime::keep_program("raw_module", {}, {}, {}, checked_image(*std::move(image), name), name));
}

raw_module raw_module::from_image(std::span<const std::byte> image) {
    return raw_module(runtime::keep_program("raw_module", {}, {}, {},
                                            checked_image({image.begin(), image.end()}, "the image"), "the image"));
}

raw_kernel raw_module::get_function(std::string_view name) const {
    runtime::check_name("raw_module", name, "kernel's name");
    const detail::device_id device = runtime::current().device;
    if (!program_->text.empty() && device.is_host() &&
        std::ranges::find(program_->kernels, name) == program_->kernels.end())
        runtime::throw_no_kernel(*program_, name);
    const runtime::raw_function& f = runtime::keep_function(*program_, name);
    runtime::loaded_on(f, device);
    return raw_kernel(f);
}

void raw_module::compile() const { runtime::module_of(*program_, runtime::current().device); }

}  // namespace ingot
