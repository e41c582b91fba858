/* SPDX-License-Identifier: MIT */
#include "sandbox/backend.h"

#include <string.h>

#include "base/alloc.h"
#include "base/buf.h"

const struct sb_backend *sb_backend_named(const char *name)
{
    for (const struct sb_backend *const *at = sb_backends; *at; at++)
        if (strcmp((*at)->name, name) == 0)
            return *at;
    return NULL;
}

void sb_plan_done(struct sb_plan *plan)
{
    for (size_t i = 0; i < plan->handle_count; i++)
        sb_free((char *)plan->handles[i].text);
    sb_argv_done(&plan->argv);
    sb_argv_done(&plan->env);
    sb_free(plan->program);
    sb_free(plan->cwd);
    *plan = (struct sb_plan){0};
}

void sb_plan_text(const struct sb_plan *plan, struct sb_buf *out)
{
    static const char *const kinds[] = {
        [SB_HANDLE_GUEST] = "guest", [SB_HANDLE_DATA] = "data", [SB_HANDLE_INFO] = "info"};

    sb_buf_addf(out, "program %s\n", plan->program);
    if (plan->argv.n) {
        sb_buf_adds(out, "argv ");
        sb_quote_posix(out, plan->argv.v);
        sb_buf_addc(out, '\n');
    }
    for (size_t i = 0; i < plan->env.n; i++)
        sb_buf_addf(out, "env %s\n", plan->env.v[i]);
    if (plan->cwd)
        sb_buf_addf(out, "cwd %s\n", plan->cwd);
    for (size_t i = 0; i < plan->handle_count; i++) {
        const struct sb_launch_handle *handle = &plan->handles[i];

        if (handle->kind == SB_HANDLE_DATA)
            sb_buf_addf(out, "handle %d data %zu bytes\n", handle->number, handle->len);
        else
            sb_buf_addf(out, "handle %d %s %s\n", handle->number, kinds[handle->kind],
                        handle->text ? handle->text : "");
    }
}
