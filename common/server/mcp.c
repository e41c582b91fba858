/* SPDX-License-Identifier: MIT */
#include "server/mcp.h"

#include <string.h>

#include "base/alloc.h"
#include "server/line.h"
#include "server/mcp_inner.h"
#include "server/resource.h"

#define MODERN  "io.modelcontextprotocol/protocolVersion" /* in _meta: a message of the next era */
#define BATCHES "2025-03-26"                              /* the only version that has them */

static const char *const versions[] = {SB_MCP_LATEST, "2025-06-18", BATCHES, "2024-11-05"};

static const char instructions[] = "Runs code in a sandbox on the user's machine. execute_code runs one "
                                   "program (Python by default) in a fresh "
                                   "sandbox: nothing stays from one call to the next, and there is no "
                                   "network unless the arguments say so. Give it "
                                   "data by `files` or `stdin`; files that the program leaves in its working "
                                   "directory come back as images and "
                                   "links. The first line of an answer says how the program ended; a program "
                                   "that fails is an ordinary answer with "
                                   "its stderr. An answer that says `running` carries a job_id: call job "
                                   "with it to wait on, or to end it. Long "
                                   "output is cut in the middle and the mark says how to read the rest: "
                                   "read_file with run_id, path and offset. "
                                   "Results are kept for 30 minutes. When a tool answers with an error, its "
                                   "text says what to change; do not "
                                   "repeat the same call unchanged.";

/* ---- methods --------------------------------------------------------------------------- */

static void send_object(struct sb_request *request, struct sb_buf *result)
{
    sb_request_result(request, result->full ? NULL : result->data, result->len);
    sb_buf_done(result);
}

static void begin_object(struct sb_json_out *out, struct sb_buf *result)
{
    sb_buf_init(result, SB_CONN_LINE_OUT);
    sb_json_begin(out, result);
    sb_json_open_object(out, NULL);
}

static const char *choose_version(const char *asked)
{
    for (size_t i = 0; asked && i < SB_COUNT(versions); i++)
        if (strcmp(versions[i], asked) == 0)
            return versions[i];
    return SB_MCP_LATEST;
}

/* Never an error: a client that cannot begin shows its user nothing at all. */
static void serve_initialize(struct sb_mcp *mcp, struct sb_request *request,
                             const struct sb_rpc_message *message)
{
    const char *asked = NULL;
    struct sb_json_out out;
    struct sb_buf result;

    if (request->batch) {
        sb_request_error(request, SB_RPC_INVALID, "initialize cannot be part of a batch");
        return;
    }
    sb_json_string(sb_json_get(message->params, "protocolVersion"), "protocolVersion", &asked, NULL);
    mcp->version = choose_version(asked);
    begin_object(&out, &result);
    sb_json_put_string(&out, "protocolVersion", mcp->version);
    sb_json_open_object(&out, "capabilities");
    sb_json_open_object(&out, "tools");
    sb_json_close_object(&out);
    sb_json_open_object(&out, "resources");
    sb_json_close_object(&out);
    sb_json_close_object(&out);
    sb_json_open_object(&out, "serverInfo");
    sb_json_put_string(&out, "name", "llm-sandbox");
    sb_json_put_string(&out, "title", "LLM Sandbox");
    sb_json_put_string(&out, "version", SB_VERSION);
    sb_json_close_object(&out);
    sb_json_put_string(&out, "instructions", instructions);
    sb_json_close_object(&out);
    send_object(request, &result);
}

static void serve_ping(struct sb_mcp *mcp, struct sb_request *request, const struct sb_rpc_message *message)
{
    (void)mcp;
    (void)message;
    sb_request_result(request, "{}", 2);
}

/* Our lists have one page: no cursor was ever given out. */
static bool has_cursor(struct sb_request *request, const struct sb_rpc_message *message)
{
    if (!sb_json_get(message->params, "cursor"))
        return false;
    sb_request_error(request, SB_RPC_BAD_PARAMS, "unknown cursor");
    return true;
}

static void serve_tools_list(struct sb_mcp *mcp, struct sb_request *request,
                             const struct sb_rpc_message *message)
{
    struct sb_json_out out;
    struct sb_buf result;

    (void)mcp;
    if (has_cursor(request, message))
        return;
    begin_object(&out, &result);
    sb_tools_list(&out);
    sb_json_close_object(&out);
    send_object(request, &result);
}

/* One array of one resource, or of one template of them. */
static void send_resource(struct sb_request *request, const char *array, const char *uri_key, const char *uri,
                          const char *name, const char *description, const char *mime)
{
    struct sb_json_out out;
    struct sb_buf result;

    begin_object(&out, &result);
    sb_json_open_array(&out, array);
    sb_json_open_object(&out, NULL);
    sb_json_put_string(&out, uri_key, uri);
    sb_json_put_string(&out, "name", name);
    sb_json_put_string(&out, "description", description);
    if (mime)
        sb_json_put_string(&out, "mimeType", mime);
    sb_json_close_object(&out);
    sb_json_close_array(&out);
    sb_json_close_object(&out);
    send_object(request, &result);
}

