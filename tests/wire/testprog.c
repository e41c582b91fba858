/* SPDX-License-Identifier: MIT */
#include "testprog.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static uint64_t number(const char *text)
{
    return strtoull(text, NULL, 0);
}

void tp_say(const char *fmt, ...)
{
    char text[1024];
    va_list args;
    int n;

    va_start(args, fmt);
    n = vsnprintf(text, sizeof(text), fmt, args);
    va_end(args);
    tp_write(1, text, n < (int)sizeof(text) ? (size_t)n : sizeof(text) - 1);
}

static int write_pattern(int stream, uint64_t count)
{
    unsigned char chunk[32768];

    for (uint64_t at = 0; at < count;) {
        size_t n = count - at < sizeof(chunk) ? (size_t)(count - at) : sizeof(chunk);
        for (size_t i = 0; i < n; i++)
            chunk[i] = TP_PATTERN(at + i);
        if (tp_write(stream, chunk, n) < 0)
            return 1;
        at += n;
    }
    return 0;
}

/* pattern OUT_BYTES ERR_BYTES */
static int run_pattern(int argc, char **argv)
{
    return argc == 3 ? write_pattern(1, number(argv[1])) | write_pattern(2, number(argv[2])) : 2;
}

/* alternate N: N bytes, "o" to stdout and "e" to stderr in turn */
static int run_alternate(int argc, char **argv)
{
    for (uint64_t i = 0; argc == 2 && i < number(argv[1]); i++) {
        if (tp_write(i % 2 == 0 ? 1 : 2, i % 2 == 0 ? "o" : "e", 1) < 0)
            return 1;
    }
    return 0;
}

static int run_exit(int argc, char **argv)
{
    tp_exit(argc == 2 ? (uint32_t)number(argv[1]) : 2);
}

static int run_abort(int argc, char **argv)
{
    (void)argc, (void)argv;
    abort();
}

static int run_crash(int argc, char **argv)
{
    (void)argc, (void)argv;
    tp_crash();
}

/* echo: stdin to stdout, then its length to stderr */
static int run_echo(int argc, char **argv)
{
    char chunk[32768], text[32];
    uint64_t total = 0;
    long n;

    (void)argc, (void)argv;
    while ((n = tp_read(chunk, sizeof(chunk))) > 0) {
        if (tp_write(1, chunk, (size_t)n) < 0)
            return 1;
        total += (uint64_t)n;
    }
    snprintf(text, sizeof(text), "%llu", (unsigned long long)total);
    tp_write(2, text, strlen(text));
    return n < 0 ? 1 : 0;
}

static void say_with_nul(const char *text)
{
    tp_write(1, text, strlen(text) + 1);
}

/* args ...: each argument and a NUL */
static int run_args(int argc, char **argv)
{
    for (int i = 1; i < argc; i++)
        say_with_nul(argv[i]);
    return 0;
}

static int run_env(int argc, char **argv)
{
    (void)argc, (void)argv;
    tp_each_env(say_with_nul);
    return 0;
}

static int run_cwd(int argc, char **argv)
{
    char text[4096];

    (void)argc, (void)argv;
    if (tp_cwd(text, sizeof(text)) < 0)
        return 1;
    say_with_nul(text);
    return 0;
}

/* sleep [TOKEN]: for ever; the token is for those who look for us */
static int run_sleep(int argc, char **argv)
{
    (void)argc, (void)argv;
    tp_say("up\n");
    tp_sleep_for_ever();
}

static int run_stubborn(int argc, char **argv)
{
    (void)argc, (void)argv;
    tp_ignore_signals();
    tp_say("up\n");
    tp_sleep_for_ever();
}

static _Noreturn void tick_for_ever(void)
{
    for (;;) {
        tp_write(1, "tick\n", 5);
        tp_sleep_ms(20);
    }
}

/* tick [TOKEN]: prints for ever, also when nobody listens */
static int run_tick(int argc, char **argv)
{
    (void)argc, (void)argv;
    tp_ignore_signals();
    tick_for_ever();
}

/* flood [TOKEN]: prints for ever as fast as it goes, to both streams */
static int run_flood(int argc, char **argv)
{
    (void)argc, (void)argv;
    while (write_pattern(1, 32768) + write_pattern(2, 32768) < 2)
        ;
    return 1;
}

