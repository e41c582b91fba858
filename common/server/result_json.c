/* SPDX-License-Identifier: MIT
 * json.dumps(..., indent=2) of the reference: three keys, nothing but ASCII. */
#include "server/result_text.h"

#include <inttypes.h>
#include <string.h>

#include "base/buf.h"
#include "sandbox/signal_name.h"
#include "server/excerpt.h"

#define FRAME_CHARS 64 /* keys, braces, exit code */

/* 0: the program's own code. */
static const int exit_codes[SB_STATUS_COUNT] = {
    [SB_STATUS_TIMEOUT] = 124,       [SB_STATUS_CPU_LIMIT] = 124,  [SB_STATUS_MEMORY_LIMIT] = 137,
    [SB_STATUS_PROCESS_LIMIT] = 153, [SB_STATUS_DISK_LIMIT] = 153, [SB_STATUS_OUTPUT_LIMIT] = 153,
    [SB_STATUS_CANCELLED] = 130,     [SB_STATUS_HOST_ERROR] = 1,
};

static uint32_t exit_code(const struct sb_run_result *result)
{
    if (exit_codes[result->status] != 0)
        return (uint32_t)exit_codes[result->status];
    if (result->status == SB_STATUS_SIGNAL && !sb_signal_is_crash(result->code))
        return 128 + (result->code & 0x7f);
    return result->code;
}

static uint32_t code_point(const char *character, size_t len)
{
    static const unsigned char masks[] = {0, 0x7F, 0x1F, 0x0F, 0x07};
    uint32_t point = (unsigned char)character[0] & masks[len];

    for (size_t i = 1; i < len; i++)
        point = point << 6 | ((unsigned char)character[i] & 0x3F);
    return point;
}

/* The short escape of a control character, quote or backslash; 0: none. */
static char short_escape(char c)
{
    static const char from[] = "\"\\\b\f\n\r\t", to[] = "\"\\bfnrt";
    const char *found = c != '\0' ? strchr(from, c) : NULL;

    return found != NULL ? to[found - from] : '\0';
}

static size_t weigh_escaped(const char *character, size_t len)
{
    if (len > 1)
        return len == 4 ? 12 : 6;
    if (short_escape(*character) != '\0')
        return 2;
    return *character < ' ' || *character == 0x7F ? 6 : 1;
}

static void put_escaped(const struct sb_buf *text, struct sb_buf *out)
{
    size_t len;

    for (size_t i = 0; i < text->len; i += len) {
        const char *at = text->data + i;
        uint32_t point;

        len = sb_char_len(*at);
        point = code_point(at, len);
        if (weigh_escaped(at, len) == 1)
            sb_buf_addc(out, *at);
        else if (weigh_escaped(at, len) == 2)
            sb_buf_addf(out, "\\%c", short_escape(*at));
        else if (point < 0x10000)
            sb_buf_addf(out, "\\u%04" PRIx32, point);
        else
            sb_buf_addf(out, "\\u%04" PRIx32 "\\u%04" PRIx32, 0xD800 + ((point - 0x10000) >> 10),
                        0xDC00 + ((point - 0x10000) & 0x3FF));
    }
}

/* What the exit code alone can't say; "" when it says all. */
static void put_sentence(const struct sb_run_result *result, struct sb_buf *out)
{
    if (result->status == SB_STATUS_HOST_ERROR)
        sb_buf_addf(out, "%s%s%s\n", result->err.text, result->mend[0] != '\0' ? "; mend: " : "",
                    result->mend);
    else if (result->status == SB_STATUS_TIMEOUT)
        sb_buf_addf(out, "timeout: killed after %" PRId64 ".%03" PRId64 " s\n", result->limit / 1000,
                    result->limit % 1000);
    else if (exit_codes[result->status] != 0)
        sb_buf_addf(out, "%s\n", sb_status_name(result->status));
}

void sb_result_json(const struct sb_run_result *result, const char *run_id, struct sb_buf *out)
{
    struct sb_excerpt_want want = {
        .result = result, .run_id = run_id, .stderr_room = SB_RESULT_STDERR_CHARS, .weigh = weigh_escaped};
    struct sb_buf streams[2], sentence;

    sb_buf_init(&sentence, sizeof result->err.text + sizeof result->mend + 64);
    put_sentence(result, &sentence);
    want.room = SB_RESULT_CHARS - FRAME_CHARS - 2 - sb_weigh_text(sentence.data, sentence.len, weigh_escaped);
    sb_excerpt_both(&want, streams);
    sb_buf_addf(out, "{\n  \"exit_code\": %" PRIu32 ",\n  \"stderr\": \"", exit_code(result));
    put_escaped(&streams[1], out);
    if (sentence.len > 0 && streams[1].len > 0 && streams[1].data[streams[1].len - 1] != '\n')
        sb_buf_adds(out, "\\n");
    put_escaped(&sentence, out);
    sb_buf_adds(out, "\",\n  \"stdout\": \"");
    put_escaped(&streams[0], out);
    sb_buf_adds(out, "\"\n}");
    sb_buf_done(&streams[0]);
    sb_buf_done(&streams[1]);
    sb_buf_done(&sentence);
}
