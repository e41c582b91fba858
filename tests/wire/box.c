/* SPDX-License-Identifier: MIT */
#include "wire/box.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <grp.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "wire/client.h"

#define BOX_UID 1900000099u

/* ---- the suite's own directory -------------------------------------------------------- */

static int fail_os(struct sb_err *err, const char *what)
{
    return sb_fail(err, SB_HOST, "%s: %s", what, strerror(errno));
}

static int copy_program(const char *from, const char *to, struct sb_err *err)
{
    int rc = -1, in = open(from, O_RDONLY | O_CLOEXEC), out = -1;
    ssize_t n = 0;
    char chunk[65536];

    if (in < 0)
        return fail_os(err, from);
    out = open(to, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0755);
    if (out < 0) {
        fail_os(err, to);
        goto done;
    }
    while ((n = read(in, chunk, sizeof(chunk))) > 0) {
        if (write(out, chunk, (size_t)n) != n)
            break;
    }
    fchmod(out, 0755);
    rc = n == 0 ? 0 : fail_os(err, "cannot copy a program");
done:
    close(in);
    if (out >= 0)
        close(out);
    return rc;
}

static int remove_entry(const char *path, const struct stat *info, int type, struct FTW *at)
{
    (void)info, (void)type, (void)at;
    remove(path);
    return 0;
}

static void remove_tree(const char *path)
{
    nftw(path, remove_entry, 16, FTW_DEPTH | FTW_PHYS);
}

/* Memory where programs may be run from it: some tests make ten thousand files. */
static const char *scratch_template(void)
{
    struct statvfs info;
    bool fits = access("/dev/shm", W_OK) == 0 && statvfs("/dev/shm", &info) == 0 &&
                (info.f_flag & (ST_NOEXEC | ST_RDONLY)) == 0 && info.f_bavail > (64u << 20) / info.f_bsize;

    return fits ? "/dev/shm/sb-wire-XXXXXX" : "/tmp/sb-wire-XXXXXX";
}

int box_suite_open(struct box_suite *suite, enum box_mode mode, const char *guest, const char *program,
                   const char *runner, struct sb_err *err)
{
    const char *ending = mode == BOX_WINE ? ".exe" : "";

    memset(suite, 0, sizeof(*suite));
    suite->mode = mode;
    suite->runner = runner;
    snprintf(suite->dir, sizeof(suite->dir), "%s", scratch_template());
    if (mkdtemp(suite->dir) == NULL)
        return fail_os(err, "cannot make a directory");
    chmod(suite->dir, 0755);
    snprintf(suite->guest, sizeof(suite->guest), "%s/guest%s", suite->dir, ending);
    snprintf(suite->program, sizeof(suite->program), "%s/testprog%s", suite->dir, ending);
    if (copy_program(guest, suite->guest, err) < 0 || copy_program(program, suite->program, err) < 0) {
        box_suite_close(suite);
        return -1;
    }
    return 0;
}

void box_suite_close(struct box_suite *suite)
{
    if (suite->dir[0] != '\0')
        remove_tree(suite->dir);
    suite->dir[0] = '\0';
}

/* ---- in the child: only system calls, then exec --------------------------------------- */

static void die(const char *what)
{
    fprintf(stderr, "box: %s: %s\n", what, strerror(errno));
    _exit(125);
}

static void write_file(const char *path, const char *text)
{
    int fd = open(path, O_WRONLY | O_CLOEXEC);

    if (fd < 0 || write(fd, text, strlen(text)) < 0)
        die(path);
    close(fd);
}

static void enter_namespace(uid_t uid, gid_t gid)
{
    char map[64];

    if (uid != 0) {
        write_file("/proc/self/setgroups", "deny");
        snprintf(map, sizeof(map), "1000 %u 1", (unsigned)uid);
        write_file("/proc/self/uid_map", map);
        snprintf(map, sizeof(map), "1000 %u 1", (unsigned)gid);
        write_file("/proc/self/gid_map", map);
    }
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (mount("none", "/", NULL, MS_REC | MS_PRIVATE, NULL) < 0)
        die("cannot make mounts private");
    if (mount("proc", "/proc", "proc", MS_NOSUID | MS_NODEV | MS_NOEXEC, NULL) < 0)
        die("cannot mount /proc");
}

static void drop_uid(void)
{
    if (getuid() != 0)
        return;
    if (setgroups(0, NULL) < 0 || setresgid(BOX_UID, BOX_UID, BOX_UID) < 0 ||
        setresuid(BOX_UID, BOX_UID, BOX_UID) < 0)
        die("cannot drop to the box's uid");
}

