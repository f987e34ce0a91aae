/* SPDX-License-Identifier: Apache-2.0 */
/* Exports a function under the entry's name. */
extern __attribute__((visibility("default"))) int soma_plugin_entry(void);
int soma_plugin_entry(void) { return 0; }
