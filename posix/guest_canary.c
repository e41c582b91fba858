/* SPDX-License-Identifier: MIT
 * The canary: harmless attacks that a sandbox has to stop. The host believes a wall only when
 * it sees its attack denied in the box. */
#include "guest/guest.h"

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/alloc.h"

#define CONNECT_MS   2000
#define MIB          (1024u * 1024)
#define MIB_MAX      65536u
#define SLEEPER_SECS 120 /* what `kill` leaves behind outside a box ends by itself */
#define DISK_FILE    "canary-disk"

/* One line in one write: nothing is lost when the next attack gets us killed. */
static void say(const char *fmt, ...) SB_PRINTF(1, 2);
static void say(const char *fmt, ...)
{
    char line[256];
    va_list args;

    va_start(args, fmt);
    int len = vsnprintf(line, sizeof line, fmt, args);
    va_end(args);
    if (len > 0 && (size_t)len < sizeof line)
        (void)!write(1, line, (size_t)len);
}

static void say_result(const char *name, bool open, int error)
{
    if (open)
        say("%s open\n", name);
    else
        say("%s denied %d\n", name, error);
}

static bool number(const char *name, const char *text, unsigned long most, unsigned long *out)
{
    char *end = NULL;

    errno = 0;
    *out = strtoul(text, &end, 10);
    if (errno == 0 && end != text && *end == '\0' && *out > 0 && *out <= most)
        return true;
    say("%s error not a number from 1 to %lu\n", name, most);
    return false;
}

static void try_open(const char *name, const char *path, int flags)
{
    int fd = open(path, flags | O_CLOEXEC | O_NONBLOCK, 0600);
    int error = errno;

    if (fd >= 0)
        close(fd);
    say_result(name, fd >= 0, error);
}

static void read_outside(const char *name, const char *path)
{
    try_open(name, path, O_RDONLY);
}

static void write_outside(const char *name, const char *path)
{
    try_open(name, path, O_WRONLY | O_CREAT);
}

static int finish_connect(int fd)
{
    struct pollfd wait_for = {.fd = fd, .events = POLLOUT};
    int error = 0;
    socklen_t len = sizeof error;

    if (poll(&wait_for, 1, CONNECT_MS) <= 0)
        return ETIMEDOUT;
    return getsockopt(fd, SOL_SOCKET, SO_ERROR, &error, &len) < 0 ? errno : error;
}

