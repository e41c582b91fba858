/* SPDX-License-Identifier: MIT
 * sb_proc_start and its sisters against real programs. With arguments this program is its own
 * child, which tells what it sees. */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <limits.h>
#include <poll.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/alloc.h"
#include "base/buf.h"
#include "platform/boxos.h"
#include "platform/dirs.h"
#include "platform/process.h"

static char self[PATH_MAX];

/* ---- the child's side ------------------------------------------------------------------- */

static int tell_descriptors(void)
{
    for (int fd = 0; fd < 1024; fd++) {
        if (fcntl(fd, F_GETFD) >= 0)
            printf("%d ", fd);
    }
    return 0;
}

static int tell_data(void)
{
    for (int fd = 3; fd < 16; fd++) {
        char text[64] = "";
        ssize_t got = read(fd, text, sizeof text - 1);

        printf("%d=%.*s ", fd, got > 0 ? (int)got : 0, text);
    }
    return 0;
}

/* We are our own guest here, so also the janitor: its work is the black box's to test. */
static int be_janitor(void)
{
    char bytes[64];

    while (read(0, bytes, sizeof bytes) > 0)
        continue;
    return 0;
}

static int tell_guest(void)
{
    struct stat status;

    fstat(3, &status);
    printf("seals %d mode %o access %d uid %u\n", fcntl(3, F_GET_SEALS), (unsigned)(status.st_mode & 07777),
           fcntl(3, F_GETFL) & O_ACCMODE, (unsigned)getuid());
    return 0;
}

static int tell_identity(void)
{
    uid_t r, e, s;
    gid_t gr, ge, gs;

    getresuid(&r, &e, &s);
    getresgid(&gr, &ge, &gs);
    printf("%u %u %u %u %u %u %d", r, e, s, gr, ge, gs, getgroups(0, NULL));
    return 0;
}

/* ---- the parent's side ------------------------------------------------------------------ */

struct ran {
    uv_loop_t loop;
    struct sb_proc *proc;
    struct sb_buf output, errors, info;
    struct sb_proc_end end;
    bool exited, gone, closed;
    long inner; /* asked to be watched when info is there */
    bool own_pids, inner_alive_at_gone;
    struct sb_err inner_err;
    void (*on_info)(struct ran *ran);
};

static bool is_alive(long pid)
{
    char path[64], text[256] = "";
    FILE *file;
    size_t got;

    snprintf(path, sizeof path, "/proc/%ld/stat", pid);
    file = fopen(path, "r");
    if (!file)
        return false;
    got = fread(text, 1, sizeof text - 1, file);
    text[got] = '\0';
    fclose(file);
    return strstr(text, ") Z ") == NULL && strstr(text, ") X ") == NULL;
}

static void on_closed(void *ctx)
{
    ((struct ran *)ctx)->closed = true;
}

static void on_exit_event(void *ctx, const struct sb_proc_end *end)
{
    struct ran *ran = ctx;

    assert_false(ran->exited);
    assert_false(ran->gone);
    ran->exited = true;
    ran->end = *end;
}

static void on_gone(void *ctx)
{
    struct ran *ran = ctx;

    assert_true(ran->exited);
    assert_false(ran->gone);
    ran->gone = true;
    ran->inner_alive_at_gone = ran->inner > 0 && is_alive(ran->inner);
}

static void on_alloc(uv_handle_t *handle, size_t size, uv_buf_t *out)
{
    (void)handle;
    *out = uv_buf_init(malloc(size), (unsigned)size);
}

static void on_read(uv_stream_t *stream, ssize_t got, const uv_buf_t *bytes)
{
    struct ran *ran = stream->data;
    struct sb_buf *into = stream == sb_proc_output(ran->proc)   ? &ran->output
                          : stream == sb_proc_errors(ran->proc) ? &ran->errors
                                                                : &ran->info;

    if (got > 0)
        sb_buf_add(into, bytes->base, (size_t)got);
    else if (got < 0)
        uv_read_stop(stream);
    free(bytes->base);
    if (got > 0 && ran->on_info && into == &ran->info)
        ran->on_info(ran);
}

