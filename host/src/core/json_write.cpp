// SPDX-License-Identifier: Apache-2.0
#include <array>
#include <charconv>
#include <cmath>

#include <fmt/format.h>

#include "core/engine_text.h"
#include "core/json_depth.h"
#include "core/value_data.h"
#include "soma/error.h"
#include "soma/json.h"

namespace soma {

namespace {

void write_string(std::string& out, std::string_view text) {
    constexpr std::string_view digits = "0123456789abcdef";
    out += '"';
    for (const char c : text) {
        switch (c) {
        case '"': out += "\\\""; break;
        case '\\': out += "\\\\"; break;
        case '\n': out += "\\n"; break;
        case '\r': out += "\\r"; break;
        case '\t': out += "\\t"; break;
        case '\b': out += "\\b"; break;
        case '\f': out += "\\f"; break;
        default:
            if (static_cast<unsigned char>(c) < 0x20) {
                out += "\\u00";
                out += digits[static_cast<unsigned char>(c) >> 4];
                out += digits[static_cast<unsigned char>(c) & 15];
            } else {
                out += c;
            }
        }
    }
    out += '"';
}

void write_number(std::string& out, auto number) {
    std::array<char, 32> buffer;
    const auto end = std::to_chars(buffer.data(), buffer.data() + buffer.size(), number).ptr;
    out.append(buffer.data(), end);
}

void write_float(std::string& out, double number) {
    if (!std::isfinite(number)) {
        out += "null";
        return;
    }
    const std::size_t start = out.size();
    write_number(out, number); // the shortest text that reads back as the same number
    if (out.find_first_of(".e", start) == std::string::npos) out += ".0";
}

void write_base64(std::string& out, std::span<const std::byte> data) {
    constexpr std::string_view digits = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    out += '"';
    for (std::size_t i = 0; i < data.size(); i += 3) {
        const std::size_t left = std::min<std::size_t>(3, data.size() - i);
        std::uint32_t group = 0;
        for (std::size_t j = 0; j < 3; ++j) {
            group = group << 8 | (j < left ? std::to_integer<std::uint32_t>(data[i + j]) : 0u);
        }
        for (std::size_t j = 0; j < 4; ++j) out += j <= left ? digits[group >> (18 - 6 * j) & 63u] : '=';
    }
    out += '"';
}

class Writer {
public:
    explicit Writer(int indent) : indent_(indent) {}

    void write(const Value& value) {
        switch (value.kind()) {
        case Kind::none: out_ += "null"; break;
        case Kind::boolean: out_ += value.as_bool() ? "true" : "false"; break;
        case Kind::integer: write_number(out_, value.as_int()); break;
        case Kind::real: write_float(out_, value.as_float()); break;
        case Kind::string: write_string(out_, value.as_string()); break;
        case Kind::bytes:
            open('{');
            next(true);
            name("bytes");
            write_base64(out_, value.as_bytes());
            close('}', false);
            break;
        case Kind::list: write_list(value); break;
        case Kind::dict: write_dict(value); break;
        case Kind::tensor: write_tensor(value); break;
        case Kind::opaque: write_named("opaque", value.opaque_type()); break;
        case Kind::generator: write_named("generator", detail::place_text(value)); break;
        }
    }

    std::string take() { return std::move(out_); }

private:
    void open(char bracket) {
        if (depth_ == detail::deepest_json) {
            throw ValueError(fmt::format("the value is nested deeper than {} levels, too deep to be written as JSON",
                                         detail::deepest_json));
        }
        ++depth_;
        out_ += bracket;
    }

    void close(char bracket, bool empty) {
        --depth_;
        if (!empty) new_line();
        out_ += bracket;
    }

    void new_line() {
        if (indent_ < 0) return;
        out_ += '\n';
        out_.append(depth_ * static_cast<std::size_t>(indent_), ' ');
    }

    void next(bool first) {
        if (!first) out_ += indent_ < 0 ? ", " : ",";
        new_line();
    }

    void name(std::string_view text) {
        write_string(out_, text);
        out_ += ": ";
    }

    void write_named(std::string_view key, std::string_view text) {
        open('{');
        next(true);
        name(key);
        write_string(out_, text);
        close('}', false);
    }

    void write_list(const Value& value) {
        open('[');
        for (std::size_t i = 0; i < value.size(); ++i) {
            next(i == 0);
            write(value.at(i));
        }
        close(']', value.size() == 0);
    }

    void write_dict(const Value& value) {
        open('{');
        for (std::size_t i = 0; i < value.size(); ++i) {
            next(i == 0);
            name(value.key(i));
            write(value.at(i));
        }
        close('}', value.size() == 0);
    }

    // The elements of a tensor stay on one line: they are data, and there are many.
    void write_tensor(const Value& value) {
        const detail::TensorText tensor = detail::tensor_text(value);
        open('{');
        next(true);
        name("tensor");
        const int indent = std::exchange(indent_, -1);
        write(tensor.elements);
        indent_ = indent;
        if (!tensor.has_data) {
            next(false);
            name("shape");
            indent_ = -1;
            write(tensor.shape);
            indent_ = indent;
        }
        next(false);
        name("dtype");
        write_string(out_, tensor.dtype);
        next(false);
        name("device");
        write_string(out_, tensor.device);
        close('}', false);
    }

    std::string out_;
    int indent_;
    std::size_t depth_ = 0;
};

// At most `most` code points, on one line.
std::string shortened(std::string_view text, std::size_t most) {
    std::string quoted;
    write_string(quoted, text.substr(0, most * 4));
    std::size_t points = 0;
    for (std::size_t i = 1; i + 1 < quoted.size(); ++i) {
        if ((static_cast<unsigned char>(quoted[i]) & 0xc0u) != 0x80u && ++points > most) {
            // Not in the middle of an escape: a cut there would read as another character.
            std::size_t cut = i;
            const std::size_t slash = quoted.rfind('\\', i - 1);
            if (slash != std::string::npos && i - slash < 6) cut = slash;
            return quoted.substr(0, cut) + "…\"";
        }
    }
    return quoted;
}

} // namespace

std::string to_json(const Value& value, int indent) {
    Writer writer(indent);
    writer.write(value);
    return writer.take();
}

std::string summary(const Value& value) {
    constexpr std::size_t longest_text = 40;
    switch (value.kind()) {
    case Kind::none: return "none";
    case Kind::boolean:
    case Kind::integer:
    case Kind::real:
        return value.kind() == Kind::real && !std::isfinite(value.as_float()) ? fmt::format("{}", value.as_float())
                                                                              : to_json(value);
    case Kind::string: return shortened(value.as_string(), longest_text);
    case Kind::bytes: return fmt::format("{} bytes", value.as_bytes().size());
    case Kind::list: return fmt::format("list of {}", value.size());
    case Kind::dict: return fmt::format("dict of {}", value.size());
    case Kind::tensor: return fmt::format("tensor {} on {}", detail::shape_text(value), detail::place_text(value));
    case Kind::generator: return fmt::format("generator on {}", detail::place_text(value));
    case Kind::opaque: {
        const std::string place = detail::place_text(value);
        return place.empty() ? fmt::format("opaque {}", value.opaque_type())
                             : fmt::format("opaque {} on {}", value.opaque_type(), place);
    }
    }
    return {};
}

} // namespace soma
