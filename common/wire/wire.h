/* SPDX-License-Identifier: MIT
 * The protocol between host and guest: frames, messages, caps. Pure encode and decode;
 * docs/GUEST-PROTOCOL.md is the prose to this header.
 *
 * A frame is a 12-byte header and a payload, all numbers little-endian:
 *     u32 payload bytes | u8 type | u8 channel | u16 zero | u32 id
 * Every operation (PUT, GET, LIST, REMOVE, EXEC) has an id that the host chooses: not 0,
 * never used twice in one box. Its byte streams are told apart by the channel. Each stream
 * starts with SB_WIRE_WINDOW bytes of credit, unasked; nobody sends beyond its credit. */
#ifndef SB_WIRE_WIRE_H
#define SB_WIRE_WIRE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/argv.h"
#include "base/buf.h"
#include "base/err.h"

#define SB_WIRE_VERSION     1
#define SB_WIRE_HEADER      12
#define SB_WIRE_WINDOW      (256u * 1024)       /* credit a stream starts with, and its most */
#define SB_WIRE_DATA_MAX    (64u * 1024)        /* payload of one DATA frame */
#define SB_WIRE_PAYLOAD_MAX (2u * 1024 * 1024)  /* payload of any other frame (EXEC: argv + env) */
#define SB_WIRE_ARGS_MAX    4096                /* strings in argv, and in env */
#define SB_WIRE_STRING_MAX  (128u * 1024 - 1)   /* one argument: Linux MAX_ARG_STRLEN less the NUL */
#define SB_WIRE_PATH_MAX    4095
#define SB_WIRE_FILES_MAX   256                 /* rows of an EXIT */
#define SB_WIRE_ENTRIES_MAX 10000               /* rows of a LIST */
#define SB_WIRE_OPS_MAX     80                  /* operations open at once, runs among them: a run's 64 files
                                                   and what goes with them */
#define SB_WIRE_RUNS_MAX    8                   /* runs at once */
#define SB_WIRE_BUILD_LEN   64                  /* hex digits of a build id */

/* TMPDIR of a box, below its workspace: never listed, never an artifact, not writable by
 * PUT, except where the host puts the runner scripts of language rows. */
#define SB_GUEST_TMP        ".tmp"
#define SB_GUEST_RUNNER_DIR ".tmp/.llm-sandbox"

enum sb_msg {
    /* host to guest */
    SB_MSG_START = 1,  /* first frame, id 0 */
    SB_MSG_PUT,        /* then DATA and END on channel IN; answered by DONE or ERROR */
    SB_MSG_GET,        /* answered by DATA and END on channel OUT, or ERROR */
    SB_MSG_LIST,       /* like GET; the bytes are entries (sb_wire_entry_*); ERROR limit after
                          them when there are more */
    SB_MSG_REMOVE,     /* file, link or empty folder; DONE or ERROR */
    SB_MSG_EXEC,       /* waits for all PUTs before it; DATA..., END, END, EXIT; or ERROR, also
                          when one of those PUTs failed */
    SB_MSG_KILL,       /* the run and its tree; EXIT follows */
    SB_MSG_INTERRUPT,  /* SIGINT, or CTRL_BREAK, to the program */
    SB_MSG_CANCEL,     /* ends a GET, LIST or PUT: answered by ERROR cancelled. For a PUT that
                          has failed: the host knows, the next EXEC does not depend on it */
    /* guest to host */
    SB_MSG_HELLO = 64, /* first frame, id 0 */
    SB_MSG_DONE,
    SB_MSG_ERROR,      /* ends an operation; id 0: the guest gives up and ends the box */
    SB_MSG_EXIT,       /* ends a run, after END of both its outputs */
    /* both */
    SB_MSG_DATA = 128,
    SB_MSG_END,        /* no payload: the stream is complete */
    SB_MSG_CREDIT      /* the receiver of a stream allows this many more bytes */
};

