/* SPDX-License-Identifier: MIT
 * The inside of the guest's dispatcher: what guest.c, requests.c, file_ops.c and run.c
 * share. Everything happens in sb_guest_turn, on one thread, between two calls of
 * sb_gos_next; only the start of a run may take a while. */
#ifndef SB_GUEST_DISPATCH_H
#define SB_GUEST_DISPATCH_H

#include "base/path.h"
#include "guest/changes.h"
#include "guest/guest_os.h"

#define SB_GUEST_READ_CHUNK (128u * 1024)       /* one read from the host */
#define SB_GUEST_QUEUE_ROOM (512u * 1024)       /* with more waiting for the host, no data is made */
#define SB_GUEST_QUEUE_MAX  (16u * 1024 * 1024) /* answers have no end when the host never reads */
#define SB_GUEST_LIST_MAX   (4u * 1024 * 1024)  /* bytes of one LIST */
#define SB_GUEST_CREDIT     (64u * 1024)        /* credit is granted in such steps */
#define SB_GUEST_CPU_MS     50                  /* how often CPU time is looked at */
#define SB_GUEST_QUIET_MS   200                 /* a dead tree's pipe that gives nothing is closed */
#define SB_GUEST_DRAIN_MAX  (2u * 1024 * 1024)  /* ... or gives more than any pipe holds (Linux: 1 MiB) */

struct sb_guest_output {
    bool wanted, ended;
    uint64_t produced; /* all that was read, also what was dropped */
    uint64_t drained;  /* read after the tree was dead */
    int64_t quiet_us;  /* when the patience with a dead tree's pipe ends */
};

/* One program, from EXEC to EXIT. */
struct sb_guest_exec {
    struct sb_wire_exec asked; /* argv and env only until it is started */
    struct sb_gos_run *os;     /* NULL: waits for PUTs */
    bool input_open, input_wanted;
    bool killed, ended;
    enum sb_limit limit;                           /* why we killed it; the first reason stays */
    int64_t wall_us, cpu_us;                       /* when to look next at these limits */
    struct sb_guest_output outputs[SB_CHAN_COUNT]; /* OUT and ERR */
    struct sb_changes changes;
};

/* An operation that takes longer than its frame: PUT, GET, LIST, EXEC. */
struct sb_guest_op {
    uint32_t id;
    enum sb_msg kind;
    /* The stream from the host (PUT, EXEC with stdin). */
    bool has_input, input_ended;
    uint32_t may_receive;             /* credit the host has left */
    uint32_t owed;                    /* taken, not yet granted again */
    uint32_t may_send[SB_CHAN_COUNT]; /* credit we have left on OUT and ERR */
    struct sb_gos_file *file;         /* PUT, GET */
    uint64_t left;                    /* GET, LIST: bytes still to send */
    struct sb_buf bytes;              /* LIST: all entries; EXEC: stdin not yet taken */
    bool cut;                         /* LIST: there is more than `bytes` */
    struct sb_guest_exec *run;        /* EXEC */
};

struct sb_guest {
    struct sb_gos *gos;
    int64_t now_us; /* of this turn */
    bool started;   /* START was seen and fits */
    bool write_wanted;
    uint32_t last_id;        /* ids only grow: what is not open and not above has ended */
    uint32_t failed_put;     /* a PUT whose failure the next EXEC shares; 0: none */
    struct sb_err put_error; /* why it failed */
    struct sb_buf in, out;
    struct sb_guest_op *ops[SB_WIRE_OPS_MAX]; /* in the order of their ids */
    size_t op_count;
    char scratch[SB_WIRE_DATA_MAX];
};

/* Sends HELLO. */
struct sb_guest *sb_guest_new(struct sb_gos *gos);
/* Waits for one event and does all it leads to; at most one write to the host. */
void sb_guest_turn(struct sb_guest *guest);
void sb_guest_free(struct sb_guest *guest); /* for tests: the guest itself never returns */

/* guest.c: the list of operations, and the queue to the host. */
struct sb_guest_op *sb_guest_op_new(struct sb_guest *guest, uint32_t id, enum sb_msg kind);
struct sb_guest_op *sb_guest_op_find(const struct sb_guest *guest, uint32_t id); /* NULL: none */
void sb_guest_op_free(struct sb_guest *guest, struct sb_guest_op *op);
/* Calls `step` for every operation; it may free the one it is called for. */
void sb_guest_each(struct sb_guest *guest, void (*step)(struct sb_guest *, struct sb_guest_op *));
bool sb_guest_has_room(const struct sb_guest *guest);
void sb_guest_send_data(struct sb_guest *guest, struct sb_guest_op *op, enum sb_channel channel,
                        const void *bytes, size_t len);
void sb_guest_send_end(struct sb_guest *guest, uint32_t id, enum sb_channel channel);
void sb_guest_send_error(struct sb_guest *guest, uint32_t id, const struct sb_err *err);
/* `len` bytes of the host's stream were used: grants new credit in steps. */
void sb_guest_used(struct sb_guest *guest, struct sb_guest_op *op, size_t len);

/* requests.c: one frame from the host. -1: it breaks the protocol. */
int sb_guest_request(struct sb_guest *guest, const struct sb_frame *frame, struct sb_err *err);

/* file_ops.c */
void sb_guest_put(struct sb_guest *guest, uint32_t id, const struct sb_wire_put *put);
void sb_guest_put_data(struct sb_guest *guest, struct sb_guest_op *op, const void *bytes, size_t len);
void sb_guest_put_end(struct sb_guest *guest, struct sb_guest_op *op);
void sb_guest_put_failed(struct sb_guest *guest, uint32_t id, const struct sb_err *err);
void sb_guest_get(struct sb_guest *guest, uint32_t id, const struct sb_wire_get *get);
void sb_guest_list(struct sb_guest *guest, uint32_t id, const char *path);
void sb_guest_remove(struct sb_guest *guest, uint32_t id, const char *path);
void sb_guest_cancel(struct sb_guest *guest, struct sb_guest_op *op);
/* GET and LIST: sends what credit and room allow. */
void sb_guest_produce(struct sb_guest *guest, struct sb_guest_op *op);
bool sb_guest_can_produce(const struct sb_guest *guest, const struct sb_guest_op *op);
/* For EXIT and LIST: borrows the path. */
struct sb_wire_entry sb_guest_entry(const struct sb_gos_entry *entry);
enum sb_path_rules sb_guest_path_rules(void);

/* run.c */
void sb_guest_exec_new(struct sb_guest *guest, uint32_t id, struct sb_wire_exec *exec); /* takes *exec */
/* PUT `id` has ended well, or (err) has not: for the runs that wait for it. */
void sb_guest_exec_put_over(struct sb_guest *guest, uint32_t id, const struct sb_err *err);
void sb_guest_exec_input(struct sb_guest *guest, struct sb_guest_op *op); /* op->bytes or its end came */
void sb_guest_exec_kill(struct sb_guest *guest, struct sb_guest_op *op);
void sb_guest_exec_event(struct sb_guest *guest, const struct sb_gos_event *event);
/* Limits, drain, EXIT. */
void sb_guest_exec_step(struct sb_guest *guest, struct sb_guest_op *op);
/* Wants the outputs that credit and room allow to read. */
void sb_guest_exec_watch(struct sb_guest *guest, struct sb_guest_op *op);
int64_t sb_guest_exec_deadline(const struct sb_guest_exec *run);
void sb_guest_exec_free(struct sb_guest_exec *run);

#endif
