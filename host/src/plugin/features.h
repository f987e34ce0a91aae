// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "plugin/elf.h"

namespace soma::detail {

/// The name that a plugin gives bit `bit` of its `required_features`, read from its file so that nothing of it has to run;
/// empty when there is none, or none that can be read. Nothing of the file is trusted.
std::string feature_name_in(const PluginFile& file, const ElfFacts& facts, unsigned bit);

} // namespace soma::detail
