/* SPDX-License-Identifier: MIT */
#include "fake_host.h"

#include <string.h>

#include "base/alloc.h"

struct fake_host *host_new(void)
{
    struct fake_host *host = sb_alloc(sizeof *host);
    fake_init(&host->os);
    host->guest = sb_guest_new(&host->os);
    expect_frame(host, SB_MSG_HELLO, SB_CHAN_IN, 0);
    return host;
}

void host_free(struct fake_host *host)
{
    sb_guest_free(host->guest);
    assert_int_equal(host->os.open_files, 0);
    fake_done(&host->os);
    sb_free(host);
}

int host_setup(void **state)
{
    struct fake_host *host = host_new();
    send_start(host, SB_WIRE_VERSION, sb_wire_build_id(), SB_START_OWN_PIDS);
    settle(host);
    *state = host;
    return 0;
}

int host_teardown(void **state)
{
    struct fake_host *host = *state;
    expect_nothing(host);
    assert_false(host->os.wrote_twice);
    host_free(host);
    return 0;
}

void settle(struct fake_host *host)
{
    host->os.idle = host->os.ended;
    if (setjmp(host->os.on_end) == 0)
        while (!host->os.idle)
            sb_guest_turn(host->guest);
}

void pass_ms(struct fake_host *host, int64_t ms)
{
    host->os.until_us = host->os.now_us + ms * 1000;
    settle(host);
}

/* ---- requests ---- */

void send_start(struct fake_host *host, uint32_t version, const char *build, uint32_t flags)
{
    struct sb_wire_start start = {.version = version, .flags = flags};
    memcpy(start.build, build, sizeof start.build);
    sb_wire_put_start(&host->os.from_host, &start);
}

void send_frame(struct fake_host *host, enum sb_msg type, enum sb_channel channel, uint32_t id)
{
    sb_wire_put_frame(&host->os.from_host, type, channel, id, NULL, 0);
}

void send_data(struct fake_host *host, uint32_t id, const char *bytes, size_t len)
{
    while (len > 0) {
        size_t n = len < SB_WIRE_DATA_MAX ? len : SB_WIRE_DATA_MAX;
        sb_wire_put_frame(&host->os.from_host, SB_MSG_DATA, SB_CHAN_IN, id, bytes, n);
        bytes += n;
        len -= n;
    }
}

void send_credit(struct fake_host *host, enum sb_channel channel, uint32_t id, uint32_t bytes)
{
    sb_wire_put_credit(&host->os.from_host, channel, id, bytes);
}

void send_put(struct fake_host *host, uint32_t id, const char *path)
{
    struct sb_wire_put put = {.flags = SB_PUT_EXECUTABLE};
    strcpy(put.path, path);
    sb_wire_put_put(&host->os.from_host, id, &put);
}

void send_file(struct fake_host *host, uint32_t id, const char *path, const char *text)
{
    send_put(host, id, path);
    send_data(host, id, text, strlen(text));
    send_frame(host, SB_MSG_END, SB_CHAN_IN, id);
}

void send_get(struct fake_host *host, uint32_t id, const char *path, uint64_t offset, uint64_t most)
{
    struct sb_wire_get get = {.offset = offset, .most = most};
    strcpy(get.path, path);
    sb_wire_put_get(&host->os.from_host, id, &get);
}

void send_path(struct fake_host *host, enum sb_msg type, uint32_t id, const char *path)
{
    sb_wire_put_path(&host->os.from_host, type, id, path);
}

void send_exec(struct fake_host *host, uint32_t id, uint32_t flags, const struct sb_wire_limits *limits)
{
    struct sb_wire_exec exec = {.flags = flags};
    if (limits)
        exec.limits = *limits;
    sb_argv_push(&exec.argv, "/bin/prog");
    sb_wire_put_exec(&host->os.from_host, id, &exec);
    sb_wire_exec_done(&exec);
}

struct sb_gos_run *started(struct fake_host *host, uint32_t id, uint32_t flags,
                           const struct sb_wire_limits *limits)
{
    size_t before = host->os.run_count;
    send_exec(host, id, flags, limits);
    settle(host);
    assert_int_equal(host->os.run_count, before + 1);
    return host->os.runs[before];
}

