/* SPDX-License-Identifier: MIT
 * States: JOINED (lines pass), GREETING (connected again, the service has not yet answered
 * the repeated initialize), LOST (nobody there, for less than the patience), GONE (for
 * longer), ENDING (the client has ended its side; the service is told so, and its last
 * answers pass), CLOSING. The client is held in GREETING and LOST, and while the service takes
 * nothing or has too much of it. */
#include "server/bridge.h"

#include <string.h>

#include "base/alloc.h"
#include "base/buf.h"
#include "base/json.h"
#include "platform/endpoint.h"
#include "server/conn.h"
#include "server/line.h"
#include "server/rpc.h"

/* Of the repeated initialize: nothing else is under way then. */
#define GREETING_ID "\"llm-sandbox bridge\""

static const char restarted[] =
    "The llm-sandbox service was restarted while this was under way, and what it ran is "
    "gone. The call can be repeated now.";
static const char gone[] =
    "The llm-sandbox service does not run any more, or takes no more clients of this user. Its "
    "administrator can start it again; or restart this MCP server, which works without one that does "
    "not run. Do not retry until then.";

enum state { JOINED, GREETING, LOST, GONE, ENDING, CLOSING };

struct open_call { /* a request of the client that the service has not answered */
    struct open_call *next;
    bool is_tool;
    char id[SB_RPC_ID_MAX + 1];
};

struct sb_bridge {
    uv_loop_t *loop;
    enum state state;
    struct sb_conn *client, *service; /* service: NULL in LOST and GONE */
    unsigned open;                    /* conns and the timer that are not yet closed */
    struct open_call *calls;
    unsigned call_count;
    struct sb_buf initialize; /* the params of the client's, raw; empty: it came not yet, or has no answer */
    struct sb_buf pending;    /* those of one that is open */
    char initialize_id[SB_RPC_ID_MAX + 1];
    bool initialized; /* and the notification that follows it */
    bool heard;       /* this service has said something */
    uv_timer_t timer; /* LOST, GONE: the next look; ENDING: the last moment */
    uint64_t lost_ms; /* uv_now: since when there is no service for us */
    uint64_t join_ms; /* and of the last connection */
    void (*on_closed)(void *ctx);
    void *ctx;
};

static void look(uv_timer_t *timer);

/* ---- calls that are open ------------------------------------------------------------- */

static struct open_call **find(struct sb_bridge *bridge, const char *id, size_t len)
{
    struct open_call **at = &bridge->calls;

    while (*at && !(strlen((*at)->id) == len && memcmp((*at)->id, id, len) == 0))
        at = &(*at)->next;
    return at;
}

static void opened(struct sb_bridge *bridge, const struct sb_rpc_message *message)
{
    struct open_call **at = find(bridge, message->id, strlen(message->id)), *call;

    if (*at) /* the service refuses the second one, without its id */
        return;
    call = *at = sb_alloc(sizeof *call);
    call->is_tool = strcmp(message->method, "tools/call") == 0;
    memcpy(call->id, message->id, sizeof call->id);
    bridge->call_count++;
}

static void closed(struct sb_bridge *bridge, const char *id, size_t len)
{
    struct open_call **at = find(bridge, id, len), *call = *at;

    if (!call)
        return;
    *at = call->next;
    sb_free(call);
    bridge->call_count--;
}

static void refuse(struct sb_bridge *bridge, const struct open_call *call, const char *text)
{
    struct sb_buf result, line;
    struct sb_json_out json;

    sb_buf_init(&result, SB_CONN_LINE_OUT);
    sb_buf_init(&line, SB_CONN_LINE_OUT);
    if (call->is_tool) { /* what models read */
        sb_json_begin(&json, &result);
        sb_json_open_object(&json, NULL);
        sb_json_open_array(&json, "content");
        sb_json_open_object(&json, NULL);
        sb_json_put_string(&json, "type", "text");
        sb_json_put_string(&json, "text", text);
        sb_json_close_object(&json);
        sb_json_close_array(&json);
        sb_json_put_bool(&json, "isError", true);
        sb_json_close_object(&json);
        sb_rpc_result(&line, call->id, result.data, result.len);
    } else {
        sb_rpc_error(&line, call->id, SB_RPC_INTERNAL, text);
    }
    sb_conn_send(bridge->client, line.data, line.len);
    sb_buf_done(&result);
    sb_buf_done(&line);
}

