// The least a launch can be: no work, and as many bytes of arguments as the kernels it is compared with.
struct arguments {
    char bytes[ARGUMENT_BYTES];
};

extern "C" __global__ void empty(const __grid_constant__ arguments) {}
