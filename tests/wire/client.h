/* SPDX-License-Identifier: MIT
 * The host's end of the protocol for the wire suite: blocking, poll with deadlines, and
 * strict: whatever the guest may not do breaks the client with a sentence. One thread. */
#ifndef TESTS_WIRE_CLIENT_H
#define TESTS_WIRE_CLIENT_H

#include <stdbool.h>
#include <stdint.h>

#include "wire/wire.h"

#define CLIENT_OPS       512                 /* of one box */
#define CLIENT_KEEP_MAX  (32u * 1024 * 1024) /* bytes of a stream that are kept; all are counted */
#define CLIENT_INPUT_MAX (4u * 1024 * 1024)
#define CLIENT_OUT_MAX   (16u * 1024 * 1024)

struct client_op {
    uint32_t id;
    enum sb_msg request;
    enum sb_msg last; /* DONE, ERROR, END of a GET or LIST, EXIT; 0 while it is open */
    bool hold;        /* gives the guest no new credit */
    bool ended[SB_CHAN_COUNT];
    struct sb_buf bytes[SB_CHAN_COUNT];
    uint64_t got[SB_CHAN_COUNT];
    size_t window[SB_CHAN_COUNT]; /* what the guest may still send */
    size_t credit;                /* what we may still send on IN */
    struct sb_wire_exit exit;
    struct sb_wire_error error;
};

struct client {
    int to, from; /* the same one for a socket; borrowed */
    struct sb_buf in, out;
    bool ended; /* the guest's stdout is at its end */
    bool hello_seen, gave_up;
    struct sb_wire_hello hello;
    struct sb_wire_error error; /* of ERROR 0 */
    struct client_op ops[CLIENT_OPS];
    size_t op_count;
    struct sb_err err; /* why a call returned -1 */
};

void client_init(struct client *c, int to, int from);
void client_done(struct client *c); /* closes nothing */

/* Requests: gathered in c->out, sent by the next wait or by client_flush. */
void client_start(struct client *c, uint32_t flags);
struct client_op *client_put(struct client *c, const char *path, uint32_t flags);
struct client_op *client_get(struct client *c, const char *path, uint64_t offset, uint64_t most);
struct client_op *client_list(struct client *c, const char *path);
struct client_op *client_remove(struct client *c, const char *path);
struct client_op *client_exec(struct client *c, const struct sb_wire_exec *exec);
void client_simple(struct client *c, enum sb_msg type, const struct client_op *op); /* KILL, CANCEL, ... */
/* Queues what the credit allows, waiting for more until all is sent or the op is over. */
int client_send(struct client *c, struct client_op *op, const void *bytes, size_t len, int timeout_ms);
void client_send_end(struct client *c, struct client_op *op);
/* Gives the credit that a held op owes, and holds it no longer. */
void client_release(struct client *c, struct client_op *op);

/* All of these: 0, or -1 with c->err: timed out, the guest's stream ended, protocol broken. */
int client_flush(struct client *c, int timeout_ms);
int client_wait_hello(struct client *c, int timeout_ms);
int client_wait(struct client *c, const struct client_op *op, int timeout_ms);
int client_wait_bytes(struct client *c, const struct client_op *op, enum sb_channel channel, uint64_t count,
                      int timeout_ms);
int client_wait_text(struct client *c, const struct client_op *op, const char *text, int timeout_ms);
int client_wait_ended(struct client *c, int timeout_ms); /* the guest's stdout ends */
/* Takes what comes until nothing has come for `quiet_ms`. */
int client_drain(struct client *c, int quiet_ms);

int64_t client_now_ms(void);

#endif