/* `all`: an open initialize too, which otherwise waits for the next service. */
static void refuse_open(struct sb_bridge *bridge, const char *text, bool all)
{
    struct open_call **at = &bridge->calls;

    while (*at) {
        struct open_call *call = *at;

        if (!all && strcmp(call->id, bridge->initialize_id) == 0) {
            at = &call->next;
            continue;
        }
        refuse(bridge, call, text);
        *at = call->next;
        sb_free(call);
        bridge->call_count--;
    }
    if (all) {
        sb_buf_clear(&bridge->pending);
        bridge->initialize_id[0] = '\0';
    }
}

/* ---- what the client sends ------------------------------------------------------------ */

static void note_initialize(struct sb_bridge *bridge, const struct sb_rpc_message *message)
{
    sb_buf_clear(&bridge->pending);
    if (message->params)
        sb_buf_add(&bridge->pending, message->raw_params, message->raw_params_len);
    else
        sb_buf_adds(&bridge->pending, "{}");
    memcpy(bridge->initialize_id, message->id, sizeof bridge->initialize_id);
}

static void note_message(struct sb_bridge *bridge, const struct sb_json *value, const char *raw, size_t len)
{
    struct sb_rpc_message message;
    const char *id = NULL;
    size_t id_len = 0;

    if (sb_rpc_message(value, raw, len, &message, NULL) != 0)
        return; /* the service says what is wrong with it */
    if (message.kind == SB_RPC_REQUEST) {
        opened(bridge, &message);
        if (strcmp(message.method, "initialize") == 0)
            note_initialize(bridge, &message);
    } else if (message.kind == SB_RPC_NOTIFICATION) {
        if (strcmp(message.method, "notifications/initialized") == 0)
            bridge->initialized = true;
        else if (strcmp(message.method, "notifications/cancelled") == 0 && message.params &&
                 sb_json_raw_member(message.raw_params, message.raw_params_len, "requestId", &id, &id_len) ==
                     0)
            closed(bridge, id, id_len); /* it is never answered */
    }
}

static void note_line(struct sb_bridge *bridge, const char *line, size_t len)
{
    struct sb_json_doc *doc = NULL;
    const struct sb_json *root, *value = NULL;
    const char *item = NULL;
    size_t at = 0, item_len = 0;

    if (sb_json_parse(line, len, &doc, NULL) < 0)
        return;
    root = sb_json_root(doc);
    if (sb_json_type(root) != SB_JSON_ARRAY)
        note_message(bridge, root, line, len);
    else
        while ((value = sb_json_next(root, value)) && sb_json_raw_next(line, len, &at, &item, &item_len) == 0)
            note_message(bridge, value, item, item_len);
    sb_json_free(doc);
}

/* The service has more of the client than it can take at once. */
static bool is_too_much(const struct sb_bridge *bridge)
{
    return bridge->call_count >= SB_BRIDGE_CALLS_MAX || sb_conn_is_full(bridge->service);
}

static void on_client_line(void *ctx, const char *line, size_t len)
{
    struct sb_bridge *bridge = ctx;

    note_line(bridge, line, len);
    if (bridge->state == GONE)
        refuse_open(bridge, gone, true);
    if (bridge->state != JOINED)
        return;
    sb_conn_send(bridge->service, line, len);
    if (is_too_much(bridge))
        sb_conn_hold(bridge->client, true);
}

static void on_client_too_long(void *ctx)
{
    struct sb_bridge *bridge = ctx;
    struct sb_buf line;

    sb_buf_init(&line, SB_CONN_LINE_OUT);
    sb_rpc_error(&line, "", SB_RPC_PARSE, SB_LINE_TOO_LONG_TEXT);
    sb_conn_send(bridge->client, line.data, line.len);
    sb_buf_done(&line);
}

