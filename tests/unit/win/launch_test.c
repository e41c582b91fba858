/* SPDX-License-Identifier: MIT */
#include "win_test.h"

#include <fcntl.h>
#include <io.h>
#include <shellapi.h>

#include "platform/boxos.h"
#include "platform/dirs.h"
#include "platform/process.h"

/* ---- the programs that are started ---------------------------------------------------- */

static HANDLE start_self(const wchar_t *arguments, BOOL inherit)
{
    wchar_t program[1024], line[1200];
    STARTUPINFOW how = {.cb = sizeof how};
    PROCESS_INFORMATION made;

    GetModuleFileNameW(NULL, program, (DWORD)SB_COUNT(program));
    _snwprintf(line, SB_COUNT(line), L"\"%ls\" child %ls", program, arguments);
    if (!CreateProcessW(program, line, NULL, NULL, inherit, 0, NULL, NULL, &how, &made))
        return NULL;
    CloseHandle(made.hThread);
    return made.hProcess;
}

static int child_echo(void)
{
    char bytes[4096];
    size_t n;
    while ((n = fread(bytes, 1, sizeof bytes, stdin)) > 0)
        fwrite(bytes, 1, n, stdout);
    fwrite("e\0\r\n\xFF", 1, 5, stderr);
    return 7;
}

static void print_wide(const wchar_t *text)
{
    char *narrow = sb_from_utf16(text);
    printf("%s\n", narrow);
    sb_free(narrow);
}

static int child_args(void)
{
    int n = 0;
    wchar_t **args = CommandLineToArgvW(GetCommandLineW(), &n);
    for (int i = 3; i < n; i++)
        print_wide(args[i]);
    return 0;
}

static int child_env(void)
{
    wchar_t folder[512];
    for (const wchar_t *entry = GetEnvironmentStringsW(); *entry; entry += wcslen(entry) + 1)
        if (!under_wine() || wcsncmp(entry, L"WINE", 4) != 0) /* Wine adds some of its own */
            print_wide(entry);
    GetCurrentDirectoryW((DWORD)SB_COUNT(folder), folder);
    print_wide(folder);
    return 0;
}

static int child_set_event(const char *value)
{
    SetEvent((HANDLE)(uintptr_t)strtoull(value, NULL, 10));
    return 0;
}

/* Prints the pid of a child of its own that never ends, then waits or not. */
static int child_tree(bool wait)
{
    HANDLE grandchild = start_self(L"sleep", FALSE);
    printf("%lu\n", grandchild ? GetProcessId(grandchild) : 0);
    fflush(stdout);
    if (wait)
        Sleep(INFINITE);
    return 3;
}

static int child_integrity(void)
{
    HANDLE token = NULL;
    union {
        TOKEN_MANDATORY_LABEL label;
        unsigned char bytes[256];
    } got;
    DWORD size;
    if (!OpenProcessToken(GetCurrentProcess(), TOKEN_QUERY, &token) ||
        !GetTokenInformation(token, TokenIntegrityLevel, &got, sizeof got, &size))
        return 1;
    printf("%lx", *GetSidSubAuthority(got.label.Label.Sid, 0));
    return 0;
}

static int child_write(void)
{
    FILE *file = fopen("written", "wb"), *temporary = fopen(".tmp\\written", "wb");
    return file && temporary && fclose(file) == 0 && fclose(temporary) == 0 ? 0 : 1;
}

/* ---- a proc with everything that came of it ------------------------------------------- */

struct seen {
    uv_loop_t loop;
    uv_timer_t hang;
    struct sb_proc *proc;
    struct sb_buf out, err;
    int open_outputs;
    unsigned exits, gones, closes;
    struct sb_proc_end end;
    bool hung;
};

static void on_exit_seen(void *ctx, const struct sb_proc_end *end)
{
    struct seen *seen = ctx;
    assert_int_equal(seen->gones, 0);
    seen->exits++;
    seen->end = *end;
}

static void on_gone_seen(void *ctx)
{
    struct seen *seen = ctx;
    assert_int_equal(seen->exits, 1);
    seen->gones++;
}

static void on_closed_seen(void *ctx)
{
    ((struct seen *)ctx)->closes++;
}

static void on_hang(uv_timer_t *timer)
{
    ((struct seen *)timer->data)->hung = true;
}

