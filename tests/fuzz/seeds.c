/* SPDX-License-Identifier: MIT
 * Writes the first inputs of the wire and guest targets into the folders of its arguments:
 *     fuzz_seeds tests/fuzz/corpus/wire tests/fuzz/corpus/guest */
#include <stdio.h>
#include <string.h>

#include "base/alloc.h"
#include "wire/wire.h"

static const char build[] = "0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef";

static int save(const char *folder, const char *name, const struct sb_buf *bytes)
{
    char path[4096];
    snprintf(path, sizeof path, "%s/%s", folder, name);
    FILE *file = fopen(path, "wb");
    size_t written = file ? fwrite(bytes->data, 1, bytes->len, file) : 0;
    if (!file || fclose(file) != 0 || written != bytes->len) {
        fprintf(stderr, "cannot write '%s'\n", path);
        return -1;
    }
    return 0;
}

static void messages_of_the_host(struct sb_buf *out)
{
    struct sb_wire_start start = {.version = SB_WIRE_VERSION, .flags = SB_START_OWN_PIDS};
    struct sb_wire_put put = {.path = "dir/a.py", .flags = SB_PUT_EXECUTABLE};
    struct sb_wire_get get = {.path = "plot.png", .offset = 1, .most = 2};
    struct sb_wire_exec exec = {.cwd = "dir", .flags = SB_EXEC_STDIN | SB_EXEC_FILES};
    memcpy(start.build, build, sizeof build);
    exec.limits.wall_ms = 30000;
    sb_argv_push(&exec.argv, "/usr/bin/python3");
    sb_argv_push(&exec.argv, "a.py");
    sb_argv_push(&exec.env, "LANG=C.UTF-8");
    sb_wire_put_start(out, &start);
    sb_wire_put_put(out, 1, &put);
    sb_wire_put_frame(out, SB_MSG_DATA, SB_CHAN_IN, 1, "pass", 4);
    sb_wire_put_frame(out, SB_MSG_END, SB_CHAN_IN, 1, NULL, 0);
    sb_wire_put_exec(out, 2, &exec);
    sb_wire_put_credit(out, SB_CHAN_OUT, 2, 4096);
    sb_wire_put_frame(out, SB_MSG_INTERRUPT, SB_CHAN_IN, 2, NULL, 0);
    sb_wire_put_frame(out, SB_MSG_KILL, SB_CHAN_IN, 2, NULL, 0);
    sb_wire_put_get(out, 3, &get);
    sb_wire_put_frame(out, SB_MSG_CANCEL, SB_CHAN_IN, 3, NULL, 0);
    sb_wire_put_path(out, SB_MSG_LIST, 4, "");
    sb_wire_put_path(out, SB_MSG_REMOVE, 5, "dir/a.py");
    sb_wire_exec_done(&exec);
}

static void messages_of_the_guest(struct sb_buf *out)
{
    struct sb_wire_hello hello = {
        .version = SB_WIRE_VERSION, .os = SB_WIRE_LINUX, .arch = SB_WIRE_X86_64, .pid = 1};
    struct sb_wire_entry files[] = {{(char *)"plot.png", SB_ENTRY_FILE, 0, 9, 1700000000000},
                                    {(char *)"odd\xef\xbf\xbd", SB_ENTRY_LINK, SB_ENTRY_BAD_NAME, 0, -1}};
    struct sb_wire_exit exit = {.kind = SB_SIGNALLED, .code = 9, .limit = SB_LIMIT_WALL, .files = files};
    struct sb_err err;
    struct sb_buf list;
    memcpy(hello.build, build, sizeof build);
    exit.file_count = 2;
    sb_fail(&err, SB_NOT_FOUND, "cannot open 'a': no such file");
    sb_buf_init(&list, 4096);
    sb_wire_put_entry(&list, &files[0]);
    sb_wire_put_entry(&list, &files[1]);
    sb_wire_put_hello(out, &hello);
    sb_wire_put_frame(out, SB_MSG_DONE, SB_CHAN_IN, 1, NULL, 0);
    sb_wire_put_frame(out, SB_MSG_DATA, SB_CHAN_OUT, 4, list.data, list.len);
    sb_wire_put_error(out, 3, &err);
    sb_wire_put_frame(out, SB_MSG_END, SB_CHAN_ERR, 2, NULL, 0);
    sb_wire_put_exit(out, 2, &exit);
    sb_buf_done(&list);
}

/* Scripts of guest_fuzz.c: the high bit lets the guest run after the act. */
static const struct {
    const char *name;
    unsigned char bytes[48];
    size_t len;
} scripts[] = {
    /* START, PUT 1 a, DATA, END, EXEC 2 with files, print, exit */
    {"run",
     {0x81, 0, 0x06, 0, 1, 0, 0x03, 1, 2, 0x02, 3, 1, 0x85, 4, 0, 0, 0, 2, 0x89, 0, 4, 0x8a, 0, 0},
     24},
    /* START, EXEC 1 with stdin and limits, DATA, the program reads, time passes, KILL */
    {"limits", {0x81, 0, 0x85, 2, 9, 9, 1, 1, 0x83, 1, 4, 0x8b, 0, 9, 0x89, 0, 8, 0x8d, 9, 0x82, 0, 1}, 22},
    /* START, no room, GET 1 big, LIST 2, room, CREDIT, CANCEL */
    {"get", {0x81, 0, 0x87, 0, 0x86, 1, 1, 7, 0x86, 2, 2, 2, 0x87, 9, 0x84, 1, 1, 9, 0x82, 2, 1}, 21},
    /* START, a held pipe: EXEC 1, exit with it held, time passes */
    {"held", {0x81, 1, 0x85, 0, 0, 0, 0, 1, 0x8a, 0, 1, 0x8d, 99}, 13},
};

int main(int argc, char **argv)
{
    struct sb_buf out;
    int rc = 0;
    if (argc != 3)
        return 2;
    sb_buf_init(&out, SB_WIRE_PAYLOAD_MAX);
    messages_of_the_host(&out);
    rc |= save(argv[1], "seed-host", &out);
    sb_buf_clear(&out);
    messages_of_the_guest(&out);
    rc |= save(argv[1], "seed-guest", &out);
    for (size_t i = 0; i < SB_COUNT(scripts); i++) {
        char name[32];
        snprintf(name, sizeof name, "seed-%s", scripts[i].name);
        sb_buf_clear(&out);
        sb_buf_add(&out, scripts[i].bytes, scripts[i].len);
        rc |= save(argv[2], name, &out);
    }
    sb_buf_done(&out);
    return rc ? 1 : 0;
}
