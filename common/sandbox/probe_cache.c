/* SPDX-License-Identifier: MIT */
#include "sandbox/probe_cache.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/alloc.h"
#include "base/buf.h"
#include "base/json.h"
#include "base/sha256.h"
#include "platform/dirs.h"
#include "platform/hostpath.h"
#include "platform/random.h"
#include "wire/wire.h"

#define FORMAT     "1" /* of key and file */
#define FILE_BYTES 16384

void sb_probe_key(const struct sb_probe_basis *basis, char out[SB_PROBE_KEY])
{
    const char *const texts[] = {FORMAT, basis->boot, basis->build, basis->backend, basis->program};
    struct sb_sha256 sha;
    char numbers[128];

    sb_sha256_init(&sha);
    for (size_t i = 0; i < SB_COUNT(texts); i++)
        sb_sha256_add(&sha, texts[i], strlen(texts[i]) + 1); /* with its NUL: no text runs into the next */
    snprintf(numbers, sizeof numbers, "%" PRIu64 " %" PRIu64 " %" PRId64 " %" PRId64, basis->uid,
             basis->program_bytes, basis->program_mtime_s, basis->program_mtime_ns);
    sb_sha256_add(&sha, numbers, strlen(numbers));
    sb_sha256_hex(&sha, out);
}

/* ---- the file's text ---------------------------------------------------------------- */

void sb_probe_encode(const char *key, const struct sb_probe_result *result, struct sb_buf *out)
{
    struct sb_json_out json;

    sb_json_begin(&json, out);
    sb_json_open_object(&json, NULL);
    sb_json_put_string(&json, "key", key);
    sb_json_put_string(&json, "version", result->facts.version);
    sb_json_put_bool(&json, "guest_by_data", result->facts.guest_by_data);
    sb_json_open_object(&json, "promises");
    for (int i = 0; i < SB_PROMISE_COUNT; i++) {
        sb_json_open_object(&json, sb_promise_name((enum sb_promise)i));
        sb_json_put_string(&json, "strength", sb_strength_name(result->promises.of[i]));
        sb_json_put_string(&json, "why", result->promises.why[i]);
        sb_json_close_object(&json);
    }
    sb_json_close_object(&json);
    sb_json_close_object(&json);
    sb_buf_addc(out, '\n');
}

static int decode_promise(const struct sb_json *value, enum sb_strength *strength, char *why, size_t why_cap)
{
    const char *name, *text;

    if (sb_json_string(sb_json_get(value, "strength"), "strength", &name, NULL) < 0 ||
        sb_json_string(sb_json_get(value, "why"), "why", &text, NULL) < 0 || strlen(text) >= why_cap)
        return -1;
    for (int i = SB_NONE; i <= SB_KERNEL; i++) {
        if (strcmp(sb_strength_name((enum sb_strength)i), name) != 0)
            continue;
        *strength = (enum sb_strength)i;
        memcpy(why, text, strlen(text) + 1);
        return 0;
    }
    return -1;
}

static int decode(const char *key, const struct sb_json *root, struct sb_probe_result *result)
{
    struct sb_promises promises = {0};
    const char *text, *version;
    bool by_data;

    if (sb_json_string(sb_json_get(root, "key"), "key", &text, NULL) < 0 || strcmp(text, key) != 0 ||
        sb_json_string(sb_json_get(root, "version"), "version", &version, NULL) < 0 ||
        strlen(version) >= sizeof result->facts.version ||
        sb_json_bool(sb_json_get(root, "guest_by_data"), "guest_by_data", &by_data, NULL) < 0)
        return -1;
    for (int i = 0; i < SB_PROMISE_COUNT; i++) {
        const struct sb_json *value =
            sb_json_get(sb_json_get(root, "promises"), sb_promise_name((enum sb_promise)i));

        if (decode_promise(value, &promises.of[i], promises.why[i], sizeof promises.why[i]) < 0)
            return -1;
    }
    memcpy(result->facts.version, version, strlen(version) + 1);
    result->facts.guest_by_data = by_data;
    result->promises = promises;
    return 0;
}

int sb_probe_decode(const char *key, const char *text, size_t len, struct sb_probe_result *result)
{
    struct sb_json_doc *doc = NULL;
    int rc = -1;

    if (sb_json_parse(text, len, &doc, NULL) == 0)
        rc = decode(key, sb_json_root(doc), result);
    sb_json_free(doc);
    return rc;
}

/* ---- the host ----------------------------------------------------------------------- */

/* Up to `cap` bytes of a small file; -1: not there, or larger. */
static long read_file(const char *path, char *out, size_t cap)
{
    uv_fs_t request;
    uv_buf_t buf = uv_buf_init(out, (unsigned)cap);
    int file = uv_fs_open(NULL, &request, path, UV_FS_O_RDONLY, 0, NULL);
    int got;

    uv_fs_req_cleanup(&request);
    if (file < 0)
        return -1;
    got = uv_fs_read(NULL, &request, file, &buf, 1, 0, NULL);
    uv_fs_req_cleanup(&request);
    uv_fs_close(NULL, &request, file, NULL);
    uv_fs_req_cleanup(&request);
    return got < 0 || (size_t)got == cap ? -1 : got;
}

