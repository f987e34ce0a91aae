/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SOMA_ABI_H
#define SOMA_ABI_H
/**
 * @file abi.h
 * The whole plugin interface: include this one header.
 *
 * A plugin is a shared library that exports one object, `soma_plugin_entry` (abi/entry.h). The host reads it, hands the
 * plugin a table of functions (abi/host.h), and the plugin registers its node types (abi/node.h). Everything a node
 * reads or makes is a value (abi/value.h); tensors are values too (abi/tensor.h).
 *
 * Rules that hold everywhere:
 *  - every struct begins with `struct_size`, set by whoever fills the struct to the size it was compiled with. A field
 *    may be read only if it ends within `struct_size` (SOMA_HAS); a field beyond it has its documented default;
 *  - strings passed in are UTF-8, borrowed for the call and copied by the callee at once. Strings handed out are
 *    borrowed and live as long as the comment beside them says;
 *  - a function that can fail returns a status: NULL is success, anything else is owned by the caller. On failure every
 *    out-parameter is left untouched;
 *  - no C++ exception may leave a plugin function;
 *  - threads: [load] is called only while the plugin registers or shuts down, [any thread] at any time from any thread,
 *    [one at a time per instance] never twice at once for one node instance.
 */
#include "abi/base.h"
#include "abi/context.h"
#include "abi/dlpack.h"
#include "abi/entry.h"
#include "abi/host.h"
#include "abi/layout.h"
#include "abi/node.h"
#include "abi/status.h"
#include "abi/tensor.h"
#include "abi/value.h"

#endif
