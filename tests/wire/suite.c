/* SPDX-License-Identifier: MIT
 * wire_suite MODE GUEST TESTPROG [RUN.SH] [FILTER]: the real guest, driven over its protocol.
 * MODE is pid1, subreaper or wine. The suite itself always runs on Linux. */
#include "wire/suite.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/alloc.h"

#define MOST_TESTS 200

struct box_suite suite;
const int soon_ms = 20000; /* a bound against hanging, never a wait */

bool under_wine(void)
{
    return suite.mode == BOX_WINE;
}

bool as_pid1(void)
{
    return suite.mode == BOX_PID1;
}

void skip_because(const char *why)
{
    print_message("skipped: %s\n", why);
    skip();
}

/* ---- the fixture ---------------------------------------------------------------------- */

int setup_fixture(void **state)
{
    static unsigned count;
    struct fixture *f = sb_alloc(sizeof(*f));

    snprintf(f->token, sizeof(f->token), "sb-wire-token-%ld-%u", (long)getpid(), ++count);
    *state = f;
    return 0;
}

int teardown_fixture(void **state)
{
    struct fixture *f = *state;

    box_close(&f->box);
    client_done(&f->client);
    sb_free(f);
    return 0;
}

struct fixture *open_box(void **state)
{
    struct fixture *f = *state;
    struct sb_err err;

    if (box_open(&suite, &f->box, &err) < 0)
        fail_msg("%s", err.text);
    client_init(&f->client, f->box.to, f->box.from);
    return f;
}

uint32_t start_flags(void)
{
    return as_pid1() ? SB_START_OWN_PIDS : 0;
}

struct fixture *ready_box(void **state)
{
    struct fixture *f = open_box(state);

    client_start(&f->client, start_flags());
    must(f, client_wait_hello(&f->client, soon_ms));
    return f;
}

const char *in_workspace(const struct fixture *f, const char *name)
{
    static char path[512];

    snprintf(path, sizeof(path), "%s/%s", f->box.dir, name);
    return path;
}

/* ---- steps ---------------------------------------------------------------------------- */

void must(struct fixture *f, int rc)
{
    if (rc < 0)
        fail_msg("%s", f->client.err.text);
}

/* A path of ours as the box's system writes it. */
static char *box_path(const char *path)
{
    char *text = sb_asprintf("%s%s", under_wine() ? "Z:" : "", path);

    for (char *at = text; under_wine() && *at != '\0'; at++)
        *at = *at == '/' ? '\\' : *at;
    return text;
}

struct client_op *start_run(struct fixture *f, const struct run_want *want, const char *const *args)
{
    static const char *const wine_env[] = {"SystemRoot=C:\\windows", NULL};
    static const char *const no_env[] = {NULL};
    struct sb_wire_exec exec = {.flags = want->flags, .limits = want->limits};
    struct client_op *op;
    char *program = box_path(suite.program);

    sb_argv_push(&exec.argv, program);
    sb_argv_pushv(&exec.argv, args);
    sb_argv_pushv(&exec.env, want->env != NULL ? want->env : under_wine() ? wine_env : no_env);
    if (want->cwd != NULL)
        snprintf(exec.cwd, sizeof(exec.cwd), "%s", want->cwd);
    op = client_exec(&f->client, &exec);
    sb_wire_exec_done(&exec);
    sb_free(program);
    return op;
}

struct client_op *do_run(struct fixture *f, const char *const *args)
{
    struct client_op *op = start_run(f, &(struct run_want){0}, args);

    finish(f, op);
    return op;
}

void finish(struct fixture *f, const struct client_op *op)
{
    must(f, client_wait(&f->client, op, soon_ms));
}

static void assert_exit(const struct client_op *op)
{
    if (op->last == SB_MSG_ERROR)
        fail_msg("the run ended by ERROR: %s", op->error.text);
    assert_int_equal(op->last, SB_MSG_EXIT);
}

void assert_exited(const struct client_op *op, uint32_t code)
{
    assert_exit(op);
    if (op->exit.kind != SB_EXITED || op->exit.code != code)
        fail_msg("kind %u code %u flags %u, not an exit with %u; stderr: %s", op->exit.kind, op->exit.code,
                 op->exit.flags, code, op->bytes[SB_CHAN_ERR].data);
    assert_int_equal(op->exit.limit, SB_LIMIT_NONE);
    assert_int_equal(op->exit.flags & SB_EXIT_PARENT_KILLED, 0);
}

void assert_stopped_by(const struct client_op *op, enum sb_limit limit)
{
    assert_exit(op);
    assert_int_equal(op->exit.limit, limit);
    if (!under_wine()) {
        assert_int_equal(op->exit.kind, SB_SIGNALLED);
        assert_int_equal(op->exit.code, SIGKILL);
    }
}

