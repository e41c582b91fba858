/* SPDX-License-Identifier: MIT
 * Files into a run's box and out of it. */
#include <string.h>

#include "base/alloc.h"
#include "sandbox/run_inner.h"
#include "sandbox/run_want.h"

/* ---- code, runner and files --------------------------------------------------------- */

/* What the credit allows; the rest when the guest gives more. */
static void on_upload_input(void *ctx)
{
    struct sb_run_upload *upload = ctx;
    struct sb_link *link = sb_run_link(upload->run);

    if (link == NULL || upload->run->state == SB_RUN_ENDED) /* the files are the caller's again */
        return;
    upload->at += sb_link_send(link, upload->id, upload->bytes + upload->at, upload->len - upload->at);
    if (upload->at == upload->len)
        sb_link_send_end(link, upload->id);
}

static void on_upload_done(void *ctx, const struct sb_err *err)
{
    struct sb_run_upload *upload = ctx;
    struct sb_err why;

    if (err == NULL)
        return;
    why = *err;
    sb_fail_in(&why, "cannot put '%.100s' into the box", upload->path);
    sb_run_broken(upload->run, &why, "");
}

static void add_upload(struct sb_run *run, char *path, const char *bytes, size_t len)
{
    run->uploads[run->upload_count++] =
        (struct sb_run_upload){.run = run, .path = path, .bytes = len > 0 ? bytes : "", .len = len};
}

void sb_run_plan_uploads(struct sb_run *run, const struct sb_run_want *want)
{
    const struct sb_language *language = want->language;

    add_upload(run, sb_strdup(language->file), run->code.data, run->code.len);
    if (language->runner_file != NULL)
        add_upload(run, sb_asprintf("%s/%s", SB_GUEST_RUNNER_DIR, language->runner_file), language->runner_text,
                   strlen(language->runner_text));
    for (size_t i = 0; i < want->file_count; i++)
        add_upload(run, sb_run_want_path(want, &want->files[i]), want->files[i].bytes, want->files[i].len);
}

int sb_run_start_uploads(struct sb_run *run, struct sb_link *link, struct sb_err *err)
{
    for (size_t i = 0; i < run->upload_count; i++) {
        struct sb_run_upload *upload = &run->uploads[i];
        const struct sb_op_events events = {
            .ctx = upload, .on_input = on_upload_input, .on_done = on_upload_done};

        upload->id = sb_link_put(link, upload->path, 0, &events, err);
        if (upload->id == 0)
            return -1;
        on_upload_input(upload);
    }
    return 0;
}

/* ---- artifacts ---------------------------------------------------------------------- */

static void on_artifact_data(void *ctx, enum sb_channel channel, const void *bytes, size_t len)
{
    struct sb_run *run = ctx;
    struct sb_link *link;

    run->events.on_artifact(run->events.ctx, &run->files[run->collecting], bytes, len);
    link = sb_run_link(run); /* not before: the receiver may have cancelled */
    if (link != NULL)
        sb_link_credit(link, run->get, channel, len);
}

static void on_artifact_done(void *ctx, const struct sb_err *err)
{
    struct sb_run *run = ctx;

    run->events.on_artifact_end(run->events.ctx, &run->files[run->collecting], err);
    run->collecting++;
    sb_run_collect_next(run);
}

/* Fetches the next regular file that fits the caps; the others are reported as not fetched. */
void sb_run_collect_next(struct sb_run *run)
{
    const struct sb_op_events events = {.ctx = run, .on_data = on_artifact_data, .on_done = on_artifact_done};
    struct sb_link *link = sb_run_link(run);

    for (; run->collect && run->collecting < run->file_count; run->collecting++) {
        const struct sb_wire_entry *file = &run->files[run->collecting];
        struct sb_err err = {0};

        if (file->type != SB_ENTRY_FILE || (file->flags & SB_ENTRY_BAD_NAME) != 0)
            sb_fail(&err, SB_UNSUPPORTED, "not a regular file with a UTF-8 name");
        else if (run->collecting >= SB_RUN_ARTIFACTS)
            sb_fail(&err, SB_LIMIT, "more than %d files", SB_RUN_ARTIFACTS);
        else if (file->size > SB_RUN_ARTIFACTS_MAX - run->collected_bytes)
            sb_fail(&err, SB_LIMIT, "more than %u MiB in all", SB_RUN_ARTIFACTS_MAX >> 20);
        else if (link == NULL)
            sb_fail(&err, SB_HOST, "the box is gone");
        else if (file->size > 0) /* 0 would ask for all there is */
            run->get = sb_link_get(link, file->path, 0, file->size, &events, &err);
        if (err.code == SB_OK && file->size > 0) {
            run->collected_bytes += file->size;
            return;
        }
        run->events.on_artifact_end(run->events.ctx, file, err.code == SB_OK ? NULL : &err);
    }
    sb_run_step(run, SB_RUN_COLLECTED);
}
