/* SPDX-License-Identifier: MIT
 * The link against guests that mean harm: tests/wire/hostile.c, a process of its own that
 * lies beside this program. Each must end in one sentence, or be borne without growing. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/alloc.h"
#include "sandbox/link.h"

#define SOON_MS    20000
#define GROWTH_KIB (8 * 1024) /* more than any queue of a link, less than a flood makes in BEAR_MS */
#define BEAR_MS    300

struct fixture {
    uv_loop_t loop;
    uv_pipe_t stream;
    uv_timer_t timer;
    struct sb_link *link;
    pid_t guest;
    uint32_t run;
    bool late, broken, over;
    unsigned hellos, breaks, ends, exits, dones;
    uint64_t data;
    struct sb_err why, done_err;
};

static void on_hello(void *ctx, const struct sb_wire_hello *hello)
{
    (void)hello;
    ((struct fixture *)ctx)->hellos++;
}

static void on_broken(void *ctx, const struct sb_err *why)
{
    struct fixture *f = ctx;

    f->why = *why;
    f->broken = true;
    f->breaks++;
}

static void on_data(void *ctx, enum sb_channel channel, const void *bytes, size_t len)
{
    struct fixture *f = ctx;

    (void)bytes;
    f->data += len;
    sb_link_credit(f->link, f->run, channel, len);
}

static void on_hoarded(void *ctx, enum sb_channel channel, const void *bytes, size_t len)
{
    (void)channel, (void)bytes;
    ((struct fixture *)ctx)->data += len; /* and gives nothing back */
}

static void on_end(void *ctx, enum sb_channel channel)
{
    (void)channel;
    ((struct fixture *)ctx)->ends++;
}

static void on_done(void *ctx, const struct sb_err *err)
{
    struct fixture *f = ctx;

    f->dones++;
    f->over = true;
    if (err != NULL)
        f->done_err = *err;
}

static void on_exit(void *ctx, const struct sb_wire_exit *exit)
{
    struct fixture *f = ctx;

    (void)exit;
    f->exits++;
    f->over = true;
}

static void on_timer(uv_timer_t *timer)
{
    ((struct fixture *)timer->data)->late = true;
}

static pid_t start_hostile(const char *kind, int socket)
{
    char path[512];
    ssize_t n = readlink("/proc/self/exe", path, sizeof(path) - 16);
    pid_t pid;

    assert_true(n > 0);
    path[n] = '\0';
    snprintf(strrchr(path, '/') + 1, 16, "hostile");
    pid = fork();
    if (pid == 0) {
        prctl(PR_SET_PDEATHSIG, SIGKILL);
        signal(SIGPIPE, SIG_DFL);
        dup2(socket, 0);
        dup2(socket, 1);
        execl(path, "hostile", kind, (char *)NULL);
        _exit(127);
    }
    assert_true(pid > 0);
    return pid;
}

static void open_link(struct fixture *f, const char *kind, bool hoard)
{
    struct sb_link_events events = {.ctx = f, .on_hello = on_hello, .on_broken = on_broken};
    struct sb_op_events op = {.ctx = f,
                              .on_data = hoard ? on_hoarded : on_data,
                              .on_end = on_end,
                              .on_done = on_done,
                              .on_exit = on_exit};
    struct sb_wire_exec exec = {.flags = 0};
    struct sb_err err;
    int pair[2];

    memset(f, 0, sizeof(*f));
    assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair), 0);
    f->guest = start_hostile(kind, pair[1]);
    close(pair[1]);
    uv_loop_init(&f->loop);
    uv_pipe_init(&f->loop, &f->stream, 0);
    assert_int_equal(uv_pipe_open(&f->stream, pair[0]), 0);
    uv_timer_init(&f->loop, &f->timer);
    f->timer.data = f;
    assert_int_equal(
        sb_link_open((uv_stream_t *)&f->stream, (uv_stream_t *)&f->stream, &events, &f->link, &err), 0);
    sb_link_start(f->link, 0);
    sb_argv_push(&exec.argv, "/bin/true");
    f->run = sb_link_exec(f->link, &exec, &op, &err);
    assert_int_equal(f->run, 1); /* what hostile.c thinks */
    sb_wire_exec_done(&exec);
}

