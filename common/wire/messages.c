/* SPDX-License-Identifier: MIT
 * Messages: for each one what is written and what is read, field by field. */
#include "wire/wire.h"

#include <string.h>

#include "base/alloc.h"
#include "base/utf8.h"
#include "wire/fields.h"

static struct sb_reader reader(const struct sb_frame *f)
{
    return (struct sb_reader){.at = f->payload, .left = f->len};
}

static uint32_t read_flags(struct sb_reader *r, uint32_t known)
{
    uint32_t flags = sb_read_u32(r, "flags", 0, UINT32_MAX);
    if (flags & ~known)
        sb_read_fail(r, "flags");
    return flags;
}

/* ---- START and HELLO ---- */

static void write_build(struct sb_buf *out, const char *build)
{
    if (strlen(build) != SB_WIRE_BUILD_LEN)
        out->full = true;
    else
        sb_buf_add(out, build, SB_WIRE_BUILD_LEN);
}

static void read_build(struct sb_reader *r, char *into)
{
    for (size_t i = 0; i < SB_WIRE_BUILD_LEN; i++) {
        into[i] = (char)sb_read_u8(r, "build", '0', 'f');
        if (into[i] > '9' && into[i] < 'a')
            sb_read_fail(r, "build");
    }
    into[SB_WIRE_BUILD_LEN] = '\0';
}

void sb_wire_put_start(struct sb_buf *out, const struct sb_wire_start *m)
{
    size_t begin = sb_frame_begin(out, SB_MSG_START, SB_CHAN_IN, 0);
    sb_write_u32(out, m->version);
    write_build(out, m->build);
    sb_write_u32(out, m->flags);
    sb_frame_end(out, begin);
}

int sb_wire_get_start(const struct sb_frame *f, struct sb_wire_start *out, struct sb_err *err)
{
    struct sb_reader r = reader(f);
    struct sb_wire_start m;
    m.version = sb_read_u32(&r, "version", 0, UINT32_MAX);
    read_build(&r, m.build);
    m.flags = read_flags(&r, SB_START_OWN_PIDS);
    if (sb_read_end(&r, "START", err) < 0)
        return -1;
    *out = m;
    return 0;
}

void sb_wire_put_hello(struct sb_buf *out, const struct sb_wire_hello *m)
{
    size_t begin = sb_frame_begin(out, SB_MSG_HELLO, SB_CHAN_IN, 0);
    sb_write_u32(out, m->version);
    write_build(out, m->build);
    sb_write_u32(out, m->os);
    sb_write_u32(out, m->arch);
    sb_write_u32(out, m->pid);
    sb_frame_end(out, begin);
}

int sb_wire_get_hello(const struct sb_frame *f, struct sb_wire_hello *out, struct sb_err *err)
{
    struct sb_reader r = reader(f);
    struct sb_wire_hello m;
    m.version = sb_read_u32(&r, "version", 0, UINT32_MAX);
    read_build(&r, m.build);
    m.os = sb_read_u32(&r, "os", SB_WIRE_LINUX, SB_WIRE_WINDOWS);
    m.arch = sb_read_u32(&r, "arch", SB_WIRE_X86_64, SB_WIRE_AARCH64);
    m.pid = sb_read_u32(&r, "pid", 0, UINT32_MAX);
    if (sb_read_end(&r, "HELLO", err) < 0)
        return -1;
    *out = m;
    return 0;
}

/* ---- files ---- */

void sb_wire_put_put(struct sb_buf *out, uint32_t id, const struct sb_wire_put *m)
{
    size_t begin = sb_frame_begin(out, SB_MSG_PUT, SB_CHAN_IN, id);
    sb_write_text(out, m->path, SB_WIRE_PATH_MAX);
    sb_write_u32(out, m->flags);
    sb_frame_end(out, begin);
}

int sb_wire_get_put(const struct sb_frame *f, struct sb_wire_put *out, struct sb_err *err)
{
    struct sb_reader r = reader(f);
    struct sb_wire_put m;
    sb_read_utf8(&r, "path", m.path, SB_WIRE_PATH_MAX);
    m.flags = read_flags(&r, SB_PUT_EXECUTABLE);
    if (sb_read_end(&r, "PUT", err) < 0)
        return -1;
    *out = m;
    return 0;
}

