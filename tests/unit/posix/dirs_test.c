/* SPDX-License-Identifier: MIT
 * Each case asks in a child: as an ordinary user with an environment of its own (root gives up
 * root for it), or as root with empty /run and /var. */
#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/alloc.h"
#include "base/buf.h"
#include "platform/dirs.h"

/* A uid that root's tests become: nobody's, and no other test's that runs at the same time. */
#define ORDINARY (50000000u + (uid_t)getpid())

static char base[] = "/tmp/sb-dirs-XXXXXX"; /* of this test, owned by the asking user */
static char answer[1024];

static uid_t asking_uid(void)
{
    static uid_t uid; /* also in the child, whose pid is another */

    if (uid == 0)
        uid = geteuid() == 0 ? ORDINARY : geteuid();
    return uid;
}

static int set_up(void **state)
{
    (void)state;
    strcpy(base, "/tmp/sb-dirs-XXXXXX");
    umask(077);
    return mkdtemp(base) && chown(base, asking_uid(), (gid_t)-1) == 0 ? 0 : -1;
}

static int tear_down(void **state)
{
    char fallback[64];

    (void)state;
    snprintf(fallback, sizeof fallback, "/tmp/llm-sandbox-%u", (unsigned)asking_uid());
    if (geteuid() == 0) /* else it is the real one of a real user */
        sb_dir_remove_tree(fallback, NULL);
    return sb_dir_remove_tree(base, NULL);
}

static const char *below(const char *name)
{
    static char paths[4][256];
    static unsigned next;
    char *path = paths[next++ % 4];

    snprintf(path, sizeof paths[0], "%s/%s", base, name);
    return path;
}

static int ask(int which, struct sb_buf *out, struct sb_err *err)
{
    return which < 0 ? sb_dir_config_file(out, err) : sb_dir((enum sb_dir)which, out, err);
}

#define CONFIG (-1)

/* `answer` is the path, or "error: ..."; env is name, value, name, value, NULL. */
static void ask_as_user(int which, const char *const *env, bool as_root)
{
    int fds[2], status;
    ssize_t got;
    pid_t child;

    assert_int_equal(pipe(fds), 0);
    child = fork();
    if (child == 0) {
        struct sb_buf out;
        struct sb_err err;
        struct stat made;

        clearenv();
        for (; env[0]; env += 2)
            setenv(env[0], env[1], 1);
        if (as_root && (unshare(CLONE_NEWNS) < 0 || mount("none", "/", NULL, MS_REC | MS_PRIVATE, NULL) < 0 ||
                        mount("none", "/run", "tmpfs", 0, "mode=755") < 0 ||
                        mount("none", "/var", "tmpfs", 0, "mode=755") < 0))
            _exit(77);
        if (!as_root && geteuid() == 0 && setresuid(asking_uid(), asking_uid(), asking_uid()) < 0)
            _exit(1);
        sb_buf_init(&out, 4096);
        if (ask(which, &out, &err) < 0)
            dprintf(fds[1], "error: %s", err.text);
        else if (as_root && stat(out.data, &made) == 0)
            dprintf(fds[1], "%s %o", out.data, (unsigned)(made.st_mode & 07777));
        else
            dprintf(fds[1], "%s", out.data);
        sb_buf_done(&out);
        _exit(0);
    }
    close(fds[1]);
    got = read(fds[0], answer, sizeof answer - 1);
    answer[got > 0 ? got : 0] = '\0';
    close(fds[0]);
    waitpid(child, &status, 0);
    if (WIFEXITED(status) && WEXITSTATUS(status) == 77)
        skip();
    assert_int_equal(status, 0);
}

static void expect(int which, const char *const *env, const char *path)
{
    ask_as_user(which, env, false);
    assert_string_equal(answer, path);
}

static void expect_error(int which, const char *const *env, const char *part)
{
    ask_as_user(which, env, false);
    assert_memory_equal(answer, "error: ", 7);
    if (!strstr(answer, part))
        fail_msg("'%s' says nothing of '%s'", answer, part);
}

static mode_t mode_of(const char *path)
{
    struct stat status;

    assert_int_equal(lstat(path, &status), 0);
    assert_int_equal(status.st_uid, asking_uid());
    return status.st_mode & 07777;
}

static void make_dir(const char *path, uid_t owner, mode_t mode)
{
    assert_int_equal(mkdir(path, 0700), 0);
    assert_int_equal(chmod(path, mode), 0);
    assert_int_equal(chown(path, owner, (gid_t)-1), 0);
}

