/* SPDX-License-Identifier: MIT */
#include <inttypes.h>
#include <string.h>

#include "base/alloc.h"
#include "base/base64.h"
#include "base/utf8.h"
#include "platform/clock.h"
#include "server/mcp_inner.h"
#include "server/tool.h"

#define PROGRESS_LINE 200 /* bytes of the program's last line */

struct sb_call {
    struct sb_call *next;
    struct sb_mcp *mcp;
    struct sb_request request;
    struct sb_progress progress;
    const struct sb_tool *tool;
    void *args, *own;
    int64_t arrived_us;
    struct sb_buf content; /* the array, still open */
    struct sb_json_out json;
};

/* ---- its life -------------------------------------------------------------------------- */

static struct sb_call *new_call(struct sb_mcp *mcp, const struct sb_request *request,
                                const struct sb_tool *tool)
{
    struct sb_call *call = sb_alloc(sizeof *call);

    call->mcp = mcp;
    call->request = *request;
    call->tool = tool;
    call->args = sb_alloc(tool->args_size + 1); /* a tool without arguments has no struct */
    call->arrived_us = sb_clock_us();
    sb_buf_init(&call->content, SB_CONN_LINE_OUT);
    sb_json_begin(&call->json, &call->content);
    sb_json_open_object(&call->json, NULL);
    sb_json_open_array(&call->json, "content");
    call->next = mcp->calls;
    mcp->calls = call;
    mcp->call_count++;
    return call;
}

static void unlink_call(struct sb_call *call)
{
    struct sb_call **at = &call->mcp->calls;

    while (*at != call)
        at = &(*at)->next;
    *at = call->next;
    call->mcp->call_count--;
}

static void free_call(struct sb_call *call)
{
    sb_fields_done(call->tool->fields, call->args);
    sb_free(call->args);
    sb_buf_done(&call->content);
    sb_free(call);
}

struct sb_call *sb_call_find(struct sb_mcp *mcp, const char *id, size_t id_len)
{
    struct sb_call *call = mcp->calls;

    while (call && (strlen(call->request.id) != id_len || memcmp(call->request.id, id, id_len) != 0))
        call = call->next;
    return call;
}

void sb_call_stop(struct sb_call *call, enum sb_request_event event)
{
    if (sb_request_step(&call->request, event) != SB_REQUEST_STOP)
        return;
    unlink_call(call); /* whatever the tool sets off, nobody finds it any more */
    call->tool->cancel(call);
    sb_request_drop(&call->request);
    free_call(call);
}

void sb_call_reply(struct sb_call *call, bool is_error)
{
    if (sb_request_step(&call->request, SB_REQUEST_ANSWER) != SB_REQUEST_SEND)
        return; /* while it is being cancelled */
    unlink_call(call);
    sb_json_close_array(&call->json);
    sb_json_put_bool(&call->json, "isError", is_error);
    sb_json_close_object(&call->json);
    sb_request_result(&call->request, call->content.full ? NULL : call->content.data, call->content.len);
    free_call(call);
}

void sb_call_fail(struct sb_call *call, const struct sb_err *err, const char *mend)
{
    char *text = mend ? sb_asprintf("%s\n%s", err->text, mend) : sb_strdup(err->text);

    sb_call_text(call, text, strlen(text));
    sb_free(text);
    sb_call_reply(call, true);
}

/* ---- its start ------------------------------------------------------------------------- */

static const struct sb_tool *find_tool(const char *name)
{
    const struct sb_tool *const *tool = sb_tools;

    while (*tool && strcmp((*tool)->name, name) != 0)
        tool++;
    return *tool;
}

/* A token that is no string or integer is as good as none. */
static void read_token(const struct sb_rpc_message *message, struct sb_progress *progress)
{
    const struct sb_json *token = sb_json_get(sb_json_get(message->params, "_meta"), "progressToken");
    const char *meta = NULL, *raw = NULL;
    size_t meta_len = 0, len = 0;
    int64_t number = 0;

    if (sb_json_type(token) != SB_JSON_STRING && sb_json_int(token, "progressToken", &number, NULL) < 0)
        return;
    if (sb_json_raw_member(message->raw_params, message->raw_params_len, "_meta", &meta, &meta_len) < 0 ||
        sb_json_raw_member(meta, meta_len, "progressToken", &raw, &len) < 0 || len > SB_RPC_ID_MAX)
        return;
    memcpy(progress->token, raw, len);
    progress->token[len] = 0;
}

static int decode(struct sb_call *call, const struct sb_json *arguments, struct sb_err *err)
{
    if (arguments && sb_json_type(arguments) != SB_JSON_OBJECT)
        return sb_fail(err, SB_BAD_REQUEST, "arguments must be an object");
    return sb_fields_decode(call->tool->fields, arguments, true, call->args, err);
}

void sb_call_begin(struct sb_mcp *mcp, struct sb_request *request, const struct sb_rpc_message *message)
{
    const struct sb_tool *tool;
    const char *name = NULL;
    struct sb_call *call;
    struct sb_err err;

    if (sb_json_string(sb_json_get(message->params, "name"), "params.name", &name, &err) < 0) {
        sb_request_error(request, SB_RPC_BAD_PARAMS, err.text);
        return;
    }
    tool = find_tool(name);
    if (!tool) {
        sb_fail(&err, SB_NOT_FOUND, "unknown tool '%s'", name);
        sb_request_error(request, SB_RPC_BAD_PARAMS, err.text);
        return;
    }
    if (mcp->call_count >= SB_MCP_OPEN_MAX) {
        sb_fail(&err, SB_BUSY,
                "busy: %d calls of this connection are open; retry when one of them is answered",
                SB_MCP_OPEN_MAX);
        sb_request_error(request, SB_RPC_INTERNAL, err.text);
        return;
    }
    call = new_call(mcp, request, tool);
    read_token(message, &call->progress);
    if (decode(call, sb_json_get(message->params, "arguments"), &err) < 0)
        sb_call_fail(call, &err, NULL);
    else
        tool->start(call, call->args);
}