static void try_connect(const char *name, const struct sockaddr *address, socklen_t len)
{
    int fd = socket(address->sa_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    int error = fd < 0 || connect(fd, address, len) < 0 ? errno : 0;

    if (error == EINPROGRESS)
        error = finish_connect(fd);
    if (fd >= 0)
        close(fd);
    say_result(name, error == 0, error);
}

static void network(const char *name, const char *port_text)
{
    unsigned long port;

    if (!number(name, port_text, 65535, &port))
        return;
    const struct sockaddr_in address = {
        .sin_family = AF_INET, .sin_port = htons((uint16_t)port), .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    try_connect(name, (const struct sockaddr *)&address, sizeof address);
}

static void endpoint(const char *name, const char *path)
{
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    size_t len = strlen(path);

    if (len == 0 || len >= sizeof address.sun_path) {
        say("%s error the path is empty or too long\n", name);
        return;
    }
    memcpy(address.sun_path, path, len);
    if (path[0] == '@') /* an abstract name: it has no file and no end mark */
        address.sun_path[0] = '\0';
    else
        len++;
    try_connect(name, (const struct sockaddr *)&address,
                (socklen_t)(offsetof(struct sockaddr_un, sun_path) + len));
}

static bool can_open(const char *path, int flags, int *error)
{
    int fd = open(path, flags | O_CLOEXEC);

    *error = errno;
    if (fd >= 0)
        close(fd);
    return fd >= 0;
}

/* True when a capability is effective, and when that can't be told. */
static bool has_capabilities(void)
{
    char text[4096];
    int fd = open("/proc/self/status", O_RDONLY | O_CLOEXEC);
    ssize_t len = fd < 0 ? 0 : read(fd, text, sizeof text - 1);

    if (fd >= 0)
        close(fd);
    text[len > 0 ? len : 0] = '\0';
    const char *line = strstr(text, "\nCapEff:");
    return line == NULL || strtoull(line + sizeof "\nCapEff:" - 1, NULL, 16) != 0;
}

static void identity(const char *name, const char *unused)
{
    int error = 0, ignored;
    const char *why = NULL;

    (void)unused;
    if (can_open("/proc/sys/kernel/core_pattern", O_WRONLY, &error))
        why = "core_pattern";
    else if (can_open("/etc/shadow", O_RDONLY, &ignored))
        why = "shadow";
    else if (getuid() == 0 || geteuid() == 0)
        why = "uid";
    else if (has_capabilities())
        why = "capabilities";
    else if (prctl(PR_GET_NO_NEW_PRIVS, 0, 0, 0, 0) != 1)
        why = "no_new_privs";
    if (why != NULL)
        say("%s open %s\n", name, why);
    else
        say_result(name, false, error);
}

static void processes(const char *name, const char *unused)
{
    (void)unused;
    pid_t pid = fork();
    int error = errno;

    if (pid == 0)
        _exit(0);
    if (pid > 0)
        waitpid(pid, NULL, 0);
    say_result(name, pid > 0, error);
}

/* In a child, which is what the kernel kills when the box has a limit on memory. */
_Noreturn static void touch_memory(size_t bytes)
{
    volatile char *memory = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

    if ((void *)memory == MAP_FAILED)
        _exit(1);
    for (size_t i = 0; i < bytes; i += 4096)
        memory[i] = 1;
    _exit(0);
}

static void memory(const char *name, const char *mib_text)
{
    unsigned long mib;
    int status = 0;

    if (!number(name, mib_text, MIB_MAX, &mib))
        return;
    pid_t pid = fork();
    if (pid == 0)
        touch_memory((size_t)mib * MIB);
    if (pid < 0 || waitpid(pid, &status, 0) != pid) {
        say("%s error cannot fork: %s\n", name, strerror(errno));
        return;
    }
    say_result(name, WIFEXITED(status) && WEXITSTATUS(status) == 0, ENOMEM);
}

static void disk(const char *name, const char *mib_text)
{
    unsigned long mib;
    int error = 0;

    if (!number(name, mib_text, MIB_MAX, &mib))
        return;
    signal(SIGXFSZ, SIG_IGN); /* a limit on file size is a denial, not a death */
    char *block = sb_alloc(MIB);
    memset(block, 'x', MIB);
    int fd = open(DISK_FILE, O_WRONLY | O_CREAT | O_TRUNC | O_NOFOLLOW | O_CLOEXEC, 0600);
    if (fd < 0)
        error = errno;
    for (unsigned long done = 0; error == 0 && done < (unsigned long long)mib * MIB;) {
        ssize_t put = write(fd, block, MIB - done % MIB);
        if (put < 0)
            error = errno;
        else
            done += (unsigned long)put;
    }
    if (fd >= 0) {
        close(fd);
        unlink(DISK_FILE);
    }
    sb_free(block);
    say_result(name, error == 0, error);
}

/* The sleeper: of no one's group, deaf to all it can be deaf to, holding no stream. */
_Noreturn static void sleep_detached(void)
{
    const int deaf[] = {SIGTERM, SIGHUP, SIGINT, SIGQUIT, SIGPIPE};

    for (size_t i = 0; i < SB_COUNT(deaf); i++)
        signal(deaf[i], SIG_IGN);
    for (int fd = 0; fd < 3; fd++)
        close(fd);
    sleep(SLEEPER_SECS);
    _exit(0);
}

static void leave_sleeper(const char *name, const char *unused)
{
    int pid_pipe[2];
    pid_t sleeper = -1;

    (void)unused;
    if (pipe2(pid_pipe, O_CLOEXEC) < 0) {
        say("%s error cannot make a pipe: %s\n", name, strerror(errno));
        return;
    }
    pid_t middle = fork();
    if (middle == 0) {
        setsid();
        sleeper = fork();
        if (sleeper == 0)
            sleep_detached();
        (void)!write(pid_pipe[1], &sleeper, sizeof sleeper);
        _exit(0);
    }
    close(pid_pipe[1]);
    if (middle > 0)
        waitpid(middle, NULL, 0);
    ssize_t got = read(pid_pipe[0], &sleeper, sizeof sleeper);
    close(pid_pipe[0]);
    if (got == sizeof sleeper && sleeper > 0)
        say("%s pid %d\n", name, (int)sleeper);
    else
        say("%s error cannot fork\n", name);
}

static const struct {
    const char *name;
    bool has_value;
    void (*attack)(const char *name, const char *value);
} attacks[] = {
    {"read-outside", true, read_outside},
    {"write-outside", true, write_outside},
    {"network", true, network},
    {"endpoint", true, endpoint},
    {"identity", false, identity},
    {"processes", false, processes},
    {"memory", true, memory},
    {"disk", true, disk},
    {"kill", false, leave_sleeper},
};

/* "NAME" or "NAME=VALUE" as the row has it; -1: no such attack. */
static int find_attack(const char *text)
{
    size_t len = strcspn(text, "=");

    for (size_t i = 0; i < SB_COUNT(attacks); i++)
        if (strlen(attacks[i].name) == len && strncmp(attacks[i].name, text, len) == 0 &&
            attacks[i].has_value == (text[len] == '='))
            return (int)i;
    return -1;
}

int sb_guest_canary(int count, char *const *names)
{
    for (int i = 0; i < count; i++)
        if (find_attack(names[i]) < 0)
            return 2; /* before any attack is made */
    for (int i = 0; i < count; i++) {
        int row = find_attack(names[i]);
        const char *value = strchr(names[i], '=');
        attacks[row].attack(attacks[row].name, value == NULL ? "" : value + 1);
    }
    return 0;
}
