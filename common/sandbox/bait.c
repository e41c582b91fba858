/* SPDX-License-Identifier: MIT */
#include "sandbox/bait.h"

#include <string.h>

#include "base/alloc.h"
#include "platform/abstract.h"
#include "platform/hostpath.h"
#include "platform/oserr.h"
#include "platform/random.h"

#define SOCKET_PATH_BYTES 100 /* a longer one would be cut by libuv, and another name be bound */

static void remove_file(char *path)
{
    uv_fs_t request;

    if (!path)
        return;
    uv_fs_unlink(NULL, &request, path, NULL);
    uv_fs_req_cleanup(&request);
    sb_free(path);
}

static void on_handle_closed(uv_handle_t *handle)
{
    struct sb_bait *bait = handle->data;

    if (--bait->handles > 0)
        return;
    if (bait->on_closed)
        bait->on_closed(bait->ctx);
    sb_free(bait->endpoint);
    sb_free(bait->abstract);
    sb_free(bait);
}

void sb_bait_close(struct sb_bait *bait, void (*on_closed)(void *ctx), void *ctx)
{
    bait->on_closed = on_closed;
    bait->ctx = ctx;
    remove_file(bait->readable);
    remove_file(bait->writable);
    uv_close((uv_handle_t *)&bait->tcp, on_handle_closed);
    uv_close((uv_handle_t *)&bait->pipe, on_handle_closed); /* unlinks its path */
    uv_close((uv_handle_t *)&bait->abstract_pipe, on_handle_closed);
}

/* Our umask would keep a box's uid out, and a wall be seen that is none. */
static int open_to_all(const char *path, int mode, struct sb_err *err)
{
    uv_fs_t request;
    int rc = uv_fs_chmod(NULL, &request, path, mode, NULL);

    uv_fs_req_cleanup(&request);
    return rc < 0 ? sb_fail_os_at(err, rc, "cannot set the mode of '%s'", path) : 0;
}

static int make_file(const char *path, int mode, struct sb_err *err)
{
    uv_fs_t request;
    int file = uv_fs_open(NULL, &request, path, UV_FS_O_WRONLY | UV_FS_O_CREAT | UV_FS_O_EXCL, 0600, NULL);

    uv_fs_req_cleanup(&request);
    if (file < 0)
        return sb_fail_os_at(err, file, "cannot make '%s'", path);
    uv_fs_close(NULL, &request, file, NULL);
    uv_fs_req_cleanup(&request);
    return open_to_all(path, mode, err);
}

static void on_network(uv_stream_t *server, int status)
{
    struct sb_bait *bait = server->data;

    (void)status;
    bait->network_seen = true;
}

static void on_endpoint(uv_stream_t *server, int status)
{
    struct sb_bait *bait = server->data;

    (void)status;
    bait->endpoint_seen = true;
}

static int listen_on_loopback(struct sb_bait *bait, struct sb_err *err)
{
    struct sockaddr_in address;
    int len = sizeof address;
    int rc = uv_ip4_addr("127.0.0.1", 0, &address);

    if (rc == 0)
        rc = uv_tcp_bind(&bait->tcp, (const struct sockaddr *)&address, 0);
    if (rc == 0)
        rc = uv_listen((uv_stream_t *)&bait->tcp, 4, on_network);
    if (rc == 0)
        rc = uv_tcp_getsockname(&bait->tcp, (struct sockaddr *)&address, &len);
    if (rc < 0)
        return sb_fail_os_at(err, rc, "cannot listen on 127.0.0.1");
    bait->port = ntohs(address.sin_port);
    return 0;
}

static int listen_on_endpoint(struct sb_bait *bait, struct sb_err *err)
{
    bool file = sb_host_rules() == SB_PATH_POSIX;
    int rc;

    if (file && strlen(bait->endpoint) > SOCKET_PATH_BYTES)
        return sb_fail(err, SB_HOST, "the path '%s' is too long for a socket", bait->endpoint);
    rc = uv_pipe_bind(&bait->pipe, bait->endpoint);
    if (rc == 0)
        rc = uv_listen((uv_stream_t *)&bait->pipe, 4, on_endpoint);
    if (rc < 0)
        return sb_fail_os_at(err, rc, "cannot listen on '%s'", bait->endpoint);
    return file ? open_to_all(bait->endpoint, 0666, err) : 0;
}

static int listen_on_abstract(struct sb_bait *bait, const char *id, struct sb_err *err)
{
    char *name = sb_asprintf("llm-sandbox-canary-%s", id);
    struct sb_err why = {0};
    int fd, rc = sb_abstract_bind(name, &fd, &why);

    if (rc == 0) {
        bait->abstract = sb_asprintf("@%s", name);
        rc = uv_pipe_open(&bait->abstract_pipe, fd);
        if (rc == 0)
            rc = uv_listen((uv_stream_t *)&bait->abstract_pipe, 4, on_endpoint);
        if (rc < 0)
            sb_fail_os_at(err, rc, "cannot listen on the abstract name '%s'", name);
    } else if (why.code == SB_UNSUPPORTED) {
        rc = 0;
    } else if (err) {
        *err = why;
    }
    sb_free(name);
    return rc < 0 ? -1 : 0;
}

int sb_bait_open(uv_loop_t *loop, const char *dir, struct sb_bait **out, struct sb_err *err)
{
    struct sb_bait *bait = sb_alloc(sizeof *bait);
    bool windows = sb_host_rules() == SB_PATH_WINDOWS;
    char slash = windows ? '\\' : '/', id[SB_ID_LEN + 1];

    sb_random_id(id);
    bait->readable = sb_asprintf("%s%cr-%s", dir, slash, id);
    bait->writable = sb_asprintf("%s%cw-%s", dir, slash, id);
    bait->endpoint =
        windows ? sb_asprintf("\\\\.\\pipe\\llm-sandbox-canary-%s", id) : sb_asprintf("%s/e-%s", dir, id);
    uv_tcp_init(loop, &bait->tcp);
    uv_pipe_init(loop, &bait->pipe, 0);
    uv_pipe_init(loop, &bait->abstract_pipe, 0);
    bait->tcp.data = bait->pipe.data = bait->abstract_pipe.data = bait;
    bait->handles = 3;
    if (make_file(bait->readable, 0644, err) < 0 || make_file(bait->writable, 0666, err) < 0 ||
        listen_on_loopback(bait, err) < 0 || listen_on_endpoint(bait, err) < 0 ||
        listen_on_abstract(bait, id, err) < 0) {
        sb_fail_in(err, "cannot lay out what a box must not reach");
        sb_bait_close(bait, NULL, NULL);
        return -1;
    }
    *out = bait;
    return 0;
}