static void home_holds_what_xdg_does_not_move(void **state)
{
    const char *env[] = {"HOME", base, NULL};

    (void)state;
    expect(SB_DIR_STATE, env, below(".local/state/llm-sandbox"));
    assert_int_equal(mode_of(answer), 0700);
    assert_int_equal(mode_of(below(".local")), 0700);
    expect(SB_DIR_CACHE, env, below(".cache/llm-sandbox"));
    expect(SB_DIR_CACHE, env, below(".cache/llm-sandbox")); /* again: it is there */
    expect(CONFIG, env, below(".config/llm-sandbox/config.json"));
    assert_int_equal(access(below(".config"), F_OK), -1); /* named, not made */
}

static void xdg_variables_count_when_absolute(void **state)
{
    const char *absolute[] = {
        "HOME", "/nonexistent", "XDG_STATE_HOME", below("s/deep"), "XDG_CONFIG_HOME", below("c"), NULL};
    const char *relative[] = {"HOME", base, "XDG_STATE_HOME", "s", "XDG_CACHE_HOME", "", NULL};
    const char *foreign[] = {"HOME", base, "XDG_CONFIG_HOME", "/usr", NULL}; /* as after su */

    (void)state;
    expect(SB_DIR_STATE, absolute, below("s/deep/llm-sandbox"));
    assert_int_equal(mode_of(below("s")), 0700);
    expect(CONFIG, absolute, below("c/llm-sandbox/config.json"));
    expect(CONFIG, foreign, below(".config/llm-sandbox/config.json"));
    expect(SB_DIR_STATE, relative, below(".local/state/llm-sandbox"));
    expect(SB_DIR_CACHE, relative, below(".cache/llm-sandbox"));
}

static void runtime_directory_must_be_ours_to_count(void **state)
{
    const char *ours[] = {"XDG_RUNTIME_DIR", base, NULL};
    const char *foreign[] = {"XDG_RUNTIME_DIR", "/usr", NULL}; /* as after su: belongs to another */
    char fallback[64], standard[64];
    struct stat status;

    (void)state;
    expect(SB_DIR_RUNTIME, ours, below("llm-sandbox"));
    snprintf(fallback, sizeof fallback, "/tmp/llm-sandbox-%u/run", (unsigned)asking_uid());
    snprintf(standard, sizeof standard, "/run/user/%u", (unsigned)asking_uid());
    if (stat(standard, &status) == 0 && status.st_uid == asking_uid())
        snprintf(fallback, sizeof fallback, "/run/user/%u/llm-sandbox", (unsigned)asking_uid());
    expect(SB_DIR_RUNTIME, foreign, fallback);
    assert_int_equal(mode_of(answer), 0700);
}

static void without_a_home_of_ours_tmp_serves(void **state)
{
    static const char *const homes[] = {NULL, "relative", "/nonexistent", "/usr"};
    char expected[64];

    (void)state;
    for (size_t i = 0; i < SB_COUNT(homes); i++) {
        const char *env[] = {"HOME", homes[i], NULL};

        snprintf(expected, sizeof expected, "/tmp/llm-sandbox-%u/state", (unsigned)asking_uid());
        expect(SB_DIR_STATE, homes[i] ? env : &env[2], expected);
        assert_int_equal(mode_of(expected), 0700);
        *strrchr(expected, '/') = '\0';
        assert_int_equal(mode_of(expected), 0700);
    }
    strcat(expected, "/config/config.json");
    expect(CONFIG, (const char *[]){NULL}, expected);
}

static void directory_of_another_is_an_error_that_says_whose(void **state)
{
    const char *env[] = {"HOME", base, NULL};
    char text[128];

    (void)state;
    if (geteuid() != 0)
        skip(); /* only root can give a directory away */
    make_dir(below(".cache"), asking_uid(), 0700);
    make_dir(below(".cache/llm-sandbox"), 4711, 0755);
    snprintf(text, sizeof text, "/.cache/llm-sandbox' belongs to uid 4711, not to us (uid %u)",
             (unsigned)asking_uid());
    expect_error(SB_DIR_CACHE, env, text);
    assert_int_equal(chmod(below(".cache/llm-sandbox"), 0700), 0); /* not even readable */
    expect_error(SB_DIR_CACHE, env, text);
}