static void listen_to(struct ran *ran, uv_stream_t *stream)
{
    if (!stream)
        return;
    stream->data = ran;
    assert_int_equal(uv_read_start(stream, on_alloc, on_read), 0);
}

static void start(struct ran *ran, const struct sb_launch *launch)
{
    struct sb_proc_events events = {ran, on_exit_event, on_gone};
    struct sb_err err;

    assert_int_equal(uv_loop_init(&ran->loop), 0);
    sb_buf_init(&ran->output, 65536);
    sb_buf_init(&ran->errors, 65536);
    sb_buf_init(&ran->info, 65536);
    if (sb_proc_start(&ran->loop, launch, &events, &ran->proc, &err) < 0)
        fail_msg("%s", err.text);
    listen_to(ran, sb_proc_output(ran->proc));
    listen_to(ran, sb_proc_errors(ran->proc));
    listen_to(ran, sb_proc_info(ran->proc));
}

static void finish(struct ran *ran)
{
    uv_run(&ran->loop, UV_RUN_DEFAULT); /* until gone and all streams have ended */
    assert_true(ran->gone);
    sb_proc_free(ran->proc, on_closed, ran);
    uv_run(&ran->loop, UV_RUN_DEFAULT);
    assert_true(ran->closed);
    assert_int_equal(uv_loop_close(&ran->loop), 0);
}

static void forget(struct ran *ran)
{
    sb_buf_done(&ran->output);
    sb_buf_done(&ran->errors);
    sb_buf_done(&ran->info);
}

static char *no_env[] = {NULL};

static void run(struct ran *ran, const struct sb_launch *launch)
{
    start(ran, launch);
    finish(ran);
    assert_string_equal(ran->errors.data, "");
    assert_false(ran->end.signalled);
    assert_int_equal(ran->end.code, 0);
}

/* LSan reads what a traced child can't, so the children under ASan leave leaks alone. */
static char *self_env[] = {"ASAN_OPTIONS=detect_leaks=0", NULL};

static struct sb_launch ourselves(char **argv)
{
    return (struct sb_launch){.program = self, .argv = argv, .env = self_env, .cwd = "/"};
}

static struct sb_launch shell(char **argv)
{
    return (struct sb_launch){.program = "/bin/sh", .argv = argv, .env = no_env, .cwd = "/"};
}

static void environment_and_cwd_are_exactly_what_was_given(void **state)
{
    char *argv[] = {"env", NULL}, *env[] = {"A=1", "EMPTY=", "B=x y", NULL};
    struct sb_launch launch = {.program = "/usr/bin/env", .argv = argv, .env = env, .cwd = "/usr/bin"};
    struct ran ran = {0};
    char *pwd[] = {"sh", "-c", "/bin/pwd", NULL};

    (void)state;
    run(&ran, &launch);
    assert_string_equal(ran.output.data, "A=1\nEMPTY=\nB=x y\n");
    forget(&ran);

    launch = shell(pwd);
    launch.cwd = "/usr/bin";
    ran = (struct ran){0};
    run(&ran, &launch);
    assert_string_equal(ran.output.data, "/usr/bin\n");
    forget(&ran);
}

