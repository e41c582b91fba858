/* SPDX-License-Identifier: MIT
 * Any bytes as a stream of frames: each is a message or an error, and a message that was
 * read is written again byte for byte. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "wire/wire.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void require(bool holds)
{
    if (!holds)
        abort();
}

/* A row reads the frame and, when that worked, writes it to `out`. */
#define MESSAGE(name)                                                                                        \
    static int copy_##name(const struct sb_frame *f, struct sb_buf *out)                                     \
    {                                                                                                        \
        struct sb_wire_##name m;                                                                             \
        struct sb_err err = {SB_OK, 0, ""};                                                                  \
        if (sb_wire_get_##name(f, &m, &err) < 0) {                                                           \
            require(err.code == SB_BAD_REQUEST && err.text[0]);                                              \
            return -1;                                                                                       \
        }                                                                                                    \
        WRITE_##name;                                                                                        \
        return 0;                                                                                            \
    }

#define WRITE_start sb_wire_put_start(out, &m)
#define WRITE_hello sb_wire_put_hello(out, &m)
#define WRITE_put   sb_wire_put_put(out, f->id, &m)
#define WRITE_get   sb_wire_put_get(out, f->id, &m)
#define WRITE_path  sb_wire_put_path(out, (enum sb_msg)f->type, f->id, m.path)
#define WRITE_exec  (sb_wire_put_exec(out, f->id, &m), sb_wire_exec_done(&m))
#define WRITE_exit  (sb_wire_put_exit(out, f->id, &m), sb_wire_exit_done(&m))
#define WRITE_error write_error(out, f->id, &m)

static void write_error(struct sb_buf *out, uint32_t id, const struct sb_wire_error *m)
{
    struct sb_err err = {(enum sb_code)m->code, m->os, ""};
    memcpy(err.text, m->text, sizeof m->text);
    sb_wire_put_error(out, id, &err);
}

MESSAGE(start)
MESSAGE(hello)
MESSAGE(put)
MESSAGE(get)
MESSAGE(path)
MESSAGE(exec)
MESSAGE(exit)
MESSAGE(error)

static int copy_credit(const struct sb_frame *f, struct sb_buf *out)
{
    uint32_t bytes = 0;
    if (sb_wire_get_credit(f, &bytes, NULL) < 0)
        return -1;
    sb_wire_put_credit(out, (enum sb_channel)f->channel, f->id, bytes);
    return 0;
}

static int copy_plain(const struct sb_frame *f, struct sb_buf *out)
{
    sb_wire_put_frame(out, (enum sb_msg)f->type, (enum sb_channel)f->channel, f->id, f->payload, f->len);
    return 0;
}

/* The payload of DATA once more as a LIST stream. */
static void copy_entries(const struct sb_frame *f, struct sb_buf *out)
{
    size_t at = 0;
    for (;;) {
        struct sb_wire_entry e = {NULL, 0, 0, 0, 0};
        long used = sb_wire_take_entry(f->payload + at, f->len - at, &e, NULL);
        if (used <= 0)
            return;
        sb_buf_clear(out);
        sb_wire_put_entry(out, &e);
        require(out->len == (size_t)used && memcmp(out->data, f->payload + at, out->len) == 0);
        sb_free(e.path);
        at += (size_t)used;
    }
}

static const struct {
    uint8_t type;
    int (*copy)(const struct sb_frame *, struct sb_buf *);
} rows[] = {
    {SB_MSG_START, copy_start},     {SB_MSG_HELLO, copy_hello}, {SB_MSG_PUT, copy_put},
    {SB_MSG_GET, copy_get},         {SB_MSG_LIST, copy_path},   {SB_MSG_REMOVE, copy_path},
    {SB_MSG_EXEC, copy_exec},       {SB_MSG_EXIT, copy_exit},   {SB_MSG_ERROR, copy_error},
    {SB_MSG_CREDIT, copy_credit},   {SB_MSG_DATA, copy_plain},  {SB_MSG_END, copy_plain},
    {SB_MSG_KILL, copy_plain},      {SB_MSG_DONE, copy_plain},  {SB_MSG_CANCEL, copy_plain},
    {SB_MSG_INTERRUPT, copy_plain},
};

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct sb_buf out;
    size_t at = 0;
    sb_buf_init(&out, SB_WIRE_HEADER + SB_WIRE_PAYLOAD_MAX);
    for (;;) {
        struct sb_frame f;
        long used = sb_wire_take(data + at, size - at, &f, NULL);
        if (used <= 0)
            break;
        for (size_t i = 0; i < SB_COUNT(rows); i++) {
            sb_buf_clear(&out);
            if (rows[i].type == f.type && rows[i].copy(&f, &out) == 0)
                require(!out.full && out.len == (size_t)used && memcmp(out.data, data + at, out.len) == 0);
        }
        if (f.type == SB_MSG_DATA)
            copy_entries(&f, &out);
        at += (size_t)used;
    }
    sb_buf_done(&out);
    return 0;
}
