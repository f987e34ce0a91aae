// SPDX-License-Identifier: Apache-2.0
#pragma once

/// @file memory.h
/// A tensor's memory: lent by the host, or handed to it. In DLPack's layout, so that no libtorch is needed.

#include <soma/sdk/ops_shape.h>

namespace soma::sdk {

namespace detail {

template <class T>
constexpr soma_dl_datatype dl_type() {
    static_assert(std::is_arithmetic_v<T>, "elements are numbers or bools");
    std::uint8_t code = 1;
    if (std::is_same_v<T, bool>) {
        code = 6;
    } else if (std::is_floating_point_v<T>) {
        code = 2;
    } else if (std::is_signed_v<T>) {
        code = 0;
    }
    return {code, static_cast<std::uint8_t>(sizeof(T) * 8), 1};
}

template <class T>
std::string dtype_name() {
    if (std::is_same_v<T, bool>) return "bool";
    const char* const base = std::is_floating_point_v<T> ? "float" : std::is_signed_v<T> ? "int" : "uint";
    return base + std::to_string(sizeof(T) * 8);
}

} // namespace detail

/// The elements of a tensor on cpu, row-major, borrowed from the host and given back at the end of the scope.
/// `Memory<const float>` reads; `Memory<float>` writes, which only a tensor of the node's own making allows. Throws Error
/// when the tensor is elsewhere, of another dtype, not contiguous, or recorded by autograd.
template <class T>
class Memory {
public:
    /// Borrows the memory of `tensor`.
    explicit Memory(const Tensor& tensor) {
        using Element = std::remove_const_t<T>;
        const soma_tensor_info info = tensor.info();
        constexpr soma_dl_datatype wanted = detail::dl_type<Element>();
        if (info.place.kind != SOMA_DEVICE_CPU) {
            throw Error{Code::wrong_device, "its memory is on `" + std::string{detail::view(info.device)} +
                                                "` and can only be read on `cpu`: move it there first"};
        }
        if (info.dl_dtype.code != wanted.code || info.dl_dtype.bits != wanted.bits || info.dl_dtype.lanes != 1) {
            throw Error{Code::type_mismatch, "the tensor's elements are " + std::string{detail::view(info.dtype)} +
                                                 ", not " + detail::dtype_name<Element>()};
        }
        check(api().tensor_to_dlpack(host(), tensor.get(), std::is_const_v<T> ? 0 : 1, &managed_));
        if (managed_->version.major != 1) {
            const std::string major = std::to_string(managed_->version.major);
            free();
            throw Error{Code::unimplemented,
                        "the host lends memory in DLPack " + major + ", this plugin reads DLPack 1"};
        }
        std::int64_t expected = 1;
        for (std::int32_t i = managed_->tensor.ndim; i-- > 0;) {
            const std::int64_t size = managed_->tensor.shape[i];
            const bool wrong =
                managed_->tensor.strides != nullptr && size > 1 && managed_->tensor.strides[i] != expected;
            if (wrong && info.numel != 0) {
                free();
                throw Error{Code::invalid_argument, "the tensor is not contiguous: call contiguous() first"};
            }
            expected *= size;
        }
        size_ = static_cast<std::size_t>(info.numel);
    }
    Memory(const Memory&) = delete;
    Memory& operator=(const Memory&) = delete;
    ~Memory() { free(); }

    /// The first element.
    T* data() const noexcept {
        return reinterpret_cast<T*>(static_cast<char*>(managed_->tensor.data) + managed_->tensor.byte_offset);
    }
    /// How many elements.
    std::size_t size() const noexcept { return size_; }
    /// The first element.
    T* begin() const noexcept { return data(); }
    /// Behind the last.
    T* end() const noexcept { return data() + size_; }
    /// An element; not checked.
    T& operator[](std::size_t index) const noexcept { return data()[index]; }

private:
    void free() noexcept {
        if (managed_ != nullptr && managed_->deleter != nullptr) managed_->deleter(managed_);
        managed_ = nullptr;
    }

    soma_dl_managed* managed_ = nullptr;
    std::size_t size_ = 0;
};

/// A copy of the elements, row-major, from any device and dtype; waits for the device. On meta there are none: an error.
template <class T>
std::vector<T> to_vector(const Tensor& tensor) {
    const Tensor plain = contiguous(to_dtype(detach(tensor).to("cpu"), detail::dtype_name<T>()));
    const Memory<const T> memory{plain};
    return {memory.begin(), memory.end()};
}

/// A tensor of the given sizes over the elements of `data`, row-major, then moved to `device`. On cpu nothing is copied.
template <class T>
Tensor from_vector(std::vector<T> data, Dims sizes, std::string_view device = "cpu") {
    static_assert(!std::is_same_v<T, bool>, "std::vector<bool> has no elements in memory: use std::uint8_t");
    std::int64_t count = 1;
    for (const std::int64_t size : sizes) count *= size;
    if (count < 0 || static_cast<std::size_t>(count) != data.size()) {
        throw Error{Code::invalid_argument, std::to_string(data.size()) + " elements do not fill a tensor of sizes " +
                                                Sizes{sizes.data(), sizes.size()}.str()};
    }
    struct Owner {
        std::vector<T> data;
        Dims sizes;
        soma_dl_managed managed;
    };
    auto owner = std::make_unique<Owner>(Owner{std::move(data), std::move(sizes), {}});
    owner->managed.version = {1, 0};
    owner->managed.manager_ctx = owner.get();
    owner->managed.deleter = [](soma_dl_managed* self) { delete static_cast<Owner*>(self->manager_ctx); };
    owner->managed.tensor.data = owner->data.data();
    owner->managed.tensor.device = {1, 0};
    owner->managed.tensor.ndim = static_cast<std::int32_t>(owner->sizes.size());
    owner->managed.tensor.dtype = detail::dl_type<T>();
    owner->managed.tensor.shape = owner->sizes.data();
    soma_value* tensor = nullptr;
    check(api().tensor_from_dlpack(host(), &owner->managed, &tensor));
    static_cast<void>(owner.release()); // the host has it, and calls the deleter
    return Tensor{Value::adopt(tensor)}.to(device);
}

} // namespace soma::sdk