static void signals_are_default_whatever_we_inherited(void **state)
{
    char *argv[] = {"cat", "/proc/self/status", NULL};
    struct sb_launch launch = {.program = "/bin/cat", .argv = argv, .env = no_env, .cwd = "/"};
    struct ran ran = {0};
    struct sigaction ignore = {.sa_handler = SIG_IGN}, old;
    unsigned long kernel_ignore[4] = {(unsigned long)(uintptr_t)SIG_IGN, 0, 0, 0}, kernel_old[4];
    sigset_t blocked, old_mask, now;

    (void)state;
    sigemptyset(&blocked);
    sigaddset(&blocked, SIGTERM);
    sigprocmask(SIG_BLOCK, &blocked, &old_mask);
    sigaction(SIGPIPE, &ignore, &old);
    syscall(SYS_rt_sigaction, 33, kernel_ignore, kernel_old, 8); /* libc's own, hidden from sigaction */
    run(&ran, &launch);
    syscall(SYS_rt_sigaction, 33, kernel_old, NULL, 8);
    sigaction(SIGPIPE, &old, NULL);
    sigprocmask(SIG_SETMASK, NULL, &now);
    sigprocmask(SIG_SETMASK, &old_mask, NULL);

    assert_non_null(strstr(ran.output.data, "SigBlk:\t0000000000000000\n"));
    assert_non_null(strstr(ran.output.data, "SigIgn:\t0000000000000000\n"));
    assert_non_null(strstr(ran.output.data, "SigCgt:\t0000000000000000\n"));
    assert_true(sigismember(&now, SIGTERM)); /* our own mask is as it was */
    assert_false(sigismember(&now, SIGINT));
    forget(&ran);
}

static void program_is_a_process_group_of_its_own_and_first_for_the_oom_killer(void **state)
{
    char *argv[] = {"sh", "-c",
                    "read pid name st pp pgrp rest </proc/self/stat; echo $((pid == pgrp));"
                    "read a </proc/self/oom_score_adj; echo $a; umask",
                    NULL};
    struct sb_launch launch = shell(argv);
    struct ran ran = {0};

    (void)state;
    run(&ran, &launch);
    assert_string_equal(ran.output.data, "1\n1000\n0022\n");
    forget(&ran);
}

static void program_sees_its_descriptors_and_no_others(void **state)
{
    char *argv[] = {"t", "--descriptors", NULL};
    struct sb_launch_handle handles[] = {{9, SB_HANDLE_DATA, "x", 1}, {4, SB_HANDLE_INFO, NULL, 0}};
    struct sb_launch launch = ourselves(argv);
    struct ran ran = {0};
    int low = open("/dev/null", O_RDONLY), high = fcntl(low, F_DUPFD, 300); /* both inheritable */

    (void)state;
    run(&ran, &launch);
    assert_string_equal(ran.output.data, "0 1 2 ");
    forget(&ran);

    ran = (struct ran){0};
    launch.handles = handles;
    launch.handle_count = SB_COUNT(handles);
    run(&ran, &launch);
    assert_string_equal(ran.output.data, "0 1 2 4 9 ");
    forget(&ran);
    close(low);
    close(high);
}

/* The host's own descriptors lie at the very numbers, in another order. */
static void each_handle_arrives_at_its_number(void **state)
{
    char *argv[] = {"t", "--data", NULL};
    struct sb_launch_handle handles[13];
    struct sb_launch launch = ourselves(argv);
    struct ran ran = {0};
    char texts[13][4], expected[256] = "";

    (void)state;
    for (int i = 0; i < 13; i++) {
        snprintf(texts[i], sizeof texts[i], "n%d", 15 - i);
        handles[i] = (struct sb_launch_handle){15 - i, SB_HANDLE_DATA, texts[i], strlen(texts[i])};
    }
    for (int i = 3; i < 16; i++)
        snprintf(expected + strlen(expected), sizeof expected - strlen(expected), "%d=n%d ", i, i);
    launch.handles = handles;
    launch.handle_count = 13;
    run(&ran, &launch);
    assert_string_equal(ran.output.data, expected);
    forget(&ran);
}

static void large_data_arrives_whole(void **state)
{
    enum { SIZE = 300000 };
    char *argv[] = {"sh", "-c", "wc -c <&3", NULL};
    char *data = sb_alloc(SIZE);
    struct sb_launch_handle handle = {3, SB_HANDLE_DATA, data, SIZE};
    struct sb_launch launch = shell(argv);
    struct ran ran = {0};

    (void)state;
    launch.handles = &handle;
    launch.handle_count = 1;
    run(&ran, &launch);
    assert_string_equal(ran.output.data, "300000\n");
    forget(&ran);
    sb_free(data);
}

