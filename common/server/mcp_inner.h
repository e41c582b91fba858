/* SPDX-License-Identifier: MIT
 * What mcp.c, request.c, call.c and progress.c share. Loop thread only. */
#ifndef SB_SERVER_MCP_INNER_H
#define SB_SERVER_MCP_INNER_H

#include <stdbool.h>
#include <stdint.h>

#include "base/buf.h"
#include "server/conn.h"
#include "server/host.h"
#include "server/rpc.h"

#define SB_MCP_OPEN_MAX 256 /* calls of one connection that wait for their answer */

#define SB_MCP_LATEST "2025-11-25"

struct sb_call;

struct sb_mcp {
    struct sb_host *host;
    struct sb_conn *conn;
    char *peer;
    const char *version;   /* negotiated; before that SB_MCP_LATEST */
    struct sb_call *calls; /* that are open */
    unsigned call_count;
    void (*on_closed)(void *ctx);
    void *ctx;
};

/* ---- request.c: one JSON-RPC id and its one answer ------------------------------------ */

enum sb_request_state { SB_REQUEST_WAITING, SB_REQUEST_REPLIED };
enum sb_request_event {
    SB_REQUEST_ANSWER,
    SB_REQUEST_CANCEL,
    SB_REQUEST_CLIENT_GONE,
    SB_REQUEST_HOST_STOPPING
};
enum sb_request_effect {
    SB_REQUEST_NOTHING,
    SB_REQUEST_SEND, /* the answer leaves */
    SB_REQUEST_STOP  /* the work ends, and nothing leaves */
};

struct sb_batch; /* the answers of one array of requests, gathered to leave together */

struct sb_request {
    struct sb_conn *conn;
    struct sb_batch *batch; /* NULL: its answer leaves alone */
    enum sb_request_state state;
    char id[SB_RPC_ID_MAX + 1]; /* "": the answer carries none */
};

enum sb_request_effect sb_request_step(struct sb_request *request, enum sb_request_event event);

/* Each request that was begun ends by exactly one of result, error and drop. */
void sb_request_begin(struct sb_request *request, struct sb_conn *conn, struct sb_batch *batch,
                      const char *id);
/* `result` is JSON text of an object; NULL: it grew too large to be kept. An answer that
 * makes a line over SB_CONN_LINE_OUT leaves as an error instead. */
void sb_request_result(struct sb_request *request, const char *result, size_t len);
void sb_request_error(struct sb_request *request, int code, const char *text);
void sb_request_drop(struct sb_request *request);

struct sb_batch *sb_batch_new(struct sb_conn *conn);
/* All its requests were begun: it leaves with the last answer, and is gone. */
void sb_batch_sealed(struct sb_batch *batch);

/* ---- call.c: one tools/call, and the list of tools ------------------------------------- */

/* Starts it; `request` is copied. */
void sb_call_begin(struct sb_mcp *mcp, struct sb_request *request, const struct sb_rpc_message *message);
/* NULL: no such call is open. */
struct sb_call *sb_call_find(struct sb_mcp *mcp, const char *id, size_t id_len);
/* Any event but the answer. */
void sb_call_stop(struct sb_call *call, enum sb_request_event event);

void sb_tools_list(struct sb_json_out *out); /* the array "tools" */

/* ---- progress.c: when a message is due ------------------------------------------------- */

#define SB_PROGRESS_MS 2000 /* between two messages */

struct sb_progress {
    char token[SB_RPC_ID_MAX + 1]; /* raw; "": the client wants none */
    bool told;
    int64_t told_ms, value;
};
/* True if a message is due at now_ms; its value, which only grows, is then in `value`. */
bool sb_progress_due(struct sb_progress *progress, int64_t now_ms, int64_t elapsed_ms);

#endif
