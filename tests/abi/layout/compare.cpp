// SPDX-License-Identifier: Apache-2.0
#include "layout/record.h"

namespace soma::layout {

namespace {

// Of the entry, whatever the major: with these bytes a host of any version judges a plugin of any version.
constexpr std::uint64_t frozen_bytes_of_entry = 32;

std::string at(const Field& field) { return field.type + " at " + std::to_string(field.offset); }

class Comparison {
public:
    Comparison(const Record& released, const Record& now) : released_(released), now_(now) {}

    std::vector<std::string> run() {
        if (released_.major != now_.major) {
            compare_entry_head();
            return std::move(found_);
        }
        if (now_.minor < released_.minor) tell("version", version(released_), version(now_));
        for (const auto& [name, was] : released_.structs) {
            const auto is = now_.structs.find(name);
            if (is == now_.structs.end()) {
                tell("struct " + name, std::to_string(was.size) + " bytes", "gone");
            } else {
                compare(was, is->second);
            }
        }
        for (const auto& [name, is] : now_.structs) {
            if (!released_.structs.contains(name)) {
                appended("struct " + name, std::to_string(is.size) + " bytes");
            }
        }
        for (const auto& [name, was] : released_.constants) {
            const auto is = now_.constants.find(name);
            if (is == now_.constants.end()) {
                tell("constant " + name, was, "gone");
            } else if (is->second != was) {
                tell("constant " + name, was, is->second);
            }
        }
        for (const auto& [name, is] : now_.constants) {
            if (!released_.constants.contains(name)) appended("constant " + name, is);
        }
        return std::move(found_);
    }

private:
    static std::string version(const Record& record) {
        return std::to_string(record.major) + "." + std::to_string(record.minor);
    }

    void tell(const std::string& what, const std::string& was, const std::string& is) {
        found_.push_back(what + ": was " + was + ", is " + is);
    }

    void appended(const std::string& what, const std::string& is) {
        if (now_.minor > released_.minor) return;
        tell(what, "not there",
             is + ", and SOMA_ABI_MINOR is still " + std::to_string(now_.minor) + ": raise it with what is appended");
    }

    static std::string field_of(const Struct& owner, const Field& field) {
        return "struct " + owner.name + ", field " + field.name;
    }

    void compare_fields(const Struct& was, const Struct& is, std::uint64_t bytes) {
        for (const Field& field : was.fields) {
            if (field.offset >= bytes) continue;
            const Field* same = is.find(field.name);
            if (same == nullptr) {
                std::string there = "gone";
                for (const Field& other : is.fields) {
                    if (other.offset == field.offset) there += ", and there is " + at(other) + " named " + other.name;
                }
                tell(field_of(was, field), at(field), there);
            } else if (same->type != field.type || same->offset != field.offset) {
                tell(field_of(was, field), at(field), at(*same));
            }
        }
    }

    void compare(const Struct& was, const Struct& is) {
        compare_fields(was, is, was.size);
        bool grew = false;
        for (const Field& field : is.fields) {
            if (was.find(field.name) != nullptr) continue;
            if (field.offset < was.size) {
                tell(field_of(was, field), "not there",
                     at(field) + ", within the " + std::to_string(was.size) + " bytes that were released");
            } else if (!was.grows()) {
                tell(field_of(was, field), "not there",
                     at(field) + ", but a struct without struct_size is passed by value and cannot grow");
            } else {
                appended(field_of(was, field), at(field));
                grew = true;
            }
        }
        if (is.size < was.size || (is.size > was.size && !grew)) {
            tell("struct " + was.name, std::to_string(was.size) + " bytes", std::to_string(is.size));
        }
        if (is.alignment != was.alignment) {
            tell("struct " + was.name, "aligned to " + std::to_string(was.alignment), std::to_string(is.alignment));
        }
    }

    void compare_entry_head() {
        const auto was = released_.structs.find("soma_entry");
        const auto is = now_.structs.find("soma_entry");
        if (was == released_.structs.end()) return;
        if (is == now_.structs.end()) {
            tell("struct soma_entry", std::to_string(was->second.size) + " bytes", "gone");
            return;
        }
        compare_fields(was->second, is->second, frozen_bytes_of_entry);
        const auto magic = [](const Record& record) {
            const auto found = record.constants.find("SOMA_PLUGIN_MAGIC");
            return found == record.constants.end() ? std::string("gone") : found->second;
        };
        if (magic(released_) != magic(now_)) tell("constant SOMA_PLUGIN_MAGIC", magic(released_), magic(now_));
    }

    const Record& released_;
    const Record& now_;
    std::vector<std::string> found_;
};

} // namespace

std::vector<std::string> breaks(const Record& released, const Record& now) { return Comparison(released, now).run(); }

} // namespace soma::layout
