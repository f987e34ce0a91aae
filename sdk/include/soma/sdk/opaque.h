// SPDX-License-Identifier: Apache-2.0
#pragma once

/// @file opaque.h
/// A C++ object of the plugin's own as a value.

#include <soma/sdk/value.h>

namespace soma::sdk {

namespace detail {

template <class T, class = void>
struct HasPlace : std::false_type {};
template <class T>
struct HasPlace<T, std::void_t<decltype(std::declval<const T&>().place())>> : std::true_type {};

} // namespace detail

/// Wraps objects of type T as values and unwraps them. T says what it is, `static constexpr const char* type_id =
/// "vendor.name/1";`, and may say where it is, `soma_place place() const;`, so that the host can hold a placed node to its
/// word. T is destroyed on any thread.
template <class T>
class Opaque {
public:
    /// A value that holds a new T.
    template <class... Args>
    static Value make(Args&&... args) {
        auto payload = std::make_unique<T>(std::forward<Args>(args)...);
        soma_value* value = nullptr;
        check(api().make_opaque(host(), &type(), payload.get(), &value));
        static_cast<void>(payload.release()); // the value has it
        return Value::adopt(value);
    }

    /// The T in a value, borrowed while the value is held; another type throws Error naming both.
    static const T& get(const Value& value) {
        void* payload = nullptr;
        check(api().get_opaque(host(), value.get(), detail::c_string(T::type_id), &payload));
        return *static_cast<const T*>(payload);
    }

private:
    static void SOMA_CALL destroy(void* payload) noexcept { delete static_cast<T*>(payload); }

    static soma_status* SOMA_CALL place(soma_host*, void* payload, soma_place* out) noexcept {
        return detail::guarded([&] {
            if constexpr (detail::HasPlace<T>::value) *out = static_cast<const T*>(payload)->place();
            static_cast<void>(payload);
            static_cast<void>(out);
        });
    }

    static const soma_opaque_type& type() {
        static const soma_opaque_type described = [] {
            soma_opaque_type made{};
            made.struct_size = sizeof made;
            made.type_id = detail::c_string(T::type_id);
            made.destroy = &destroy;
            if constexpr (detail::HasPlace<T>::value) made.place = &place;
            return made;
        }();
        return described;
    }
};

} // namespace soma::sdk