static void serve_resources_list(struct sb_mcp *mcp, struct sb_request *request,
                                 const struct sb_rpc_message *message)
{
    (void)mcp;
    if (!has_cursor(request, message))
        send_resource(request, "resources", "uri", "sandbox://languages", "languages",
                      "The languages and what is usable of them on this machine", "application/json");
}

static void serve_templates_list(struct sb_mcp *mcp, struct sb_request *request,
                                 const struct sb_rpc_message *message)
{
    (void)mcp;
    if (!has_cursor(request, message))
        send_resource(request, "resourceTemplates", "uriTemplate", "sandbox://run/{run_id}/{+path}",
                      "run file", "A file that a run left, or its @stdout or @stderr; kept for 30 minutes",
                      NULL);
}

static void serve_resources_read(struct sb_mcp *mcp, struct sb_request *request,
                                 const struct sb_rpc_message *message)
{
    const char *uri = NULL;
    struct sb_buf contents, result;
    struct sb_err err;

    sb_buf_init(&contents, SB_CONN_LINE_OUT);
    sb_buf_init(&result, SB_CONN_LINE_OUT);
    if (sb_json_string(sb_json_get(message->params, "uri"), "params.uri", &uri, &err) < 0) {
        sb_request_error(request, SB_RPC_BAD_PARAMS, err.text);
    } else if (sb_resource_read(mcp->host, mcp->peer, uri, &contents, &err) < 0) {
        sb_request_error(request,
                         err.code == SB_NOT_FOUND     ? SB_RPC_NO_RESOURCE
                         : err.code == SB_BAD_REQUEST ? SB_RPC_BAD_PARAMS
                                                      : SB_RPC_INTERNAL,
                         err.text);
    } else {
        sb_buf_adds(&result, "{\"contents\":");
        sb_buf_add(&result, contents.data, contents.len);
        sb_buf_addc(&result, '}');
        result.full |= contents.full;
        send_object(request, &result);
    }
    sb_buf_done(&contents);
    sb_buf_done(&result);
}

static const struct method {
    const char *name;
    void (*serve)(struct sb_mcp *mcp, struct sb_request *request, const struct sb_rpc_message *message);
} methods[] = {
    {"initialize", serve_initialize},         {"ping", serve_ping},
    {"tools/list", serve_tools_list},         {"tools/call", sb_call_begin},
    {"resources/list", serve_resources_list}, {"resources/templates/list", serve_templates_list},
    {"resources/read", serve_resources_read},
};

/* ---- one message ----------------------------------------------------------------------- */

/* The only notification that means something to us. */
static void serve_notification(struct sb_mcp *mcp, const struct sb_rpc_message *message)
{
    const char *id = NULL;
    size_t len = 0;
    struct sb_call *call;

    if (strcmp(message->method, "notifications/cancelled") != 0 || !message->params ||
        sb_json_raw_member(message->raw_params, message->raw_params_len, "requestId", &id, &len) < 0)
        return;
    call = sb_call_find(mcp, id, len);
    if (call)
        sb_call_stop(call, SB_REQUEST_CANCEL);
}

static void serve_request(struct sb_mcp *mcp, struct sb_request *request,
                          const struct sb_rpc_message *message)
{
    struct sb_err err;

    if (sb_json_get(sb_json_get(message->params, "_meta"), MODERN)) {
        sb_fail(&err, SB_UNSUPPORTED,
                "'%s' of a newer protocol: this server speaks 2024-11-05 to " SB_MCP_LATEST
                ", begin with initialize",
                message->method);
        sb_request_error(request, SB_RPC_NO_METHOD, err.text);
        return;
    }
    for (size_t i = 0; i < SB_COUNT(methods); i++)
        if (strcmp(methods[i].name, message->method) == 0) {
            methods[i].serve(mcp, request, message);
            return;
        }
    sb_fail(&err, SB_UNSUPPORTED, "unknown method '%s'", message->method);
    sb_request_error(request, SB_RPC_NO_METHOD, err.text);
}

static void serve_message(struct sb_mcp *mcp, struct sb_batch *batch, const struct sb_json *value,
                          const char *raw, size_t len)
{
    struct sb_rpc_message message;
    struct sb_request request;
    struct sb_err err;
    int code = sb_rpc_message(value, raw, len, &message, &err);

    if (message.kind == SB_RPC_RESPONSE) /* we ask clients nothing */
        return;
    if (message.kind == SB_RPC_NOTIFICATION) {
        if (code == 0)
            serve_notification(mcp, &message);
        return;
    }
    if (message.id[0] && sb_call_find(mcp, message.id, strlen(message.id))) {
        /* An answer by that name would be taken for the one of the call that is open. */
        code = SB_RPC_INVALID;
        sb_fail(&err, SB_BAD_REQUEST, "a call with the id %s is still open", message.id);
        message.id[0] = 0;
    }
    sb_request_begin(&request, mcp->conn, batch, message.id);
    if (code != 0)
        sb_request_error(&request, code, err.text);
    else
        serve_request(mcp, &request, &message);
}

