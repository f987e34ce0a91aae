// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "soma/abi.h"
#include "soma/export.h"
#include "soma/value.h"

namespace soma {

class Plugin;

/// One field of a node type's configuration.
struct ConfigField {
    std::string name;                   ///< The key.
    std::string doc;                    ///< One sentence.
    std::optional<Kind> kind;           ///< nullopt: any
    bool required = false;              ///< Must be given.
    std::optional<Value> default_value; ///< The value when absent.
    std::vector<Value> choices;         ///< empty: any
    std::optional<double> minimum;      ///< Inclusive.
    std::optional<double> maximum;      ///< Inclusive.
};

/// An input or the output, as documented.
struct Port {
    std::string name;         ///< The key, when there are several.
    std::string doc;          ///< One sentence.
    std::optional<Kind> kind; ///< nullopt: several will do
};

/// A node type as a plugin registered it, checked and copied. Immutable; keeps its plugin loaded.
struct SOMA_API NodeType {
    std::string name;                     ///< "family.name".
    std::uint32_t version = 1;            ///< Of its behaviour.
    std::string doc;                      ///< First line: one sentence.
    std::vector<ConfigField> config;      ///< Its configuration's schema.
    std::vector<Port> inputs;             ///< Documented inputs.
    std::vector<Port> outputs;            ///< Documented results.
    std::uint64_t flags = 0;              ///< SOMA_NODE_…
    std::string example_json;             ///< empty: none
    std::shared_ptr<const Plugin> plugin; ///< Whence it comes.
    /// The plugin's functions. Members beyond the plugin's own struct_size are null.
    soma_node_type functions{};

    [[nodiscard]] bool has(std::uint64_t flag) const noexcept {
        return (flags & flag) != 0;
    } ///< Whether `SOMA_NODE_…` is set.
    /// The configuration with defaults filled in, in the schema's order. Throws `GraphError`: unknown field (nearest
    /// offered), missing required field, wrong kind, not among the choices, out of bounds; each naming `node`.
    [[nodiscard]] Value checked_config(const Value& given, std::string_view node) const;
};

} // namespace soma