static void guest_is_a_sealed_copy_that_runs_by_descriptor(void **state)
{
    char *argv[] = {"guest", "--guest", NULL};
    struct sb_launch_handle handle = {3, SB_HANDLE_GUEST, self, 0};
    struct sb_launch launch = ourselves(argv);
    struct ran ran = {0};
    char expected[128];

    (void)state;
    launch.program = "/proc/self/fd/3";
    launch.handles = &handle;
    launch.handle_count = 1;
    snprintf(expected, sizeof expected, "seals %d mode 555 access %d uid %u\n",
             F_SEAL_SEAL | F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_WRITE, O_RDONLY, (unsigned)getuid());
    for (int i = 0; i < 2; i++) { /* made, then found */
        ran = (struct ran){0};
        run(&ran, &launch);
        assert_string_equal(ran.output.data, expected);
        forget(&ran);
    }
}

static void write_script(const char *path, const char *text)
{
    FILE *file = fopen(path, "w");

    assert_non_null(file);
    fputs(text, file);
    fclose(file);
    chmod(path, 0700);
}

static void guest_that_changed_on_disk_is_copied_anew(void **state)
{
    char dir[] = "/tmp/sb-launch-XXXXXX", path[64];
    char *argv[] = {"cat", "/proc/self/fd/3", NULL};
    struct sb_launch_handle handle = {3, SB_HANDLE_GUEST, path, 0};
    struct sb_launch launch = {.program = "/bin/cat",
                               .argv = argv,
                               .env = no_env,
                               .cwd = "/",
                               .handles = &handle,
                               .handle_count = 1};
    struct ran ran = {0};

    (void)state;
    assert_non_null(mkdtemp(dir));
    snprintf(path, sizeof path, "%s/guest", dir);
    write_script(path, "one");
    run(&ran, &launch);
    assert_string_equal(ran.output.data, "one");
    forget(&ran);
    unlink(path);
    write_script(path, "another");
    ran = (struct ran){0};
    run(&ran, &launch);
    assert_string_equal(ran.output.data, "another");
    forget(&ran);
    unlink(path);
    rmdir(dir);
}

static void box_os_gives_another_identity_and_the_guest_still_runs(void **state)
{
    char dir[] = "/tmp/sb-launch-XXXXXX";
    char *who[] = {"guest", "--identity", NULL}, *guest_argv[] = {"guest", "--guest", NULL};
    struct sb_launch_handle handle = {3, SB_HANDLE_GUEST, self, 0};
    struct sb_box_os_want want = {.runtime_dir = dir, .box_id = "b_test"};
    struct sb_launch launch = ourselves(who);
    struct ran ran = {0};
    struct sb_err err;
    unsigned r, e, s, gr, ge, gs, uid;
    int groups;

    (void)state;
    assert_non_null(mkdtemp(dir));
    if (sb_box_os_drops_uid()) /* a group that must not come along */
        assert_int_equal(setgroups(1, (gid_t[]){4711}), 0);
    if (sb_box_os_open(&want, &launch.os, &err) < 0)
        fail_msg("%s", err.text);
    launch.program = "/proc/self/fd/3";
    launch.handles = &handle;
    launch.handle_count = 1;
    run(&ran, &launch);
    assert_int_equal(sscanf(ran.output.data, "%u %u %u %u %u %u %d", &r, &e, &s, &gr, &ge, &gs, &groups), 7);
    assert_true(r == e && e == s && gr == ge && ge == gs);
    if (sb_box_os_drops_uid()) {
        assert_int_not_equal(r, 0);
        assert_int_equal(gr, r);
        assert_int_equal(groups, 0);
    } else {
        assert_int_equal(r, getuid());
    }
    forget(&ran);
    ran = (struct ran){0};
    launch.argv = guest_argv;
    run(&ran, &launch);
    assert_non_null(strstr(ran.output.data, "uid "));
    assert_int_equal(sscanf(strstr(ran.output.data, "uid "), "uid %u", &uid), 1);
    assert_int_equal(uid, r);
    forget(&ran);
    sb_box_os_close(launch.os);
    assert_int_equal(sb_dir_remove_tree(dir, NULL), 0);
}