static void refuse(struct sb_mcp *mcp, int code, const char *text)
{
    struct sb_request request;

    sb_request_begin(&request, mcp->conn, NULL, "");
    sb_request_error(&request, code, text);
}

static void serve_batch(struct sb_mcp *mcp, const struct sb_json *array, const char *raw, size_t len)
{
    const struct sb_json *value = NULL;
    struct sb_batch *batch;
    const char *item = NULL;
    size_t count = 0, at = 0, item_len = 0;
    struct sb_err err;

    while ((value = sb_json_next(array, value)))
        count++;
    if (strcmp(mcp->version, BATCHES) != 0) {
        refuse(mcp, SB_RPC_INVALID, "batches exist in protocol version " BATCHES " only");
        return;
    }
    if (count == 0 || count > SB_RPC_BATCH_MAX) {
        sb_fail(&err, SB_LIMIT, "a batch has 1 to %d messages, not %zu", SB_RPC_BATCH_MAX, count);
        refuse(mcp, SB_RPC_INVALID, err.text);
        return;
    }
    batch = sb_batch_new(mcp->conn);
    while ((value = sb_json_next(array, value)) && sb_json_raw_next(raw, len, &at, &item, &item_len) == 0)
        serve_message(mcp, batch, value, item, item_len);
    sb_batch_sealed(batch);
}

/* ---- the connection -------------------------------------------------------------------- */

static void on_line(void *ctx, const char *line, size_t len)
{
    struct sb_json_doc *doc = NULL;
    struct sb_mcp *mcp = ctx;
    struct sb_err err;

    if (sb_json_parse(line, len, &doc, &err) < 0) {
        sb_fail_in(&err, "not JSON");
        refuse(mcp, SB_RPC_PARSE, err.text);
    } else if (sb_json_type(sb_json_root(doc)) == SB_JSON_ARRAY) {
        serve_batch(mcp, sb_json_root(doc), line, len);
    } else {
        serve_message(mcp, NULL, sb_json_root(doc), line, len);
    }
    sb_json_free(doc);
}

static void on_too_long(void *ctx)
{
    refuse(ctx, SB_RPC_PARSE, SB_LINE_TOO_LONG_TEXT);
}

static void stop(struct sb_mcp *mcp, enum sb_request_event event)
{
    while (mcp->calls)
        sb_call_stop(mcp->calls, event);
    sb_conn_close(mcp->conn);
}

static void on_end(void *ctx)
{
    stop(ctx, SB_REQUEST_CLIENT_GONE);
}

static void on_conn_closed(void *ctx)
{
    struct sb_mcp *mcp = ctx;
    void (*on_closed)(void *ctx) = mcp->on_closed;
    void *owner = mcp->ctx;

    sb_free(mcp->peer);
    sb_free(mcp);
    on_closed(owner);
}

static struct sb_mcp *new_mcp(struct sb_host *host, const char *peer, void (*on_closed)(void *ctx), void *ctx)
{
    struct sb_mcp *mcp = sb_alloc(sizeof *mcp);

    mcp->host = host;
    mcp->peer = sb_strdup(peer);
    mcp->version = SB_MCP_LATEST;
    mcp->on_closed = on_closed;
    mcp->ctx = ctx;
    return mcp;
}

static struct sb_conn_events events_of(struct sb_mcp *mcp)
{
    return (struct sb_conn_events){.ctx = mcp,
                                   .on_line = on_line,
                                   .on_too_long = on_too_long,
                                   .on_end = on_end,
                                   .on_closed = on_conn_closed};
}

int sb_mcp_open(struct sb_host *host, int fd_in, int fd_out, const char *peer, void (*on_closed)(void *ctx),
                void *ctx, struct sb_mcp **out, struct sb_err *err)
{
    struct sb_mcp *mcp = new_mcp(host, peer, on_closed, ctx);
    struct sb_conn_events events = events_of(mcp);

    if (sb_conn_open(sb_host_loop(host), fd_in, fd_out, &events, &mcp->conn, err) < 0) {
        sb_free(mcp->peer);
        sb_free(mcp);
        return -1;
    }
    *out = mcp;
    return 0;
}

struct sb_mcp *sb_mcp_adopt(struct sb_host *host, uv_pipe_t *stream, const char *peer,
                            void (*on_closed)(void *ctx), void *ctx)
{
    struct sb_mcp *mcp = new_mcp(host, peer, on_closed, ctx);
    struct sb_conn_events events = events_of(mcp);

    mcp->conn = sb_conn_adopt(stream, &events);
    return mcp;
}

void sb_mcp_close(struct sb_mcp *mcp)
{
    stop(mcp, SB_REQUEST_HOST_STOPPING);
}
