/* SPDX-License-Identifier: MIT
 * States: GREETING (connected; the service has not yet answered, to the client's initialize said
 * again, or to a ping), JOINED (lines pass), LOST (nobody there, for less than the patience), GONE (for
 * longer), ENDING (the client has ended its side; the service is told so, and its last
 * answers pass), CLOSING. The client is held in GREETING and LOST, and while the service takes
 * nothing or has too much of it; both are held while the client takes nothing. */
#include "server/bridge.h"

#include <string.h>

#include "base/alloc.h"
#include "base/buf.h"
#include "base/json.h"
#include "platform/endpoint.h"
#include "server/conn.h"
#include "server/line.h"
#include "server/rpc.h"

/* Of what GREETING asks: nothing else is under way then. */
#define GREETING_ID "\"llm-sandbox bridge\""

static const char restarted[] =
    "The llm-sandbox service was restarted while this was under way, and what it ran is "
    "gone. The call can be repeated now.";
static const char gone[] =
    "The llm-sandbox service does not run any more, or takes no more clients of this user. Its "
    "administrator can start it again; or restart this MCP server, which works without one that does "
    "not run. Do not retry until then.";

enum state { GREETING, JOINED, LOST, GONE, ENDING, CLOSING };

struct open_call { /* a request of the client that the service has not answered */
    struct open_call *next;
    bool is_tool;
    char id[SB_RPC_ID_MAX + 1];
};

struct sb_bridge {
    uv_loop_t *loop;
    enum state state;
    struct sb_bridge_want want;
    struct sb_conn *client;  /* NULL in the first GREETING */
    struct sb_conn *service; /* NULL in LOST and GONE */
    unsigned open;           /* conns and the timer that are not yet closed */
    struct open_call *calls;
    unsigned call_count;
    struct sb_buf initialize; /* the params of the client's, raw; empty: it came not yet, or has no answer */
    struct sb_buf pending;    /* those of one that is open */
    char initialize_id[SB_RPC_ID_MAX + 1];
    bool initialized;  /* and the notification that follows it */
    struct sb_err why; /* for on_closed */
    uv_timer_t timer;  /* GREETING: the last moment of the service; LOST, GONE: the next look; ENDING: ours */
    uint64_t lost_ms;  /* uv_now: since when there is no service for us */
};

static void look(uv_timer_t *timer);
static void let_go(void *ctx);

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