static void on_last_moment(uv_timer_t *timer)
{
    sb_bridge_close(timer->data);
}

static void on_client_end(void *ctx)
{
    struct sb_bridge *bridge = ctx;

    if (bridge->state != JOINED) {
        sb_bridge_close(bridge);
        return;
    }
    bridge->state = ENDING;
    sb_conn_finish(bridge->service);
    uv_timer_start(&bridge->timer, on_last_moment, SB_BRIDGE_LAST_MS, 0);
}

/* ---- what the service sends ----------------------------------------------------------- */

static void note_answer(struct sb_bridge *bridge, const char *message, size_t len)
{
    const char *id = NULL;
    size_t id_len = 0;
    struct sb_buf told;

    if (sb_json_raw_member(message, len, "id", &id, &id_len) < 0)
        return;
    closed(bridge, id, id_len);
    if (bridge->pending.len > 0 && strlen(bridge->initialize_id) == id_len &&
        memcmp(bridge->initialize_id, id, id_len) == 0) {
        told = bridge->initialize;
        bridge->initialize = bridge->pending;
        bridge->pending = told;
        sb_buf_clear(&bridge->pending);
        bridge->initialize_id[0] = '\0';
    }
}

static void send_service(struct sb_bridge *bridge, struct sb_buf *line)
{
    sb_conn_send(bridge->service, line->data, line->len);
    sb_buf_done(line);
}

static void say(struct sb_bridge *bridge, const char *id, const char *method, const struct sb_buf *params)
{
    struct sb_buf line;

    sb_buf_init(&line, SB_LINE_MAX);
    sb_buf_adds(&line, "{\"jsonrpc\":\"2.0\",");
    if (id)
        sb_buf_addf(&line, "\"id\":%s,", id);
    sb_buf_addf(&line, "\"method\":\"%s\"", method);
    if (params && params->len > 0) {
        sb_buf_adds(&line, ",\"params\":");
        sb_buf_add(&line, params->data, params->len);
    }
    sb_buf_addc(&line, '}');
    send_service(bridge, &line);
}

static void pass(struct sb_bridge *bridge)
{
    bridge->state = JOINED;
    if (bridge->pending.len > 0)
        say(bridge, bridge->initialize_id, "initialize", &bridge->pending);
    sb_conn_hold(bridge->client, false);
}

static void mind_client(struct sb_bridge *bridge)
{
    if (bridge->state == JOINED && !is_too_much(bridge))
        sb_conn_hold(bridge->client, false);
}

static void on_service_line(void *ctx, const char *line, size_t len)
{
    struct sb_bridge *bridge = ctx;
    const char *item = NULL;
    size_t at = 0, item_len = 0;

    bridge->heard = true;
    if (bridge->state == GREETING) { /* what the client has long been told */
        if (bridge->initialized)
            say(bridge, NULL, "notifications/initialized", NULL);
        pass(bridge);
        return;
    }
    if (line[0] != '[')
        note_answer(bridge, line, len);
    while (line[0] == '[' && sb_json_raw_next(line, len, &at, &item, &item_len) == 0)
        note_answer(bridge, item, item_len);
    sb_conn_send(bridge->client, line, len);
    mind_client(bridge);
}

static void on_service_too_long(void *ctx)
{
    (void)ctx; /* its lines have at most SB_CONN_LINE_OUT bytes */
}

static void on_service_drained(void *ctx)
{
    mind_client(ctx);
}

/* ---- the service goes and comes ------------------------------------------------------- */

static void let_go(void *ctx)
{
    struct sb_bridge *bridge = ctx;
    void (*on_closed)(void *ctx) = bridge->on_closed;
    void *owner = bridge->ctx;

    if (--bridge->open > 0)
        return;
    while (bridge->calls)
        closed(bridge, bridge->calls->id, strlen(bridge->calls->id));
    sb_buf_done(&bridge->initialize);
    sb_buf_done(&bridge->pending);
    sb_free(bridge);
    on_closed(owner);
}