/* Turns the loop until it is broken, its run is over (if that is wanted), or the time is up. */
static void turn(struct fixture *f, bool until_over, unsigned ms)
{
    f->late = false;
    uv_timer_start(&f->timer, on_timer, ms, 0);
    while (!f->late && !f->broken && !(until_over && f->over))
        uv_run(&f->loop, UV_RUN_ONCE);
    uv_timer_stop(&f->timer);
}

static void close_link(struct fixture *f)
{
    int status;

    sb_link_free(f->link);
    uv_close((uv_handle_t *)&f->stream, NULL);
    uv_close((uv_handle_t *)&f->timer, NULL);
    assert_int_equal(uv_run(&f->loop, UV_RUN_DEFAULT), 0);
    assert_int_equal(uv_loop_close(&f->loop), 0);
    kill(f->guest, SIGKILL);
    waitpid(f->guest, &status, 0);
    assert_false(WIFEXITED(status) && WEXITSTATUS(status) != 0); /* it was what it should be */
}

static long resident_kib(void)
{
    char line[256];
    long kib = -1;
    FILE *file = fopen("/proc/self/status", "r");

    while (file != NULL && fgets(line, sizeof(line), file) != NULL)
        sscanf(line, "VmRSS: %ld kB", &kib);
    if (file != NULL)
        fclose(file);
    return kib;
}

/* ---- guests that break a rule --------------------------------------------------------- */

static const struct {
    const char *kind;
    enum sb_code code;
    const char *words; /* in the sentence */
} rows[] = {
    {"gone", SB_HOST, "gone"},
    {"gone-after-hello", SB_HOST, "gone"},
    {"half-a-frame", SB_HOST, "gone"},
    {"garbage", SB_DENIED, "broke the protocol"},
    {"garbage-flood", SB_DENIED, "broke the protocol"},
    {"hello-twice", SB_DENIED, "second HELLO"},
    {"hello-flood", SB_DENIED, "second HELLO"},
    {"other-version", SB_DENIED, "version"},
    {"other-build", SB_DENIED, "another build"},
    {"bad-hello", SB_DENIED, "HELLO"},
    {"no-hello", SB_DENIED, "before HELLO"},
    {"huge-data", SB_DENIED, "broke the protocol"},
    {"huge-exit", SB_DENIED, "broke the protocol"},
    {"unknown-type", SB_DENIED, "broke the protocol"},
    {"unknown-channel", SB_DENIED, "broke the protocol"},
    {"reserved", SB_DENIED, "broke the protocol"},
    {"host-message", SB_DENIED, "only a host sends"},
    {"data-of-nobody", SB_DENIED, "no open stream"},
    {"data-to-host-input", SB_DENIED, "no open stream"},
    {"beyond-credit", SB_DENIED, "beyond its credit"},
    {"end-twice", SB_DENIED, "no open stream"},
    {"data-after-end", SB_DENIED, "no open stream"},
    {"exit-before-end", SB_DENIED, "before the end of the output"},
    {"exit-twice", SB_DENIED, "EXIT of no run"},
    {"exit-bad-kind", SB_DENIED, "EXIT"},
    {"exit-false-count", SB_DENIED, "EXIT"},
    {"done-of-a-run", SB_DENIED, "nothing that is open"},
    {"too-much-credit", SB_DENIED, "more CREDIT"},
    {"credit-of-its-own", SB_DENIED, "no stream of ours"},
    {"gives-up", SB_BUG, "gave up"},
    {"error-that-is-none", SB_DENIED, "ERROR"},
};

static void a_guest_that_breaks_a_rule_ends_its_link_in_a_sentence(void **state)
{
    struct fixture f;

    (void)state;
    for (size_t i = 0; i < SB_COUNT(rows); i++) {
        open_link(&f, rows[i].kind, strcmp(rows[i].kind, "beyond-credit") == 0);
        turn(&f, false, SOON_MS);
        if (f.breaks != 1 || f.why.code != rows[i].code || strstr(f.why.text, rows[i].words) == NULL)
            fail_msg("'%s': broken %u times, code %s: %s", rows[i].kind, f.breaks, sb_code_name(f.why.code),
                     f.why.text);
        assert_true(f.hellos <= 1);
        assert_true(f.exits <= 1);
        close_link(&f);
        assert_int_equal(f.breaks, 1);
    }
}

