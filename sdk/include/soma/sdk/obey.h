// SPDX-License-Identifier: Apache-2.0
#pragma once

/// @file obey.h
/// The pattern for obeying a placement, in one call.

#include <soma/sdk/ctx.h>
#include <soma/sdk/module.h>

#include <utility>

namespace soma::sdk {

/// The tensor where the node must run: on ctx.device, or as it is when the node is unplaced. For nodes without tensors of
/// their own. Costs a comparison when it is there already.
inline Tensor obey(const Ctx& ctx, Tensor input) {
    if (!ctx.placed() || same_place(input.place(), ctx.place())) return input;
    return input.to(*ctx.device());
}

/// The same for whatever comes.
inline Value obey(const Ctx& ctx, const Value& input) {
    if (!ctx.placed()) return input;
    if (input.is(Kind::tensor)) return obey(ctx, Tensor{input, detail::Checked{}});
    return input.to(*ctx.device());
}

/// Moves a module to where the node must run. When the node is unplaced it goes to where `input`'s first tensor is, since
/// a node nobody placed runs where its input already is; without a tensor in the input it stays.
inline void follow(const Ctx& ctx, Module& module, const Value& input) {
    if (const auto device = ctx.device()) {
        module.to(*device);
        return;
    }
    const auto first = first_tensor(input);
    if (!first || first->device() == module.device() || module.entries().empty()) return;
    if (first->place().kind == SOMA_DEVICE_META) {
        throw Error{Code::wrong_device, "its input is on `meta` and its parameters are on `" +
                                            std::string{module.device()} +
                                            "`, and it is placed nowhere: place it with `.on(\"meta\")`"};
    }
    module.to(first->device());
}

/// Moves the module as `follow` does, and gives the input on the same device: after it everything is in one place.
inline Value obey(const Ctx& ctx, Module& module, const Value& input) {
    follow(ctx, module, input);
    return obey(ctx, input);
}

/// The same for a tensor.
inline Tensor obey(const Ctx& ctx, Module& module, Tensor input) {
    follow(ctx, module, input);
    return obey(ctx, std::move(input));
}

} // namespace soma::sdk
