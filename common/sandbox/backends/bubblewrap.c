/* SPDX-License-Identifier: MIT
 * The plan of a box: every operation bwrap is asked for, in its order. */
#include "sandbox/backends/bubblewrap.h"

#include <inttypes.h>
#include <string.h>

#include "base/alloc.h"

/* Descriptors of bwrap. It closes all but the guest's before it starts the guest. */
enum { FD_GUEST = 3, FD_INFO = 4, FD_FIRST_FILE = 5 };

#define GUEST_FILE "/.guest" /* where the guest lies when it can't be executed from its descriptor */

/* What code sees in /etc. Copied into the box's own root, not mounted: no path shows in
 * /proc/self/mountinfo. Without `hosts: files` each look-up of "localhost" asks a name server
 * that is not there. */
static const struct {
    const char *path, *text;
} FILES[] = {
    {"/etc/passwd", "root:x:0:0:root:/:/usr/sbin/nologin\n"
                    "sandbox:x:1000:1000:sandbox:/sandbox:/bin/bash\n"
                    "nobody:x:65534:65534:nobody:/:/usr/sbin/nologin\n"},
    {"/etc/group", "root:x:0:\nsandbox:x:1000:\nnogroup:x:65534:\n"},
    {"/etc/hosts", "127.0.0.1 localhost sandbox\n::1 localhost ip6-localhost ip6-loopback\n"},
    {"/etc/nsswitch.conf", "passwd: files\ngroup: files\nhosts: files\nnetworks: files\n"
                           "services: files\nprotocols: files\n"},
};

/* Texts of words and single blanks, cut apart by push_words. First the walls:
 * --unshare-user once more, since --unshare-all only tries and --disable-userns insists;
 * --disable-userns: no namespaces inside namespaces, so less kernel to attack;
 * --new-session: no terminal to type into (TIOCSTI);
 * --as-pid-1: the guest is PID 1, and when it dies the kernel ends the box. */
#define WALLS                                                                                                \
    "--unshare-all --unshare-user --disable-userns --new-session --die-with-parent --as-pid-1 "              \
    "--uid 1000 --gid 1000 --hostname sandbox"

/* The root is an empty tmpfs with these in it. /usr is the host's, read-only and nosuid; the
 * links are those of merged-usr systems, dangling where the host has no such folder. */
#define ROOT                                                                                                 \
    "--ro-bind /usr /usr --symlink usr/bin /bin --symlink usr/sbin /sbin --symlink usr/lib /lib "            \
    "--symlink usr/lib32 /lib32 --symlink usr/lib64 /lib64 --proc /proc --dev /dev"

/* /tmp is a folder of the workspace, so that one size covers both. */
#define TMP "--perms 1777 --dir /sandbox/.tmp --symlink sandbox/.tmp /tmp"

/* Of the host's /etc only what the dynamic linker and Debian's alternatives need. The rest is
 * links: the host name is the box's own, the clock is UTC. */
#define ETC                                                                                                  \
    "--ro-bind-try /etc/ld.so.cache /etc/ld.so.cache "                                                        \
    "--ro-bind-try /etc/ld.so.conf.d /etc/ld.so.conf.d --ro-bind-try /etc/alternatives /etc/alternatives "   \
    "--symlink /proc/sys/kernel/hostname /etc/hostname --symlink /usr/share/zoneinfo/UTC /etc/localtime"

/* Last of all. Without them / and /dev are writable tmpfs of half the machine's memory, and
 * a few files of /proc can be written. */
#define SEALS "--chdir /sandbox --remount-ro /proc --remount-ro /dev --remount-ro /"

static void push_words(struct sb_argv *argv, const char *words)
{
    while (*words) {
        size_t len = strcspn(words, " ");

        sb_argv_pushf(argv, "%.*s", (int)len, words);
        words += len + (words[len] == ' ');
    }
}