static void ends_are_told_exactly(void **state)
{
    static const struct {
        char *script;
        bool signalled;
        uint32_t code;
    } rows[] = {
        {"exit 0", false, 0},
        {"exit 1", false, 1},
        {"exit 137", false, 137},
        {"exit 255", false, 255},
        {"kill -KILL $$", true, SIGKILL},
        {"kill -PIPE $$", true, SIGPIPE},
        {"kill -TERM $$", true, SIGTERM},
    };

    (void)state;
    for (size_t i = 0; i < SB_COUNT(rows); i++) {
        char *argv[] = {"sh", "-c", rows[i].script, NULL};
        struct sb_launch launch = shell(argv);
        struct ran ran = {0};

        start(&ran, &launch);
        finish(&ran);
        assert_int_equal(ran.end.signalled, rows[i].signalled);
        assert_int_equal(ran.end.code, rows[i].code);
        forget(&ran);
    }
}

static void input_and_output_are_one_socket_that_can_end_one_way(void **state)
{
    char *argv[] = {"cat", NULL};
    struct sb_launch launch = {.program = "/bin/cat", .argv = argv, .env = no_env, .cwd = "/"};
    struct ran ran = {0};
    uv_buf_t hello = uv_buf_init("hello", 5);

    (void)state;
    start(&ran, &launch);
    assert_ptr_equal(sb_proc_input(ran.proc), sb_proc_output(ran.proc));
    assert_int_equal(uv_try_write(sb_proc_input(ran.proc), &hello, 1), 5);
    sb_proc_close_input(ran.proc);
    finish(&ran);
    assert_string_equal(ran.output.data, "hello");
    forget(&ran);
}

static void errors_have_a_stream_of_their_own(void **state)
{
    char *argv[] = {"sh", "-c", "echo out; echo err >&2; echo info >&7", NULL};
    struct sb_launch_handle handle = {7, SB_HANDLE_INFO, NULL, 0};
    struct sb_launch launch = shell(argv);
    struct ran ran = {0};

    (void)state;
    launch.handles = &handle;
    launch.handle_count = 1;
    start(&ran, &launch);
    finish(&ran);
    assert_string_equal(ran.output.data, "out\n");
    assert_string_equal(ran.errors.data, "err\n");
    assert_string_equal(ran.info.data, "info\n");
    forget(&ran);
}

static unsigned open_descriptors(void)
{
    DIR *dir = opendir("/proc/self/fd");
    unsigned n = 0;

    assert_non_null(dir);
    while (readdir(dir))
        n++;
    closedir(dir);
    return n;
}

/* The janitor lives on once something with a guest was started; nothing else is ours to reap. */
static void assert_no_zombie(void)
{
    assert_true(waitpid(-1, NULL, WNOHANG) <= 0);
}

static void what_cannot_start_says_which_step_and_why(void **state)
{
    static const struct {
        const char *program, *cwd, *text;
        enum sb_code code;
    } rows[] = {
        {"/no/such/bwrap", "/", "cannot start '/no/such/bwrap': exec: no such file or directory",
         SB_NOT_FOUND},
        {"/etc/passwd", "/", "cannot start '/etc/passwd': exec: permission denied", SB_DENIED},
        {"/bin/true", "/no/such", "cannot start '/bin/true': chdir: no such file or directory", SB_NOT_FOUND},
    };
    char *argv[] = {"x", NULL};
    struct sb_launch_handle handles[] = {{3, SB_HANDLE_DATA, "x", 1}, {4, SB_HANDLE_INFO, NULL, 0}};
    struct sb_proc_events events = {NULL, on_exit_event, on_gone};
    struct sb_proc *proc = NULL;
    uv_loop_t loop;
    unsigned before;

    (void)state;
    assert_int_equal(uv_loop_init(&loop), 0);
    before = open_descriptors();
    for (size_t i = 0; i < SB_COUNT(rows); i++) {
        struct sb_launch launch = {.program = rows[i].program,
                                   .argv = argv,
                                   .env = no_env,
                                   .cwd = rows[i].cwd,
                                   .handles = handles,
                                   .handle_count = 2};
        struct sb_err err = {0};

        assert_int_equal(sb_proc_start(&loop, &launch, &events, &proc, &err), -1);
        assert_string_equal(err.text, rows[i].text);
        assert_int_equal(err.code, rows[i].code);
        assert_null(proc);
    }
    assert_int_equal(open_descriptors(), before);
    assert_no_zombie();
    assert_int_equal(uv_loop_close(&loop), 0);
}

