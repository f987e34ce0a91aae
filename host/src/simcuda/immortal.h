// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <memory>
#include <utility>

namespace soma::simcuda {

/// Holds a value that is never destroyed. libtorch's device threads, and tensors in its static variables, may still use
/// what is here after this library's own static variables are gone.
template <class T>
class Immortal {
public:
    template <class... Args>
    explicit Immortal(Args&&... args)
        : value_(*std::construct_at(reinterpret_cast<T*>(bytes_), std::forward<Args>(args)...)) {}
    Immortal(const Immortal&) = delete;
    Immortal& operator=(const Immortal&) = delete;

    T& operator*() noexcept { return value_; }
    T* operator->() noexcept { return &value_; }

private:
    alignas(T) std::byte bytes_[sizeof(T)];
    T& value_;
};

} // namespace soma::simcuda
