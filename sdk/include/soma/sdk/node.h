// SPDX-License-Identifier: Apache-2.0
#pragma once

/// @file node.h
/// The base of every node class.

#include <soma/sdk/describe.h>
#include <soma/sdk/done.h>
#include <soma/sdk/obey.h>

namespace soma::sdk {

/// The base of a node. A node type is a class derived from it with
///
///     static NodeType describe();                     // what it is called and how it is configured
///     explicit MyNode(const Create& create);          // makes an instance; pass `create` on to Node
///     Value forward(const Ctx& ctx, const Value& input);  // runs it; may return Tensor or Done as well
///
/// (`const Tensor& input` where only a tensor will do: anything else is then refused by name)
///
/// and, where it needs them,
///
///     static Value backward(const Value& saved, const Value& grads);    // gradients of raw-memory maths
///     void moved(std::optional<std::string_view> device);               // instead of moving the module
///     static const void* get_extension(std::string_view id);            // an extension's table for the type
///
/// An instance is used by one thread at a time unless the type is described as re-entrant. Exceptions become statuses.
class Node : public Module {
public:
    /// For the host's `create`.
    explicit Node(const Create& create) : Module{create} {}
};

} // namespace soma::sdk
