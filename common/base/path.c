/* SPDX-License-Identifier: MIT */
#include "base/path.h"

#include <string.h>

#include "base/buf.h"
#include "base/utf8.h"

static const char root[] = "/sandbox";

#define SHOWN_BYTES 100 /* of a path in an error */

static int refuse(const char *path, size_t len, enum sb_code code, const char *wrong, struct sb_err *err)
{
    size_t most = sb_utf8_cut(path, len, SHOWN_BYTES);

    return sb_fail(err, code, "the path '%.*s%s' %s", (int)most, path, most < len ? "..." : "", wrong);
}

static char upper(char c)
{
    return c >= 'a' && c <= 'z' ? (char)(c - 'a' + 'A') : c;
}

static bool is_digit(char c)
{
    return c >= '0' && c <= '9';
}

static bool same_letters(const char *text, size_t len, const char *name)
{
    for (size_t i = 0; i < len; i++)
        if (name[i] == 0 || upper(text[i]) != name[i])
            return false;
    return name[len] == 0;
}

/* A letter and a colon: under POSIX rules too, what a client on Windows calls a drive. */
static bool is_drive(const char *path)
{
    return upper(path[0]) >= 'A' && upper(path[0]) <= 'Z' && path[1] == ':';
}

/* 1 to 9, and the superscripts that Windows takes for 1, 2 and 3. */
static bool is_port_digit(const char *text, size_t len)
{
    static const char *const superscripts[] = {"\xC2\xB9", "\xC2\xB2", "\xC2\xB3"};

    if (len == 1)
        return *text >= '1' && *text <= '9';
    for (size_t i = 0; i < 3; i++)
        if (len == 2 && memcmp(text, superscripts[i], 2) == 0)
            return true;
    return false;
}

/* Names that Windows gives to devices in every folder, with any ending (NUL.tar.gz) and
 * with blanks before it (`COM1 .txt`). */
static bool is_device(const char *part, size_t len)
{
    static const char *const names[] = {"CON", "PRN", "AUX", "NUL", "CONIN$", "CONOUT$"};
    const char *dot = memchr(part, '.', len);
    size_t stem = dot ? (size_t)(dot - part) : len;

    while (stem > 0 && part[stem - 1] == ' ')
        stem--;
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++)
        if (same_letters(part, stem, names[i]))
            return true;
    return stem > 3 && (same_letters(part, 3, "COM") || same_letters(part, 3, "LPT")) &&
           is_port_digit(part + 3, stem - 3);
}

/* PROGRA~1, LONGNA~2.TXT: may be another name of a file that has a long one. */
static bool is_short_name(const char *part, size_t len)
{
    const char *dot = memchr(part, '.', len);
    size_t stem = dot ? (size_t)(dot - part) : len, digits = 0;

    if (stem > 8 || (dot && len - stem > 4))
        return false;
    while (digits < stem && is_digit(part[stem - 1 - digits]))
        digits++;
    return digits > 0 && digits < stem && part[stem - 1 - digits] == '~';
}

static const char *wrong_windows_part(const char *part, size_t len)
{
    for (size_t i = 0; i < len; i++) {
        if (part[i] == '\\')
            return "separates folders by '\\' instead of '/'";
        if (part[i] == ':')
            return "has a colon (drive or stream)";
        if ((unsigned char)part[i] < 0x20 || strchr("<>\"|?*", part[i]))
            return "has a character that Windows does not allow in names";
    }
    if (part[len - 1] == '.' || part[len - 1] == ' ')
        return "has a name that ends in a dot or blank, which Windows would drop";
    if (is_device(part, len))
        return "has a name that Windows reserves for a device";
    if (is_short_name(part, len))
        return "has a name that Windows may take for the short form of another";
    return NULL;
}

/* What is wrong with one non-empty part, or NULL. */
static const char *wrong_part(const char *part, size_t len, enum sb_path_rules rules)
{
    if (len > SB_PATH_MAX_PART)
        return "has a name of more than 255 bytes";
    return rules == SB_PATH_WINDOWS ? wrong_windows_part(part, len) : NULL;
}

static bool is_slash(char c)
{
    return c == '/' || c == '\\';
}

static bool has_parent_part(const char *path, size_t len)
{
    for (size_t i = 0; i + 2 <= len; i++)
        if (memcmp(path + i, "..", 2) == 0 && (i == 0 || is_slash(path[i - 1])) &&
            (i + 2 == len || is_slash(path[i + 2])))
            return true;
    return false;
}

/* What is wrong with the whole of a non-empty path, or NULL. */
static const char *wrong_text(const char *path, size_t len)
{
    if (memchr(path, 0, len))
        return "has a NUL in it";
    if (len > SB_PATH_MAX_BYTES)
        return "is longer than 4095 bytes";
    if (!sb_utf8_valid(path, len))
        return "is not UTF-8";
    if (has_parent_part(path, len))
        return "has a '..' part";
    if ((len >= 3 && is_drive(path) && is_slash(path[2])) || (len >= 2 && memcmp(path, "\\\\", 2) == 0))
        return "is an absolute Windows path";
    return NULL;
}