static void on_alloc(uv_handle_t *handle, size_t want, uv_buf_t *buf)
{
    static char bytes[65536];
    (void)handle;
    (void)want;
    *buf = uv_buf_init(bytes, sizeof bytes);
}

static void on_read(uv_stream_t *stream, ssize_t n, const uv_buf_t *buf)
{
    struct seen *seen = stream->data;
    if (n > 0) {
        sb_buf_add(stream == sb_proc_output(seen->proc) ? &seen->out : &seen->err, buf->base, (size_t)n);
        return;
    }
    if (n < 0) {
        assert_int_equal(n, UV_EOF);
        uv_read_stop(stream);
        seen->open_outputs--;
    }
}

static void read_all(struct seen *seen, uv_stream_t *stream)
{
    stream->data = seen;
    seen->open_outputs++;
    assert_int_equal(uv_read_start(stream, on_alloc, on_read), 0);
}

static void seen_init(struct seen *seen)
{
    *seen = (struct seen){.hung = false};
    assert_int_equal(uv_loop_init(&seen->loop), 0);
    uv_timer_init(&seen->loop, &seen->hang);
    seen->hang.data = seen;
    uv_timer_start(&seen->hang, on_hang, HANG_MS, 0);
    sb_buf_init(&seen->out, 4 << 20);
    sb_buf_init(&seen->err, 1 << 20);
}

/* Starts this program as `child ARGS...` and reads its outputs. */
static void start_child(struct seen *seen, struct sb_box_os *os, const char *cwd, char *const *env,
                        const char *const *args)
{
    struct sb_proc_events events = {seen, on_exit_seen, on_gone_seen};
    struct sb_argv argv = {NULL, 0}, some = {NULL, 0};
    struct sb_err err = {0};
    char *program = own_program(), *root = getenv("SystemRoot");

    seen_init(seen);
    sb_argv_push(&argv, program);
    sb_argv_push(&argv, "child");
    sb_argv_pushv(&argv, args);
    sb_env_set(&some, "SystemRoot", root ? root : "C:\\windows");
    struct sb_launch launch = {
        .program = program, .argv = argv.v, .env = env ? env : some.v, .cwd = cwd ? cwd : "C:\\", .os = os};
    int rc = sb_proc_start(&seen->loop, &launch, &events, &seen->proc, &err);
    assert_string_equal(err.text, "");
    assert_int_equal(rc, 0);
    read_all(seen, sb_proc_output(seen->proc));
    read_all(seen, sb_proc_errors(seen->proc));
    sb_argv_done(&argv);
    sb_argv_done(&some);
    sb_free(program);
}

#define TURN_UNTIL(seen, condition)                                                                          \
    do {                                                                                                     \
        while (!(condition) && !(seen)->hung)                                                                \
            uv_run(&(seen)->loop, UV_RUN_ONCE);                                                              \
        assert_true(condition);                                                                              \
    } while (0)

static void finish(struct seen *seen)
{
    TURN_UNTIL(seen, seen->gones == 1 && seen->open_outputs == 0);
    assert_int_equal(seen->exits, 1);
    assert_false(seen->end.signalled);
}

static void seen_done(struct seen *seen)
{
    sb_proc_free(seen->proc, on_closed_seen, seen);
    TURN_UNTIL(seen, seen->closes == 1);
    uv_close((uv_handle_t *)&seen->hang, NULL);
    uv_run(&seen->loop, UV_RUN_DEFAULT);
    assert_int_equal(uv_loop_close(&seen->loop), 0); /* no handle is left behind */
    sb_buf_done(&seen->out);
    sb_buf_done(&seen->err);
}

/* ---- the tests ------------------------------------------------------------------------ */

static void on_written(uv_write_t *write, int status)
{
    assert_int_equal(status, 0);
    sb_proc_close_input(((struct seen *)write->data)->proc);
}