static void missing_guest_is_an_error_that_names_it(void **state)
{
    char *argv[] = {"x", NULL};
    struct sb_launch_handle handle = {3, SB_HANDLE_GUEST, "/no/such/guest", 0};
    struct sb_launch launch = {.program = "/bin/true",
                               .argv = argv,
                               .env = no_env,
                               .cwd = "/",
                               .handles = &handle,
                               .handle_count = 1};
    struct sb_proc_events events = {NULL, on_exit_event, on_gone};
    struct sb_proc *proc = NULL;
    struct sb_err err;
    uv_loop_t loop;

    (void)state;
    assert_int_equal(uv_loop_init(&loop), 0);
    assert_int_equal(sb_proc_start(&loop, &launch, &events, &proc, &err), -1);
    assert_string_equal(err.text, "cannot start '/bin/true': cannot open the guest '/no/such/guest': "
                                  "no such file or directory");
    assert_int_equal(uv_loop_close(&loop), 0);
}

static void two_hundred_launches_leave_nothing(void **state)
{
    char *argv[] = {"true", NULL};
    struct sb_launch_handle handles[] = {
        {3, SB_HANDLE_GUEST, self, 0}, {4, SB_HANDLE_DATA, "x", 1}, {5, SB_HANDLE_INFO, NULL, 0}};
    struct sb_launch launch = {.program = "/bin/true",
                               .argv = argv,
                               .env = no_env,
                               .cwd = "/",
                               .handles = handles,
                               .handle_count = 3};
    unsigned before = 0;

    (void)state;
    for (int i = 0; i < 201; i++) {
        struct ran ran = {0};

        if (i == 1) /* the first one made the copy of the guest, which stays */
            before = open_descriptors();
        run(&ran, &launch);
        forget(&ran);
    }
    assert_int_equal(open_descriptors(), before);
    assert_no_zombie();
}

/* ---- the inner process ------------------------------------------------------------------ */

static void watch_and_kill(struct ran *ran)
{
    const char *number = strpbrk(ran->info.data, "0123456789");

    if (!number || !strchr(number, '\n') || ran->inner)
        return;
    ran->inner = strtol(number, NULL, 10);
    if (sb_proc_watch_inner(ran->proc, ran->inner, &ran->own_pids, &ran->inner_err) < 0)
        ran->inner = -1;
    sb_proc_kill(ran->proc);
    sb_proc_kill(ran->proc);
}

static bool bwrap_works(void)
{
    return access("/usr/bin/bwrap", X_OK) == 0 &&
           system("/usr/bin/bwrap --unshare-user --unshare-pid --ro-bind / / /bin/true 2>/dev/null") == 0;
}

static void box_is_gone_when_its_first_process_is(void **state)
{
    char *argv[] = {"bwrap",
                    "--unshare-user",
                    "--unshare-pid",
                    "--new-session",
                    "--die-with-parent",
                    "--as-pid-1",
                    "--info-fd",
                    "5",
                    "--ro-bind",
                    "/",
                    "/",
                    "--",
                    "/bin/sleep",
                    "600",
                    NULL};
    struct sb_launch_handle handle = {5, SB_HANDLE_INFO, NULL, 0};
    struct sb_launch launch = {.program = "/usr/bin/bwrap",
                               .argv = argv,
                               .env = no_env,
                               .cwd = "/",
                               .handles = &handle,
                               .handle_count = 1};
    struct ran ran = {.on_info = watch_and_kill};

    (void)state;
    if (!bwrap_works())
        skip();
    start(&ran, &launch);
    finish(&ran);
    if (ran.inner < 0)
        fail_msg("%s", ran.inner_err.text);
    assert_true(ran.own_pids);
    assert_false(ran.inner_alive_at_gone);
    forget(&ran);
}