static void a_file_never_becomes_longer_than_was_asked_for(void **state)
{
    struct fixture f;
    struct sb_op_events op = {.ctx = &f, .on_data = on_hoarded, .on_end = on_end, .on_done = on_done};
    struct sb_err err;

    (void)state;
    open_link(&f, "more-than-asked", false);
    assert_int_equal(sb_link_get(f.link, "f", 0, 10, &op, &err), 2);
    turn(&f, false, SOON_MS);
    assert_int_equal(f.breaks, 1);
    assert_non_null(strstr(f.why.text, "more than was asked"));
    assert_int_equal(f.data, 10);
    close_link(&f);
}

static void a_broken_link_takes_no_more_requests(void **state)
{
    struct sb_op_events op = {.ctx = NULL};
    struct fixture f;
    struct sb_err err = {.code = SB_OK};

    (void)state;
    open_link(&f, "garbage", false);
    turn(&f, false, SOON_MS);
    assert_int_equal(sb_link_get(f.link, "x", 0, 1, &op, &err), 0);
    assert_int_not_equal(err.code, SB_OK);
    sb_link_kill(f.link, f.run);
    assert_int_equal(sb_link_send(f.link, f.run, "x", 1), 0);
    sb_link_flush(f.link);
    close_link(&f);
}

/* ---- guests that break none ----------------------------------------------------------- */

static void a_silent_guest_is_waited_for_and_let_go(void **state)
{
    static const char *const kinds[] = {"silence", "silence-after-hello"};
    struct fixture f;

    (void)state;
    for (size_t i = 0; i < SB_COUNT(kinds); i++) {
        open_link(&f, kinds[i], false);
        for (int tries = 0; f.hellos < i && tries < 200; tries++) /* it may be slow to start */
            turn(&f, true, 50);
        turn(&f, true, 50); /* deadlines are the owner's: nothing may come by itself */
        assert_true(f.late);
        assert_int_equal(f.breaks + f.exits + f.dones, 0);
        assert_int_equal(f.hellos, i);
        close_link(&f);
        assert_int_equal(f.breaks + f.exits + f.dones, 0);
    }
}

static void the_text_of_an_error_is_fit_for_a_terminal(void **state)
{
    struct fixture f;

    (void)state;
    open_link(&f, "error-with-escapes", false);
    turn(&f, true, SOON_MS);
    assert_int_equal(f.dones, 1);
    assert_int_equal(f.breaks, 0);
    assert_int_equal(f.done_err.code, SB_HOST);
    assert_non_null(strstr(f.done_err.text, "root@host"));
    for (const char *at = f.done_err.text; *at != '\0'; at++)
        assert_true((unsigned char)*at >= ' ' && *at != 127);
    close_link(&f);
}

/* The loop lives on, our memory does not grow; whether the link is broken is its own matter. */
static void bear(const char *kind)
{
    struct fixture f;
    long before;

    open_link(&f, kind, false);
    turn(&f, false, BEAR_MS / 2); /* what a link needs once, it has now */
    before = resident_kib();
    turn(&f, false, BEAR_MS);
    if (resident_kib() - before > GROWTH_KIB)
        fail_msg("'%s': grew from %ld to %ld KiB", kind, before, resident_kib());
    assert_int_equal(f.exits + f.dones, 0);
    close_link(&f);
}

static void a_flood_of_empty_frames_is_borne(void **state)
{
    (void)state;
    bear("flood");
}

static void a_guest_that_only_talks_fills_no_memory(void **state)
{
    (void)state;
    bear("deaf-flood");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_guest_that_breaks_a_rule_ends_its_link_in_a_sentence),
        cmocka_unit_test(a_file_never_becomes_longer_than_was_asked_for),
        cmocka_unit_test(a_broken_link_takes_no_more_requests),
        cmocka_unit_test(a_silent_guest_is_waited_for_and_let_go),
        cmocka_unit_test(the_text_of_an_error_is_fit_for_a_terminal),
        cmocka_unit_test(a_flood_of_empty_frames_is_borne),
        cmocka_unit_test(a_guest_that_only_talks_fills_no_memory),
    };

    signal(SIGPIPE, SIG_IGN);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
