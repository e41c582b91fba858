/* SPDX-License-Identifier: MIT */
#include <stdbool.h>
#include <stddef.h>
#include <string.h>

#include "base/argv.h"
#include "base/buf.h"

/* Words that mean something to a shell only where a command begins, and unquoted. */
static bool is_shell_word(const char *text)
{
    static const char *const words[] = {"!",    "case",   "coproc", "do",   "done",     "elif",
                                        "else", "esac",   "fi",     "for",  "function", "if",
                                        "in",   "select", "then",   "time", "until",    "while"};

    for (size_t i = 0; i < sizeof words / sizeof words[0]; i++)
        if (strcmp(text, words[i]) == 0)
            return true;
    return false;
}

static bool is_plain_posix(const char *text, bool first)
{
    static const char plain[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_@+:,./-=";

    if (text[0] == 0 || text[strspn(text, plain)] != 0)
        return false;
    return !first || (!strchr(text, '=') && !is_shell_word(text)); /* A=b would be an assignment */
}

void sb_quote_posix(struct sb_buf *out, char *const *argv)
{
    for (char *const *arg = argv; *arg; arg++) {
        if (arg != argv)
            sb_buf_addc(out, ' ');
        if (is_plain_posix(*arg, arg == argv)) {
            sb_buf_adds(out, *arg);
            continue;
        }
        sb_buf_addc(out, '\'');
        for (const char *c = *arg; *c; c++)
            if (*c == '\'')
                sb_buf_adds(out, "'\\''");
            else
                sb_buf_addc(out, *c);
        sb_buf_addc(out, '\'');
    }
}

/* The program name has rules of its own: a quote ends it, a backslash is always itself. */
static void quote_windows_program(struct sb_buf *out, const char *text)
{
    sb_buf_addc(out, '"');
    for (; *text; text++)
        if (*text != '"')
            sb_buf_addc(out, *text);
    sb_buf_addc(out, '"');
}

/* Backslashes are themselves unless a quote follows them, our own closing one included;
 * there each is doubled, and one more is needed before a quote that is meant. */
static void quote_windows_argument(struct sb_buf *out, const char *text)
{
    size_t slashes = 0;

    if (text[0] && !strpbrk(text, " \t\n\v\"")) {
        sb_buf_adds(out, text);
        return;
    }
    sb_buf_addc(out, '"');
    for (; *text; text++) {
        if (*text == '"')
            for (slashes++; slashes > 0; slashes--)
                sb_buf_addc(out, '\\');
        slashes = *text == '\\' ? slashes + 1 : 0;
        sb_buf_addc(out, *text);
    }
    for (; slashes > 0; slashes--)
        sb_buf_addc(out, '\\');
    sb_buf_addc(out, '"');
}

void sb_quote_windows(struct sb_buf *out, char *const *argv)
{
    if (argv[0])
        quote_windows_program(out, argv[0]);
    for (char *const *arg = argv[0] ? argv + 1 : argv; *arg; arg++) {
        sb_buf_addc(out, ' ');
        quote_windows_argument(out, *arg);
    }
}
