/* SPDX-License-Identifier: MIT */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <stdio.h>
#include <string.h>

#include "base/alloc.h"
#include "base/buf.h"
#include "sandbox/backends/bubblewrap.h"

static const char *const nothing[] = {NULL};

static char *plan_text(const struct sb_backend_facts *facts, int64_t workspace_mb,
                       const char *const *read_only)
{
    struct sb_grant grant = {.value[SB_ROW_WORKSPACE_MB] = workspace_mb, .value[SB_ROW_SHM_MB] = 64};
    struct sb_plan_want want = {.facts = facts,
                                .grant = &grant,
                                .guest = "/opt/x/llm-sandbox-guest",
                                .workspace = "",
                                .read_only = read_only};
    struct sb_plan plan = {0};
    struct sb_buf text;

    sb_bubblewrap.plan(&want, &plan);
    sb_buf_init(&text, 16384);
    sb_plan_text(&plan, &text);
    assert_false(text.full);
    sb_plan_done(&plan);
    assert_null(plan.argv.v);
    return sb_buf_take(&text);
}

/* The whole plan. Whoever changes a line here changes the walls: see docs/SECURITY.md. */
static void the_plan_is_this_to_the_letter(void **state)
{
    const struct sb_backend_facts facts = {.program = "/usr/bin/bwrap", .own_pids = true};
    char *text = plan_text(&facts, 256, nothing);

    (void)state;
    assert_string_equal(
        text,
        "program /usr/bin/bwrap\n"
        "argv bwrap --unshare-all --unshare-user --disable-userns --new-session --die-with-parent --as-pid-1 "
        "--uid 1000 --gid 1000 --hostname sandbox --info-fd 4 "
        "--ro-bind /usr /usr --symlink usr/bin /bin --symlink usr/sbin /sbin --symlink usr/lib /lib "
        "--symlink usr/lib32 /lib32 --symlink usr/lib64 /lib64 --proc /proc --dev /dev "
        "--perms 0755 --size 268435456 --tmpfs /sandbox "
        "--perms 1777 --dir /sandbox/.tmp --symlink sandbox/.tmp /tmp "
        "--perms 1777 --size 67108864 --tmpfs /dev/shm "
        "--perms 0444 --file 5 /etc/passwd --perms 0444 --file 6 /etc/group "
        "--perms 0444 --file 7 /etc/hosts --perms 0444 --file 8 /etc/nsswitch.conf "
        "--ro-bind-try /etc/ld.so.cache /etc/ld.so.cache "
        "--ro-bind-try /etc/ld.so.conf.d /etc/ld.so.conf.d --ro-bind-try /etc/alternatives /etc/alternatives "
        "--symlink /proc/sys/kernel/hostname /etc/hostname --symlink /usr/share/zoneinfo/UTC /etc/localtime "
        "--chdir /sandbox --remount-ro /proc --remount-ro /dev --remount-ro / -- /proc/self/fd/3\n"
        "env PATH=/usr/local/bin:/usr/bin:/bin\n"
        "cwd /\n"
        "handle 4 info \n"
        "handle 5 data 131 bytes\n"
        "handle 6 data 43 bytes\n"
        "handle 7 data 69 bytes\n"
        "handle 8 data 89 bytes\n"
        "handle 3 guest /opt/x/llm-sandbox-guest\n");
    sb_free(text);
}

static void the_guest_goes_in_as_a_file_where_its_descriptor_cant_be_executed(void **state)
{
    const struct sb_backend_facts facts = {.program = "/usr/bin/bwrap", .guest_by_data = true};
    char *text = plan_text(&facts, 256, nothing);

    (void)state;
    assert_non_null(strstr(text, " --perms 0555 --ro-bind-data 3 /.guest --chdir /sandbox "));
    assert_non_null(strstr(text, " --remount-ro / -- /.guest\n"));
    assert_null(strstr(text, "/proc/self/fd"));
    assert_non_null(strstr(text, "handle 3 guest /opt/x/llm-sandbox-guest\n"));
    sb_free(text);
}

static void further_paths_are_read_only_and_keep_their_names(void **state)
{
    static const char *const paths[] = {"/etc/matplotlibrc", "/opt/my python", NULL};
    const struct sb_backend_facts facts = {.program = "/usr/bin/bwrap"};
    char *text = plan_text(&facts, 1, paths);

    (void)state;
    assert_non_null(strstr(text, " --ro-bind-try /etc/matplotlibrc /etc/matplotlibrc "
                                 "--ro-bind-try '/opt/my python' '/opt/my python' --chdir "));
    assert_non_null(strstr(text, " --size 1048576 --tmpfs /sandbox "));
    sb_free(text);
}

static void a_limit_nobody_could_keep_is_not_asked_for(void **state)
{
    const struct sb_backend_facts facts = {.program = "/usr/bin/bwrap"};
    char *text = plan_text(&facts, 0, nothing);

    (void)state;
    assert_non_null(strstr(text, " --perms 0755 --tmpfs /sandbox "));
    sb_free(text);
}