/* spawn child|apart VERB ...: starts it, says "launched", exits 0 */
static int run_spawn(int argc, char **argv)
{
    if (argc < 3 || tp_spawn(strcmp(argv[1], "apart") == 0, argv + 2) < 0)
        return 1;
    tp_say("launched\n");
    return 0;
}

/* family TOKEN: four descendants of all kinds, each of which says "up", and stays itself */
static int run_family(int argc, char **argv)
{
    static const char *const verbs[] = {"sleep", "stubborn"};

    for (int i = 0; i < 4; i++) {
        char *child[] = {(char *)(uintptr_t)verbs[i % 2], argv[argc - 1], NULL};
        if (tp_spawn(i / 2 == 1, child) < 0)
            return 1;
    }
    return run_stubborn(argc, argv);
}

/* closeout MS CODE: says "before", closes its outputs, runs on, exits */
static int run_closeout(int argc, char **argv)
{
    if (argc != 3)
        return 2;
    tp_say("before");
    tp_close(1);
    tp_close(2);
    tp_sleep_ms((unsigned)number(argv[1]));
    tp_exit((uint32_t)number(argv[2]));
}

/* closein: says "closed" once its stdin is closed, waits for no one, exits 6 */
static int run_closein(int argc, char **argv)
{
    (void)argc, (void)argv;
    tp_close(0);
    tp_say("closed\n");
    tp_sleep_ms(300);
    return 6;
}

/* burn MS: that much CPU time */
static int run_burn(int argc, char **argv)
{
    volatile uint64_t sink = 0;
    uint64_t until = tp_cpu_ms() + (argc == 2 ? number(argv[1]) : 0);

    while (tp_cpu_ms() < until) {
        for (int i = 0; i < 100000; i++)
            sink = sink + (uint64_t)i;
    }
    return 0;
}

/* touch MIB */
static int run_touch(int argc, char **argv)
{
    size_t len = argc == 2 ? (size_t)number(argv[1]) << 20 : 0;
    volatile char *memory = malloc(len);

    if (memory == NULL) {
        tp_say("no memory\n");
        return 3;
    }
    for (size_t i = 0; i < len; i += 1024)
        memory[i] = 1;
    tp_say("touched %d\n", memory[len / 2 / 1024 * 1024]);
    return 0;
}

/* file PATH BYTES */
static int run_file(int argc, char **argv)
{
    FILE *file = argc == 3 ? fopen(argv[1], "wb") : NULL;
    int rc = file == NULL ? 1 : 0;

    for (uint64_t i = 0; file != NULL && i < number(argv[2]); i++) {
        if (fputc(TP_PATTERN(i), file) == EOF)
            rc = 1;
    }
    if (file != NULL && fclose(file) != 0)
        rc = 1;
    return rc;
}

static int run_interruptible(int argc, char **argv)
{
    (void)argc, (void)argv;
    tp_catch_interrupt();
    tp_say("up\n");
    tp_sleep_for_ever();
}

static const struct tp_verb verbs[] = {
    {"pattern", run_pattern},
    {"alternate", run_alternate},
    {"exit", run_exit},
    {"abort", run_abort},
    {"crash", run_crash},
    {"echo", run_echo},
    {"args", run_args},
    {"env", run_env},
    {"cwd", run_cwd},
    {"sleep", run_sleep},
    {"stubborn", run_stubborn},
    {"tick", run_tick},
    {"flood", run_flood},
    {"spawn", run_spawn},
    {"family", run_family},
    {"closeout", run_closeout},
    {"closein", run_closein},
    {"burn", run_burn},
    {"touch", run_touch},
    {"file", run_file},
    {"interruptible", run_interruptible},
    {NULL, NULL},
};

int tp_main(int argc, char **argv)
{
    const struct tp_verb *tables[] = {verbs, tp_os_verbs};

    for (size_t t = 0; argc > 1 && t < 2; t++) {
        for (const struct tp_verb *verb = tables[t]; verb->name != NULL; verb++) {
            if (strcmp(verb->name, argv[1]) == 0)
                return verb->run(argc - 1, argv + 1);
        }
    }
    fprintf(stderr, "testprog: no such verb\n");
    return 2;
}