/* Skips /sandbox and the slashes after it; false for any other absolute path. */
static bool skip_root(const char **path, size_t *len)
{
    size_t n = sizeof root - 1;

    if (*len == 0 || **path != '/')
        return true;
    if (*len < n || memcmp(*path, root, n) != 0 || (*len > n && (*path)[n] != '/'))
        return false;
    while (n < *len && (*path)[n] == '/')
        n++;
    *path += n;
    *len -= n;
    return true;
}

/* Copies the parts of a relative path to `plain`; what is wrong, or NULL. */
static const char *copy_parts(const char *path, size_t len, enum sb_path_rules rules, char *plain)
{
    size_t depth = 0, at = 0, part;
    const char *wrong;

    for (; at < len; at += part + 1) {
        const char *slash = memchr(path + at, '/', len - at);

        part = slash ? (size_t)(slash - path) - at : len - at;
        if (part == 0 || (part == 1 && path[at] == '.'))
            continue;
        wrong = wrong_part(path + at, part, rules);
        if (wrong)
            return wrong;
        if (++depth > SB_PATH_MAX_DEPTH)
            return "is more than 64 folders deep";
        if (depth > 1)
            *plain++ = '/';
        memcpy(plain, path + at, part);
        plain += part;
    }
    *plain = 0;
    return NULL;
}

static int make_plain(const char *path, size_t len, enum sb_path_rules rules, bool folder, struct sb_buf *out,
                      struct sb_err *err)
{
    char plain[SB_PATH_MAX_BYTES + 1];
    const char *rest = path, *wrong;
    size_t rest_len = len;

    if (len == 0 && !folder)
        return refuse("", 0, SB_BAD_REQUEST, "is empty", err);
    wrong = wrong_text(path, len);
    if (!wrong && !skip_root(&rest, &rest_len))
        wrong = "is absolute, but not below /sandbox/";
    if (!wrong)
        wrong = copy_parts(rest, rest_len, rules, plain);
    if (!wrong && !folder && plain[0] == 0)
        wrong = "is the workspace itself, not a file in it";
    if (!wrong && !folder && (path[len - 1] == '/' || (len >= 2 && memcmp(path + len - 2, "/.", 2) == 0)))
        wrong = "names a folder, not a file";
    if (wrong)
        return refuse(path, len, SB_BAD_REQUEST, wrong, err);
    if (strlen(plain) > out->max)
        return refuse(path, len, SB_LIMIT, "is too long here", err);
    sb_buf_clear(out);
    sb_buf_adds(out, plain);
    return 0;
}

int sb_path_plain(const char *path, size_t len, enum sb_path_rules rules, struct sb_buf *out,
                  struct sb_err *err)
{
    return make_plain(path, len, rules, false, out, err);
}

int sb_path_plain_folder(const char *path, size_t len, enum sb_path_rules rules, struct sb_buf *out,
                         struct sb_err *err)
{
    return make_plain(path, len, rules, true, out, err);
}

static bool is_separator(char c, enum sb_path_rules rules)
{
    return rules == SB_PATH_WINDOWS ? is_slash(c) : c == '/';
}

/* Windows: a drive with a root, or a UNC or device path. `\x` and `C:x` depend on a current
 * drive or folder. */
bool sb_path_is_absolute(const char *path, enum sb_path_rules rules)
{
    if (rules == SB_PATH_POSIX)
        return path[0] == '/';
    return (is_slash(path[0]) && is_slash(path[1])) || (is_drive(path) && is_slash(path[2]));
}

const char *sb_path_base(const char *path, enum sb_path_rules rules)
{
    const char *base = rules == SB_PATH_WINDOWS && is_drive(path) ? path + 2 : path;

    for (const char *p = base; *p; p++)
        if (is_separator(*p, rules))
            base = p + 1;
    return base;
}

const char *sb_path_ending(const char *path, enum sb_path_rules rules)
{
    const char *name = sb_path_base(path, rules), *dot;

    while (*name == '.') /* hides a file, does not end its name */
        name++;
    dot = strrchr(name, '.');
    return dot && dot[1] ? dot : name + strlen(name);
}

void sb_path_join(struct sb_buf *out, const char *dir, const char *name, enum sb_path_rules rules)
{
    size_t len = strlen(dir);

    sb_buf_add(out, dir, len);
    if (len > 0 && !is_separator(dir[len - 1], rules))
        sb_buf_addc(out, rules == SB_PATH_WINDOWS ? '\\' : '/');
    sb_buf_adds(out, name);
}
