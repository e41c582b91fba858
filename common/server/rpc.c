/* SPDX-License-Identifier: MIT */
#include "server/rpc.h"

#include <string.h>

/* 1, -7, 9007199254740993; and 1e2 or 1.0, which JavaScript and others write for integers. */
static bool is_integer(const struct sb_json *value, const char *raw, size_t raw_len)
{
    int64_t number = 0;

    if (sb_json_type(value) != SB_JSON_NUMBER)
        return false;
    if (!memchr(raw, '.', raw_len) && !memchr(raw, 'e', raw_len) && !memchr(raw, 'E', raw_len))
        return true;
    return sb_json_int(value, "id", &number, NULL) == 0;
}

static int read_id(const struct sb_json *message, const char *raw, size_t raw_len, struct sb_rpc_message *out,
                   struct sb_err *err)
{
    const struct sb_json *id = sb_json_get(message, "id");
    const char *token = NULL;
    size_t len = 0;

    if (!id)
        return 0;
    if (sb_json_raw_member(raw, raw_len, "id", &token, &len) < 0)
        return sb_fail(err, SB_BAD_REQUEST, "the id cannot be read");
    if (sb_json_type(id) != SB_JSON_STRING && !is_integer(id, token, len))
        return sb_fail(err, SB_BAD_REQUEST, "the id must be a string or an integer");
    if (len > SB_RPC_ID_MAX)
        return sb_fail(err, SB_LIMIT, "the id is longer than %d bytes", SB_RPC_ID_MAX);
    memcpy(out->id, token, len);
    out->id[len] = 0;
    return 0;
}

static int read_params(const struct sb_json *message, const char *raw, size_t raw_len,
                       struct sb_rpc_message *out, struct sb_err *err)
{
    const struct sb_json *params = sb_json_get(message, "params");

    if (!params)
        return 0;
    if (sb_json_type(params) != SB_JSON_OBJECT ||
        sb_json_raw_member(raw, raw_len, "params", &out->raw_params, &out->raw_params_len) < 0)
        return sb_fail(err, SB_BAD_REQUEST, "params must be an object");
    out->params = params;
    return 0;
}

/* A request or a notification; a message without method can only be an answer. */
static int read_kind(const struct sb_json *message, struct sb_rpc_message *out, struct sb_err *err)
{
    const struct sb_json *method = sb_json_get(message, "method");

    if (!method && (sb_json_get(message, "result") || sb_json_get(message, "error"))) {
        out->kind = SB_RPC_RESPONSE;
        return 0;
    }
    out->kind = out->id[0] ? SB_RPC_REQUEST : SB_RPC_NOTIFICATION;
    return sb_json_string(method, "method", &out->method, err);
}

static int is_version_2(const struct sb_json *message, struct sb_err *err)
{
    const char *version = NULL;

    if (sb_json_string(sb_json_get(message, "jsonrpc"), "jsonrpc", &version, err) < 0)
        return -1;
    return strcmp(version, "2.0") == 0 ? 0 : sb_fail(err, SB_BAD_REQUEST, "jsonrpc must be \"2.0\"");
}

int sb_rpc_message(const struct sb_json *value, const char *raw, size_t raw_len, struct sb_rpc_message *out,
                   struct sb_err *err)
{
    *out = (struct sb_rpc_message){.kind = SB_RPC_REQUEST};
    if (sb_json_type(value) != SB_JSON_OBJECT) {
        sb_fail(err, SB_BAD_REQUEST, "a message must be an object");
        return SB_RPC_INVALID;
    }
    if (read_id(value, raw, raw_len, out, err) < 0 || is_version_2(value, err) < 0)
        return SB_RPC_INVALID;
    if (read_kind(value, out, err) < 0) {
        out->kind = SB_RPC_REQUEST; /* not known to be a notification: it is answered */
        return SB_RPC_INVALID;
    }
    if (out->kind != SB_RPC_RESPONSE && read_params(value, raw, raw_len, out, err) < 0)
        return SB_RPC_BAD_PARAMS;
    return 0;
}

static void begin(struct sb_buf *out, const char *id)
{
    sb_buf_adds(out, "{\"jsonrpc\":\"2.0\"");
    if (id[0]) {
        sb_buf_adds(out, ",\"id\":");
        sb_buf_adds(out, id);
    }
}

void sb_rpc_result(struct sb_buf *out, const char *id, const char *result, size_t len)
{
    begin(out, id);
    sb_buf_adds(out, ",\"result\":");
    sb_buf_add(out, result, len);
    sb_buf_addc(out, '}');
}

void sb_rpc_error(struct sb_buf *out, const char *id, int code, const char *text)
{
    struct sb_json_out json;

    begin(out, id);
    sb_buf_adds(out, ",\"error\":");
    sb_json_begin(&json, out);
    sb_json_open_object(&json, NULL);
    sb_json_put_int(&json, "code", code);
    sb_json_put_string(&json, "message", text);
    sb_json_close_object(&json);
    sb_buf_addc(out, '}');
}

void sb_rpc_notification(struct sb_buf *out, const char *method, const char *params, size_t len)
{
    struct sb_json_out json;

    sb_json_begin(&json, out);
    sb_buf_adds(out, "{\"jsonrpc\":\"2.0\",\"method\":");
    sb_json_put_string(&json, NULL, method);
    sb_buf_adds(out, ",\"params\":");
    sb_buf_add(out, params, len);
    sb_buf_addc(out, '}');
}
