/* SPDX-License-Identifier: MIT
 * Any bytes from the host into the guest's dispatcher, over the fake system. The input is a
 * script: a byte says what happens next, and the world goes on in between. Whatever comes,
 * the guest ends or waits, keeps its bounds, and writes frames that can be read. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "guest/dispatch.h"
#include "guest/guest.h"
#include "unit/guest/fake_gos.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void require(bool holds)
{
    if (!holds)
        abort();
}

struct script {
    const uint8_t *at;
    size_t left;
    struct sb_gos *gos;
    struct sb_guest *guest;
    int turns; /* of one settle */
};

static uint8_t next_byte(struct script *s)
{
    if (s->left == 0)
        return 0;
    s->left--;
    return *s->at++;
}

static struct sb_gos_run *a_run(struct script *s)
{
    struct sb_gos_run *run = s->gos->run_count > 0 ? s->gos->runs[next_byte(s) % s->gos->run_count] : NULL;
    return run && !run->is_freed ? run : NULL;
}

/* ---- what the host does ---- */

static void host_sends_bytes(struct script *s)
{
    size_t n = next_byte(s);
    n = n < s->left ? n : s->left;
    sb_buf_add(&s->gos->from_host, s->at, n);
    s->at += n;
    s->left -= n;
}

static void host_sends_start(struct script *s)
{
    struct sb_wire_start start = {.version = SB_WIRE_VERSION, .flags = next_byte(s) & 1};
    memcpy(start.build, sb_wire_build_id(), sizeof start.build);
    sb_wire_put_start(&s->gos->from_host, &start);
}

/* Frames with few ids and small numbers, so that they meet. */
static void host_sends_frame(struct script *s)
{
    static const uint8_t types[] = {SB_MSG_KILL, SB_MSG_INTERRUPT, SB_MSG_CANCEL, SB_MSG_END};
    uint8_t type = types[next_byte(s) % SB_COUNT(types)];
    sb_wire_put_frame(&s->gos->from_host, (enum sb_msg)type, SB_CHAN_IN, next_byte(s), NULL, 0);
}

static void host_sends_data(struct script *s)
{
    static const char bytes[SB_WIRE_DATA_MAX];
    uint32_t id = next_byte(s);
    sb_wire_put_frame(&s->gos->from_host, SB_MSG_DATA, SB_CHAN_IN, id, bytes, (size_t)next_byte(s) << 8);
}

static void host_sends_credit(struct script *s)
{
    uint8_t channel = next_byte(s) % SB_CHAN_COUNT;
    uint32_t id = next_byte(s);
    sb_wire_put_credit(&s->gos->from_host, (enum sb_channel)channel, id, 1 + ((uint32_t)next_byte(s) << 8));
}

static const char *const paths[] = {"a",          "b/c", "", "..", ".tmp/x", ".tmp/.llm-sandbox/r",
                                    "/sandbox/a", "big"};

static void host_sends_file_request(struct script *s)
{
    uint8_t what = next_byte(s);
    uint32_t id = next_byte(s);
    const char *path = paths[next_byte(s) % SB_COUNT(paths)];
    struct sb_wire_put put = {.flags = what >> 7};
    struct sb_wire_get get = {.offset = what >> 4, .most = what >> 6};
    strcpy(put.path, path);
    strcpy(get.path, path);
    if (what % 4 == 0)
        sb_wire_put_put(&s->gos->from_host, id, &put);
    else if (what % 4 == 1)
        sb_wire_put_get(&s->gos->from_host, id, &get);
    else
        sb_wire_put_path(&s->gos->from_host, what % 4 == 2 ? SB_MSG_LIST : SB_MSG_REMOVE, id, path);
}

