// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>

#include "soma/abi.h"

namespace soma::detail {

/// The short way to an operator of one of the commonest signatures: a call with C++ arguments, where the long way puts
/// every argument on a stack and has libtorch take it off again.
class Direct {
public:
    Direct() = default;
    Direct(const Direct&) = delete;
    Direct& operator=(const Direct&) = delete;
    virtual ~Direct() = default;

    /// Makes the call when every argument is plainly what the operator wants; false, and nothing done, when one is not:
    /// the long way converts it or says what is wrong. `call` has room for a result. Throws what the operator throws.
    virtual bool call(soma_call& call) const = 0;
};

/// The short way to `op`, whose parameters are known; null when there is none.
std::unique_ptr<const Direct> find_direct(const soma_operator& op);

} // namespace soma::detail
