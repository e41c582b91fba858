/* SPDX-License-Identifier: MIT
 * Not yet on Windows: the service and its named pipe come with the installer. */
#include "platform/endpoint.h"

int sb_endpoint_listen(uv_loop_t *loop, void (*on_client)(void *ctx, uv_pipe_t *stream, const char *peer),
                       void *ctx, struct sb_endpoint **out, struct sb_buf *note, struct sb_err *err)
{
    (void)loop, (void)on_client, (void)ctx, (void)out, (void)note;
    return sb_fail(err, SB_UNSUPPORTED,
                   "there is no service on Windows yet: 'mcp' and 'run' work without one");
}

const char *sb_endpoint_place(const struct sb_endpoint *endpoint)
{
    (void)endpoint;
    return "";
}

void sb_endpoint_close(struct sb_endpoint *endpoint)
{
    (void)endpoint;
}

int sb_endpoint_connect(uv_loop_t *loop, struct sb_endpoint_found *out, struct sb_err *err)
{
    (void)loop, (void)out;
    return sb_fail(err, SB_NOT_FOUND, "no service runs on Windows yet");
}
