/* SPDX-License-Identifier: MIT
 * JSON-RPC 2.0, pure: one message in, its parts out; answers as text. Ids stay raw text:
 * "1" is not 1, and 9007199254740993 is echoed as it came. */
#ifndef SB_SERVER_RPC_H
#define SB_SERVER_RPC_H

#include <stdbool.h>
#include <stddef.h>

#include "base/buf.h"
#include "base/json.h"

enum {
    SB_RPC_PARSE = -32700,
    SB_RPC_INVALID = -32600,
    SB_RPC_NO_METHOD = -32601,
    SB_RPC_BAD_PARAMS = -32602,
    SB_RPC_INTERNAL = -32603,
    SB_RPC_NO_RESOURCE = -32002
};
#define SB_RPC_ID_MAX    256 /* bytes of an id's raw text */
#define SB_RPC_BATCH_MAX 50  /* messages of one array */

enum sb_rpc_kind { SB_RPC_REQUEST, SB_RPC_NOTIFICATION, SB_RPC_RESPONSE };
struct sb_rpc_message {
    enum sb_rpc_kind kind;
    char id[SB_RPC_ID_MAX + 1]; /* raw token; "" for a notification */
    const char *method;
    const struct sb_json *params; /* an object, or NULL */
    const char *raw_params;       /* its text, for what must be echoed raw (progress tokens) */
    size_t raw_params_len;
};

/* Checks one message (facts: a string or integer id; params an object). `raw` is the
 * message's own text. 0, or the error code; then err says why, id is "" where the error must
 * carry none, and a kind of SB_RPC_NOTIFICATION says that none must be sent at all. */
int sb_rpc_message(const struct sb_json *value, const char *raw, size_t raw_len, struct sb_rpc_message *out,
                   struct sb_err *err);

/* Answers, one line each without the \n. `result` is JSON text of an object. An error
 * without id has no `id` member at all. */
void sb_rpc_result(struct sb_buf *out, const char *id, const char *result, size_t len);
void sb_rpc_error(struct sb_buf *out, const char *id, int code, const char *text);
void sb_rpc_notification(struct sb_buf *out, const char *method, const char *params, size_t len);

#endif
