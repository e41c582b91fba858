/* SPDX-License-Identifier: MIT */
#include "platform/endpoint.h"

#include <errno.h>
#include <grp.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/buf.h"
#include "base/path.h"
#include "platform/dirs.h"
#include "platform/lock.h"
#include "platform/oserr.h"

#define NAME       "llm-sandbox.sock"
#define ROOTS_DIR  "/run/llm-sandbox"
#define GROUP      "llm-sandbox" /* whose members may join root's service */
#define PATH_BYTES sizeof(((struct sockaddr_un *)NULL)->sun_path)

struct sb_endpoint {
    uv_pipe_t pipe;
    struct sockaddr_un address;
    struct sb_lock *lock; /* the place is ours, whatever file lies there */
    void (*on_client)(void *ctx, uv_pipe_t *stream, const char *peer);
    void *ctx;
};

static int set_address(const char *folder, struct sockaddr_un *out, struct sb_err *err)
{
    struct sb_buf path;
    int rc = 0;

    *out = (struct sockaddr_un){.sun_family = AF_UNIX};
    sb_buf_init(&path, PATH_BYTES);
    sb_path_join(&path, folder, NAME, SB_PATH_POSIX);
    if (path.full || path.len >= PATH_BYTES)
        rc = sb_fail(err, SB_BAD_REQUEST, "'%.120s/%s' is too long for a socket: at most %zu bytes", folder,
                     NAME, PATH_BYTES - 1);
    else
        memcpy(out->sun_path, path.data, path.len);
    sb_buf_done(&path);
    return rc;
}

static int own_address(struct sockaddr_un *out, struct sb_err *err)
{
    struct sb_buf folder;
    int rc;

    sb_buf_init(&folder, SB_PATH_MAX_BYTES);
    rc = sb_dir(SB_DIR_RUNTIME, &folder, err);
    if (rc == 0)
        rc = set_address(folder.data, out, err);
    sb_buf_done(&folder);
    return rc;
}

/* Who is at the other end, as the kernel noted it at connect or listen. */
static int user_at(int fd, uid_t *uid, struct sb_err *err)
{
    struct ucred who;
    socklen_t len = sizeof who;

    if (getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &who, &len) < 0)
        return sb_fail_os(err, "cannot tell who is at the other end of a socket");
    *uid = who.uid;
    return 0;
}

static void on_stream_closed(uv_handle_t *handle)
{
    sb_free(handle);
}

/* ---- listen ------------------------------------------------------------------------- */

static void on_connection(uv_stream_t *listener, int status)
{
    struct sb_endpoint *endpoint = listener->data;
    uv_pipe_t *stream;
    char peer[SB_PEER_BYTES];
    uid_t uid = 0;
    int fd = -1;

    if (status < 0)
        return;
    stream = sb_alloc(sizeof *stream);
    uv_pipe_init(listener->loop, stream, 0);
    if (uv_accept(listener, (uv_stream_t *)stream) < 0 || uv_fileno((uv_handle_t *)stream, &fd) < 0 ||
        user_at(fd, &uid, NULL) < 0) {
        uv_close((uv_handle_t *)stream, on_stream_closed);
        return;
    }
    snprintf(peer, sizeof peer, "uid:%u", (unsigned)uid);
    endpoint->on_client(endpoint->ctx, stream, peer);
}

/* A user's own is for that user, root's for the group too. Bound under umask 077: nobody else
 * gets in before the mode is right. */
static int set_mode(const char *path, struct sb_buf *note, struct sb_err *err)
{
    struct group *group = geteuid() == 0 ? getgrnam(GROUP) : NULL;

    if (geteuid() == 0 && !group)
        sb_buf_addf(note, "there is no group '%s' (groupadd --system %s): only root can join", GROUP, GROUP);
    if (group && lchown(path, 0, group->gr_gid) < 0)
        return sb_fail_os(err, "cannot give '%s' to the group '%s'", path, GROUP);
    if (chmod(path, group ? 0660 : 0600) < 0)
        return sb_fail_os(err, "cannot set the mode of '%s'", path);
    return 0;
}

static int take_place(struct sb_endpoint *endpoint, struct sb_err *err)
{
    struct sb_buf path;
    int rc;

    sb_buf_init(&path, SB_PATH_MAX_BYTES);
    sb_buf_addf(&path, "%s.lock", endpoint->address.sun_path);
    rc = sb_lock_take(path.data, &endpoint->lock, err);
    sb_buf_done(&path);
    if (rc < 0)
        return err->code == SB_BUSY
                   ? sb_fail(err, SB_BUSY, "a service runs already at '%s'", endpoint->address.sun_path)
                   : -1;
    unlink(endpoint->address.sun_path); /* left by one that was killed */
    return 0;
}