static void nothing_in_the_plan_names_a_path_of_the_host(void **state)
{
    const struct sb_backend_facts facts = {.program = "/usr/bin/bwrap"};
    char *text = plan_text(&facts, 256, nothing), *end = strstr(text, "\nenv ");

    (void)state;
    assert_non_null(end);
    *end = '\0'; /* program and argv: what /proc/1/cmdline could show */
    assert_null(strstr(text, "/opt/x"));
    sb_free(text);
}

static int pid_of(const char *info, long *pid)
{
    return sb_bubblewrap.inner_pid(info, strlen(info), pid);
}

static void the_inner_pid_is_read_when_the_whole_message_is_there(void **state)
{
    static const char info[] = "{\n    \"child-pid\": 9327,\n    \"cgroup-namespace\": 4026532182\n}\n";
    long pid = 0;

    (void)state;
    for (size_t len = 0; len < sizeof info - 3; len++)
        assert_int_equal(sb_bubblewrap.inner_pid(info, len, &pid), 0);
    assert_int_equal(pid, 0);
    assert_int_equal(sb_bubblewrap.inner_pid(info, sizeof info - 2, &pid), 1);
    assert_int_equal(pid, 9327);
    pid = 0;
    assert_int_equal(pid_of(info, &pid), 1);
    assert_int_equal(pid, 9327);
}

static void garbage_instead_of_a_pid_is_refused(void **state)
{
    static const char *const bad[] = {
        "x",
        " {",
        "{}",
        "{\"child-pid\": 1}",
        "{\"child-pid\": 0}",
        "{\"child-pid\": -5}",
        "{\"child-pid\": 4194305}",
        "{\"child-pid\": 12.5}",
        "{\"child-pid\": \"12\"}",
        "{\"child-pid\": 12, \"child-pid\": 13}",
        "{\"Child-Pid\": 12}",
        "{\"child-pid\": 12} {}",
        "{\"child-pid\": 99999999999999999999}",
        "{\"a\": {\"child-pid\": 12}}",
    };
    long pid = 77;

    (void)state;
    for (size_t i = 0; i < SB_COUNT(bad); i++)
        assert_int_equal(pid_of(bad[i], &pid), -1);
    assert_int_equal(pid, 77);
}

static void versions_from_0_8_on_are_accepted(void **state)
{
    static const struct {
        const char *line, *version; /* NULL: refused */
    } cases[] = {
        {"bubblewrap 0.8.0", "0.8.0"},
        {"bubblewrap 0.11.0", "0.11.0"},
        {"bubblewrap 1.0", "1.0.0"},
        {"bubblewrap 0.7.0", NULL},
        {"bubblewrap 0.4.1", NULL},
        {"", NULL},
        {"hello", NULL},
        {"bubblewrap", NULL},
        {"bubblewrap 0.8.0 or so", NULL},
        {"bubblewrap 0.x", NULL},
        {"bubblewrap 0.", NULL},
        {"bubblewrap 999999.0.0", NULL},
    };

    (void)state;
    for (size_t i = 0; i < SB_COUNT(cases); i++) {
        struct sb_backend_facts facts = {.program = "/usr/bin/bwrap"};
        struct sb_err err = {0};
        char mend[200] = "";
        int rc = sb_bubblewrap.check_version(cases[i].line, &facts, mend, sizeof mend, &err);

        assert_int_equal(rc, cases[i].version ? 0 : -1);
        if (cases[i].version) {
            assert_string_equal(facts.version, cases[i].version);
        } else {
            assert_int_equal(err.code, SB_UNSUPPORTED);
            assert_true(mend[0] != '\0');
        }
    }
}

static void check_said(const char *errors, enum sb_code code, const char *in_text, const char *in_mend)
{
    const struct sb_proc_end end = {.code = 1};
    struct sb_err err = {0};
    char mend[480] = "old";

    sb_bubblewrap.explain(errors, &end, mend, sizeof mend, &err);
    assert_int_equal(err.code, code);
    if (!strstr(err.text, in_text))
        fail_msg("'%s' is not in '%s'", in_text, err.text);
    if (in_mend[0] ? !strstr(mend, in_mend) : mend[0])
        fail_msg("'%s' is not in '%s'", in_mend, mend);
}