/* Linux has an id for it. Elsewhere the moment of the start, coarse since both clocks drift:
 * now and then a probe too many. */
static void read_boot(char *out, size_t cap)
{
    long got = read_file("/proc/sys/kernel/random/boot_id", out, cap);
    uv_timeval64_t now = {0};
    double up = 0;

    out[got < 0 ? 0 : got] = '\0';
    if (got > 0)
        return;
    uv_gettimeofday(&now);
    uv_uptime(&up);
    snprintf(out, cap, "%" PRId64, (int64_t)(((double)now.tv_sec - up) / 600));
}

void sb_probe_cache_key(const struct sb_probe_result *result, const char *instance_dir,
                        char out[SB_PROBE_KEY])
{
    struct sb_probe_basis basis = {
        .build = sb_wire_build_id(), .backend = result->backend->name, .program = result->facts.program};
    uv_fs_t request;

    read_boot(basis.boot, sizeof basis.boot);
    if (uv_fs_stat(NULL, &request, instance_dir, NULL) == 0)
        basis.uid = request.statbuf.st_uid; /* we made it */
    uv_fs_req_cleanup(&request);
    if (basis.program[0] && uv_fs_stat(NULL, &request, basis.program, NULL) == 0) {
        basis.program_bytes = request.statbuf.st_size;
        basis.program_mtime_s = request.statbuf.st_mtim.tv_sec;
        basis.program_mtime_ns = request.statbuf.st_mtim.tv_nsec;
    }
    uv_fs_req_cleanup(&request);
    sb_probe_key(&basis, out);
}

static int cache_path(const struct sb_backend *backend, struct sb_buf *out)
{
    struct sb_buf dir;
    char name[64];
    int rc;

    sb_buf_init(&dir, SB_PATH_MAX_BYTES);
    snprintf(name, sizeof name, "probe-%s.json", backend->name);
    rc = sb_dir(SB_DIR_CACHE, &dir, NULL);
    sb_path_join(out, dir.data, name, sb_host_rules());
    sb_buf_done(&dir);
    return rc;
}

int sb_probe_cache_load(const char *key, struct sb_probe_result *result)
{
    char *text = sb_alloc(FILE_BYTES);
    struct sb_buf path;
    long len = -1;
    int rc = -1;

    sb_buf_init(&path, SB_PATH_MAX_BYTES);
    if (cache_path(result->backend, &path) == 0)
        len = read_file(path.data, text, FILE_BYTES);
    if (len >= 0)
        rc = sb_probe_decode(key, text, (size_t)len, result);
    sb_buf_done(&path);
    sb_free(text);
    return rc;
}

static int write_file(const char *path, const struct sb_buf *text)
{
    uv_fs_t request;
    uv_buf_t buf = uv_buf_init(text->data, (unsigned)text->len);
    int file = uv_fs_open(NULL, &request, path, UV_FS_O_WRONLY | UV_FS_O_CREAT | UV_FS_O_EXCL, 0600, NULL);
    int put;

    uv_fs_req_cleanup(&request);
    if (file < 0)
        return -1;
    put = uv_fs_write(NULL, &request, file, &buf, 1, 0, NULL);
    uv_fs_req_cleanup(&request);
    uv_fs_close(NULL, &request, file, NULL);
    uv_fs_req_cleanup(&request);
    return put == (int)text->len ? 0 : -1;
}

/* Under another name first: a reader sees the old file or the new one, never a half. */
static void replace_file(const char *path, const struct sb_buf *text)
{
    char id[SB_ID_LEN + 1], *fresh;
    uv_fs_t request;
    int rc;

    sb_random_id(id);
    fresh = sb_asprintf("%s.%s", path, id);
    rc = write_file(fresh, text);
    if (rc == 0) {
        rc = uv_fs_rename(NULL, &request, fresh, path, NULL);
        uv_fs_req_cleanup(&request);
    }
    if (rc < 0) {
        uv_fs_unlink(NULL, &request, fresh, NULL);
        uv_fs_req_cleanup(&request);
    }
    sb_free(fresh);
}

void sb_probe_cache_store(const char *key, const struct sb_probe_result *result)
{
    struct sb_buf text, path;

    sb_buf_init(&text, FILE_BYTES - 1);
    sb_buf_init(&path, SB_PATH_MAX_BYTES);
    sb_probe_encode(key, result, &text);
    if (cache_path(result->backend, &path) == 0 && !text.full)
        replace_file(path.data, &text);
    sb_buf_done(&text);
    sb_buf_done(&path);
}