static void exec_guest(const struct box_suite *suite, const struct box *box, int in, int out)
{
    char *argv[] = {(char *)(uintptr_t)suite->guest, NULL};
    char *env[] = {(char *)(uintptr_t) "PATH=/usr/bin:/bin", (char *)(uintptr_t) "SECRET_OF_GUEST=1",
                   (char *)(uintptr_t) "ASAN_OPTIONS=detect_leaks=0", NULL};
    sigset_t mask;

    drop_uid();
    prctl(PR_SET_PDEATHSIG, SIGKILL); /* the change of uid cleared it */
    if (chdir(box->dir) < 0 || dup2(in, 0) < 0 || dup2(out, 1) < 0)
        die("cannot set up the guest");
    /* What a careless launcher may hand down must not reach the programs. */
    signal(SIGPIPE, SIG_IGN);
    signal(SIGHUP, SIG_IGN);
    sigemptyset(&mask);
    sigaddset(&mask, SIGTERM);
    sigprocmask(SIG_SETMASK, &mask, NULL);
    if (dup2(2, 9) < 0)
        die("cannot leak a descriptor");
    execve(suite->guest, argv, env);
    die(suite->guest);
}

static void exec_wine(const struct box_suite *suite, const struct box *box, int in, int out)
{
    if (chdir(box->dir) < 0 || dup2(in, 0) < 0 || dup2(out, 1) < 0)
        die("cannot set up the guest");
    setsid();
    execl("/bin/sh", "sh", suite->runner, suite->guest, (char *)NULL);
    die("/bin/sh");
}

static void too_late(int signal_number)
{
    (void)signal_number;
    _exit(BOX_INIT_LEFTOVER);
}

static pid_t fork_bystander(void)
{
    pid_t pid = fork();

    if (pid == 0) {
        drop_uid();
        prctl(PR_SET_PDEATHSIG, SIGKILL);
        close(0);
        close(1);
        for (;;)
            pause();
    }
    return pid;
}

/* PID 1 that is not the guest: reaps, and at the end says whether the guest was clean. */
static void be_init(const struct box_suite *suite, const struct box *box, int in, int out)
{
    pid_t bystander = fork_bystander(), guest = fork(), pid;
    int status = 0, code = 0;

    if (guest == 0)
        exec_guest(suite, box, in, out);
    close(in);
    if (out != in)
        close(out);
    if (guest < 0 || bystander < 0)
        die("fork");
    while ((pid = waitpid(-1, &status, 0)) != guest) {
        if (pid == bystander)
            code = BOX_INIT_BYSTANDER;
    }
    if (code == 0)
        code = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
    /* The run parents die of the guest's death and take their trees with them, not at once. */
    signal(SIGALRM, too_late);
    alarm(3);
    if (waitpid(bystander, NULL, WNOHANG) == bystander)
        code = BOX_INIT_BYSTANDER;
    kill(bystander, SIGKILL);
    while (waitpid(-1, NULL, 0) > 0 || errno == EINTR)
        ;
    _exit(code);
}

/* ---- in the suite --------------------------------------------------------------------- */

static int open_streams(enum box_mode mode, int guest[2], int ours[2])
{
    int pair[2], input[2], output[2];

    if (mode != BOX_WINE) {
        if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair) < 0)
            return -1;
        guest[0] = guest[1] = pair[1];
        ours[0] = ours[1] = pair[0];
        return 0;
    }
    if (pipe2(input, O_CLOEXEC) < 0)
        return -1;
    if (pipe2(output, O_CLOEXEC) < 0) {
        close(input[0]);
        close(input[1]);
        return -1;
    }
    guest[0] = input[0], guest[1] = output[1];
    ours[0] = output[0], ours[1] = input[1];
    return 0;
}

static void close_streams(int pair[2])
{
    if (pair[0] >= 0)
        close(pair[0]);
    if (pair[1] >= 0 && pair[1] != pair[0])
        close(pair[1]);
    pair[0] = pair[1] = -1;
}

static pid_t start_child(const struct box_suite *suite, const struct box *box, const int guest[2])
{
    uid_t uid = getuid();
    gid_t gid = getgid();
    int flags = suite->mode == BOX_WINE ? 0 : CLONE_NEWPID | CLONE_NEWNS;
    pid_t pid;

    if (flags != 0 && uid != 0)
        flags |= CLONE_NEWUSER;
    pid = (pid_t)syscall(SYS_clone, flags | SIGCHLD, NULL, NULL, NULL, NULL);
    if (pid != 0)
        return pid;
    if (suite->mode == BOX_WINE)
        exec_wine(suite, box, guest[0], guest[1]);
    enter_namespace(uid, gid);
    if (suite->mode == BOX_SUBREAPER)
        be_init(suite, box, guest[0], guest[1]);
    exec_guest(suite, box, guest[0], guest[1]);
    return -1; /* not reached */
}