static void bytes_pass_through_all_three_pipes_unchanged(void **state)
{
    struct seen seen;
    uv_write_t write = {.data = &seen};
    size_t len = 1000000; /* many times what the pipes hold */
    char *bytes = sb_alloc(len);
    uv_buf_t buf = uv_buf_init(bytes, (unsigned)len);
    (void)state;

    for (size_t i = 0; i < len; i++)
        bytes[i] = (char)(i * 7 + i / 251);
    start_child(&seen, NULL, NULL, NULL, (const char *const[]){"echo", NULL});
    assert_int_equal(uv_write(&write, sb_proc_input(seen.proc), &buf, 1, on_written), 0);
    finish(&seen);
    assert_int_equal(seen.end.code, 7);
    assert_int_equal(seen.out.len, len);
    assert_memory_equal(seen.out.data, bytes, len);
    assert_int_equal(seen.err.len, 5);
    assert_memory_equal(seen.err.data, "e\0\r\n\xFF", 5);
    seen_done(&seen);
    sb_free(bytes);
}

static void an_exit_code_of_32_bits_is_not_cut(void **state)
{
    struct seen seen;
    (void)state;
    start_child(&seen, NULL, NULL, NULL, (const char *const[]){"code", "3221225794", NULL});
    finish(&seen);
    assert_int_equal(seen.end.code, 0xC0000142u);
    seen_done(&seen);
}

static void arguments_arrive_as_they_are(void **state)
{
    struct seen seen;
    (void)state;
    start_child(&seen, NULL, NULL, NULL,
                (const char *const[]){"args", "", "a b", "\"q\"", "back\\", "b\\\\\" x\\", "%PATH%",
                                      "\xE2\x82\xAC\xF0\x9F\x98\x80", NULL});
    finish(&seen);
    assert_string_equal(seen.out.data, "\na b\n\"q\"\nback\\\nb\\\\\" x\\\n%PATH%\n"
                                       "\xE2\x82\xAC\xF0\x9F\x98\x80\n");
    seen_done(&seen);
}

static void environment_and_folder_are_exactly_the_given_ones(void **state)
{
    struct seen seen;
    char *env[] = {"zz=last", "SystemRoot=C:\\windows", "SystemDrive=C:", "Mid=\xC3\xA9", NULL};
    (void)state;
    start_child(&seen, NULL, "C:\\windows", env, (const char *const[]){"env", NULL});
    finish(&seen);
    size_t lines = 0; /* in any order: Wine has its own */
    for (char *line = strtok(seen.out.data, "\n"); line; line = strtok(NULL, "\n"), lines++) {
        bool known = strcmp(line, "C:\\windows") == 0;
        for (size_t i = 0; env[i]; i++)
            known = known || strcmp(line, env[i]) == 0;
        if (!known)
            fail_msg("'%s' was not given", line);
    }
    assert_int_equal(lines, SB_COUNT(env)); /* the folder in the place of the NULL */
    seen_done(&seen);
}

static void a_handle_that_is_not_listed_is_not_inherited(void **state)
{
    SECURITY_ATTRIBUTES inherited = {sizeof inherited, NULL, TRUE};
    HANDLE event = CreateEventW(&inherited, TRUE, FALSE, NULL);
    struct seen seen;
    char value[32];
    wchar_t arguments[64];
    (void)state;

    snprintf(value, sizeof value, "%llu", (unsigned long long)(uintptr_t)event);
    start_child(&seen, NULL, NULL, NULL, (const char *const[]){"event", value, NULL});
    finish(&seen);
    assert_int_equal(WaitForSingleObject(event, 0), WAIT_TIMEOUT);
    seen_done(&seen);

    _snwprintf(arguments, SB_COUNT(arguments), L"event %hs", value); /* what it would do with it */
    HANDLE careless = start_self(arguments, TRUE);
    WaitForSingleObject(careless, HANG_MS);
    assert_int_equal(WaitForSingleObject(event, 0), WAIT_OBJECT_0);
    CloseHandle(careless);
    CloseHandle(event);
}

static HANDLE grandchild_of(struct seen *seen)
{
    TURN_UNTIL(seen, strchr(seen->out.data, '\n') != NULL);
    HANDLE process = OpenProcess(SYNCHRONIZE, FALSE, (DWORD)strtoul(seen->out.data, NULL, 10));
    assert_non_null(process);
    assert_int_equal(WaitForSingleObject(process, 0), WAIT_TIMEOUT);
    return process;
}

static void assert_ends(HANDLE process)
{
    assert_int_equal(WaitForSingleObject(process, HANG_MS), WAIT_OBJECT_0);
    CloseHandle(process);
}