enum sb_channel { SB_CHAN_IN = 0, SB_CHAN_OUT = 1, SB_CHAN_ERR = 2, SB_CHAN_COUNT };

struct sb_frame {
    uint8_t type, channel;
    uint32_t id;
    const unsigned char *payload; /* borrowed from the input */
    uint32_t len;
};

/* Takes one frame off the front of `bytes`. Returns the bytes it covers, 0 when more input
 * is needed, -1 (err: what is wrong) when no valid frame can start so: unknown type or
 * channel, non-zero reserved bytes, a payload over its type's cap, a wrong id (0 for START
 * and HELLO, any for ERROR, not 0 for the others). All that is checked on the header, before
 * any payload is waited for. */
long sb_wire_take(const void *bytes, size_t len, struct sb_frame *out, struct sb_err *err);

/* Frames without a message struct. */
void sb_wire_put_frame(struct sb_buf *out, enum sb_msg type, enum sb_channel channel, uint32_t id,
                       const void *payload, size_t len);
void sb_wire_put_credit(struct sb_buf *out, enum sb_channel channel, uint32_t id, uint32_t bytes);
int sb_wire_get_credit(const struct sb_frame *frame, uint32_t *bytes, struct sb_err *err);

/* Messages. Encoders append one whole frame; text past the caps above sets out->full.
 * Decoders check every field, refuse left-over bytes, and on failure own nothing. */

enum { SB_START_OWN_PIDS = 1 /* the box has a pid namespace of its own: kill(-1) is safe for PID 1 */ };
struct sb_wire_start {
    uint32_t version;
    char build[SB_WIRE_BUILD_LEN + 1];
    uint32_t flags;
};

enum sb_wire_os { SB_WIRE_LINUX = 1, SB_WIRE_WINDOWS = 2 };
enum sb_wire_arch { SB_WIRE_X86_64 = 1, SB_WIRE_AARCH64 = 2 };
struct sb_wire_hello {
    uint32_t version;
    char build[SB_WIRE_BUILD_LEN + 1];
    uint32_t os, arch;
    uint32_t pid; /* as the guest sees itself: 1 in a pid namespace of its own */
};

enum { SB_PUT_EXECUTABLE = 1 };
struct sb_wire_put {
    char path[SB_WIRE_PATH_MAX + 1]; /* parents are made; an existing regular file is replaced */
    uint32_t flags;
};

struct sb_wire_get {
    char path[SB_WIRE_PATH_MAX + 1];
    uint64_t offset, most; /* most 0: to the end */
};

/* LIST: folder path, "" is the workspace. REMOVE: path. */
struct sb_wire_path {
    char path[SB_WIRE_PATH_MAX + 1];
};

enum sb_limit {
    SB_LIMIT_NONE,
    SB_LIMIT_WALL,
    SB_LIMIT_CPU,
    SB_LIMIT_MEMORY,
    SB_LIMIT_PROCESSES,
    SB_LIMIT_DISK,
    SB_LIMIT_OUTPUT,
    SB_LIMIT_COUNT
};

enum {
    SB_EXEC_GUEST = 1, /* the program is the guest's own file (its canary mode); argv[0] is a label */
    SB_EXEC_STDIN = 2, /* stdin is fed by DATA and END on channel IN; otherwise it is empty */
    SB_EXEC_FILES = 4  /* EXIT lists the files made or changed */
};
/* 0 is "no such limit" in every field. */
struct sb_wire_limits {
    uint64_t wall_ms, cpu_ms;
    uint64_t output_bytes; /* produced per stream; then SB_LIMIT_OUTPUT */
    uint64_t file_bytes;   /* RLIMIT_FSIZE */
    uint64_t memory_bytes; /* asked of the guest only where the host has nothing better */
    uint32_t open_files, processes;
};
struct sb_wire_exec {
    struct sb_argv argv, env; /* argv[0] is an absolute path of the box's system */
    char cwd[SB_WIRE_PATH_MAX + 1]; /* workspace path, "" is the workspace */
    uint32_t flags;
    struct sb_wire_limits limits;
};
void sb_wire_exec_done(struct sb_wire_exec *exec);