int box_open(const struct box_suite *suite, struct box *out, struct sb_err *err)
{
    static unsigned count;
    int guest[2] = {-1, -1}, ours[2] = {-1, -1};
    struct box box = {.mode = suite->mode, .pidfd = -1, .to = -1, .from = -1};

    snprintf(box.dir, sizeof(box.dir), "%s/w%u", suite->dir, ++count);
    if (mkdir(box.dir, 0700) < 0)
        return fail_os(err, box.dir);
    if (getuid() == 0 && suite->mode != BOX_WINE && chown(box.dir, BOX_UID, BOX_UID) < 0)
        return fail_os(err, box.dir);
    if (open_streams(suite->mode, guest, ours) < 0)
        return fail_os(err, "cannot make the guest's streams");
    box.pid = start_child(suite, &box, guest);
    close_streams(guest);
    if (box.pid < 0) {
        close_streams(ours);
        return sb_fail(err, SB_UNSUPPORTED, "no pid namespace to be had: %s", strerror(errno));
    }
    box.pidfd = (int)syscall(SYS_pidfd_open, box.pid, 0);
    box.from = ours[0];
    box.to = ours[1];
    *out = box;
    return 0;
}

void box_end_input(struct box *box)
{
    if (box->to == box->from) {
        shutdown(box->to, SHUT_WR);
    } else if (box->to >= 0) {
        close(box->to);
        box->to = -1;
    }
}

void box_close(struct box *box)
{
    int streams[2] = {box->from, box->to};

    if (box->pid == 0)
        return;
    if (box->mode == BOX_WINE) { /* its own end is the only one that takes the programs along */
        box_end_input(box);
        streams[1] = box->to;
        box_wait(box, 5000, NULL);
    }
    close_streams(streams);
    if (box->pid > 0) {
        kill(box->pid, SIGKILL);
        waitpid(box->pid, NULL, 0);
    }
    close(box->pidfd);
    remove_tree(box->dir);
    memset(box, 0, sizeof(*box));
}

bool box_wait(struct box *box, int timeout_ms, int *status)
{
    struct pollfd fd = {.fd = box->pidfd, .events = POLLIN};
    int got = 0;

    if (box->pid <= 0 || poll(&fd, 1, timeout_ms) != 1)
        return false;
    waitpid(box->pid, &got, 0);
    box->pid = -1; /* reaped: the number may be another's now */
    if (status != NULL)
        *status = got;
    return true;
}

static pid_t parent_of(pid_t pid)
{
    char path[64], text[512];
    const char *at;
    int fd, parent = 0;
    ssize_t n;

    snprintf(path, sizeof(path), "/proc/%d/stat", (int)pid);
    fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return 0;
    n = read(fd, text, sizeof(text) - 1);
    close(fd);
    text[n > 0 ? n : 0] = '\0';
    at = strrchr(text, ')');
    return at != NULL && sscanf(at + 1, " %*c %d", &parent) == 1 ? parent : 0;
}

static bool has_token(pid_t pid, const char *token)
{
    char path[64], text[4096];
    ssize_t n;
    int fd;

    snprintf(path, sizeof(path), "/proc/%d/cmdline", (int)pid);
    fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return false;
    n = read(fd, text, sizeof(text));
    close(fd);
    return n > 0 && memmem(text, (size_t)n, token, strlen(token)) != NULL;
}

/* The first process for which the two say yes; 0: none. */
static pid_t find_process(pid_t parent, const char *token)
{
    DIR *proc = opendir("/proc");
    struct dirent *entry;
    pid_t found = 0;

    while (found == 0 && proc != NULL && (entry = readdir(proc)) != NULL) {
        pid_t pid = (pid_t)strtol(entry->d_name, NULL, 10);
        if (pid > 0 && pid != getpid() && (parent == 0 || parent_of(pid) == parent) && has_token(pid, token))
            found = pid;
    }
    if (proc != NULL)
        closedir(proc);
    return found;
}

pid_t box_guest_pid(const struct box *box)
{
    return box->mode == BOX_SUBREAPER ? find_process(box->pid, "/guest") : box->pid;
}

bool box_token_gone(const char *token, int timeout_ms)
{
    int64_t deadline = client_now_ms() + timeout_ms;
    pid_t pid;

    while ((pid = find_process(0, token)) != 0) {
        struct pollfd fd = {.fd = (int)syscall(SYS_pidfd_open, pid, 0), .events = POLLIN};
        int64_t left = deadline - client_now_ms();
        if (fd.fd >= 0) {
            poll(&fd, 1, left > 0 ? (int)left : 0);
            close(fd.fd);
        }
        if (client_now_ms() >= deadline)
            return find_process(0, token) == 0;
    }
    return true;
}
