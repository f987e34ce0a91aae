/* SPDX-License-Identifier: Apache-2.0 */
/* Exports an object under the entry's name that is too small for one. */
extern __attribute__((visibility("default"))) const long soma_plugin_entry;
const long soma_plugin_entry = 1;
