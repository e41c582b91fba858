/* SPDX-License-Identifier: MIT
 * PUT, GET, LIST, REMOVE. */
#include "guest/dispatch.h"

#include <string.h>

#include "base/alloc.h"
#include "base/path.h"
#include "guest/guest.h"

enum sb_path_rules sb_guest_path_rules(void)
{
    return sb_gos_os() == SB_WIRE_WINDOWS ? SB_PATH_WINDOWS : SB_PATH_POSIX;
}

/* ---- which paths the host may name ---- */

enum use { READ, WRITE, FOLDER };

static bool same_letter(char a, char b)
{
    if (sb_guest_path_rules() == SB_PATH_WINDOWS && a >= 'A' && a <= 'Z')
        a = (char)(a - 'A' + 'a');
    return a == b;
}

/* `folder` is lower case; true also for the folder itself. */
static bool is_in(const char *path, const char *folder)
{
    for (; *folder; path++, folder++)
        if (!same_letter(*path, *folder))
            return false;
    return *path == '\0' || *path == '/';
}

/* TMPDIR belongs to the programs; only runner scripts go there. The caller frees *plain
 * in any case. */
static int check_path(const char *path, enum use use, struct sb_buf *plain, struct sb_err *err)
{
    int (*make_plain)(const char *, size_t, enum sb_path_rules, struct sb_buf *, struct sb_err *) =
        use == FOLDER ? sb_path_plain_folder : sb_path_plain;
    sb_buf_init(plain, SB_WIRE_PATH_MAX);
    if (make_plain(path, strlen(path), sb_guest_path_rules(), plain, err) < 0)
        return -1;
    if (!is_in(plain->data, SB_GUEST_TMP))
        return 0;
    if (use == WRITE && is_in(plain->data, SB_GUEST_RUNNER_DIR) && plain->len > strlen(SB_GUEST_RUNNER_DIR))
        return 0;
    return sb_fail(err, SB_DENIED, "'%s' is in the folder for temporary files", plain->data);
}

/* ---- PUT ---- */

void sb_guest_put_failed(struct sb_guest *guest, uint32_t id, const struct sb_err *err)
{
    sb_guest_send_error(guest, id, err);
    sb_guest_exec_put_over(guest, id, err);
}

void sb_guest_put(struct sb_guest *guest, uint32_t id, const struct sb_wire_put *put)
{
    struct sb_err err;
    struct sb_buf path;
    struct sb_gos_file *file = NULL;
    if (check_path(put->path, WRITE, &path, &err) < 0 ||
        sb_gos_create(guest->gos, path.data, put->flags & SB_PUT_EXECUTABLE, &file, &err) < 0) {
        sb_guest_put_failed(guest, id, &err);
    } else {
        struct sb_guest_op *op = sb_guest_op_new(guest, id, SB_MSG_PUT);
        op->has_input = true;
        op->file = file;
    }
    sb_buf_done(&path);
}

void sb_guest_put_data(struct sb_guest *guest, struct sb_guest_op *op, const void *bytes, size_t len)
{
    struct sb_err err;
    if (sb_gos_file_write(op->file, bytes, len, &err) == 0) {
        sb_guest_used(guest, op, len);
        return;
    }
    uint32_t id = op->id;
    sb_guest_op_free(guest, op);
    sb_guest_put_failed(guest, id, &err);
}

void sb_guest_put_end(struct sb_guest *guest, struct sb_guest_op *op)
{
    struct sb_err err;
    uint32_t id = op->id;
    int rc = sb_gos_file_close(op->file, true, &err);
    op->file = NULL;
    sb_guest_op_free(guest, op);
    if (rc < 0) {
        sb_guest_put_failed(guest, id, &err);
        return;
    }
    sb_wire_put_frame(&guest->out, SB_MSG_DONE, SB_CHAN_IN, id, NULL, 0);
    sb_guest_exec_put_over(guest, id, NULL);
}

/* ---- GET and LIST ---- */

void sb_guest_get(struct sb_guest *guest, uint32_t id, const struct sb_wire_get *get)
{
    struct sb_err err;
    struct sb_buf path;
    struct sb_gos_file *file = NULL;
    if (check_path(get->path, READ, &path, &err) < 0 ||
        sb_gos_open_file(guest->gos, path.data, get->offset, &file, &err) < 0) {
        sb_guest_send_error(guest, id, &err);
    } else {
        struct sb_guest_op *op = sb_guest_op_new(guest, id, SB_MSG_GET);
        op->file = file;
        op->left = get->most ? get->most : UINT64_MAX;
    }
    sb_buf_done(&path);
}