void sb_wire_put_get(struct sb_buf *out, uint32_t id, const struct sb_wire_get *m)
{
    size_t begin = sb_frame_begin(out, SB_MSG_GET, SB_CHAN_IN, id);
    sb_write_text(out, m->path, SB_WIRE_PATH_MAX);
    sb_write_u64(out, m->offset);
    sb_write_u64(out, m->most);
    sb_frame_end(out, begin);
}

int sb_wire_get_get(const struct sb_frame *f, struct sb_wire_get *out, struct sb_err *err)
{
    struct sb_reader r = reader(f);
    struct sb_wire_get m;
    sb_read_utf8(&r, "path", m.path, SB_WIRE_PATH_MAX);
    m.offset = sb_read_u64(&r, "offset");
    m.most = sb_read_u64(&r, "most");
    if (m.offset > INT64_MAX) /* no file is that long, and no system can seek there */
        sb_read_fail(&r, "offset");
    if (sb_read_end(&r, "GET", err) < 0)
        return -1;
    *out = m;
    return 0;
}

void sb_wire_put_path(struct sb_buf *out, enum sb_msg type, uint32_t id, const char *path)
{
    size_t begin = sb_frame_begin(out, type, SB_CHAN_IN, id);
    sb_write_text(out, path, SB_WIRE_PATH_MAX);
    sb_frame_end(out, begin);
}

int sb_wire_get_path(const struct sb_frame *f, struct sb_wire_path *out, struct sb_err *err)
{
    struct sb_reader r = reader(f);
    struct sb_wire_path m = {""};
    sb_read_utf8(&r, "path", m.path, SB_WIRE_PATH_MAX);
    if (sb_read_end(&r, sb_wire_name(f->type), err) < 0)
        return -1;
    *out = m;
    return 0;
}

/* ---- entries ---- */

static void write_entry(struct sb_buf *out, const struct sb_wire_entry *e)
{
    sb_write_u8(out, e->type);
    sb_write_u8(out, e->flags);
    sb_write_u64(out, e->size);
    sb_write_u64(out, (uint64_t)e->mtime_ms);
    sb_write_text(out, e->path, SB_WIRE_PATH_MAX);
}

/* Something below the workspace: not empty, not absolute, every part a real name. What a
 * name may be on the reader's own system is the reader's business. */
static bool is_below(const char *path, size_t len)
{
    size_t part = 0;
    for (size_t i = 0; i <= len; i++) {
        if (i < len && path[i] != '/')
            continue;
        size_t n = i - part;
        if (n == 0 || (n == 1 && path[part] == '.') || (n == 2 && path[part] == '.' && path[part + 1] == '.'))
            return false;
        part = i + 1;
    }
    return true;
}

/* Owns nothing when the reader is bad afterwards. */
static void read_entry(struct sb_reader *r, struct sb_wire_entry *e)
{
    size_t len;
    e->type = sb_read_u8(r, "type", SB_ENTRY_FILE, SB_ENTRY_OTHER);
    e->flags = sb_read_u8(r, "flags", 0, SB_ENTRY_BAD_NAME);
    e->size = sb_read_u64(r, "size");
    e->mtime_ms = (int64_t)sb_read_u64(r, "mtime");
    const char *path = sb_read_text(r, "path", SB_WIRE_PATH_MAX, &len);
    if (!is_below(path, len) || !sb_utf8_valid(path, len))
        sb_read_fail(r, "path");
    e->path = r->bad ? NULL : sb_strndup(path, len);
}

void sb_wire_put_entry(struct sb_buf *out, const struct sb_wire_entry *e)
{
    size_t begin = out->len;
    write_entry(out, e);
    sb_write_whole(out, begin);
}

