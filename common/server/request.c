/* SPDX-License-Identifier: MIT */
#include <string.h>

#include "base/alloc.h"
#include "server/mcp_inner.h"

#define ERROR_ROOM 2048 /* an error in a batch always fits */

struct sb_batch {
    struct sb_conn *conn;
    unsigned open; /* requests without answer, and one until it is sealed */
    struct sb_buf text;
};

enum sb_request_effect sb_request_step(struct sb_request *request, enum sb_request_event event)
{
    static const struct {
        enum sb_request_state next;
        enum sb_request_effect effect;
    } table[][SB_REQUEST_HOST_STOPPING + 1] = {
        [SB_REQUEST_WAITING] = {[SB_REQUEST_ANSWER] = {SB_REQUEST_REPLIED, SB_REQUEST_SEND},
                                [SB_REQUEST_CANCEL] = {SB_REQUEST_REPLIED, SB_REQUEST_STOP},
                                [SB_REQUEST_CLIENT_GONE] = {SB_REQUEST_REPLIED, SB_REQUEST_STOP},
                                [SB_REQUEST_HOST_STOPPING] = {SB_REQUEST_REPLIED, SB_REQUEST_STOP}},
        [SB_REQUEST_REPLIED] = {[SB_REQUEST_ANSWER] = {SB_REQUEST_REPLIED, SB_REQUEST_NOTHING},
                                [SB_REQUEST_CANCEL] = {SB_REQUEST_REPLIED, SB_REQUEST_NOTHING},
                                [SB_REQUEST_CLIENT_GONE] = {SB_REQUEST_REPLIED, SB_REQUEST_NOTHING},
                                [SB_REQUEST_HOST_STOPPING] = {SB_REQUEST_REPLIED, SB_REQUEST_NOTHING}},
    };
    enum sb_request_effect effect = table[request->state][event].effect;

    request->state = table[request->state][event].next;
    return effect;
}

/* ---- batches --------------------------------------------------------------------------- */

struct sb_batch *sb_batch_new(struct sb_conn *conn)
{
    struct sb_batch *batch = sb_alloc(sizeof *batch);

    batch->conn = conn;
    batch->open = 1;
    sb_buf_init(&batch->text, SB_CONN_LINE_OUT);
    return batch;
}

static void one_less(struct sb_batch *batch)
{
    if (--batch->open > 0)
        return;
    if (batch->text.len > 0) { /* of notifications only, or all cancelled: nothing is said */
        sb_buf_addc(&batch->text, ']');
        sb_conn_send(batch->conn, batch->text.data, batch->text.len);
    }
    sb_buf_done(&batch->text);
    sb_free(batch);
}

void sb_batch_sealed(struct sb_batch *batch)
{
    one_less(batch);
}

/* ---- answers --------------------------------------------------------------------------- */

void sb_request_begin(struct sb_request *request, struct sb_conn *conn, struct sb_batch *batch,
                      const char *id)
{
    *request = (struct sb_request){.conn = conn, .batch = batch, .state = SB_REQUEST_WAITING};
    memcpy(request->id, id, strlen(id) + 1);
    if (batch)
        batch->open++;
}

/* The longest result that may leave: in a batch there is always room for errors to all. */
static size_t most(const struct sb_request *request)
{
    size_t used = request->batch ? request->batch->text.len + SB_RPC_BATCH_MAX * ERROR_ROOM : 0;

    return used < SB_CONN_LINE_OUT ? SB_CONN_LINE_OUT - used : 0;
}

static void leave(struct sb_request *request, const struct sb_buf *line)
{
    struct sb_batch *batch = request->batch;

    if (!batch) {
        sb_conn_send(request->conn, line->data, line->len);
        return;
    }
    sb_buf_addc(&batch->text, batch->text.len > 0 ? ',' : '[');
    sb_buf_add(&batch->text, line->data, line->len);
    one_less(batch);
}

void sb_request_result(struct sb_request *request, const char *result, size_t len)
{
    struct sb_buf line;

    sb_buf_init(&line, most(request));
    if (result)
        sb_rpc_result(&line, request->id, result, len);
    if (!result || line.full)
        sb_request_error(request, SB_RPC_INTERNAL, "the answer is larger than 4 MiB");
    else
        leave(request, &line);
    sb_buf_done(&line);
}

void sb_request_error(struct sb_request *request, int code, const char *text)
{
    struct sb_buf line;

    sb_buf_init(&line, ERROR_ROOM - 2);
    sb_rpc_error(&line, request->id, code, text);
    leave(request, &line);
    sb_buf_done(&line);
}

void sb_request_drop(struct sb_request *request)
{
    if (request->batch)
        one_less(request->batch);
}