struct sb_wire_entry sb_guest_entry(const struct sb_gos_entry *entry)
{
    return (struct sb_wire_entry){.path = (char *)entry->path,
                                  .type = (uint8_t)entry->type,
                                  .flags = entry->bad_name ? SB_ENTRY_BAD_NAME : 0,
                                  .size = entry->size,
                                  .mtime_ms = entry->mtime_ns / 1000000};
}

static bool add_entry(void *ctx, const struct sb_gos_entry *entry)
{
    struct sb_guest_op *op = ctx;
    struct sb_wire_entry row = sb_guest_entry(entry);
    if (strlen(entry->path) > SB_WIRE_PATH_MAX) { /* deeper than any path can name */
        op->cut = true;
        return true;
    }
    sb_wire_put_entry(&op->bytes, &row);
    op->cut |= op->bytes.full;
    return !op->bytes.full;
}

void sb_guest_list(struct sb_guest *guest, uint32_t id, const char *folder)
{
    struct sb_err err;
    struct sb_buf path;
    int rc = check_path(folder, FOLDER, &path, &err);
    if (rc == 0) {
        struct sb_guest_op *op = sb_guest_op_new(guest, id, SB_MSG_LIST);
        bool cut = false;
        rc = sb_gos_walk(guest->gos, path.data, SB_WIRE_ENTRIES_MAX, add_entry, op, &cut, &err);
        op->left = op->bytes.len;
        op->cut |= cut;
        if (rc < 0)
            sb_guest_op_free(guest, op);
    }
    if (rc < 0)
        sb_guest_send_error(guest, id, &err);
    sb_buf_done(&path);
}

bool sb_guest_can_produce(const struct sb_guest *guest, const struct sb_guest_op *op)
{
    return (op->kind == SB_MSG_GET || op->kind == SB_MSG_LIST) && sb_guest_has_room(guest) &&
           (op->may_send[SB_CHAN_OUT] > 0 || op->left == 0);
}

/* Bytes put into *bytes, 0 at the end, -1. */
static long next_bytes(struct sb_guest *guest, struct sb_guest_op *op, const char **bytes, struct sb_err *err)
{
    size_t most = SB_WIRE_DATA_MAX;
    if (most > op->may_send[SB_CHAN_OUT])
        most = op->may_send[SB_CHAN_OUT];
    if (most > op->left)
        most = (size_t)op->left;
    if (most == 0)
        return 0;
    if (op->kind == SB_MSG_GET) {
        *bytes = guest->scratch;
        return sb_gos_file_read(op->file, guest->scratch, most, err);
    }
    *bytes = op->bytes.data + (op->bytes.len - op->left);
    return (long)most;
}

void sb_guest_produce(struct sb_guest *guest, struct sb_guest_op *op)
{
    struct sb_err err;
    while (sb_guest_can_produce(guest, op)) {
        const char *bytes;
        long n = next_bytes(guest, op, &bytes, &err);
        if (n > 0) {
            op->left -= (uint64_t)n;
            sb_guest_send_data(guest, op, SB_CHAN_OUT, bytes, (size_t)n);
            continue;
        }
        if (n == 0 && op->cut) {
            sb_fail(&err, SB_LIMIT, "the folder has more entries than a list holds");
            n = -1;
        }
        if (n < 0)
            sb_guest_send_error(guest, op->id, &err);
        else
            sb_guest_send_end(guest, op->id, SB_CHAN_OUT);
        sb_guest_op_free(guest, op);
        return;
    }
}

/* ---- REMOVE and CANCEL ---- */

void sb_guest_remove(struct sb_guest *guest, uint32_t id, const char *target)
{
    struct sb_err err;
    struct sb_buf path;
    if (check_path(target, WRITE, &path, &err) < 0 || sb_gos_remove(guest->gos, path.data, &err) < 0)
        sb_guest_send_error(guest, id, &err);
    else
        sb_wire_put_frame(&guest->out, SB_MSG_DONE, SB_CHAN_IN, id, NULL, 0);
    sb_buf_done(&path);
}

void sb_guest_cancel(struct sb_guest *guest, struct sb_guest_op *op)
{
    struct sb_err err;
    uint32_t id = op->id;
    bool was_put = op->kind == SB_MSG_PUT;
    sb_fail(&err, SB_CANCELLED, "cancelled");
    sb_guest_send_error(guest, id, &err);
    sb_guest_op_free(guest, op);
    if (was_put)
        sb_guest_exec_put_over(guest, id, NULL); /* the host knows that it is not there */
}
