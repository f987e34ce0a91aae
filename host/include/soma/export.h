// SPDX-License-Identifier: Apache-2.0
#pragma once

/// Marks what the host's libraries export; everything else is hidden.
#define SOMA_API __attribute__((visibility("default")))
