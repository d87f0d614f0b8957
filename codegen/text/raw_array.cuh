// A raw array is a whole array in a user's text. The launch fills array_axes (argument_kind::raw_axes).

/// The axes of an array: extents, and strides in bytes.
struct array_axes {
    int64 ndim, extents[8], byte_strides[8];
};
/// A whole array in C order; elements of one that is not const may be written.
template <class T>
struct raw_array : array_axes {
    T* data;
    int64 count;
    __device__ __forceinline__ long long size() const { return count; }
    __device__ __forceinline__ const long long* shape() const { return extents; }
    __device__ __forceinline__ const long long* strides() const { return byte_strides; }
    __device__ __forceinline__ const T& operator[](long long i) const { return data[i]; }
    __device__ __forceinline__ T& operator[](long long i) { return data[i]; }
    template <class I>
    __device__ __forceinline__ long long at(const I* indices, int count) const {
        long long bytes = 0;
        for (int k = 0; k < count; ++k) bytes += indices[k] * byte_strides[k];
        return bytes / (long long)sizeof(T);
    }
    template <class I, int N>
    __device__ __forceinline__ const T& operator[](const I (&indices)[N]) const { return data[at(indices, N)]; }
    template <class I, int N>
    __device__ __forceinline__ T& operator[](const I (&indices)[N]) { return data[at(indices, N)]; }
    template <class... I>
    __device__ __forceinline__ const T& operator()(long long first, I... further) const {
        const long long indices[] = {first, (long long)further...};
        return data[at(indices, 1 + sizeof...(I))];
    }
    template <class... I>
    __device__ __forceinline__ T& operator()(long long first, I... further) {
        const long long indices[] = {first, (long long)further...};
        return data[at(indices, 1 + sizeof...(I))];
    }
};
