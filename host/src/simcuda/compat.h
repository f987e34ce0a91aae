// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <c10/core/TensorOptions.h>

/// What differs between the versions of libtorch and has no name of its own in all of them.
namespace soma::simcuda {
namespace detail {

template <class>
struct OptionalOf;

template <template <class> class Holder, class Held>
struct OptionalOf<Holder<Held>> {
    template <class T>
    using type = Holder<T>;
};

} // namespace detail

/// The optional that libtorch's functions take and return: c10's own at first, the standard one later.
template <class T>
using Optional = typename detail::OptionalOf<decltype(c10::TensorOptions().device_opt())>::template type<T>;

} // namespace soma::simcuda