/* ---- what a tool sees of it ------------------------------------------------------------ */

struct sb_host *sb_call_host(struct sb_call *call)
{
    return call->mcp->host;
}

const char *sb_call_peer(const struct sb_call *call)
{
    return call->mcp->peer;
}

int64_t sb_call_arrived_us(const struct sb_call *call)
{
    return call->arrived_us;
}

void sb_call_set(struct sb_call *call, void *own)
{
    call->own = own;
}

void *sb_call_get(const struct sb_call *call)
{
    return call->own;
}

void sb_call_text(struct sb_call *call, const char *text, size_t len)
{
    sb_json_open_object(&call->json, NULL);
    sb_json_put_string(&call->json, "type", "text");
    sb_json_put_bytes(&call->json, "text", text, len);
    sb_json_close_object(&call->json);
}

void sb_call_image(struct sb_call *call, const void *bytes, size_t len, const char *mime)
{
    struct sb_buf text;

    sb_buf_init(&text, SB_CONN_LINE_OUT);
    sb_base64(bytes, len, &text);
    if (text.full)
        call->content.full = true;
    sb_json_open_object(&call->json, NULL);
    sb_json_put_string(&call->json, "type", "image");
    sb_json_put_bytes(&call->json, "data", text.data, text.len);
    sb_json_put_string(&call->json, "mimeType", mime);
    sb_json_close_object(&call->json);
    sb_buf_done(&text);
}

void sb_call_link(struct sb_call *call, const char *uri, const char *name, const char *mime, uint64_t size)
{
    char *text;

    if (strcmp(call->mcp->version, "2025-06-18") < 0) { /* resource_link is not known before */
        text = sb_asprintf("%s (%s, %" PRIu64 " bytes): %s", name, mime, size, uri);
        sb_call_text(call, text, strlen(text));
        sb_free(text);
        return;
    }
    sb_json_open_object(&call->json, NULL);
    sb_json_put_string(&call->json, "type", "resource_link");
    sb_json_put_string(&call->json, "uri", uri);
    sb_json_put_string(&call->json, "name", name);
    sb_json_put_string(&call->json, "mimeType", mime);
    sb_json_put_int(&call->json, "size", (int64_t)size);
    sb_json_close_object(&call->json);
}

/* ---- progress -------------------------------------------------------------------------- */

void sb_call_progress(struct sb_call *call, int64_t elapsed_ms, const char *line)
{
    uv_loop_t *loop = sb_host_loop(call->mcp->host);
    struct sb_buf params, notification;
    struct sb_json_out json;
    char *message;

    if (!sb_progress_due(&call->progress, (int64_t)uv_now(loop), elapsed_ms))
        return;
    message = sb_asprintf("%" PRId64 " s%s%.*s", elapsed_ms / 1000, *line ? ": " : "",
                          (int)sb_utf8_cut(line, strlen(line), PROGRESS_LINE), line);
    sb_buf_init(&params, SB_CONN_LINE_OUT);
    sb_buf_init(&notification, SB_CONN_LINE_OUT);
    sb_buf_addf(&params, "{\"progressToken\":%s,\"progress\":%" PRId64 ",\"message\":", call->progress.token,
                call->progress.value);
    sb_json_begin(&json, &params);
    sb_json_put_string(&json, NULL, message);
    sb_buf_addc(&params, '}');
    sb_rpc_notification(&notification, "notifications/progress", params.data, params.len);
    sb_conn_send(call->mcp->conn, notification.data, notification.len);
    sb_buf_done(&params);
    sb_buf_done(&notification);
    sb_free(message);
}

/* ---- tools/list ------------------------------------------------------------------------ */

/* Only what differs from the protocol's defaults: every word of it is read by a model. */
static void put_tool(const struct sb_tool *tool, struct sb_json_out *out)
{
    sb_json_open_object(out, NULL);
    sb_json_put_string(out, "name", tool->name);
    sb_json_put_string(out, "title", tool->title);
    sb_json_put_string(out, "description", tool->description);
    sb_fields_schema(tool->fields, "inputSchema", out);
    sb_json_open_object(out, "annotations");
    if (tool->read_only)
        sb_json_put_bool(out, "readOnlyHint", true);
    else
        sb_json_put_bool(out, "destructiveHint", false);
    sb_json_put_bool(out, "openWorldHint", false);
    sb_json_close_object(out);
    if (tool->always_load) {
        sb_json_open_object(out, "_meta");
        sb_json_put_bool(out, "anthropic/alwaysLoad", true);
        sb_json_close_object(out);
    }
    sb_json_close_object(out);
}

void sb_tools_list(struct sb_json_out *out)
{
    sb_json_open_array(out, "tools");
    for (const struct sb_tool *const *tool = sb_tools; *tool; tool++)
        put_tool(*tool, out);
    sb_json_close_array(out);
}