void assert_out(const struct client_op *op, const char *text)
{
    assert_string_equal(op->bytes[SB_CHAN_OUT].data, text);
    assert_int_equal(op->got[SB_CHAN_OUT], strlen(text));
}

void assert_error(const struct client_op *op)
{
    if (op->last != SB_MSG_ERROR)
        fail_msg("operation %u of type %d ended by %d, not by ERROR", op->id, op->request, op->last);
    assert_int_not_equal(op->error.code, SB_OK);
    assert_int_not_equal(op->error.text[0], '\0');
}

void assert_still_serves(struct fixture *f)
{
    struct client_op *op = RUN(f, "exit", "3");

    assert_exited(op, 3);
}

void assert_gives_up(struct fixture *f)
{
    must(f, client_wait_ended(&f->client, soon_ms));
    assert_true(f->client.gave_up);
    assert_int_not_equal(f->client.error.text[0], '\0');
    assert_true(box_wait(&f->box, soon_ms, NULL));
}

void put_file(struct fixture *f, const char *path, const void *bytes, size_t len, uint32_t flags)
{
    struct client_op *op = client_put(&f->client, path, flags);

    must(f, client_send(&f->client, op, bytes, len, soon_ms));
    client_send_end(&f->client, op);
    finish(f, op);
    if (op->last == SB_MSG_ERROR)
        fail_msg("PUT of '%s': %s", path, op->error.text);
    assert_int_equal(op->last, SB_MSG_DONE);
}

/* ---- main ----------------------------------------------------------------------------- */

/* The prefix is made and its server started before the first test looks at a clock. */
static int warm_wine(void)
{
    int status = 0;
    pid_t pid = fork();

    if (pid == 0) {
        if (freopen("/dev/null", "r", stdin) == NULL || freopen("/dev/null", "w", stdout) == NULL)
            _exit(125);
        execl("/bin/sh", "sh", suite.runner, suite.program, "exit", "0", (char *)NULL);
        _exit(127);
    }
    return waitpid(pid, &status, 0) == pid && WIFEXITED(status) && WEXITSTATUS(status) == 0 ? 0 : -1;
}

/* Exit code 77: no pid namespace here, so nothing may be tried. */
static int check_boxes(void)
{
    struct box box = {0};
    struct sb_err err;
    int rc = box_open(&suite, &box, &err);

    if (rc == 0)
        box_close(&box);
    else
        fprintf(stderr, "skipped: %s\n", err.text);
    return rc < 0 ? (err.code == SB_UNSUPPORTED ? 77 : 1) : 0;
}

static int run_parts(const char *filter)
{
    static const struct {
        const struct CMUnitTest *tests;
        const size_t *count;
    } parts[] = {{files_tests, &files_count},       {runs_tests, &runs_count},
                 {output_tests, &output_count},     {ends_tests, &ends_count},
                 {protocol_tests, &protocol_count}, {forge_tests, &forge_count}};
    struct CMUnitTest all[MOST_TESTS];
    size_t count = 0;

    for (size_t p = 0; p < SB_COUNT(parts); p++) {
        for (size_t i = 0; i < *parts[p].count && count < MOST_TESTS; i++)
            all[count++] = parts[p].tests[i];
    }
    if (filter != NULL)
        cmocka_set_test_filter(filter);
    return _cmocka_run_group_tests("wire", all, count, NULL, NULL);
}

int main(int argc, char **argv)
{
    static const char *const modes[] = {"pid1", "subreaper", "wine"};
    struct sb_err err;
    int rc;
    size_t mode = 0;

    while (argc >= 4 && mode < SB_COUNT(modes) && strcmp(argv[1], modes[mode]) != 0)
        mode++;
    if (argc < 4 || mode == SB_COUNT(modes) || (mode == BOX_WINE && argc < 5)) {
        fprintf(stderr, "usage: wire_suite pid1|subreaper|wine GUEST TESTPROG [RUN.SH|-] [FILTER]\n");
        return 2;
    }
    signal(SIGPIPE, SIG_IGN);
    if (box_suite_open(&suite, (enum box_mode)mode, argv[2], argv[3], argc > 4 ? argv[4] : NULL, &err) < 0) {
        fprintf(stderr, "%s\n", err.text);
        return 1;
    }
    if (under_wine() && warm_wine() < 0) {
        fprintf(stderr, "Wine does not run testprog.exe\n");
        box_suite_close(&suite);
        return 1;
    }
    rc = check_boxes();
    if (rc == 0)
        rc = run_parts(argc > 5 ? argv[5] : NULL);
    box_suite_close(&suite);
    return rc;
}
