/* SPDX-License-Identifier: MIT
 * hostile KIND: a guest that means harm, on stdin and stdout like the real one. It reads the
 * host's frames up to the first EXEC where it needs an open run (the test's has id 1), says
 * what its kind says, then goes, stays, or goes on saying it for ever. */
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/alloc.h"
#include "wire/wire.h"

#define RUN_ID  1
#define OUT_MAX (4u * 1024 * 1024)

enum then { THEN_STAY, THEN_GO, THEN_AGAIN };

static void put_hello(struct sb_buf *out, uint32_t version, const char *build)
{
    struct sb_wire_hello hello = {.version = version, .os = SB_WIRE_LINUX, .arch = SB_WIRE_X86_64, .pid = 1};

    memcpy(hello.build, build, SB_WIRE_BUILD_LEN);
    sb_wire_put_hello(out, &hello);
}

static void say_hello(struct sb_buf *out)
{
    put_hello(out, SB_WIRE_VERSION, sb_wire_build_id());
}

static void say_hello_twice(struct sb_buf *out)
{
    say_hello(out);
    say_hello(out);
}

static void say_other_version(struct sb_buf *out)
{
    put_hello(out, SB_WIRE_VERSION + 1, sb_wire_build_id());
}

static void say_other_build(struct sb_buf *out)
{
    char build[SB_WIRE_BUILD_LEN + 1];

    memset(build, 'a', SB_WIRE_BUILD_LEN);
    put_hello(out, SB_WIRE_VERSION, build);
}

static void say_bad_hello(struct sb_buf *out)
{
    size_t at = out->len + SB_WIRE_HEADER + 4 + 4; /* into the build id */

    say_hello(out);
    out->data[at] = '\x01';
}

static void say_nothing(struct sb_buf *out)
{
    (void)out;
}

static void say_garbage(struct sb_buf *out)
{
    sb_buf_adds(out, "Traceback (most recent call last):\n  File \"guest\", line 1\n");
}

static void say_header(struct sb_buf *out, uint32_t len, unsigned type, unsigned channel, unsigned reserved,
                       uint32_t id)
{
    const unsigned char header[SB_WIRE_HEADER] = {(unsigned char)len,         (unsigned char)(len >> 8),
                                                  (unsigned char)(len >> 16), (unsigned char)(len >> 24),
                                                  (unsigned char)type,        (unsigned char)channel,
                                                  (unsigned char)reserved,    0,
                                                  (unsigned char)id,          (unsigned char)(id >> 8),
                                                  (unsigned char)(id >> 16),  (unsigned char)(id >> 24)};

    sb_buf_add(out, header, sizeof(header));
}

static void say_huge_data(struct sb_buf *out)
{
    say_header(out, 0xffffffff, SB_MSG_DATA, SB_CHAN_OUT, 0, RUN_ID);
}

static void say_huge_exit(struct sb_buf *out)
{
    say_header(out, SB_WIRE_PAYLOAD_MAX + 1, SB_MSG_EXIT, SB_CHAN_IN, 0, RUN_ID);
}

static void say_unknown_type(struct sb_buf *out)
{
    say_header(out, 0, 200, SB_CHAN_IN, 0, RUN_ID);
}

static void say_unknown_channel(struct sb_buf *out)
{
    say_header(out, 0, SB_MSG_END, 3, 0, RUN_ID);
}

static void say_reserved(struct sb_buf *out)
{
    say_header(out, 0, SB_MSG_END, SB_CHAN_OUT, 1, RUN_ID);
}

static void say_host_message(struct sb_buf *out)
{
    sb_wire_put_path(out, SB_MSG_REMOVE, RUN_ID, "x");
}

static void say_data_of(struct sb_buf *out, enum sb_channel channel, uint32_t id, size_t len)
{
    static const char bytes[SB_WIRE_DATA_MAX];

    sb_wire_put_frame(out, SB_MSG_DATA, channel, id, bytes, len);
}

static void say_data_of_nobody(struct sb_buf *out)
{
    say_data_of(out, SB_CHAN_OUT, 77, 10);
}

static void say_data_to_host_input(struct sb_buf *out)
{
    say_data_of(out, SB_CHAN_IN, RUN_ID, 10);
}

static void say_beyond_credit(struct sb_buf *out)
{
    for (size_t sent = 0; sent <= SB_WIRE_WINDOW; sent += SB_WIRE_DATA_MAX)
        say_data_of(out, SB_CHAN_ERR, RUN_ID, SB_WIRE_DATA_MAX);
}