static void look_again(struct sb_bridge *bridge)
{
    if (bridge->state == LOST && uv_now(bridge->loop) - bridge->lost_ms >= SB_BRIDGE_PATIENCE_MS) {
        bridge->state = GONE;
        refuse_open(bridge, gone, true);
        sb_conn_hold(bridge->client, false); /* what waited is refused, too */
    }
    uv_timer_start(&bridge->timer, look, bridge->state == LOST ? SB_BRIDGE_RETRY_MS : SB_BRIDGE_SLOW_MS, 0);
}

static void on_service_end(void *ctx)
{
    struct sb_bridge *bridge = ctx;
    uint64_t now = uv_now(bridge->loop);

    sb_conn_close(bridge->service);
    bridge->service = NULL;
    if (bridge->state == ENDING) {
        sb_bridge_close(bridge);
        return;
    }
    if (bridge->heard || now - bridge->join_ms >= SB_BRIDGE_SLOW_MS) /* we were not turned away */
        bridge->lost_ms = now;
    bridge->state = LOST;
    sb_conn_hold(bridge->client, true);
    refuse_open(bridge, restarted, false);
    look_again(bridge);
}

static void join(struct sb_bridge *bridge, uv_pipe_t *stream)
{
    struct sb_conn_events events = {.ctx = bridge,
                                    .on_line = on_service_line,
                                    .on_too_long = on_service_too_long,
                                    .on_end = on_service_end,
                                    .on_closed = let_go,
                                    .on_drained = on_service_drained};

    bridge->service = sb_conn_adopt(stream, &events);
    bridge->open++;
    bridge->heard = false;
    bridge->join_ms = uv_now(bridge->loop);
}

static void greet(struct sb_bridge *bridge)
{
    sb_conn_hold(bridge->client, true);
    bridge->state = GREETING;
    if (bridge->initialize.len > 0)
        say(bridge, GREETING_ID, "initialize", &bridge->initialize);
    else
        pass(bridge);
}

static void look(uv_timer_t *timer)
{
    struct sb_bridge *bridge = timer->data;
    struct sb_endpoint_found found;
    struct sb_err why;

    if (sb_endpoint_connect(bridge->loop, &found, &why) == 0) {
        join(bridge, found.stream);
        greet(bridge);
        return;
    }
    look_again(bridge);
}

/* ---- from the first to the last ------------------------------------------------------- */

static void on_timer_closed(uv_handle_t *handle)
{
    let_go(handle->data);
}

static void nobody(void *ctx)
{
    (void)ctx;
}

int sb_bridge_open(uv_pipe_t *service, int fd_in, int fd_out, void (*on_closed)(void *ctx), void *ctx,
                   struct sb_bridge **out, struct sb_err *err)
{
    struct sb_bridge *bridge = sb_alloc(sizeof *bridge);
    struct sb_conn_events events = {.ctx = bridge,
                                    .on_line = on_client_line,
                                    .on_too_long = on_client_too_long,
                                    .on_end = on_client_end,
                                    .on_closed = let_go};

    bridge->loop = service->loop;
    bridge->on_closed = on_closed;
    bridge->ctx = ctx;
    sb_buf_init(&bridge->initialize, SB_LINE_MAX);
    sb_buf_init(&bridge->pending, SB_LINE_MAX);
    uv_timer_init(bridge->loop, &bridge->timer);
    bridge->timer.data = bridge;
    bridge->open = 2;
    join(bridge, service);
    bridge->lost_ms = bridge->join_ms;
    if (sb_conn_open(bridge->loop, fd_in, fd_out, &events, &bridge->client, err) < 0) {
        bridge->open--; /* there is no client */
        bridge->on_closed = nobody;
        sb_bridge_close(bridge);
        return -1;
    }
    *out = bridge;
    return 0;
}

void sb_bridge_close(struct sb_bridge *bridge)
{
    if (bridge->state == CLOSING)
        return;
    bridge->state = CLOSING;
    if (bridge->service)
        sb_conn_close(bridge->service);
    if (bridge->client)
        sb_conn_close(bridge->client);
    uv_close((uv_handle_t *)&bridge->timer, on_timer_closed);
}