long sb_wire_take_entry(const void *bytes, size_t len, struct sb_wire_entry *out, struct sb_err *err)
{
    struct sb_reader r = {.at = bytes, .left = len};
    struct sb_wire_entry e;
    read_entry(&r, &e);
    if (r.bad && r.cut_short)
        return 0;
    if (r.bad)
        return sb_fail(err, SB_BAD_REQUEST, "bad entry of a list: field '%s' is wrong", r.bad);
    *out = e;
    return (long)(len - r.left);
}

/* ---- EXEC ---- */

static void write_texts(struct sb_buf *out, const struct sb_argv *texts)
{
    if (texts->n > SB_WIRE_ARGS_MAX)
        out->full = true;
    sb_write_u32(out, (uint32_t)texts->n);
    for (size_t i = 0; i < texts->n && !out->full; i++)
        sb_write_text(out, texts->v[i], SB_WIRE_STRING_MAX);
}

static void read_texts(struct sb_reader *r, const char *field, uint32_t least, struct sb_argv *out)
{
    uint32_t count = sb_read_u32(r, field, least, SB_WIRE_ARGS_MAX);
    for (uint32_t i = 0; i < count && !r->bad; i++) {
        size_t len;
        const char *text = sb_read_text(r, field, SB_WIRE_STRING_MAX, &len);
        if (!r->bad)
            sb_argv_pushf(out, "%.*s", (int)len, text);
    }
}

static void write_limits(struct sb_buf *out, const struct sb_wire_limits *m)
{
    sb_write_u64(out, m->wall_ms);
    sb_write_u64(out, m->cpu_ms);
    sb_write_u64(out, m->output_bytes);
    sb_write_u64(out, m->file_bytes);
    sb_write_u64(out, m->memory_bytes);
    sb_write_u32(out, m->open_files);
    sb_write_u32(out, m->processes);
}

static void read_limits(struct sb_reader *r, struct sb_wire_limits *m)
{
    m->wall_ms = sb_read_u64(r, "wall_ms");
    m->cpu_ms = sb_read_u64(r, "cpu_ms");
    m->output_bytes = sb_read_u64(r, "output_bytes");
    m->file_bytes = sb_read_u64(r, "file_bytes");
    m->memory_bytes = sb_read_u64(r, "memory_bytes");
    m->open_files = sb_read_u32(r, "open_files", 0, UINT32_MAX);
    m->processes = sb_read_u32(r, "processes", 0, UINT32_MAX);
}

void sb_wire_put_exec(struct sb_buf *out, uint32_t id, const struct sb_wire_exec *m)
{
    size_t begin = sb_frame_begin(out, SB_MSG_EXEC, SB_CHAN_IN, id);
    sb_write_u32(out, m->flags);
    write_limits(out, &m->limits);
    sb_write_text(out, m->cwd, SB_WIRE_PATH_MAX);
    write_texts(out, &m->argv);
    write_texts(out, &m->env);
    sb_frame_end(out, begin);
}

int sb_wire_get_exec(const struct sb_frame *f, struct sb_wire_exec *out, struct sb_err *err)
{
    struct sb_reader r = reader(f);
    struct sb_wire_exec m = {.flags = 0};
    m.flags = read_flags(&r, SB_EXEC_GUEST | SB_EXEC_STDIN | SB_EXEC_FILES);
    read_limits(&r, &m.limits);
    sb_read_utf8(&r, "cwd", m.cwd, SB_WIRE_PATH_MAX);
    read_texts(&r, "argv", 1, &m.argv);
    read_texts(&r, "env", 0, &m.env);
    if (sb_read_end(&r, "EXEC", err) < 0) {
        sb_wire_exec_done(&m);
        return -1;
    }
    *out = m;
    return 0;
}

void sb_wire_exec_done(struct sb_wire_exec *exec)
{
    sb_argv_done(&exec->argv);
    sb_argv_done(&exec->env);
}

/* ---- EXIT and ERROR ---- */