static void say_end(struct sb_buf *out, enum sb_channel channel)
{
    sb_wire_put_frame(out, SB_MSG_END, channel, RUN_ID, NULL, 0);
}

/* The test asked for 10 bytes of a file by its second operation. */
static void say_more_than_asked(struct sb_buf *out)
{
    say_data_of(out, SB_CHAN_OUT, RUN_ID + 1, 10);
    say_data_of(out, SB_CHAN_OUT, RUN_ID + 1, 1);
}

static void say_end_twice(struct sb_buf *out)
{
    say_end(out, SB_CHAN_OUT);
    say_end(out, SB_CHAN_OUT);
}

static void say_data_after_end(struct sb_buf *out)
{
    say_end(out, SB_CHAN_OUT);
    say_data_of(out, SB_CHAN_OUT, RUN_ID, 10);
}

static void say_exit(struct sb_buf *out)
{
    sb_wire_put_exit(out, RUN_ID, &(struct sb_wire_exit){.kind = SB_EXITED});
}

static void say_exit_twice(struct sb_buf *out)
{
    say_end(out, SB_CHAN_OUT);
    say_end(out, SB_CHAN_ERR);
    say_exit(out);
    say_exit(out);
}

static void say_exit_with_a_bad_kind(struct sb_buf *out)
{
    say_end(out, SB_CHAN_OUT);
    say_end(out, SB_CHAN_ERR);
    sb_wire_put_exit(out, RUN_ID, &(struct sb_wire_exit){.kind = 99});
}

/* Its last field counts files: many claimed, none there. */
static void say_exit_with_a_false_count(struct sb_buf *out)
{
    say_end(out, SB_CHAN_OUT);
    say_end(out, SB_CHAN_ERR);
    say_exit(out);
    memcpy(out->data + out->len - 4, "\xff\0\0\0", 4);
}

static void say_done_of_a_run(struct sb_buf *out)
{
    sb_wire_put_frame(out, SB_MSG_DONE, SB_CHAN_IN, RUN_ID, NULL, 0);
}

static void say_credit(struct sb_buf *out, enum sb_channel channel, uint32_t bytes)
{
    sb_wire_put_credit(out, channel, RUN_ID, bytes);
}

static void say_too_much_credit(struct sb_buf *out)
{
    say_credit(out, SB_CHAN_IN, 1);
}

static void say_credit_of_its_own(struct sb_buf *out)
{
    say_credit(out, SB_CHAN_OUT, 1);
}

static void say_half_a_frame(struct sb_buf *out)
{
    say_data_of(out, SB_CHAN_OUT, RUN_ID, 1000);
    out->len -= 500;
}

static void say_giving_up(struct sb_buf *out)
{
    struct sb_err err;

    sb_fail(&err, SB_BUG, "no more");
    sb_wire_put_error(out, 0, &err);
}

static void say_error_that_is_none(struct sb_buf *out)
{
    sb_wire_put_error(out, RUN_ID, &(struct sb_err){.code = SB_OK, .text = "all is well"});
}

/* Fine, but for a terminal that shows its text. */
static void say_error_with_escapes(struct sb_buf *out)
{
    sb_wire_put_error(out, RUN_ID,
                      &(struct sb_err){.code = SB_HOST, .text = "no \x1b[2J\r\nroot@host:~# \x7f"});
}

/* Nothing in it breaks a rule, and it never ends. */
static void say_empty_data(struct sb_buf *out)
{
    for (int i = 0; i < 4096; i++)
        say_data_of(out, SB_CHAN_OUT, RUN_ID, 0);
}

/* Within its credit while the host answers each byte with a frame, which it never reads. */
static void say_single_bytes(struct sb_buf *out)
{
    for (int i = 0; i < 4096; i++)
        say_data_of(out, SB_CHAN_OUT, RUN_ID, 1);
}

