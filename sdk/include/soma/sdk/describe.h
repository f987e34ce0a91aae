// SPDX-License-Identifier: Apache-2.0
#pragma once

/// @file describe.h
/// `NodeType`: the description of a node type, built piece by piece.

#include <soma/sdk/field.h>
#include <soma/sdk/host.h>

namespace soma::sdk {

/// Describes a node type: `NodeType{"nn.linear"}.doc("…").config(Int("out").required()).differentiable()`.
class NodeType {
public:
    /// By name: "family.name", lower case letters, digits and _.
    explicit NodeType(std::string name) : name_{std::move(name)} {}

    /// What it does; the first line is one sentence.
    NodeType& doc(std::string text) {
        doc_ = std::move(text);
        return *this;
    }
    /// The version of its behaviour, stored in graphs; 1 unless said otherwise.
    NodeType& version(std::uint32_t number) {
        version_ = number;
        return *this;
    }
    /// Adds a configuration field.
    NodeType& config(Field field) {
        fields_.push_back(std::move(field));
        return *this;
    }
    /// Documents an input. Several arrive as one dict with these names as keys.
    NodeType& input(std::string name, Kind kind, std::string doc) {
        inputs_.push_back({std::move(name), kind, std::move(doc)});
        return *this;
    }
    /// Documents the output.
    NodeType& output(std::string name, Kind kind, std::string doc) {
        outputs_.push_back({std::move(name), kind, std::move(doc)});
        return *this;
    }
    /// forward may be entered by several threads at once: it changes nothing in the node.
    NodeType& reentrant() { return flag(SOMA_NODE_REENTRANT); }
    /// Gradients flow from the result to the input and the parameters.
    NodeType& differentiable() { return flag(SOMA_NODE_DIFFERENTIABLE); }
    /// Differentiable, but numerical gradients need not agree everywhere.
    NodeType& not_smooth() { return flag(SOMA_NODE_NOT_SMOOTH); }
    /// The result depends on ctx.seed().
    NodeType& random() { return flag(SOMA_NODE_RANDOM); }
    /// An input to try the node with, as JSON; tensors as {"tensor": [[1, 2]], "dtype": "float32"}.
    NodeType& example(std::string json) {
        example_ = std::move(json);
        return *this;
    }

    /// Its name.
    const std::string& name() const noexcept { return name_; }

    /// Writes the description into the C struct, which then points into this object.
    void describe(soma_node_type& out) {
        c_fields_.clear();
        for (const Field& field : fields_) {
            soma_config_field c{};
            c.struct_size = sizeof c;
            c.kind = static_cast<std::uint32_t>(field.kind);
            c.flags = field.is_required ? SOMA_CONFIG_REQUIRED : 0;
            c.name = detail::c_string(field.name);
            c.doc = detail::c_string(field.doc_text);
            c.default_json = detail::c_string(field.default_json);
            c.choices_json = detail::c_string(field.choices_json);
            c.minimum_json = detail::c_string(field.minimum_json);
            c.maximum_json = detail::c_string(field.maximum_json);
            c_fields_.push_back(c);
        }
        out.struct_size = sizeof out;
        out.version = version_;
        out.name = detail::c_string(name_);
        out.doc = detail::c_string(doc_);
        out.config = c_fields_.data();
        out.config_count = static_cast<std::uint32_t>(c_fields_.size());
        out.config_stride = sizeof(soma_config_field);
        out.inputs = ports(inputs_, c_inputs_);
        out.input_count = static_cast<std::uint32_t>(inputs_.size());
        out.input_stride = sizeof(soma_port);
        out.outputs = ports(outputs_, c_outputs_);
        out.output_count = static_cast<std::uint32_t>(outputs_.size());
        out.output_stride = sizeof(soma_port);
        out.flags = flags_;
        out.example_json = detail::c_string(example_);
    }

private:
    struct Port {
        std::string name;
        Kind kind;
        std::string doc;
    };

    NodeType& flag(std::uint64_t bit) {
        flags_ |= bit;
        return *this;
    }

    static const soma_port* ports(const std::vector<Port>& from, std::vector<soma_port>& to) {
        to.clear();
        for (const Port& port : from) {
            to.push_back({sizeof(soma_port), static_cast<std::uint32_t>(port.kind), detail::c_string(port.name),
                          detail::c_string(port.doc)});
        }
        return to.data();
    }

    std::string name_;
    std::string doc_;
    std::string example_;
    std::uint32_t version_ = 1;
    std::uint64_t flags_ = 0;
    std::vector<Field> fields_;
    std::vector<Port> inputs_;
    std::vector<Port> outputs_;
    std::vector<soma_config_field> c_fields_;
    std::vector<soma_port> c_inputs_;
    std::vector<soma_port> c_outputs_;
};

} // namespace soma::sdk
