/* SPDX-License-Identifier: MIT */
#include "fake_gos.h"

#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"

struct sb_gos_file {
    struct sb_gos *gos;
    char *path;
    uint64_t at;
    bool creating;
};

void fake_init(struct sb_gos *gos)
{
    memset(gos, 0, sizeof *gos);
    gos->pipe_room = SIZE_MAX;
    sb_buf_init(&gos->from_host, 64u << 20);
    sb_buf_init(&gos->to_host, 64u << 20);
}

static void free_run(struct sb_gos_run *run)
{
    sb_free(run->argv0);
    sb_free(run->env0);
    sb_free(run->cwd);
    sb_buf_done(&run->input);
    for (int i = SB_CHAN_OUT; i <= SB_CHAN_ERR; i++)
        sb_buf_done(&run->outputs[i].bytes);
    sb_free(run);
}

void fake_done(struct sb_gos *gos)
{
    for (size_t i = 0; i < gos->run_count; i++)
        free_run(gos->runs[i]);
    for (size_t i = 0; i < gos->file_count; i++) {
        sb_free(gos->files[i].path);
        sb_buf_done(&gos->files[i].data);
    }
    sb_buf_done(&gos->from_host);
    sb_buf_done(&gos->to_host);
}

void fake_print(struct sb_gos_run *run, enum sb_channel channel, const void *bytes, size_t len)
{
    sb_buf_add(&run->outputs[channel].bytes, bytes, len);
}

void fake_exit(struct sb_gos_run *run, uint32_t code, bool held)
{
    run->dead = true;
    run->end.kind = SB_EXITED;
    run->end.code = code;
    run->outputs[SB_CHAN_OUT].eof |= !held;
    run->outputs[SB_CHAN_ERR].eof |= !held;
}

/* ---- the process ---- */

uint32_t sb_gos_pid(const struct sb_gos *gos)
{
    (void)gos;
    return 1;
}

enum sb_wire_os sb_gos_os(void)
{
    return SB_WIRE_LINUX;
}

enum sb_wire_arch sb_gos_arch(void)
{
    return SB_WIRE_X86_64;
}

/* sb_gos_now_us has no argument, and tests run one guest at a time. */
static int64_t now_us;

int64_t sb_gos_now_us(void)
{
    return now_us;
}

int sb_gos_open(struct sb_gos **out, struct sb_err *err)
{
    (void)out;
    return sb_fail(err, SB_BUG, "the fake is opened by fake_init");
}

void sb_gos_own_pids(struct sb_gos *gos, bool own)
{
    gos->own_pids = own;
}

_Noreturn void sb_gos_end(struct sb_gos *gos, int code)
{
    gos->ended = true;
    gos->end_code = code;
    longjmp(gos->on_end, 1);
}

/* ---- events ---- */

static bool run_event(struct sb_gos_run *run, struct sb_gos_event *out)
{
    *out = (struct sb_gos_event){SB_GOS_OUTPUT, run, SB_CHAN_OUT};
    for (int i = SB_CHAN_OUT; i <= SB_CHAN_ERR; i++) {
        struct fake_output *output = &run->outputs[i];
        out->channel = (enum sb_channel)i;
        if (output->wanted && !output->closed && (output->bytes.len > 0 || output->eof))
            return true;
    }
    *out = (struct sb_gos_event){SB_GOS_INPUT, run, SB_CHAN_IN};
    if (run->input_wanted && (run->input_room > 0 || run->input_refused))
        return true;
    out->kind = SB_GOS_ENDED;
    if (!run->dead || run->told)
        return false;
    run->told = true;
    return true;
}

void sb_gos_next(struct sb_gos *gos, int64_t deadline_us, struct sb_gos_event *out)
{
    gos->wrote_twice |= gos->writes > 1;
    gos->writes = 0;
    gos->idle = false;
    now_us = gos->now_us;
    *out = (struct sb_gos_event){.kind = SB_GOS_HOST_READABLE};
    if (gos->from_host.len > 0 || gos->host_ended)
        return;
    out->kind = SB_GOS_HOST_WRITABLE;
    if (gos->want_write && gos->pipe_room > 0)
        return;
    for (size_t i = 0; i < gos->run_count; i++)
        if (!gos->runs[i]->is_freed && run_event(gos->runs[i], out))
            return;
    *out = (struct sb_gos_event){.kind = SB_GOS_DEADLINE};
    if (deadline_us > gos->now_us) {
        gos->idle = gos->now_us >= gos->until_us;
        gos->now_us = deadline_us < gos->until_us ? deadline_us : gos->until_us;
    }
    now_us = gos->now_us;
}

