/* SPDX-License-Identifier: MIT
 * Frames: one table says what each type may look like. */
#include "wire/wire.h"

#include "base/alloc.h"
#include "wire/fields.h"

#define PATH_FIELD  (4u + SB_WIRE_PATH_MAX)
#define ENTRY_FIELD (18u + PATH_FIELD)
#define EXIT_CAP    (60u + SB_WIRE_FILES_MAX * ENTRY_FIELD)

enum id_rule { ID_ZERO, ID_OPERATION, ID_ANY };

struct shape {
    uint8_t type;
    const char *name;
    uint32_t cap; /* most payload bytes */
    enum id_rule id;
    uint8_t channels; /* bit per channel */
};

enum { CONTROL = 1 << SB_CHAN_IN, STREAM = 1 << SB_CHAN_IN | 1 << SB_CHAN_OUT | 1 << SB_CHAN_ERR };

static const struct shape shapes[] = {
    {SB_MSG_START, "START", 8 + SB_WIRE_BUILD_LEN, ID_ZERO, CONTROL},
    {SB_MSG_PUT, "PUT", 4 + PATH_FIELD, ID_OPERATION, CONTROL},
    {SB_MSG_GET, "GET", 16 + PATH_FIELD, ID_OPERATION, CONTROL},
    {SB_MSG_LIST, "LIST", PATH_FIELD, ID_OPERATION, CONTROL},
    {SB_MSG_REMOVE, "REMOVE", PATH_FIELD, ID_OPERATION, CONTROL},
    {SB_MSG_EXEC, "EXEC", SB_WIRE_PAYLOAD_MAX, ID_OPERATION, CONTROL},
    {SB_MSG_KILL, "KILL", 0, ID_OPERATION, CONTROL},
    {SB_MSG_INTERRUPT, "INTERRUPT", 0, ID_OPERATION, CONTROL},
    {SB_MSG_CANCEL, "CANCEL", 0, ID_OPERATION, CONTROL},
    {SB_MSG_HELLO, "HELLO", 16 + SB_WIRE_BUILD_LEN, ID_ZERO, CONTROL},
    {SB_MSG_DONE, "DONE", 0, ID_OPERATION, CONTROL},
    {SB_MSG_ERROR, "ERROR", 11 + sizeof(((struct sb_wire_error *)0)->text), ID_ANY, CONTROL},
    {SB_MSG_EXIT, "EXIT", EXIT_CAP, ID_OPERATION, CONTROL},
    {SB_MSG_DATA, "DATA", SB_WIRE_DATA_MAX, ID_OPERATION, STREAM},
    {SB_MSG_END, "END", 0, ID_OPERATION, STREAM},
    {SB_MSG_CREDIT, "CREDIT", 4, ID_OPERATION, STREAM},
};
_Static_assert(EXIT_CAP <= SB_WIRE_PAYLOAD_MAX, "a full EXIT fits a frame");

static const struct shape *find(uint8_t type)
{
    for (size_t i = 0; i < SB_COUNT(shapes); i++)
        if (shapes[i].type == type)
            return &shapes[i];
    return NULL;
}

uint32_t sb_wire_cap(uint8_t type)
{
    const struct shape *shape = find(type);
    return shape ? shape->cap : 0;
}

const char *sb_wire_name(uint8_t type)
{
    const struct shape *shape = find(type);
    return shape ? shape->name : "unknown";
}

long sb_wire_take(const void *bytes, size_t len, struct sb_frame *out, struct sb_err *err)
{
    const unsigned char *at = bytes;
    if (len < SB_WIRE_HEADER)
        return 0;
    uint32_t payload = sb_load_u32(at), id = sb_load_u32(at + 8);
    const struct shape *shape = find(at[4]);
    if (!shape)
        return sb_fail(err, SB_BAD_REQUEST, "bad frame: unknown type %u", at[4]);
    if (at[5] >= SB_CHAN_COUNT || !(shape->channels >> at[5] & 1))
        return sb_fail(err, SB_BAD_REQUEST, "bad %s frame: channel %u", shape->name, at[5]);
    if (at[6] || at[7])
        return sb_fail(err, SB_BAD_REQUEST, "bad %s frame: reserved bytes are not zero", shape->name);
    if (payload > shape->cap)
        return sb_fail(err, SB_BAD_REQUEST, "bad %s frame: %lu bytes, at most %lu are allowed", shape->name,
                       (unsigned long)payload, (unsigned long)shape->cap);
    if ((shape->id == ID_ZERO && id != 0) || (shape->id == ID_OPERATION && id == 0))
        return sb_fail(err, SB_BAD_REQUEST, "bad %s frame: id %lu", shape->name, (unsigned long)id);
    if (len - SB_WIRE_HEADER < payload)
        return 0;
    *out = (struct sb_frame){at[4], at[5], id, at + SB_WIRE_HEADER, payload};
    return (long)(SB_WIRE_HEADER + payload);
}

void sb_wire_put_frame(struct sb_buf *out, enum sb_msg type, enum sb_channel channel, uint32_t id,
                       const void *payload, size_t len)
{
    size_t begin = sb_frame_begin(out, type, channel, id);
    if (len > 0)
        sb_buf_add(out, payload, len);
    sb_frame_end(out, begin);
}

void sb_wire_put_credit(struct sb_buf *out, enum sb_channel channel, uint32_t id, uint32_t bytes)
{
    size_t begin = sb_frame_begin(out, SB_MSG_CREDIT, channel, id);
    sb_write_u32(out, bytes);
    sb_frame_end(out, begin);
}

int sb_wire_get_credit(const struct sb_frame *frame, uint32_t *bytes, struct sb_err *err)
{
    struct sb_reader r = {.at = frame->payload, .left = frame->len};
    uint32_t granted = sb_read_u32(&r, "bytes", 1, SB_WIRE_WINDOW);
    if (sb_read_end(&r, "CREDIT", err) < 0)
        return -1;
    *bytes = granted;
    return 0;
}
