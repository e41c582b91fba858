/* SPDX-License-Identifier: MIT */
#include "cli/join.h"

#include <stdbool.h>
#include <string.h>

#include "base/alloc.h"
#include "base/buf.h"
#include "base/path.h"
#include "platform/dirs.h"
#include "platform/endpoint.h"
#include "server/conn.h"

/* "SANDBOX_" is a prefix, the others are whole names. */
static const char *const variables[] = {"BACKEND",     "NAMESPACE",       "COMMIT_CONTAINER", "KEEP_TEMPLATE",
                                        "DOCKER_HOST", "CONTAINER_HOST",  "KUBECONFIG",       "R_REPO",
                                        "SANDBOX_",    SB_CONFIG_VARIABLE};

static bool hinders(const char *name)
{
    for (size_t i = 0; i < SB_COUNT(variables); i++) {
        size_t len = strlen(variables[i]);

        if (strncmp(name, variables[i], len) == 0 && (name[len] == '\0' || variables[i][len - 1] == '_'))
            return true;
    }
    return false;
}

static bool is_blank(const char *text)
{
    return text[strspn(text, " \t\r\n")] == '\0';
}

static bool variable_is_set(struct sb_buf *by)
{
    uv_env_item_t *items;
    int count;

    if (uv_os_environ(&items, &count) < 0)
        return false;
    for (int i = 0; i < count && by->len == 0; i++)
        if (hinders(items[i].name) && !is_blank(items[i].value))
            sb_buf_adds(by, items[i].name);
    uv_os_free_environ(items, count);
    return by->len > 0;
}

static bool file_is_there(struct sb_buf *by)
{
    struct sb_buf path;
    uv_fs_t request;
    bool there;

    sb_buf_init(&path, SB_PATH_MAX_BYTES);
    there = sb_dir_config_file(&path, NULL) == 0 && uv_fs_stat(NULL, &request, path.data, NULL) == 0;
    if (there) {
        uv_fs_req_cleanup(&request);
        sb_buf_adds(by, path.data);
    }
    sb_buf_done(&path);
    return there;
}

static bool is_hindered(const struct sb_config_want *settings, bool ours, struct sb_buf *by)
{
    const char *option = settings->file         ? "--config"
                         : settings->backend    ? "--backend"
                         : settings->allow_weak ? "--allow-weak"
                                                : NULL;

    if (option) {
        sb_buf_adds(by, option);
        return true;
    }
    return variable_is_set(by) || (!ours && file_is_there(by));
}

enum sb_join sb_join_service(uv_loop_t *loop, const struct sb_config_want *settings, uv_pipe_t **stream,
                             bool *ours, struct sb_err *why)
{
    struct sb_endpoint_found found;
    struct sb_buf by;
    bool hindered;

    if (sb_endpoint_connect(loop, &found, why) < 0)
        return why->code == SB_NOT_FOUND ? SB_JOIN_NONE : SB_JOIN_NOT;
    sb_buf_init(&by, SB_PATH_MAX_BYTES);
    hindered = is_hindered(settings, found.ours, &by);
    if (hindered) {
        sb_fail(why, SB_DENIED, "it does not know what is set here: %s", by.data);
        sb_conn_turn_away(found.stream);
    }
    sb_buf_done(&by);
    *stream = found.stream;
    *ours = found.ours;
    return hindered ? SB_JOIN_NOT : SB_JOIN_YES;
}

enum sb_join sb_join_ask(uv_loop_t *loop, const struct sb_config_want *settings, struct sb_err *why)
{
    uv_pipe_t *stream = NULL;
    bool ours;
    enum sb_join join = sb_join_service(loop, settings, &stream, &ours, why);

    if (join == SB_JOIN_YES)
        sb_conn_turn_away(stream);
    return join;
}