static void each_text_of_bwrap_has_its_sentence_and_mend(void **state)
{
    (void)state;
    check_said("bwrap: No permissions to create new namespace, likely because the kernel does not allow "
               "non-privileged user namespaces. See <https://deb.li/bubblewrap>.\n",
               SB_UNSUPPORTED, "does not allow unprivileged user namespaces",
               "kernel.unprivileged_userns_clone=1");
    check_said("bwrap: No permissions to creating new namespace, likely because", SB_UNSUPPORTED,
               "does not allow unprivileged user namespaces", "systempaths=unconfined");
    check_said(
        "bwrap: Creating new namespace failed: nesting depth or /proc/sys/user/max_*_namespaces exceeded "
        "(ENOSPC)\n",
        SB_UNSUPPORTED, "no more user namespaces", "user.max_user_namespaces");
    check_said(
        "bwrap: Creating new namespace failed, likely because the kernel does not support user namespaces.",
        SB_UNSUPPORTED, "the kernel has no user namespaces", "CONFIG_USER_NS");
    check_said("bwrap: Creating new namespace failed: Resource temporarily unavailable\n", SB_LIMIT,
               "no more processes", "ulimit -u");
    check_said("bwrap: Creating new namespace failed: Cannot allocate memory\n", SB_UNSUPPORTED,
               "refuses new namespaces", "userns_clone");
    check_said("bwrap: setting up uid map: Permission denied\n", SB_UNSUPPORTED, "AppArmor",
               "apparmor_restrict_unprivileged_userns=0");
    check_said("bwrap: setting up uid map: Invalid argument\n", SB_UNSUPPORTED, "user mapping", "sysctl");
    check_said("bwrap: loopback: Failed RTM_NEWADDR: Operation not permitted\n", SB_UNSUPPORTED, "AppArmor",
               "apparmor_restrict_unprivileged_userns=0");
    check_said("bwrap: cannot open /proc/sys/user/max_user_namespaces: Read-only file system\n",
               SB_UNSUPPORTED, "/proc is read-only", "systempaths=unconfined");
    check_said("bwrap: Can't mount proc on /newroot/proc: Operation not permitted\n", SB_UNSUPPORTED,
               "parts of /proc are hidden", "systempaths=unconfined");
    check_said("bwrap: pivot_root: Operation not permitted\n", SB_UNSUPPORTED, "CAP_SYS_ADMIN",
               "without --cap-add SYS_ADMIN");
    check_said("bwrap: The --size option is not permitted in setuid mode\n", SB_UNSUPPORTED, "setuid",
               "chmod u-s");
    check_said("bwrap: execvp /proc/self/fd/3: Permission denied\n", SB_DENIED, "guest can't be executed",
               "llm-sandbox doctor");
}

static void a_known_text_is_found_behind_other_lines(void **state)
{
    (void)state;
    check_said("warning: something\r\n\nbwrap: pivot_root: Operation not permitted\n", SB_UNSUPPORTED,
               "CAP_SYS_ADMIN", "SYS_ADMIN");
}

static void an_unknown_text_is_quoted_and_cut(void **state)
{
    char huge[4000];

    (void)state;
    check_said("bwrap: Unknown option --size\nbwrap: more\n", SB_HOST,
               "bwrap started no box: bwrap: Unknown option --size", "");
    check_said("\n\nsh: 1: syntax error", SB_HOST, "sh: 1: syntax error", "");
    memset(huge, 'x', sizeof huge - 1);
    huge[sizeof huge - 1] = '\0';
    check_said(huge, SB_HOST, "bwrap started no box: xxx", "");
}

static void silence_is_a_sentence_too(void **state)
{
    const struct sb_proc_end killed = {.signalled = true, .code = 9}, quiet = {.code = 0};
    struct sb_err err = {0};
    char mend[100];

    (void)state;
    sb_bubblewrap.explain("", &killed, mend, sizeof mend, &err);
    assert_string_equal(err.text, "bwrap was ended by signal 9 without a word");
    sb_bubblewrap.explain("\n", &quiet, mend, sizeof mend, &err);
    assert_string_equal(err.text, "bwrap ended with 0 without a word");
    assert_non_null(strstr(mend, "--reinstall"));
}

static void no_bwrap_is_not_found(void **state)
{
    struct sb_err err = {0};
    char mend[100] = "";

    (void)state;
    assert_int_equal(sb_bubblewrap_look("/nowhere/at/all/bwrap", mend, sizeof mend, &err), -1);
    assert_int_equal(err.code, SB_NOT_FOUND);
    assert_string_equal(mend, "apt-get install bubblewrap");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_plan_is_this_to_the_letter),
        cmocka_unit_test(the_guest_goes_in_as_a_file_where_its_descriptor_cant_be_executed),
        cmocka_unit_test(further_paths_are_read_only_and_keep_their_names),
        cmocka_unit_test(a_limit_nobody_could_keep_is_not_asked_for),
        cmocka_unit_test(nothing_in_the_plan_names_a_path_of_the_host),
        cmocka_unit_test(the_inner_pid_is_read_when_the_whole_message_is_there),
        cmocka_unit_test(garbage_instead_of_a_pid_is_refused),
        cmocka_unit_test(versions_from_0_8_on_are_accepted),
        cmocka_unit_test(each_text_of_bwrap_has_its_sentence_and_mend),
        cmocka_unit_test(a_known_text_is_found_behind_other_lines),
        cmocka_unit_test(an_unknown_text_is_quoted_and_cut),
        cmocka_unit_test(silence_is_a_sentence_too),
        cmocka_unit_test(no_bwrap_is_not_found),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