static void add_handle(struct sb_plan *plan, int number, enum sb_handle_kind kind, const char *text)
{
    plan->handles[plan->handle_count++] = (struct sb_launch_handle){
        .number = number, .kind = kind, .text = sb_strdup(text), .len = text ? strlen(text) : 0};
}

/* 0: nobody asked for a size and nobody could keep it. */
static void push_tmpfs(struct sb_argv *argv, const char *perms, int64_t size_mb, const char *path)
{
    sb_argv_push(argv, "--perms");
    sb_argv_push(argv, perms);
    if (size_mb > 0) {
        sb_argv_push(argv, "--size");
        sb_argv_pushf(argv, "%" PRId64, size_mb * 1024 * 1024);
    }
    sb_argv_push(argv, "--tmpfs");
    sb_argv_push(argv, path);
}

static void push_files(struct sb_plan *plan)
{
    int number = FD_FIRST_FILE;

    for (size_t i = 0; i < SB_COUNT(FILES); i++, number++) {
        push_words(&plan->argv, "--perms 0444 --file");
        sb_argv_pushf(&plan->argv, "%d", number);
        sb_argv_push(&plan->argv, FILES[i].path);
        add_handle(plan, number, SB_HANDLE_DATA, FILES[i].text);
    }
}

/* The same path inside as outside: interpreters know where they were installed. */
static void push_read_only(struct sb_argv *argv, const char *const *paths)
{
    for (; *paths; paths++) {
        sb_argv_push(argv, "--ro-bind-try");
        sb_argv_push(argv, *paths);
        sb_argv_push(argv, *paths);
    }
}

static void push_guest(struct sb_plan *plan, const struct sb_plan_want *want)
{
    add_handle(plan, FD_GUEST, SB_HANDLE_GUEST, want->guest);
    if (!want->facts->guest_by_data)
        return;
    push_words(&plan->argv, "--perms 0555 --ro-bind-data");
    sb_argv_pushf(&plan->argv, "%d", FD_GUEST);
    sb_argv_push(&plan->argv, GUEST_FILE);
}

void sb_bubblewrap_plan(const struct sb_plan_want *want, struct sb_plan *out)
{
    struct sb_argv *argv = &out->argv;

    out->program = sb_strdup(want->facts->program);
    out->cwd = sb_strdup("/");
    sb_env_set(&out->env, "PATH", "/usr/local/bin:/usr/bin:/bin"); /* all the guest's own environment */
    sb_argv_push(argv, "bwrap");
    push_words(argv, WALLS);
    sb_argv_push(argv, "--info-fd");
    sb_argv_pushf(argv, "%d", FD_INFO);
    add_handle(out, FD_INFO, SB_HANDLE_INFO, NULL);
    push_words(argv, ROOT);
    push_tmpfs(argv, "0755", want->grant->value[SB_ROW_WORKSPACE_MB], "/sandbox");
    push_words(argv, TMP);
    push_tmpfs(argv, "1777", want->grant->value[SB_ROW_SHM_MB], "/dev/shm");
    push_files(out);
    push_words(argv, ETC);
    push_read_only(argv, want->read_only);
    push_guest(out, want);
    push_words(argv, SEALS);
    sb_argv_push(argv, "--");
    if (want->facts->guest_by_data)
        sb_argv_push(argv, GUEST_FILE);
    else
        sb_argv_pushf(argv, "/proc/self/fd/%d", FD_GUEST);
}

static struct sb_target target(void)
{
    return (struct sb_target){.os = SB_WIRE_LINUX, .arch = sb_target_own_arch(), .workspace = "/sandbox"};
}

const struct sb_backend sb_bubblewrap = {
    .name = "bubblewrap",
    .isolation = "Linux namespaces, an empty root, an unprivileged user",
    .target = target,
    .find = sb_bubblewrap_find,
    .version_arg = "--version",
    .check_version = sb_bubblewrap_version,
    .plan = sb_bubblewrap_plan,
    .inner_pid = sb_bubblewrap_inner_pid,
    .explain = sb_bubblewrap_explain,
};
