/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SOMA_ABI_STATUS_H
#define SOMA_ABI_STATUS_H
/**
 * @file status.h
 * Why a call failed.
 *
 * A function that can fail returns `soma_status*`: NULL is success. A status is made by the host (`status_create`), so it
 * is always freed by the host, whichever side it was made for. It carries a code from the list below, a message for a
 * person, an origin (the plugin or host that made it) and optionally the status that caused it.
 *
 * Ownership: whoever receives a status owns it and either returns it further or gives it to `status_release`. Out of
 * memory is one static status; releasing it does nothing.
 */
#include "base.h"

/* The codes are frozen; new ones are appended. A host reads an unknown code as SOMA_UNKNOWN. */
#define SOMA_OK 0u                  /**< success */
#define SOMA_UNKNOWN 1u             /**< anything else */
#define SOMA_INVALID_ARGUMENT 2u    /**< the caller passed something wrong */
#define SOMA_NOT_FOUND 3u           /**< no such operator, key, type, extension */
#define SOMA_TYPE_MISMATCH 4u       /**< a value is of another kind than asked for */
#define SOMA_OUT_OF_RANGE 5u        /**< an index or number outside its bounds */
#define SOMA_OUT_OF_MEMORY 6u       /**< host or device memory is exhausted */
#define SOMA_UNIMPLEMENTED 7u       /**< this host was built without the capability */
#define SOMA_FAILED_PRECONDITION 8u /**< not now: something else must happen first */
#define SOMA_CANCELLED 9u           /**< the run was cancelled */
#define SOMA_DEADLINE_EXCEEDED 10u  /**< the run's time was up */
#define SOMA_WRONG_DEVICE 11u       /**< a tensor is on another device than needed */
#define SOMA_INTERNAL 12u           /**< a fault in the callee itself, an exception included */
#define SOMA_ALREADY_EXISTS 13u     /**< the name is taken */
#define SOMA_UNAVAILABLE 14u        /**< a resource (file, device) cannot be reached */

#endif