enum sb_exit_kind { SB_EXITED = 1, SB_SIGNALLED = 2, SB_CRASHED = 3 /* Windows code >= 0xC0000000 */ };
enum sb_entry_type { SB_ENTRY_FILE = 1, SB_ENTRY_FOLDER, SB_ENTRY_LINK, SB_ENTRY_OTHER };
enum { SB_ENTRY_BAD_NAME = 1 /* not UTF-8 on disk: shown repaired, can't be fetched */ };
struct sb_wire_entry {
    char *path; /* owned; workspace path */
    uint8_t type, flags;
    uint64_t size;
    int64_t mtime_ms; /* Unix time */
};

enum {
    SB_EXIT_PARENT_KILLED = 1, /* the run parent was killed; its orphans are dead too */
    SB_EXIT_FILES_CUT = 2      /* the list is not complete */
};
struct sb_wire_exit {
    uint32_t kind, code, limit, flags; /* code: exit code or signal number, all 32 bits */
    uint64_t wall_us, cpu_us;
    uint64_t peak_bytes; /* largest process of the run; 0: not known */
    uint64_t out_bytes, err_bytes; /* produced, also what was dropped at a kill */
    struct sb_wire_entry *files;
    size_t file_count;
};
void sb_wire_exit_done(struct sb_wire_exit *exit);

struct sb_wire_error {
    uint32_t code; /* enum sb_code */
    int32_t os;
    char text[480];
};

void sb_wire_put_start(struct sb_buf *out, const struct sb_wire_start *m);
void sb_wire_put_hello(struct sb_buf *out, const struct sb_wire_hello *m);
void sb_wire_put_put(struct sb_buf *out, uint32_t id, const struct sb_wire_put *m);
void sb_wire_put_get(struct sb_buf *out, uint32_t id, const struct sb_wire_get *m);
void sb_wire_put_path(struct sb_buf *out, enum sb_msg type, uint32_t id, const char *path);
void sb_wire_put_exec(struct sb_buf *out, uint32_t id, const struct sb_wire_exec *m);
void sb_wire_put_exit(struct sb_buf *out, uint32_t id, const struct sb_wire_exit *m);
void sb_wire_put_error(struct sb_buf *out, uint32_t id, const struct sb_err *e);
/* One entry of a LIST stream: self-delimiting, no frame around it. */
void sb_wire_put_entry(struct sb_buf *out, const struct sb_wire_entry *e);

int sb_wire_get_start(const struct sb_frame *f, struct sb_wire_start *out, struct sb_err *err);
int sb_wire_get_hello(const struct sb_frame *f, struct sb_wire_hello *out, struct sb_err *err);
int sb_wire_get_put(const struct sb_frame *f, struct sb_wire_put *out, struct sb_err *err);
int sb_wire_get_get(const struct sb_frame *f, struct sb_wire_get *out, struct sb_err *err);
int sb_wire_get_path(const struct sb_frame *f, struct sb_wire_path *out, struct sb_err *err);
int sb_wire_get_exec(const struct sb_frame *f, struct sb_wire_exec *out, struct sb_err *err);
int sb_wire_get_exit(const struct sb_frame *f, struct sb_wire_exit *out, struct sb_err *err);
int sb_wire_get_error(const struct sb_frame *f, struct sb_wire_error *out, struct sb_err *err);
/* Takes one entry off a LIST stream: bytes used, 0 more input needed, -1 bad. */
long sb_wire_take_entry(const void *bytes, size_t len, struct sb_wire_entry *out, struct sb_err *err);

/* The id of the sources of base, wire and guest: 64 hex digits. Host and guest of one
 * build have the same one, whatever they are compiled for. */
const char *sb_wire_build_id(void);

#endif
