/* SPDX-License-Identifier: MIT
 * An operating system for the guest that is all memory: the test holds the host's end of
 * the pipe, the programs and the clock. Every sb_gos_* symbol is defined here, so nothing
 * of the real bodies in libsb_guest is linked. */
#ifndef TESTS_UNIT_GUEST_FAKE_GOS_H
#define TESTS_UNIT_GUEST_FAKE_GOS_H

#include <setjmp.h>

#include "guest/guest_os.h"

#define FAKE_RUNS  32
#define FAKE_FILES 320

struct fake_output {
    struct sb_buf bytes; /* written by the program, not yet read */
    bool eof, wanted;
    bool closed; /* by sb_gos_run_close_output */
};

struct sb_gos_run {
    bool is_freed;
    char *argv0, *env0, *cwd; /* env0: "" when there is none */
    struct sb_wire_limits limits;
    bool guest_itself, feeds;
    struct sb_buf input; /* what the program has taken */
    size_t input_room;   /* how much more it takes */
    bool input_refused;  /* the program closed its stdin */
    bool input_closed, input_wanted;
    struct fake_output outputs[SB_CHAN_COUNT];
    bool dead, told;
    struct sb_gos_end end;
    struct sb_gos_usage usage;
    int kills, interrupts;
};

struct fake_file {
    char *path;
    enum sb_entry_type type;
    bool bad_name, executable;
    struct sb_buf data;
    int64_t mtime_ns;
    uint64_t inode;
};

struct sb_gos {
    int64_t now_us, until_us; /* the clock runs on by itself as far as until_us */
    bool idle;                /* the last sb_gos_next had nothing to report */
    struct sb_buf from_host, to_host;
    bool host_ended, want_write;
    size_t pipe_room; /* how much to_host takes before it is full */
    int writes;       /* since the last sb_gos_next */
    bool wrote_twice;
    bool own_pids;
    struct sb_gos_run *runs[FAKE_RUNS]; /* in the order of their start */
    size_t run_count;
    struct fake_file files[FAKE_FILES];
    size_t file_count;
    uint64_t inodes;
    int open_files, walks;
    bool fail_start, fail_write, fail_close, fail_read, fail_walk, cut_walk;
    bool ended;
    int end_code;
    jmp_buf on_end; /* where sb_gos_end goes */
};

void fake_init(struct sb_gos *gos);
void fake_done(struct sb_gos *gos);

struct fake_file *fake_file(struct sb_gos *gos, const char *path); /* NULL: none */
/* Makes or overwrites a file, as a program would. */
struct fake_file *fake_write(struct sb_gos *gos, const char *path, const char *text);
void fake_print(struct sb_gos_run *run, enum sb_channel channel, const void *bytes, size_t len);
/* The program ends and its pipes with it, unless they are `held` by someone. */
void fake_exit(struct sb_gos_run *run, uint32_t code, bool held);

#endif