static void kill_ends_the_grandchildren(void **state)
{
    struct seen seen;
    (void)state;
    start_child(&seen, NULL, NULL, NULL, (const char *const[]){"tree", NULL});
    HANDLE grandchild = grandchild_of(&seen);
    sb_proc_kill(seen.proc);
    sb_proc_kill(seen.proc);
    finish(&seen);
    assert_int_equal(seen.end.code, 137);
    assert_ends(grandchild);
    seen_done(&seen);
}

static void it_is_not_gone_while_a_grandchild_lives(void **state)
{
    struct seen seen;
    (void)state;
    start_child(&seen, NULL, NULL, NULL, (const char *const[]){"orphan", NULL});
    HANDLE grandchild = grandchild_of(&seen);
    TURN_UNTIL(&seen, seen.exits == 1);
    assert_int_equal(seen.end.code, 3);
    for (int i = 0; i < 20; i++)
        uv_run(&seen.loop, UV_RUN_NOWAIT);
    assert_int_equal(seen.gones, 0);
    assert_int_equal(WaitForSingleObject(grandchild, 0), WAIT_TIMEOUT);
    sb_proc_kill(seen.proc);
    finish(&seen);
    assert_ends(grandchild);
    seen_done(&seen);
}

/* A host of its own, which starts a tree and tells us of it. */
static int child_host(void)
{
    struct seen seen;
    start_child(&seen, NULL, NULL, NULL, (const char *const[]){"tree", NULL});
    CloseHandle(grandchild_of(&seen));
    printf("%s", seen.out.data);
    fflush(stdout);
    Sleep(INFINITE);
    return 0;
}

static void a_host_that_is_killed_takes_the_tree_with_it(void **state)
{
    struct seen seen;
    (void)state;
    start_child(&seen, NULL, NULL, NULL, (const char *const[]){"host", NULL});
    HANDLE grandchild = grandchild_of(&seen);
    HANDLE host = OpenProcess(PROCESS_TERMINATE, FALSE, (DWORD)sb_proc_pid(seen.proc));
    assert_true(TerminateProcess(host, 1)); /* the host alone, not the job it is in */
    CloseHandle(host);
    assert_ends(grandchild);
    finish(&seen);
    seen_done(&seen);
}

static struct sb_box_os *open_os(const char *workspace)
{
    struct sb_box_os_want want = {.runtime_dir = "", .box_id = "x", .workspace = workspace};
    struct sb_box_os *os = NULL;
    struct sb_err err = {0};
    sb_box_os_open(&want, &os, &err);
    assert_string_equal(err.text, "");
    return os;
}

static void a_box_may_write_in_its_own_folder_and_its_tmp(void **state)
{
    struct seen seen;
    char *folder = new_folder();
    struct sb_box_os *os = open_os(folder);
    (void)state;
    start_child(&seen, os, folder, NULL, (const char *const[]){"write", NULL});
    finish(&seen);
    assert_int_equal(seen.end.code, 0);
    seen_done(&seen);
    sb_box_os_close(os);
    assert_int_equal(sb_dir_remove_tree(folder, NULL), 0);
    sb_free(folder);
}

static void a_box_runs_at_low_integrity(void **state)
{
    struct seen seen;
    struct sb_box_os *os = open_os(NULL);
    (void)state;
    start_child(&seen, os, NULL, NULL, (const char *const[]){"integrity", NULL});
    finish(&seen);
    char *level = sb_strdup(seen.out.data);
    seen_done(&seen);
    sb_box_os_close(os);
    bool low = strcmp(level, "1000") == 0;
    sb_free(level);
    if (!low)
        SKIP_UNDER_WINE("keeps the integrity level of a token as it is");
    assert_true(low);
}

static void assert_refused(struct sb_launch *launch, enum sb_code code)
{
    struct seen seen;
    struct sb_err err = {0};
    struct sb_proc_events events = {&seen, on_exit_seen, on_gone_seen};
    seen_init(&seen);
    seen.proc = (struct sb_proc *)&seen; /* must stay untouched */
    assert_int_equal(sb_proc_start(&seen.loop, launch, &events, &seen.proc, &err), -1);
    assert_int_equal(err.code, code);
    assert_ptr_equal(seen.proc, &seen);
    uv_close((uv_handle_t *)&seen.hang, NULL);
    uv_run(&seen.loop, UV_RUN_DEFAULT);
    assert_int_equal(uv_loop_close(&seen.loop), 0);
    assert_int_equal(seen.exits + seen.gones, 0);
}

