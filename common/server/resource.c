/* SPDX-License-Identifier: MIT */
#include "server/resource.h"

#include <string.h>

#include "base/base64.h"
#include "base/buf.h"
#include "base/json.h"
#include "base/mime.h"
#include "base/utf8.h"
#include "server/conn.h"
#include "server/tools/languages.h"

#define RUN_PREFIX       "sandbox://run/"
#define LANGUAGES_URI    "sandbox://languages"
#define RUN_ID_MAX_BYTES 40
#define TEXT_MAX         (SB_CONN_LINE_OUT - 64 * 1024) /* escaped, in one line to the client */

static bool is_plain(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
           strchr("-._~/", c) != NULL;
}

void sb_resource_run_uri(const char *run_id, const char *path, struct sb_buf *out)
{
    sb_buf_addf(out, RUN_PREFIX "%s/", run_id);
    for (; *path != '\0'; path++)
        if (is_plain(*path))
            sb_buf_addc(out, *path);
        else
            sb_buf_addf(out, "%%%02X", (unsigned)(unsigned char)*path);
}

static int digit(char c)
{
    return c >= '0' && c <= '9'   ? c - '0'
           : c >= 'A' && c <= 'F' ? c - 'A' + 10
           : c >= 'a' && c <= 'f' ? c - 'a' + 10
                                  : -1;
}

static int decode(const char *text, struct sb_buf *out)
{
    while (*text != '\0') {
        int high = *text == '%' ? digit(text[1]) : 0;
        int low = *text == '%' && high >= 0 ? digit(text[2]) : 0;

        if (high < 0 || low < 0 || (*text == '%' && high == 0 && low == 0))
            return -1;
        if (*text != '%') {
            sb_buf_addc(out, *text++);
        } else {
            sb_buf_addc(out, (char)(high << 4 | low));
            text += 3;
        }
    }
    return out->full ? -1 : 0;
}

static void put_text(const char *uri, const char *type, const struct sb_buf *text, bool blob,
                     struct sb_buf *out)
{
    struct sb_json_out json;

    sb_json_begin(&json, out);
    sb_json_open_array(&json, NULL);
    sb_json_open_object(&json, NULL);
    sb_json_put_string(&json, "uri", uri);
    sb_json_put_string(&json, "mimeType", type);
    sb_json_put_bytes(&json, blob ? "blob" : "text", text->data, text->len);
    sb_json_close_object(&json);
    sb_json_close_array(&json);
}

/* As text where it is text that fits a line, else as base64. */
static void put_bytes(const char *uri, const char *type, const struct sb_buf *bytes, struct sb_buf *out)
{
    struct sb_buf piece;

    sb_buf_init(&piece, TEXT_MAX);
    if (sb_utf8_valid(bytes->data, bytes->len) && memchr(bytes->data, '\0', bytes->len) == NULL)
        put_text(uri, type, bytes, false, &piece);
    if (piece.full || piece.len == 0) {
        struct sb_buf coded;

        sb_buf_init(&coded, TEXT_MAX);
        sb_base64(bytes->data, bytes->len, &coded);
        sb_buf_clear(&piece);
        put_text(uri, type, &coded, true, &piece);
        sb_buf_done(&coded);
    }
    sb_buf_add(out, piece.data, piece.len);
    sb_buf_done(&piece);
}

static int not_found(const char *uri, struct sb_err *err)
{
    return sb_fail(err, SB_NOT_FOUND, "no resource '%.200s'", uri);
}

static int read_run(struct sb_host *host, const char *peer, const char *uri, struct sb_buf *out,
                    struct sb_err *err)
{
    const char *id = uri + strlen(RUN_PREFIX), *slash = strchr(id, '/');
    size_t id_len = slash != NULL ? (size_t)(slash - id) : 0;
    char run_id[RUN_ID_MAX_BYTES + 1] = "";
    struct sb_buf path, bytes;
    struct sb_job *job;
    uint64_t total = 0;
    int rc = -1;

    if (id_len == 0 || id_len > RUN_ID_MAX_BYTES)
        return not_found(uri, err);
    memcpy(run_id, id, id_len);
    sb_buf_init(&path, SB_PATH_MAX_BYTES + 2);
    sb_buf_init(&bytes, SB_RESOURCE_BYTES_MAX);
    job = sb_job_find(sb_host_jobs(host), peer, run_id);
    if (job == NULL || decode(slash + 1, &path) < 0) {
        not_found(uri, err);
        goto done;
    }
    if (sb_job_read(job, path.data, 0, SB_RESOURCE_BYTES_MAX, &bytes, &total, err) < 0)
        goto done;
    if (total > bytes.len) {
        sb_fail(err, SB_LIMIT, "'%.200s' is too large for one answer: use read_file run_id=%s", path.data,
                run_id);
        goto done;
    }
    put_bytes(uri, path.data[0] == '@' ? "text/plain" : sb_mime_of(path.data), &bytes, out);
    rc = 0;
done:
    sb_buf_done(&path);
    sb_buf_done(&bytes);
    return rc;
}

int sb_resource_read(struct sb_host *host, const char *peer, const char *uri,
                     struct sb_buf *out_contents_json, struct sb_err *err)
{
    struct sb_buf text;

    if (strncmp(uri, RUN_PREFIX, strlen(RUN_PREFIX)) == 0)
        return read_run(host, peer, uri, out_contents_json, err);
    if (strcmp(uri, LANGUAGES_URI) != 0)
        return not_found(uri, err);
    sb_buf_init(&text, SB_LANGUAGES_TEXT_MAX);
    sb_languages_all(&text);
    put_text(uri, "text/plain", &text, false, out_contents_json);
    sb_buf_done(&text);
    return 0;
}
