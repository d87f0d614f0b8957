// A Python module that computes with Ingot on tensors of PyTorch, or on arrays of NumPy, CuPy and JAX: they come and go
// by DLPack, and no element is copied. gelu.py uses it. It is built with Python's own header alone.
#define Py_LIMITED_API 0x03080000
#include <Python.h>

#include <exception>
#include <optional>
#include <utility>

#include <ingot/ingot.hpp>

using namespace ingot;

namespace {

constexpr const char* unused = "dltensor";
constexpr const char* used = "used_dltensor";

/// A capsule that ends with its tensor, unless somebody has taken that.
PyObject* capsule_of(dlpack::managed_tensor* m) {
    return PyCapsule_New(m, unused, [](PyObject* capsule) {
        if (!PyCapsule_IsValid(capsule, unused)) return;
        auto* const left = static_cast<dlpack::managed_tensor*>(PyCapsule_GetPointer(capsule, unused));
        left->deleter(left);
    });
}

/// GELU by its tanh, and its derivative, in one kernel.
template <class T>
PyObject* gelu_of(const array<T>& x) {
    const auto inner = 0.7978845608028654 * (x + 0.044715 * x * x * x);
    const auto t = tanh(inner);
    const auto slope = 0.7978845608028654 * (1 + 3 * 0.044715 * x * x);
    auto [y, dy] = eval(0.5 * x * (1 + t), 0.5 * (1 + t) + 0.5 * x * (1 - t * t) * slope);
    return Py_BuildValue("(NN)", capsule_of(to_dlpack<dlpack::managed_tensor>(std::move(y))),
                         capsule_of(to_dlpack<dlpack::managed_tensor>(std::move(dy))));
}

/// gelu(capsule, stream): capsules of both. The stream is a CUDA one that the tensor is ready on, 0 of the host's.
PyObject* gelu(PyObject*, PyObject* arguments) {
    PyObject* capsule = nullptr;
    unsigned long long stream_number = 0;
    if (!PyArg_ParseTuple(arguments, "OK", &capsule, &stream_number)) return nullptr;
    auto* const m = static_cast<dlpack::managed_tensor*>(PyCapsule_GetPointer(capsule, unused));
    if (m == nullptr) return nullptr;
    try {
        const bool on_gpu = stream_number != 0;
        const with_stream in(on_gpu ? stream::from_native(reinterpret_cast<void*>(stream_number))
                                    : stream(device::host()));
        const auto taken = [&](auto x) {
            PyCapsule_SetName(capsule, used);  // the tensor is the array's from here on
            return gelu_of(x);
        };
        return dlpack_dtype(m) == dtype::f8 ? taken(from_dlpack<double>(m)) : taken(from_dlpack<float>(m));
    } catch (const std::exception& e) {
        PyErr_SetString(PyExc_RuntimeError, e.what());
        return nullptr;
    }
}

PyMethodDef methods[] = {{"gelu", gelu, METH_VARARGS, "GELU of a tensor, and its derivative"},
                         {nullptr, nullptr, 0, nullptr}};
PyModuleDef module = {PyModuleDef_HEAD_INIT, "ingot_example", nullptr, -1, methods, nullptr, nullptr, nullptr, nullptr};

}  // namespace

PyMODINIT_FUNC PyInit_ingot_example() { return PyModule_Create(&module); }