static void directory_that_others_may_write_is_an_error(void **state)
{
    const char *env[] = {"HOME", base, NULL};

    (void)state;
    make_dir(below(".cache"), asking_uid(), 0700);
    make_dir(below(".cache/llm-sandbox"), asking_uid(), 0770);
    expect_error(SB_DIR_CACHE, env, "/.cache/llm-sandbox' is writable by others (mode 0770)");
    chmod(below(".cache/llm-sandbox"), 0702);
    expect_error(SB_DIR_CACHE, env, "writable by others");
    chmod(below(".cache/llm-sandbox"), 0755);
    expect(SB_DIR_CACHE, env, below(".cache/llm-sandbox"));
}

static void link_or_file_in_the_place_is_an_error(void **state)
{
    const char *env[] = {"HOME", base, NULL};

    (void)state;
    make_dir(below(".cache"), asking_uid(), 0700);
    make_dir(below("elsewhere"), asking_uid(), 0700);
    assert_int_equal(symlink(below("elsewhere"), below(".cache/llm-sandbox")), 0);
    expect_error(SB_DIR_CACHE, env, "/.cache/llm-sandbox' is not a directory");
    unlink(below(".cache/llm-sandbox"));
    close(open(below(".cache/llm-sandbox"), O_CREAT | O_WRONLY, 0600));
    expect_error(SB_DIR_CACHE, env, "/.cache/llm-sandbox' is not a directory");
}

static void parents_may_be_links_and_errors_name_what_cannot_be_made(void **state)
{
    const char *linked[] = {"XDG_CACHE_HOME", below("link"), NULL};
    const char *impossible[] = {"XDG_CACHE_HOME", "/proc/none/such", NULL};

    (void)state;
    make_dir(below("real"), asking_uid(), 0700);
    assert_int_equal(symlink("real", below("link")), 0);
    expect(SB_DIR_CACHE, linked, below("link/llm-sandbox"));
    expect_error(SB_DIR_CACHE, impossible, "cannot make '/proc/none'");
}

static void overlong_path_is_an_error(void **state)
{
    char *path = sb_alloc(5000);
    const char *env[] = {"XDG_CACHE_HOME", path, NULL};

    (void)state;
    memset(path, '/', 4999);
    expect_error(SB_DIR_CACHE, env, "too long");
    sb_free(path);
}

static void root_has_system_directories_that_box_uids_can_pass(void **state)
{
    const char *env[] = {"HOME", base, "XDG_CACHE_HOME", base, NULL};

    (void)state;
    if (geteuid() != 0)
        skip();
    ask_as_user(SB_DIR_RUNTIME, env, true);
    assert_string_equal(answer, "/run/llm-sandbox 755");
    ask_as_user(SB_DIR_CACHE, env, true);
    assert_string_equal(answer, "/var/cache/llm-sandbox 755");
    ask_as_user(SB_DIR_STATE, env, true);
    assert_string_equal(answer, "/var/lib/llm-sandbox 755");
}

static void made_directory_has_its_mode_under_any_umask(void **state)
{
    struct sb_err err;
    struct stat status;

    (void)state;
    umask(0777);
    assert_int_equal(sb_dir_make(below("own"), 0, &err), 0);
    assert_int_equal(sb_dir_make(below("pass"), 1, &err), 0);
    umask(077);
    assert_int_equal(stat(below("own"), &status), 0);
    assert_int_equal(status.st_mode & 07777, 0700);
    assert_int_equal(stat(below("pass"), &status), 0);
    assert_int_equal(status.st_mode & 07777, 0711);
    assert_int_equal(sb_dir_make(below("own"), 0, &err), -1);
    assert_int_equal(err.code, SB_BUSY);
    assert_int_equal(sb_dir_make(below("no/parent"), 0, &err), -1);
    assert_int_equal(err.code, SB_NOT_FOUND);
}

int main(void)
{
#define CASE(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)
    const struct CMUnitTest tests[] = {
        CASE(home_holds_what_xdg_does_not_move),
        CASE(xdg_variables_count_when_absolute),
        CASE(runtime_directory_must_be_ours_to_count),
        CASE(without_a_home_of_ours_tmp_serves),
        CASE(directory_of_another_is_an_error_that_says_whose),
        CASE(directory_that_others_may_write_is_an_error),
        CASE(link_or_file_in_the_place_is_an_error),
        CASE(parents_may_be_links_and_errors_name_what_cannot_be_made),
        CASE(overlong_path_is_an_error),
        CASE(root_has_system_directories_that_box_uids_can_pass),
        CASE(made_directory_has_its_mode_under_any_umask),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
