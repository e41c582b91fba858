/* SPDX-License-Identifier: MIT
 * The code file: a program's text is put as it came, but for two things that Windows
 * editors leave in it and interpreters die of. */
#include <stdbool.h>
#include <string.h>

#include "base/buf.h"
#include "languages/language.h"

/* Bash takes the carriage return as part of the last word. Only a text whose every line ends
 * in CRLF is such a file; in a mixed one the carriage returns are meant. */
static bool every_line_ends_in_crlf(const char *code, size_t len)
{
    bool any = false;

    for (size_t i = 0; i < len; i++) {
        if (code[i] != '\n')
            continue;
        if (i == 0 || code[i - 1] != '\r')
            return false;
        any = true;
    }
    return any;
}

static void add_with_lf(const char *code, size_t len, struct sb_buf *out)
{
    for (size_t i = 0; i < len; i++) {
        if (code[i] == '\r' && i + 1 < len && code[i + 1] == '\n')
            continue;
        sb_buf_addc(out, code[i]);
    }
}

/* cmd.exe misses labels in a file with bare line feeds. */
static void add_with_crlf(const char *code, size_t len, struct sb_buf *out)
{
    for (size_t i = 0; i < len; i++) {
        if (code[i] == '\n' && (i == 0 || code[i - 1] != '\r'))
            sb_buf_addc(out, '\r');
        sb_buf_addc(out, code[i]);
    }
}

void sb_language_code(const struct sb_language *language, const char *code, size_t len, struct sb_buf *out)
{
    /* Node dies of a mark before #!, bash of any, Java and R too. */
    if (len >= 3 && memcmp(code, "\xEF\xBB\xBF", 3) == 0) {
        code += 3;
        len -= 3;
    }
    if (language->lines == SB_LINES_LF && every_line_ends_in_crlf(code, len))
        add_with_lf(code, len, out);
    else if (language->lines == SB_LINES_CRLF)
        add_with_crlf(code, len, out);
    else
        sb_buf_add(out, code, len);
}