/* ---- answers ---- */

static bool peek(struct fake_host *host, struct sb_frame *frame, size_t *used)
{
    struct sb_err err;
    const struct sb_buf *sent = &host->os.to_host;
    long n = sb_wire_take(sent->data + host->at, sent->len - host->at, frame, &err);
    assert_true(n >= 0);
    *used = (size_t)n;
    return n > 0;
}

static struct sb_frame next(struct fake_host *host)
{
    struct sb_frame frame = {0};
    size_t used;
    assert_true(peek(host, &frame, &used));
    host->at += used;
    return frame;
}

static struct sb_frame next_is(struct fake_host *host, enum sb_msg type, enum sb_channel channel, uint32_t id)
{
    struct sb_frame frame = next(host);
    assert_int_equal(frame.type, type);
    assert_int_equal(frame.id, id);
    assert_int_equal(frame.channel, channel);
    return frame;
}

void expect_nothing(struct fake_host *host)
{
    assert_int_equal(host->os.to_host.len - host->at, 0);
}

void expect_frame(struct fake_host *host, enum sb_msg type, enum sb_channel channel, uint32_t id)
{
    next_is(host, type, channel, id);
}

void expect_data(struct fake_host *host, enum sb_channel channel, uint32_t id, const char *text)
{
    struct sb_frame frame = next_is(host, SB_MSG_DATA, channel, id);
    assert_int_equal(frame.len, strlen(text));
    assert_memory_equal(frame.payload, text, frame.len);
}

size_t expect_bytes(struct fake_host *host, enum sb_channel channel, uint32_t id)
{
    struct sb_frame frame = {0};
    size_t used, total = 0;
    while (peek(host, &frame, &used) && frame.type == SB_MSG_DATA && frame.id == id &&
           frame.channel == channel) {
        host->at += used;
        total += frame.len;
    }
    return total;
}

uint32_t expect_credit(struct fake_host *host, uint32_t id)
{
    struct sb_frame frame = next_is(host, SB_MSG_CREDIT, SB_CHAN_IN, id);
    uint32_t bytes = 0;
    assert_int_equal(sb_wire_get_credit(&frame, &bytes, NULL), 0);
    return bytes;
}

void expect_error(struct fake_host *host, uint32_t id, enum sb_code code, const char *part_of_text)
{
    struct sb_frame frame = next_is(host, SB_MSG_ERROR, SB_CHAN_IN, id);
    struct sb_wire_error error = {0};
    assert_int_equal(sb_wire_get_error(&frame, &error, NULL), 0);
    assert_int_equal(error.code, code);
    assert_non_null(strstr(error.text, part_of_text));
}

void expect_exit(struct fake_host *host, uint32_t id, struct sb_wire_exit *out)
{
    expect_frame(host, SB_MSG_END, SB_CHAN_OUT, id);
    expect_frame(host, SB_MSG_END, SB_CHAN_ERR, id);
    struct sb_frame frame = next_is(host, SB_MSG_EXIT, SB_CHAN_IN, id);
    assert_int_equal(sb_wire_get_exit(&frame, out, NULL), 0);
}

void expect_exit_by(struct fake_host *host, uint32_t id, enum sb_exit_kind kind, uint32_t code,
                    enum sb_limit limit)
{
    struct sb_wire_exit exit = {0};
    expect_exit(host, id, &exit);
    assert_int_equal(exit.kind, kind);
    assert_int_equal(exit.code, code);
    assert_int_equal(exit.limit, limit);
    assert_int_equal(exit.file_count, 0);
    sb_wire_exit_done(&exit);
}

void expect_protocol_error(struct fake_host *host, const char *part_of_text)
{
    struct sb_frame frame = next_is(host, SB_MSG_ERROR, SB_CHAN_IN, 0);
    struct sb_wire_error error = {0};
    assert_int_equal(sb_wire_get_error(&frame, &error, NULL), 0);
    assert_non_null(strstr(error.text, part_of_text));
    assert_true(host->os.ended);
    assert_int_equal(host->os.end_code, SB_GUEST_PROTOCOL);
}
