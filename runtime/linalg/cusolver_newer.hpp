// Functions of cuSOLVER that CUDA's headers before 12.6 do not declare. The library at run time may have them.
#pragma once

#include <cusolverDn.h>

#include <cstddef>
#include <cstdint>
#include <type_traits>

namespace ingot::runtime {

using geev_size_function = cusolverStatus_t(cusolverDnHandle_t, cusolverDnParams_t, cusolverEigMode_t left,
                                            cusolverEigMode_t right, std::int64_t n, cudaDataType, const void* a,
                                            std::int64_t, cudaDataType, const void* w, cudaDataType, const void* vl,
                                            std::int64_t, cudaDataType, const void* vr, std::int64_t, cudaDataType,
                                            std::size_t* device, std::size_t* host);
using geev_function = cusolverStatus_t(cusolverDnHandle_t, cusolverDnParams_t, cusolverEigMode_t left,
                                       cusolverEigMode_t right, std::int64_t n, cudaDataType, void* a, std::int64_t,
                                       cudaDataType, void* w, cudaDataType, void* vl, std::int64_t, cudaDataType,
                                       void* vr, std::int64_t, cudaDataType, void* device, std::size_t, void* host,
                                       std::size_t, int* info);
using syev_batched_size_function = cusolverStatus_t(cusolverDnHandle_t, cusolverDnParams_t, cusolverEigMode_t,
                                                    cublasFillMode_t, std::int64_t n, cudaDataType, const void* a,
                                                    std::int64_t, cudaDataType, const void* w, cudaDataType,
                                                    std::size_t* device, std::size_t* host, std::int64_t count);
using syev_batched_function = cusolverStatus_t(cusolverDnHandle_t, cusolverDnParams_t, cusolverEigMode_t,
                                               cublasFillMode_t, std::int64_t n, cudaDataType, void* a, std::int64_t,
                                               cudaDataType, void* w, cudaDataType, void* device, std::size_t,
                                               void* host, std::size_t, int* info, std::int64_t count);

#if CUSOLVER_VERSION >= 12000
static_assert(std::is_same_v<geev_size_function, decltype(::cusolverDnXgeev_bufferSize)> &&
              std::is_same_v<geev_function, decltype(::cusolverDnXgeev)> &&
              std::is_same_v<syev_batched_size_function, decltype(::cusolverDnXsyevBatched_bufferSize)> &&
              std::is_same_v<syev_batched_function, decltype(::cusolverDnXsyevBatched)>);
#endif

}  // namespace ingot::runtime
