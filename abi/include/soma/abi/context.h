/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SOMA_ABI_CONTEXT_H
#define SOMA_ABI_CONTEXT_H
/**
 * @file context.h
 * What a node is told at each forward: above all, where to run.
 */
#include "base.h"

SOMA_EXTERN_C_BEGIN

/** Filled by the host, borrowed for the call. */
typedef struct soma_ctx {
    uint32_t struct_size; /**< set by the host */
    uint32_t grad_mode;   /**< 1 when gradients are being recorded */
    soma_string node_id;  /**< NUL-terminated */
    /** Where to run, as torch writes it ("cpu", "cuda:0"), NUL-terminated; NULL when unplaced: run where the input is. */
    const char* device;
    soma_place place; /**< the same in numbers; kind SOMA_DEVICE_NONE when unplaced */
    /** The device's native stream (a cudaStream_t on cuda), borrowed. Queue work on it and return; NULL on cpu. */
    void* stream;
    uint64_t run_id;   /**< differs between runs of one process */
    uint64_t seed;     /**< differs between nodes, the same for a node in every run that was given the same seed */
    uint32_t training; /**< 1 when the pipeline is in training mode */
    uint32_t reserved; /**< 0 */
} soma_ctx;

SOMA_EXTERN_C_END

#endif