long sb_gos_read(struct sb_gos *gos, void *bytes, size_t cap)
{
    size_t n = gos->from_host.len < cap ? gos->from_host.len : cap;
    if (n == 0 && gos->host_ended)
        return -1;
    memcpy(bytes, gos->from_host.data, n);
    sb_buf_drop(&gos->from_host, n);
    return (long)n;
}

size_t sb_gos_write(struct sb_gos *gos, const void *bytes, size_t len)
{
    size_t n = len < gos->pipe_room ? len : gos->pipe_room;
    gos->writes++;
    sb_buf_add(&gos->to_host, bytes, n);
    gos->pipe_room -= gos->pipe_room == SIZE_MAX ? 0 : n;
    return n;
}

void sb_gos_want_write(struct sb_gos *gos, bool want)
{
    gos->want_write = want;
}

/* ---- runs ---- */

int sb_gos_run_start(struct sb_gos *gos, const struct sb_gos_start *start, struct sb_gos_run **out,
                     struct sb_err *err)
{
    if (gos->fail_start || gos->run_count == FAKE_RUNS)
        return sb_fail(err, SB_NOT_FOUND, "cannot start '%s'", start->argv[0]);
    struct sb_gos_run *run = sb_alloc(sizeof *run);
    run->argv0 = sb_strdup(start->argv[0]);
    run->env0 = sb_strdup(start->env[0] ? start->env[0] : "");
    run->cwd = sb_strdup(start->cwd);
    run->limits = start->limits;
    run->guest_itself = start->guest_itself;
    run->feeds = start->feed_stdin;
    run->input_room = SIZE_MAX;
    sb_buf_init(&run->input, 64u << 20);
    for (int i = SB_CHAN_OUT; i <= SB_CHAN_ERR; i++)
        sb_buf_init(&run->outputs[i].bytes, 64u << 20);
    *out = gos->runs[gos->run_count++] = run;
    return 0;
}

void sb_gos_run_want(struct sb_gos_run *run, enum sb_channel channel, bool want)
{
    if (channel == SB_CHAN_IN)
        run->input_wanted = want;
    else
        run->outputs[channel].wanted = want;
}

long sb_gos_run_read(struct sb_gos_run *run, enum sb_channel channel, void *bytes, size_t cap)
{
    struct fake_output *output = &run->outputs[channel];
    size_t n = output->bytes.len < cap ? output->bytes.len : cap;
    if (n == 0)
        return output->eof ? -1 : 0;
    memcpy(bytes, output->bytes.data, n);
    sb_buf_drop(&output->bytes, n);
    return (long)n;
}

long sb_gos_run_write(struct sb_gos_run *run, const void *bytes, size_t len)
{
    size_t n = len < run->input_room ? len : run->input_room;
    if (run->input_refused)
        return -1;
    sb_buf_add(&run->input, bytes, n);
    run->input_room -= run->input_room == SIZE_MAX ? 0 : n;
    return (long)n;
}

void sb_gos_run_close_input(struct sb_gos_run *run)
{
    if (run->input_closed)
        abort(); /* once is enough */
    run->input_closed = true;
}

void sb_gos_run_close_output(struct sb_gos_run *run, enum sb_channel channel)
{
    run->outputs[channel].closed = true;
}

void sb_gos_run_interrupt(struct sb_gos_run *run)
{
    run->interrupts++;
}

void sb_gos_run_kill(struct sb_gos_run *run)
{
    run->kills++;
    if (run->dead)
        return;
    fake_exit(run, 9, false);
    run->end.kind = SB_SIGNALLED;
}

void sb_gos_run_end(const struct sb_gos_run *run, struct sb_gos_end *out)
{
    *out = run->end;
    out->usage = run->usage;
}

void sb_gos_run_usage(struct sb_gos_run *run, struct sb_gos_usage *out)
{
    *out = run->usage;
}

void sb_gos_run_free(struct sb_gos_run *run)
{
    if (run->is_freed)
        abort();
    run->is_freed = true; /* the test may still look at it */
}

/* ---- files ---- */

struct fake_file *fake_file(struct sb_gos *gos, const char *path)
{
    for (size_t i = 0; i < gos->file_count; i++)
        if (strcmp(gos->files[i].path, path) == 0)
            return &gos->files[i];
    return NULL;
}

struct fake_file *fake_write(struct sb_gos *gos, const char *path, const char *text)
{
    struct fake_file *file = fake_file(gos, path);
    if (!file) {
        if (gos->file_count == FAKE_FILES)
            return NULL;
        file = &gos->files[gos->file_count++];
        *file = (struct fake_file){.path = sb_strdup(path), .type = SB_ENTRY_FILE, .inode = ++gos->inodes};
        sb_buf_init(&file->data, 4u << 20);
    }
    sb_buf_clear(&file->data);
    sb_buf_adds(&file->data, text);
    file->mtime_ns += 1000000;
    return file;
}

