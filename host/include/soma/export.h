// SPDX-License-Identifier: Apache-2.0
#pragma once

/// Marks what a library of this project exports. Everything is compiled with hidden visibility, so a function that a
/// user calls, or a class whose members are not all inline, carries this mark. An exception type or any other type
/// whose identity must be the same in two libraries carries it as well.
#define SOMA_API __attribute__((visibility("default")))