static const struct kind {
    const char *name;
    bool run; /* HELLO, and waits for the EXEC */
    void (*say)(struct sb_buf *out);
    enum then then;
} kinds[] = {
    {"silence", false, say_nothing, THEN_STAY},
    {"silence-after-hello", true, say_nothing, THEN_STAY},
    {"gone", false, say_nothing, THEN_GO},
    {"gone-after-hello", true, say_nothing, THEN_GO},
    {"garbage", false, say_garbage, THEN_STAY},
    {"garbage-flood", false, say_garbage, THEN_AGAIN},
    {"hello-twice", false, say_hello_twice, THEN_STAY},
    {"hello-flood", false, say_hello, THEN_AGAIN},
    {"other-version", false, say_other_version, THEN_STAY},
    {"other-build", false, say_other_build, THEN_STAY},
    {"bad-hello", false, say_bad_hello, THEN_STAY},
    {"no-hello", false, say_exit, THEN_STAY},
    {"huge-data", true, say_huge_data, THEN_STAY},
    {"huge-exit", true, say_huge_exit, THEN_STAY},
    {"unknown-type", true, say_unknown_type, THEN_STAY},
    {"unknown-channel", true, say_unknown_channel, THEN_STAY},
    {"reserved", true, say_reserved, THEN_STAY},
    {"host-message", true, say_host_message, THEN_STAY},
    {"data-of-nobody", true, say_data_of_nobody, THEN_STAY},
    {"data-to-host-input", true, say_data_to_host_input, THEN_STAY},
    {"beyond-credit", true, say_beyond_credit, THEN_AGAIN},
    {"more-than-asked", true, say_more_than_asked, THEN_STAY},
    {"end-twice", true, say_end_twice, THEN_STAY},
    {"data-after-end", true, say_data_after_end, THEN_STAY},
    {"exit-before-end", true, say_exit, THEN_STAY},
    {"exit-twice", true, say_exit_twice, THEN_STAY},
    {"exit-bad-kind", true, say_exit_with_a_bad_kind, THEN_STAY},
    {"exit-false-count", true, say_exit_with_a_false_count, THEN_STAY},
    {"done-of-a-run", true, say_done_of_a_run, THEN_STAY},
    {"too-much-credit", true, say_too_much_credit, THEN_STAY},
    {"credit-of-its-own", true, say_credit_of_its_own, THEN_STAY},
    {"half-a-frame", true, say_half_a_frame, THEN_GO},
    {"gives-up", true, say_giving_up, THEN_STAY},
    {"error-that-is-none", true, say_error_that_is_none, THEN_STAY},
    {"error-with-escapes", true, say_error_with_escapes, THEN_STAY},
    {"flood", true, say_empty_data, THEN_AGAIN},
    {"deaf-flood", true, say_single_bytes, THEN_AGAIN},
};

/* Whoever goes away ends us: a closed stdout by SIGPIPE, a closed stdin here. */
static void send_all(const struct sb_buf *out)
{
    for (size_t at = 0; at < out->len;) {
        ssize_t n = write(1, out->data + at, out->len - at);
        if (n <= 0)
            _exit(0);
        at += (size_t)n;
    }
}

static void read_some(struct sb_buf *in)
{
    char chunk[4096];
    ssize_t n = read(0, chunk, sizeof(chunk));

    if (n <= 0)
        _exit(0);
    sb_buf_add(in, chunk, (size_t)n);
}

static void wait_for_exec(void)
{
    struct sb_frame frame = {.type = 0};
    struct sb_buf in;

    sb_buf_init(&in, OUT_MAX);
    while (frame.type != SB_MSG_EXEC) {
        long n = sb_wire_take(in.data, in.len, &frame, NULL);
        if (n < 0)
            _exit(1);
        if (n == 0)
            read_some(&in);
        sb_buf_drop(&in, (size_t)n);
    }
    sb_buf_done(&in);
}

static void be(const struct kind *kind)
{
    struct sb_buf out, in;

    sb_buf_init(&out, OUT_MAX);
    sb_buf_init(&in, OUT_MAX);
    if (kind->run) {
        say_hello(&out);
        send_all(&out);
        wait_for_exec();
        sb_buf_clear(&out);
    }
    kind->say(&out);
    do
        send_all(&out);
    while (kind->then == THEN_AGAIN);
    while (kind->then == THEN_STAY) {
        read_some(&in);
        sb_buf_clear(&in);
    }
    sb_buf_done(&out);
    sb_buf_done(&in);
}

int main(int argc, char **argv)
{
    for (size_t i = 0; argc == 2 && i < SB_COUNT(kinds); i++) {
        if (strcmp(kinds[i].name, argv[1]) == 0) {
            be(&kinds[i]);
            return 0;
        }
    }
    fprintf(stderr, "hostile: no such kind\n");
    return 2;
}