/* The started program ends first and leaves the inner one alone for a while. */
static void kill_inner_later(uv_timer_t *timer)
{
    struct ran *ran = timer->data;

    assert_true(ran->exited);
    assert_false(ran->gone);
    assert_true(is_alive(ran->inner));
    kill((pid_t)ran->inner, SIGKILL);
    uv_close((uv_handle_t *)timer, NULL);
}

static uv_timer_t later;

static void watch_and_let_the_outer_go(struct ran *ran)
{
    const char *number = strpbrk(ran->info.data, "0123456789");

    if (!number || !strchr(number, '\n') || ran->inner)
        return;
    ran->inner = strtol(number, NULL, 10);
    if (sb_proc_watch_inner(ran->proc, ran->inner, &ran->own_pids, &ran->inner_err) < 0)
        fail_msg("%s", ran->inner_err.text);
    sb_proc_close_input(ran->proc);
}

static void on_outer_exit(void *ctx, const struct sb_proc_end *end)
{
    struct ran *ran = ctx;

    on_exit_event(ctx, end);
    uv_timer_init(&ran->loop, &later);
    later.data = ran;
    uv_timer_start(&later, kill_inner_later, 0, 0);
}

static void gone_waits_for_the_inner_when_the_outer_ended(void **state)
{
    char *argv[] = {"sh", "-c", "sleep 600 </dev/null >/dev/null 2>&1 5>&- & echo $! >&5; read line; exit 3",
                    NULL};
    struct sb_launch_handle handle = {5, SB_HANDLE_INFO, NULL, 0};
    struct sb_launch launch = shell(argv);
    struct ran ran = {.on_info = watch_and_let_the_outer_go};
    struct sb_proc_events events = {&ran, on_outer_exit, on_gone};
    struct sb_err err;

    (void)state;
    launch.handles = &handle;
    launch.handle_count = 1;
    assert_int_equal(uv_loop_init(&ran.loop), 0);
    sb_buf_init(&ran.output, 65536);
    sb_buf_init(&ran.errors, 65536);
    sb_buf_init(&ran.info, 65536);
    if (sb_proc_start(&ran.loop, &launch, &events, &ran.proc, &err) < 0)
        fail_msg("%s", err.text);
    listen_to(&ran, sb_proc_info(ran.proc));
    finish(&ran);
    assert_int_equal(ran.end.code, 3);
    assert_false(ran.own_pids); /* an ordinary child has one pid only */
    assert_false(ran.inner_alive_at_gone);
    forget(&ran);
}

static void a_pid_that_is_no_child_of_the_program_is_refused(void **state)
{
    char *argv[] = {"sleep", "600", NULL};
    struct sb_launch launch = {.program = "/bin/sleep", .argv = argv, .env = no_env, .cwd = "/"};
    struct ran ran = {0};
    struct sb_err err;
    bool own;

    (void)state;
    start(&ran, &launch);
    assert_int_equal(sb_proc_watch_inner(ran.proc, getpid(), &own, &err), -1);
    assert_int_equal(err.code, SB_DENIED);
    assert_int_equal(sb_proc_watch_inner(ran.proc, sb_proc_pid(ran.proc), &own, &err), -1);
    assert_int_equal(sb_proc_watch_inner(ran.proc, 1, &own, &err), -1);
    assert_int_equal(sb_proc_watch_inner(ran.proc, -1, &own, &err), -1);
    sb_proc_kill(ran.proc);
    finish(&ran);
    assert_true(ran.end.signalled);
    assert_int_equal(ran.end.code, SIGKILL);
    forget(&ran);
}