void sb_wire_put_exit(struct sb_buf *out, uint32_t id, const struct sb_wire_exit *m)
{
    size_t begin = sb_frame_begin(out, SB_MSG_EXIT, SB_CHAN_IN, id);
    sb_write_u32(out, m->kind);
    sb_write_u32(out, m->code);
    sb_write_u32(out, m->limit);
    sb_write_u32(out, m->flags);
    sb_write_u64(out, m->wall_us);
    sb_write_u64(out, m->cpu_us);
    sb_write_u64(out, m->peak_bytes);
    sb_write_u64(out, m->out_bytes);
    sb_write_u64(out, m->err_bytes);
    if (m->file_count > SB_WIRE_FILES_MAX)
        out->full = true;
    sb_write_u32(out, (uint32_t)m->file_count);
    for (size_t i = 0; i < m->file_count && !out->full; i++)
        write_entry(out, &m->files[i]);
    sb_frame_end(out, begin);
}

int sb_wire_get_exit(const struct sb_frame *f, struct sb_wire_exit *out, struct sb_err *err)
{
    struct sb_reader r = reader(f);
    struct sb_wire_exit m = {.files = NULL};
    m.kind = sb_read_u32(&r, "kind", SB_EXITED, SB_CRASHED);
    m.code = sb_read_u32(&r, "code", 0, UINT32_MAX);
    m.limit = sb_read_u32(&r, "limit", 0, SB_LIMIT_COUNT - 1);
    m.flags = read_flags(&r, SB_EXIT_PARENT_KILLED | SB_EXIT_FILES_CUT);
    m.wall_us = sb_read_u64(&r, "wall_us");
    m.cpu_us = sb_read_u64(&r, "cpu_us");
    m.peak_bytes = sb_read_u64(&r, "peak_bytes");
    m.out_bytes = sb_read_u64(&r, "out_bytes");
    m.err_bytes = sb_read_u64(&r, "err_bytes");
    uint32_t count = sb_read_u32(&r, "files", 0, SB_WIRE_FILES_MAX);
    if (count > 0)
        m.files = sb_alloc(count * sizeof *m.files);
    for (uint32_t i = 0; i < count && !r.bad; i++) {
        read_entry(&r, &m.files[i]);
        m.file_count = i + 1;
    }
    if (sb_read_end(&r, "EXIT", err) < 0) {
        sb_wire_exit_done(&m);
        return -1;
    }
    *out = m;
    return 0;
}

void sb_wire_exit_done(struct sb_wire_exit *exit)
{
    for (size_t i = 0; i < exit->file_count; i++)
        sb_free(exit->files[i].path);
    sb_free(exit->files);
    exit->files = NULL;
    exit->file_count = 0;
}

/* An error may quote what is on disk and be cut anywhere; on the wire it is UTF-8. */
static void write_message(struct sb_buf *out, const char *text, size_t most)
{
    struct sb_buf clean;
    struct sb_utf8_repair repair = {{0}, 0, false};
    sb_buf_init(&clean, 4 * sizeof(struct sb_err));
    sb_utf8_repair(&repair, text, strlen(text), &clean);
    sb_utf8_repair_end(&repair, &clean);
    clean.len = sb_utf8_cut(clean.data, clean.len, most);
    clean.data[clean.len] = '\0';
    sb_write_text(out, clean.data, most);
    sb_buf_done(&clean);
}

void sb_wire_put_error(struct sb_buf *out, uint32_t id, const struct sb_err *e)
{
    size_t begin = sb_frame_begin(out, SB_MSG_ERROR, SB_CHAN_IN, id);
    sb_write_u32(out, (uint32_t)e->code);
    sb_write_u32(out, (uint32_t)e->os);
    write_message(out, e->text, sizeof(((struct sb_wire_error *)0)->text) - 1);
    sb_frame_end(out, begin);
}

int sb_wire_get_error(const struct sb_frame *f, struct sb_wire_error *out, struct sb_err *err)
{
    struct sb_reader r = reader(f);
    struct sb_wire_error m;
    m.code = sb_read_u32(&r, "code", SB_BAD_REQUEST, SB_BUG);
    m.os = (int32_t)sb_read_u32(&r, "os", 0, UINT32_MAX);
    sb_read_utf8(&r, "text", m.text, sizeof m.text - 1);
    if (sb_read_end(&r, "ERROR", err) < 0)
        return -1;
    *out = m;
    return 0;
}