static void unlink_file(struct sb_gos *gos, struct fake_file *file)
{
    sb_free(file->path);
    sb_buf_done(&file->data);
    *file = gos->files[--gos->file_count];
}

static int open_file(struct sb_gos *gos, const char *path, uint64_t at, bool creating,
                     struct sb_gos_file **out)
{
    struct sb_gos_file *file = sb_alloc(sizeof *file);
    *file = (struct sb_gos_file){gos, sb_strdup(path), at, creating};
    gos->open_files++;
    *out = file;
    return 0;
}

int sb_gos_create(struct sb_gos *gos, const char *path, bool executable, struct sb_gos_file **out,
                  struct sb_err *err)
{
    struct fake_file *file = fake_write(gos, path, "");
    if (!file)
        return sb_fail(err, SB_HOST, "cannot create '%s'", path);
    file->executable = executable;
    return open_file(gos, path, 0, true, out);
}

int sb_gos_open_file(struct sb_gos *gos, const char *path, uint64_t offset, struct sb_gos_file **out,
                     struct sb_err *err)
{
    if (!fake_file(gos, path))
        return sb_fail(err, SB_NOT_FOUND, "cannot open '%s'", path);
    return open_file(gos, path, offset, false, out);
}

long sb_gos_file_read(struct sb_gos_file *file, void *bytes, size_t cap, struct sb_err *err)
{
    struct fake_file *data = fake_file(file->gos, file->path);
    if (file->gos->fail_read)
        return sb_fail(err, SB_HOST, "cannot read '%s'", file->path);
    if (!data || file->at >= data->data.len)
        return 0;
    size_t n = data->data.len - (size_t)file->at < cap ? data->data.len - (size_t)file->at : cap;
    memcpy(bytes, data->data.data + file->at, n);
    file->at += n;
    return (long)n;
}

int sb_gos_file_write(struct sb_gos_file *file, const void *bytes, size_t len, struct sb_err *err)
{
    struct fake_file *data = fake_file(file->gos, file->path);
    if (file->gos->fail_write)
        return sb_fail(err, SB_LIMIT, "cannot write '%s': no space", file->path);
    if (data)
        sb_buf_add(&data->data, bytes, len);
    return 0;
}

int sb_gos_file_close(struct sb_gos_file *file, bool keep, struct sb_err *err)
{
    if (!file)
        return 0;
    struct sb_gos *gos = file->gos;
    struct fake_file *data = fake_file(gos, file->path);
    if (file->creating && data && (!keep || gos->fail_close))
        unlink_file(gos, data);
    gos->open_files--;
    sb_free(file->path);
    sb_free(file);
    return keep && gos->fail_close ? sb_fail(err, SB_HOST, "cannot close") : 0;
}

int sb_gos_remove(struct sb_gos *gos, const char *path, struct sb_err *err)
{
    struct fake_file *file = fake_file(gos, path);
    if (!file)
        return sb_fail(err, SB_NOT_FOUND, "cannot remove '%s'", path);
    unlink_file(gos, file);
    return 0;
}

static int depth_of(const char *path)
{
    int depth = 0;
    for (; *path; path++)
        depth += *path == '/';
    return depth;
}

static int by_depth(const void *a, const void *b)
{
    const char *x = ((const struct fake_file *)a)->path, *y = ((const struct fake_file *)b)->path;
    int deeper = depth_of(x) - depth_of(y);
    return deeper ? deeper : strcmp(x, y);
}

static bool is_below(const char *path, const char *folder)
{
    size_t n = strlen(folder);
    return n == 0 ? strncmp(path, ".tmp", 4) != 0 : strncmp(path, folder, n) == 0 && path[n] == '/';
}

int sb_gos_walk(struct sb_gos *gos, const char *folder, size_t most,
                bool (*visit)(void *ctx, const struct sb_gos_entry *entry), void *ctx, bool *cut,
                struct sb_err *err)
{
    size_t seen = 0;
    gos->walks++;
    if (gos->fail_walk)
        return sb_fail(err, SB_HOST, "cannot walk");
    if (gos->file_count > 0)
        qsort(gos->files, gos->file_count, sizeof gos->files[0], by_depth);
    for (size_t i = 0; i < gos->file_count; i++) {
        const struct fake_file *file = &gos->files[i];
        struct sb_gos_entry entry = {file->path,     file->type,     file->bad_name, file->data.len,
                                     file->mtime_ns, file->mtime_ns, file->inode};
        if (!is_below(file->path, folder))
            continue;
        if (seen++ == most) {
            *cut = true;
            return 0;
        }
        if (!visit(ctx, &entry))
            return 0;
    }
    *cut |= gos->cut_walk;
    return 0;
}