/* A host that is killed takes its program along: PR_SET_PDEATHSIG, also after the uid drop. */
static void program_dies_with_its_host(void **state)
{
    char *argv[] = {"sleep", "600", NULL}, dir[] = "/tmp/sb-launch-XXXXXX";
    struct sb_launch launch = {.program = "/bin/sleep", .argv = argv, .env = no_env, .cwd = "/"};
    struct sb_box_os_want want = {.runtime_dir = dir, .box_id = "b_test"};
    int fds[2], pidfd;
    long pid = 0;
    pid_t host;

    (void)state;
    assert_non_null(mkdtemp(dir));
    assert_int_equal(pipe(fds), 0);
    host = fork();
    if (host == 0) {
        struct sb_proc_events events = {NULL, on_exit_event, on_gone};
        struct sb_proc *proc;
        uv_loop_t loop;

        uv_loop_init(&loop);
        if (sb_box_os_open(&want, &launch.os, NULL) == 0 &&
            sb_proc_start(&loop, &launch, &events, &proc, NULL) == 0)
            pid = sb_proc_pid(proc);
        (void)!write(fds[1], &pid, sizeof pid);
        for (;;)
            pause();
    }
    assert_int_equal(read(fds[0], &pid, sizeof pid), sizeof pid);
    assert_true(pid > 0);
    pidfd = (int)syscall(SYS_pidfd_open, (pid_t)pid, 0);
    assert_true(pidfd >= 0);
    kill(host, SIGKILL);
    waitpid(host, NULL, 0);
    assert_int_equal(poll(&(struct pollfd){.fd = pidfd, .events = POLLIN}, 1, 5000), 1);
    close(pidfd);
    close(fds[0]);
    close(fds[1]);
    assert_int_equal(sb_dir_remove_tree(dir, NULL), 0);
}

int main(int argc, char **argv)
{
    static const struct {
        const char *name;
        int (*tell)(void);
    } tells[] = {
        {"--descriptors", tell_descriptors},
        {"--data", tell_data},
        {"--guest", tell_guest},
        {"janitor", be_janitor},
        {"--identity", tell_identity},
    };
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(environment_and_cwd_are_exactly_what_was_given),
        cmocka_unit_test(signals_are_default_whatever_we_inherited),
        cmocka_unit_test(program_is_a_process_group_of_its_own_and_first_for_the_oom_killer),
        cmocka_unit_test(program_sees_its_descriptors_and_no_others),
        cmocka_unit_test(each_handle_arrives_at_its_number),
        cmocka_unit_test(large_data_arrives_whole),
        cmocka_unit_test(guest_is_a_sealed_copy_that_runs_by_descriptor),
        cmocka_unit_test(guest_that_changed_on_disk_is_copied_anew),
        cmocka_unit_test(box_os_gives_another_identity_and_the_guest_still_runs),
        cmocka_unit_test(ends_are_told_exactly),
        cmocka_unit_test(input_and_output_are_one_socket_that_can_end_one_way),
        cmocka_unit_test(errors_have_a_stream_of_their_own),
        cmocka_unit_test(what_cannot_start_says_which_step_and_why),
        cmocka_unit_test(missing_guest_is_an_error_that_names_it),
        cmocka_unit_test(two_hundred_launches_leave_nothing),
        cmocka_unit_test(box_is_gone_when_its_first_process_is),
        cmocka_unit_test(gone_waits_for_the_inner_when_the_outer_ended),
        cmocka_unit_test(a_pid_that_is_no_child_of_the_program_is_refused),
        cmocka_unit_test(program_dies_with_its_host),
    };
    ssize_t len;

    for (size_t i = 0; argc > 1 && i < SB_COUNT(tells); i++) {
        if (strcmp(argv[1], tells[i].name) == 0)
            return tells[i].tell();
    }
    len = readlink("/proc/self/exe", self, sizeof self - 1);
    if (len < 0)
        return 1;
    return cmocka_run_group_tests(tests, NULL, NULL);
}