static void host_sends_exec(struct script *s)
{
    struct sb_wire_exec exec = {.flags = next_byte(s) % 8};
    exec.limits.wall_ms = (uint64_t)next_byte(s) * 10;
    exec.limits.cpu_ms = next_byte(s);
    exec.limits.output_bytes = (uint64_t)next_byte(s) << 8;
    sb_argv_push(&exec.argv, "/bin/prog");
    sb_wire_put_exec(&s->gos->from_host, next_byte(s), &exec);
    sb_wire_exec_done(&exec);
}

static void host_reads(struct script *s)
{
    s->gos->pipe_room = (size_t)next_byte(s) << 12;
}

static void host_ends(struct script *s)
{
    s->gos->host_ended = next_byte(s) == 0xff;
}

/* ---- what the box does ---- */

static void program_prints(struct script *s)
{
    static const char bytes[SB_WIRE_DATA_MAX];
    struct sb_gos_run *run = a_run(s);
    uint8_t what = next_byte(s);
    if (run && !run->dead)
        fake_print(run, what & 1 ? SB_CHAN_ERR : SB_CHAN_OUT, bytes, (size_t)what << 8);
}

static void program_ends(struct script *s)
{
    struct sb_gos_run *run = a_run(s);
    uint8_t code = next_byte(s);
    if (run && !run->dead)
        fake_exit(run, code, code & 1);
}

static void program_reads(struct script *s)
{
    struct sb_gos_run *run = a_run(s);
    uint8_t room = next_byte(s);
    if (!run)
        return;
    run->input_refused = room == 0;
    run->input_room = (size_t)room << 8;
    run->usage.cpu_us += (uint64_t)room * 1000;
}

static void program_writes_file(struct script *s)
{
    fake_write(s->gos, next_byte(s) & 1 ? "a" : "d/new", "text");
}

static void disk_fails(struct script *s)
{
    uint8_t what = next_byte(s);
    s->gos->fail_start = what & 1;
    s->gos->fail_write = what & 2;
    s->gos->fail_read = what & 4;
    s->gos->fail_close = what & 8;
    s->gos->fail_walk = what & 16;
}

static void time_passes(struct script *s)
{
    s->gos->until_us = s->gos->now_us + (int64_t)next_byte(s) * 10000;
}

static void (*const acts[])(struct script *) = {
    host_sends_bytes, host_sends_start,        host_sends_frame, host_sends_data, host_sends_credit,
    host_sends_exec,  host_sends_file_request, host_reads,       host_ends,       program_prints,
    program_ends,     program_reads,           disk_fails,       time_passes,     program_writes_file,
};

static void settle(struct script *s)
{
    const struct sb_guest *guest = s->guest;
    s->turns = 0;
    s->gos->idle = false;
    if (setjmp(s->gos->on_end) != 0)
        return;
    while (!s->gos->idle) {
        sb_guest_turn(s->guest);
        require(++s->turns < 100000); /* it never spins */
        require(guest->out.len <= SB_GUEST_QUEUE_MAX && guest->op_count <= SB_WIRE_OPS_MAX);
    }
    require(!s->gos->wrote_twice);
}

static void check_answers(const struct sb_buf *sent)
{
    struct sb_frame frame;
    size_t at = 0;
    long used;
    while ((used = sb_wire_take(sent->data + at, sent->len - at, &frame, NULL)) > 0)
        at += (size_t)used;
    require(used == 0); /* the rest is a frame the host has not wholly read */
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static struct sb_gos gos;
    struct script s = {.at = data, .left = size, .gos = &gos};
    fake_init(&gos);
    sb_buf_add(&fake_write(&gos, "big", "")->data, data, size);
    s.guest = sb_guest_new(&gos);
    while (s.left > 0 && !gos.ended) {
        uint8_t act = next_byte(&s);
        acts[(act & 0x7f) % SB_COUNT(acts)](&s);
        if (act & 0x80)
            settle(&s);
    }
    gos.pipe_room = SIZE_MAX;
    if (!gos.ended)
        settle(&s);
    check_answers(&gos.to_host);
    sb_guest_free(s.guest);
    require(gos.open_files == 0);
    fake_done(&gos);
    return 0;
}