static void what_can_not_be_started_leaves_nothing(void **state)
{
    char *argv[] = {"x", NULL}, *env[] = {NULL}, *twice[] = {"a=1", "A=2", NULL};
    char *program = own_program();
    struct sb_launch_handle handle = {.number = 3, .kind = SB_HANDLE_INFO};
    (void)state;

    struct sb_launch launch = {.program = "C:\\no\\such.exe", .argv = argv, .env = env, .cwd = "C:\\"};
    assert_refused(&launch, SB_NOT_FOUND);
    launch.program = "C:\\x.bat"; /* the system would give it to cmd.exe */
    assert_refused(&launch, SB_BAD_REQUEST);
    launch.program = "such.exe";
    assert_refused(&launch, SB_BAD_REQUEST);
    launch.program = program;
    launch.cwd = "no";
    assert_refused(&launch, SB_BAD_REQUEST);
    launch.cwd = "C:\\";
    launch.env = twice;
    assert_refused(&launch, SB_BAD_REQUEST);
    launch.env = env;
    launch.handles = &handle;
    launch.handle_count = 1;
    assert_refused(&launch, SB_UNSUPPORTED);
    launch.handle_count = 0;
    argv[0] = sb_alloc(40000);
    memset(argv[0], 'x', 39999);
    assert_refused(&launch, SB_LIMIT);
    sb_free(argv[0]);
    sb_free(program);
}

static void there_is_no_inner_process_here(void **state)
{
    struct seen seen;
    struct sb_err err = {0};
    bool own = false;
    (void)state;
    start_child(&seen, NULL, NULL, NULL, (const char *const[]){"code", "0", NULL});
    assert_null(sb_proc_info(seen.proc));
    assert_int_equal(sb_proc_watch_inner(seen.proc, 1, &own, &err), -1);
    assert_int_equal(err.code, SB_UNSUPPORTED);
    finish(&seen);
    seen_done(&seen);
}

static int child(const char *mode, const char *value)
{
    _setmode(0, _O_BINARY);
    _setmode(1, _O_BINARY);
    _setmode(2, _O_BINARY);
    if (strcmp(mode, "echo") == 0)
        return child_echo();
    if (strcmp(mode, "args") == 0)
        return child_args();
    if (strcmp(mode, "env") == 0)
        return child_env();
    if (strcmp(mode, "event") == 0)
        return child_set_event(value);
    if (strcmp(mode, "tree") == 0 || strcmp(mode, "orphan") == 0)
        return child_tree(strcmp(mode, "tree") == 0);
    if (strcmp(mode, "host") == 0)
        return child_host();
    if (strcmp(mode, "integrity") == 0)
        return child_integrity();
    if (strcmp(mode, "write") == 0)
        return child_write();
    if (strcmp(mode, "sleep") == 0)
        Sleep(INFINITE);
    ExitProcess((UINT)strtoul(value ? value : "1", NULL, 10)); /* "code" */
}

int main(int argc, char **argv)
{
    if (argc > 2 && strcmp(argv[1], "child") == 0)
        return child(argv[2], argv[3]);
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(bytes_pass_through_all_three_pipes_unchanged),
        cmocka_unit_test(an_exit_code_of_32_bits_is_not_cut),
        cmocka_unit_test(arguments_arrive_as_they_are),
        cmocka_unit_test(environment_and_folder_are_exactly_the_given_ones),
        cmocka_unit_test(a_handle_that_is_not_listed_is_not_inherited),
        cmocka_unit_test(kill_ends_the_grandchildren),
        cmocka_unit_test(it_is_not_gone_while_a_grandchild_lives),
        cmocka_unit_test(a_host_that_is_killed_takes_the_tree_with_it),
        cmocka_unit_test(a_box_may_write_in_its_own_folder_and_its_tmp),
        cmocka_unit_test(a_box_runs_at_low_integrity),
        cmocka_unit_test(what_can_not_be_started_leaves_nothing),
        cmocka_unit_test(there_is_no_inner_process_here),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
