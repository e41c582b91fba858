/* SPDX-License-Identifier: MIT */
#include "testprog.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "testprog_forge.h"

int tp_write(int stream, const void *bytes, size_t len)
{
    const char *at = bytes;

    while (len > 0) {
        ssize_t n = write(stream, at, len);
        if (n < 0)
            return -1;
        at += n;
        len -= (size_t)n;
    }
    return 0;
}

long tp_read(void *bytes, size_t cap)
{
    return read(0, bytes, cap);
}

void tp_close(int stream)
{
    close(stream);
}

void tp_sleep_ms(unsigned ms)
{
    struct timespec left = {.tv_sec = ms / 1000, .tv_nsec = (long)(ms % 1000) * 1000000};

    while (nanosleep(&left, &left) < 0 && errno == EINTR)
        ;
}

void tp_sleep_for_ever(void)
{
    for (;;)
        pause();
}

void tp_exit(uint32_t code)
{
    _exit((int)code);
}

void tp_crash(void)
{
    volatile int *volatile nowhere = NULL;

    *nowhere = 1;
    _exit(99);
}

uint64_t tp_cpu_ms(void)
{
    struct timespec used;

    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &used);
    return (uint64_t)used.tv_sec * 1000 + (uint64_t)used.tv_nsec / 1000000;
}

int tp_cwd(char *out, size_t cap)
{
    return getcwd(out, cap) != NULL ? 0 : -1;
}

void tp_each_env(void (*each)(const char *text))
{
    extern char **environ;

    for (char **at = environ; *at != NULL; at++)
        each(*at);
}

void tp_ignore_signals(void)
{
    static const int polite[] = {SIGTERM, SIGHUP, SIGINT, SIGQUIT, SIGPIPE, SIGUSR1, SIGUSR2, SIGALRM};

    for (size_t i = 0; i < sizeof(polite) / sizeof(polite[0]); i++)
        signal(polite[i], SIG_IGN);
}

int tp_spawn(bool apart, char **argv)
{
    char *child[16] = {(char *)(uintptr_t) "testprog"};
    pid_t pid = fork();

    if (pid != 0) {
        if (apart && pid > 0)
            waitpid(pid, NULL, 0);
        return pid > 0 ? 0 : -1;
    }
    if (apart) {
        setsid();
        if (fork() != 0)
            _exit(0);
    }
    for (size_t i = 0; i < 14 && argv[i] != NULL; i++)
        child[i + 1] = argv[i];
    execv("/proc/self/exe", child);
    _exit(127);
}

static void on_interrupt(int number)
{
    (void)number;
    tp_write(1, "interrupted", 11);
    _exit(5);
}

void tp_catch_interrupt(void)
{
    signal(SIGINT, on_interrupt);
}

/* ---- verbs of POSIX only -------------------------------------------------------------- */

/* signal NUMBER: to itself */
static int run_signal(int argc, char **argv)
{
    raise(argc == 2 ? atoi(argv[1]) : SIGKILL);
    return 99;
}

/* stop: its whole process group */
static int run_stop(int argc, char **argv)
{
    (void)argc, (void)argv;
    tp_say("stopping");
    kill(0, SIGSTOP);
    tp_say("never");
    return 0;
}

/* Says "up" and waits for stdin: our parent has long told that we run. */
static void wait_for_go(void)
{
    char byte;

    tp_say("up\n");
    (void)!read(0, &byte, 1);
}

/* stopall: stops whatever it may, over and over */
static int run_stopall(int argc, char **argv)
{
    (void)argc, (void)argv;
    tp_say("up\n");
    while (kill(-1, SIGSTOP) == 0 || errno == ESRCH)
        continue;
    return 1;
}

/* killall: everything it may kill, its parent, PID 1; then says "alive" if it is */
static int run_killall(int argc, char **argv)
{
    pid_t parent = getppid();

    (void)argc, (void)argv;
    wait_for_go();
    kill(-1, SIGKILL);
    kill(1, SIGKILL);
    kill(parent, SIGKILL);
    tp_sleep_ms(200);
    tp_say("alive");
    return 0;
}

/* killparent [TOKEN]: only that, and sleeps for ever */
static int run_killparent(int argc, char **argv)
{
    (void)argc, (void)argv;
    wait_for_go();
    kill(getppid(), SIGKILL);
    tp_sleep_for_ever();
}

/* lower TOKEN [PID]: takes the right to new descriptors from PID, else its parent; sleeps for ever */
static int run_lower(int argc, char **argv)
{
    const struct rlimit none = {0, 0};

    wait_for_go();
    if (prlimit(argc > 2 ? (pid_t)strtol(argv[2], NULL, 10) : getppid(), RLIMIT_NOFILE, &none, NULL) < 0)
        return 1;
    tp_say("lowered\n");
    tp_sleep_for_ever();
}

/* state: "blocked ignored", in hex as the kernel has them */
static int run_state(int argc, char **argv)
{
    char line[256], blocked[64] = "?", ignored[64] = "?";
    FILE *file = fopen("/proc/self/status", "r");

    (void)argc, (void)argv;
    while (file != NULL && fgets(line, sizeof(line), file) != NULL) {
        sscanf(line, "SigBlk: %63s", blocked);
        sscanf(line, "SigIgn: %63s", ignored);
    }
    if (file != NULL)
        fclose(file);
    tp_say("%s %s", blocked, ignored);
    return 0;
}

/* fds: the open descriptors, and of 0, 1, 2 whether they are O_NONBLOCK */
static int run_fds(int argc, char **argv)
{
    (void)argc, (void)argv;
    for (int fd = 0; fd < 1024; fd++) {
        int flags = fcntl(fd, F_GETFL);
        if (flags >= 0)
            tp_say("%d%s ", fd, flags & O_NONBLOCK ? "n" : "");
    }
    return 0;
}

/* nonblock: makes 0, 1, 2 O_NONBLOCK for all who share them */
static int run_nonblock(int argc, char **argv)
{
    (void)argc, (void)argv;
    for (int fd = 0; fd < 3; fd++)
        fcntl(fd, F_SETFL, fcntl(fd, F_GETFL) | O_NONBLOCK);
    tp_say("done");
    return 0;
}

/* open: as many descriptors as it can get; says how many */
static int run_open(int argc, char **argv)
{
    int count = 0;

    (void)argc, (void)argv;
    while (count < 100000 && open("/dev/null", O_RDONLY) >= 0)
        count++;
    tp_say("%d", count);
    return 0;
}

/* limits: address space and file size as getrlimit has them */
static int run_limits(int argc, char **argv)
{
    struct rlimit core, size, files;

    (void)argc, (void)argv;
    getrlimit(RLIMIT_CORE, &core);
    getrlimit(RLIMIT_FSIZE, &size);
    getrlimit(RLIMIT_NOFILE, &files);
    tp_say("core %llu file %llu files %llu", (unsigned long long)core.rlim_cur,
           (unsigned long long)size.rlim_cur, (unsigned long long)files.rlim_cur);
    return 0;
}

const struct tp_verb tp_os_verbs[] = {
    {"signal", run_signal},
    {"stop", run_stop},
    {"stopall", run_stopall},
    {"killall", run_killall},
    {"killparent", run_killparent},
    {"lower", run_lower},
    {"state", run_state},
    {"fds", run_fds},
    {"nonblock", run_nonblock},
    {"open", run_open},
    {"limits", run_limits},
    {"forge", tp_forge},
    {"forge-control", tp_forge_control},
    {NULL, NULL},
};

int main(int argc, char **argv)
{
    return tp_main(argc, argv);
}
