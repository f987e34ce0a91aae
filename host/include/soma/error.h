// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <stdexcept>
#include <string>
#include <utility>

#include "soma/export.h"

namespace soma {

/// Root of everything the host throws. `what()` is one message for a person: what happened, where, why and the mend.
class SOMA_API Error : public std::runtime_error {
public:
    using std::runtime_error::runtime_error;
    ~Error() override;
};

/// A value was of another kind, out of range or malformed.
class SOMA_API ValueError : public Error {
public:
    using Error::Error;
    ~ValueError() override;
};

/// A text is not a device, or names one this machine lacks.
class SOMA_API DeviceError : public Error {
public:
    using Error::Error;
    ~DeviceError() override;
};

/// The graph is not valid: a cycle, a name used twice, an unknown node, a wrong configuration.
class SOMA_API GraphError : public Error {
public:
    using Error::Error;
    ~GraphError() override;
};

/// The placement is not valid: an unknown id, a device that is not there.
class SOMA_API PlacementError : public Error {
public:
    using Error::Error;
    ~PlacementError() override;
};

/// A plugin was refused.
class SOMA_API PluginError : public Error {
public:
    using Error::Error;
    ~PluginError() override;
};

/// Text of the wire language is not valid; the message shows the line and a caret.
class SOMA_API SyntaxError : public GraphError {
public:
    /// `message` is the whole text, the line and the caret included.
    SyntaxError(const std::string& message, std::size_t line, std::size_t column)
        : GraphError(message), line_(line), column_(column) {}
    ~SyntaxError() override;
    /// From 1.
    [[nodiscard]] std::size_t line() const noexcept { return line_; }
    /// From 1, in code points.
    [[nodiscard]] std::size_t column() const noexcept { return column_; }

private:
    std::size_t line_;
    std::size_t column_;
};

/// The tensor engine cannot be loaded, or does not fit this core.
class SOMA_API EngineError : public Error {
public:
    using Error::Error;
    ~EngineError() override;
};

/// A run failed in one node.
class SOMA_API NodeError : public Error {
public:
    /// `message` is the whole text, which names node and plugin already.
    NodeError(std::string node, std::string plugin, const std::string& message)
        : Error(message), node_(std::move(node)), plugin_(std::move(plugin)) {}
    ~NodeError() override;
    /// Id of the node.
    [[nodiscard]] const std::string& node() const noexcept { return node_; }
    /// Name of the plugin that gave the node's type.
    [[nodiscard]] const std::string& plugin() const noexcept { return plugin_; }

private:
    std::string node_;
    std::string plugin_;
};

/// A run was cancelled or its deadline passed.
class SOMA_API CancelledError : public Error {
public:
    using Error::Error;
    ~CancelledError() override;
};

} // namespace soma