/* The service has more of the client than it can take at once, or the client does not read. */
static bool is_too_much(const struct sb_bridge *bridge)
{
    return bridge->call_count >= SB_BRIDGE_CALLS_MAX || sb_conn_is_full(bridge->service) ||
           sb_conn_is_full(bridge->client);
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

static void mind_client(struct sb_bridge *bridge)
{
    if (bridge->state == JOINED && !is_too_much(bridge))
        sb_conn_hold(bridge->client, false);
}

static void on_client_drained(void *ctx)
{
    struct sb_bridge *bridge = ctx;

    if (bridge->service)
        sb_conn_hold(bridge->service, false);
    mind_client(bridge);
}

static int open_client(struct sb_bridge *bridge)
{
    struct sb_conn_events events = {.ctx = bridge,
                                    .on_line = on_client_line,
                                    .on_too_long = on_client_too_long,
                                    .on_end = on_client_end,
                                    .on_closed = let_go,
                                    .on_drained = on_client_drained};

    if (sb_conn_open(bridge->loop, bridge->want.fd_in, bridge->want.fd_out, &events, &bridge->client,
                     &bridge->why) < 0) {
        sb_bridge_close(bridge);
        return -1;
    }
    bridge->open++;
    return 0;
}

/* The service has answered: the client's lines pass. What the answer says, the client has long
 * been told. */
static void greeted(struct sb_bridge *bridge)
{
    uv_timer_stop(&bridge->timer);
    if (!bridge->client && open_client(bridge) < 0)
        return;
    bridge->state = JOINED;
    if (bridge->initialized)
        say(bridge, NULL, "notifications/initialized", NULL);
    if (bridge->pending.len > 0)
        say(bridge, bridge->initialize_id, "initialize", &bridge->pending);
    mind_client(bridge);
}

static void on_service_line(void *ctx, const char *line, size_t len)
{
    struct sb_bridge *bridge = ctx;
    const char *item = NULL;
    size_t at = 0, item_len = 0;

    if (bridge->state == GREETING) {
        greeted(bridge);
        return;
    }
    if (line[0] != '[')
        note_answer(bridge, line, len);
    while (line[0] == '[' && sb_json_raw_next(line, len, &at, &item, &item_len) == 0)
        note_answer(bridge, item, item_len);
    sb_conn_send(bridge->client, line, len);
    if (sb_conn_is_full(bridge->client)) {
        sb_conn_hold(bridge->service, true);
        sb_conn_hold(bridge->client, true);
    } else {
        mind_client(bridge);
    }
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

static void lose(struct sb_bridge *bridge);

static void on_service_end(void *ctx)
{
    lose(ctx);
}

static void on_greeting_late(uv_timer_t *timer)
{
    lose(timer->data);
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

/* The service is gone, or hangs. */
static void lose(struct sb_bridge *bridge)
{
    sb_conn_close(bridge->service);
    bridge->service = NULL;
    if (bridge->state == ENDING || !bridge->client) {
        if (!bridge->client)
            sb_fail(&bridge->why, SB_BUSY, "it takes no more clients of this user now, or hangs");
        sb_bridge_close(bridge);
        return;
    }
    if (bridge->state == JOINED)
        bridge->lost_ms = uv_now(bridge->loop);
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
    bridge->state = GREETING;
    uv_timer_start(&bridge->timer, on_greeting_late, SB_BRIDGE_GREETING_MS, 0);
    if (bridge->initialize.len > 0)
        say(bridge, GREETING_ID, "initialize", &bridge->initialize);
    else
        say(bridge, GREETING_ID, "ping", NULL);
}

static void look(uv_timer_t *timer)
{
    struct sb_bridge *bridge = timer->data;
    struct sb_endpoint_found found;
    struct sb_err why;

    if (sb_endpoint_connect(bridge->loop, &found, &why) < 0) {
        look_again(bridge);
    } else if (found.ours != bridge->want.ours) { /* whoever we joined, it was not this one */
        sb_conn_turn_away(found.stream);
        look_again(bridge);
    } else {
        sb_conn_hold(bridge->client, true);
        join(bridge, found.stream);
    }
}

/* ---- from the first to the last ------------------------------------------------------- */

static void let_go(void *ctx)
{
    struct sb_bridge *bridge = ctx;
    struct sb_bridge_want want = bridge->want;
    struct sb_err why = bridge->why;

    if (--bridge->open > 0)
        return;
    while (bridge->calls)
        closed(bridge, bridge->calls->id, strlen(bridge->calls->id));
    sb_buf_done(&bridge->initialize);
    sb_buf_done(&bridge->pending);
    sb_free(bridge);
    want.on_closed(want.ctx, why.code == SB_OK ? NULL : &why);
}

static void on_timer_closed(uv_handle_t *handle)
{
    let_go(handle->data);
}

struct sb_bridge *sb_bridge_open(const struct sb_bridge_want *want)
{
    struct sb_bridge *bridge = sb_alloc(sizeof *bridge);

    bridge->loop = want->service->loop;
    bridge->want = *want;
    sb_buf_init(&bridge->initialize, SB_LINE_MAX);
    sb_buf_init(&bridge->pending, SB_LINE_MAX);
    uv_timer_init(bridge->loop, &bridge->timer);
    bridge->timer.data = bridge;
    bridge->open = 1;
    join(bridge, want->service);
    return bridge;
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