static int bind_and_listen(struct sb_endpoint *endpoint, int fd, struct sb_buf *note, struct sb_err *err)
{
    const struct sockaddr_un *address = &endpoint->address;
    int rc;

    if (bind(fd, (const struct sockaddr *)address, sizeof *address) < 0)
        return sb_fail_os(err, "cannot make the socket '%s'", address->sun_path);
    if (set_mode(address->sun_path, note, err) < 0)
        return -1;
    rc = uv_pipe_open(&endpoint->pipe, fd);
    if (rc == 0)
        rc = uv_listen((uv_stream_t *)&endpoint->pipe, SB_ENDPOINT_LOG, on_connection);
    return rc < 0 ? sb_fail(err, SB_HOST, "cannot listen at '%s': %s", address->sun_path, uv_strerror(rc))
                  : 0;
}

static void on_endpoint_closed(uv_handle_t *handle)
{
    sb_free(handle->data);
}

int sb_endpoint_listen(uv_loop_t *loop, void (*on_client)(void *ctx, uv_pipe_t *stream, const char *peer),
                       void *ctx, struct sb_endpoint **out, struct sb_buf *note, struct sb_err *err)
{
    struct sb_endpoint *endpoint = sb_alloc(sizeof *endpoint);
    int fd;

    endpoint->on_client = on_client;
    endpoint->ctx = ctx;
    if (own_address(&endpoint->address, err) < 0 || take_place(endpoint, err) < 0) {
        sb_free(endpoint);
        return -1;
    }
    uv_pipe_init(loop, &endpoint->pipe, 0);
    endpoint->pipe.data = endpoint;
    fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    if (fd < 0) {
        sb_fail_os(err, "cannot make a socket");
    } else if (bind_and_listen(endpoint, fd, note, err) == 0) {
        *out = endpoint;
        return 0;
    } else if (uv_fileno((uv_handle_t *)&endpoint->pipe, &(int){-1}) < 0) {
        close(fd); /* not the handle's yet */
    }
    sb_endpoint_close(endpoint);
    return -1;
}

const char *sb_endpoint_place(const struct sb_endpoint *endpoint)
{
    return endpoint->address.sun_path;
}

void sb_endpoint_close(struct sb_endpoint *endpoint)
{
    unlink(endpoint->address.sun_path);
    sb_lock_free(endpoint->lock, 1);
    uv_close((uv_handle_t *)&endpoint->pipe, on_endpoint_closed);
}

/* ---- connect ------------------------------------------------------------------------ */

/* A connected descriptor whose other end is ours or root's. */
static int call(const struct sockaddr_un *address, uid_t *uid, struct sb_err *err)
{
    int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);

    if (fd < 0)
        return sb_fail_os(err, "cannot make a socket");
    if (connect(fd, (const struct sockaddr *)address, sizeof *address) < 0) {
        int number = errno;

        if (number == ENOENT || number == ECONNREFUSED || number == EACCES || number == ENOTDIR)
            sb_fail(err, SB_NOT_FOUND, "no service runs at '%s', or none for us", address->sun_path);
        else if (number == EAGAIN)
            sb_fail(err, SB_BUSY, "the service at '%s' takes no more clients now", address->sun_path);
        else
            sb_fail_os_at(err, number, "cannot connect to '%s'", address->sun_path);
    } else if (user_at(fd, uid, err) == 0) {
        if (*uid == geteuid() || *uid == 0)
            return fd;
        sb_fail(err, SB_DENIED, "the service at '%s' is run by uid %u, neither ours nor root's",
                address->sun_path, (unsigned)*uid);
    }
    close(fd);
    return -1;
}

static int find_service(uid_t *uid, struct sb_err *err)
{
    struct sockaddr_un own, roots;
    struct sb_err nowhere = {0};
    int fd = -1;

    if (own_address(&own, err) == 0)
        fd = call(&own, uid, err);
    else
        err->code = SB_NOT_FOUND; /* where we could have none, none of ours runs */
    if (fd >= 0 || geteuid() == 0 || set_address(ROOTS_DIR, &roots, &nowhere) < 0)
        return fd;
    fd = call(&roots, uid, &nowhere);
    if (fd < 0 && nowhere.code != SB_NOT_FOUND)
        *err = nowhere;
    return fd;
}

int sb_endpoint_connect(uv_loop_t *loop, struct sb_endpoint_found *out, struct sb_err *err)
{
    uid_t uid = 0;
    int fd = find_service(&uid, err), rc;
    uv_pipe_t *stream;

    if (fd < 0)
        return -1;
    stream = sb_alloc(sizeof *stream);
    uv_pipe_init(loop, stream, 0);
    rc = uv_pipe_open(stream, fd);
    if (rc < 0) {
        close(fd);
        uv_close((uv_handle_t *)stream, on_stream_closed);
        return sb_fail(err, SB_HOST, "cannot use a socket: %s", uv_strerror(rc));
    }
    *out = (struct sb_endpoint_found){.stream = stream, .ours = uid == geteuid()};
    return 0;
}
