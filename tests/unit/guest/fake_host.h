/* SPDX-License-Identifier: MIT
 * The host's end of the fake: sends requests, expects answers in order. */
#ifndef TESTS_UNIT_GUEST_FAKE_HOST_H
#define TESTS_UNIT_GUEST_FAKE_HOST_H

#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include "fake_gos.h"
#include "guest/dispatch.h"
#include "guest/guest.h"

struct fake_host {
    struct sb_gos os;
    struct sb_guest *guest;
    size_t at; /* frames of os.to_host before this were expected already */
};

int host_setup(void **state);     /* a guest that has seen START; its HELLO was expected */
int host_teardown(void **state);  /* no unexpected frame, no open file, no second write in a turn */
struct fake_host *host_new(void); /* HELLO is expected, START not yet sent */
void host_free(struct fake_host *host);

void settle(struct fake_host *host);              /* turns until nothing happens; the clock stands */
void pass_ms(struct fake_host *host, int64_t ms); /* ... and the clock runs on */

void send_start(struct fake_host *host, uint32_t version, const char *build, uint32_t flags);
void send_frame(struct fake_host *host, enum sb_msg type, enum sb_channel channel, uint32_t id);
void send_data(struct fake_host *host, uint32_t id, const char *bytes, size_t len);
void send_credit(struct fake_host *host, enum sb_channel channel, uint32_t id, uint32_t bytes);
void send_put(struct fake_host *host, uint32_t id, const char *path);                    /* PUT only */
void send_file(struct fake_host *host, uint32_t id, const char *path, const char *text); /* ... DATA, END */
void send_get(struct fake_host *host, uint32_t id, const char *path, uint64_t offset, uint64_t most);
void send_path(struct fake_host *host, enum sb_msg type, uint32_t id, const char *path);
void send_exec(struct fake_host *host, uint32_t id, uint32_t flags, const struct sb_wire_limits *limits);
/* Sends EXEC, settles and gives the run that was started. */
struct sb_gos_run *started(struct fake_host *host, uint32_t id, uint32_t flags,
                           const struct sb_wire_limits *limits);

void expect_nothing(struct fake_host *host);
void expect_frame(struct fake_host *host, enum sb_msg type, enum sb_channel channel, uint32_t id);
void expect_data(struct fake_host *host, enum sb_channel channel, uint32_t id, const char *text);
/* All DATA of this stream that comes next; returns how many bytes. */
size_t expect_bytes(struct fake_host *host, enum sb_channel channel, uint32_t id);
uint32_t expect_credit(struct fake_host *host, uint32_t id);
void expect_error(struct fake_host *host, uint32_t id, enum sb_code code, const char *part_of_text);
/* END, END and EXIT; the caller frees *out. */
void expect_exit(struct fake_host *host, uint32_t id, struct sb_wire_exit *out);
/* EXIT without files. */
void expect_exit_by(struct fake_host *host, uint32_t id, enum sb_exit_kind kind, uint32_t code,
                    enum sb_limit limit);
/* ERROR id 0, then the end with SB_GUEST_PROTOCOL. */
void expect_protocol_error(struct fake_host *host, const char *part_of_text);

#endif
