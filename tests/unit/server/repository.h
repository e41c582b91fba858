/* SPDX-License-Identifier: MIT
 * Files of the repository that tests compare with what the program says of itself. */
#ifndef TESTS_UNIT_SERVER_REPOSITORY_H
#define TESTS_UNIT_SERVER_REPOSITORY_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/buf.h"

/* This header's own path, without its name. */
static inline void repository_path(const char *name, struct sb_buf *out)
{
    const char *here = __FILE__;

    sb_buf_add(out, here, strlen(here) - strlen("unit/server/repository.h"));
    sb_buf_adds(out, name);
}

/* "tests/../NAME" as text without carriage returns; "" when it is not there. */
static inline void repository_read(const char *name, struct sb_buf *out)
{
    struct sb_buf path;
    FILE *file;
    int c;

    sb_buf_init(&path, 4096);
    repository_path(name, &path);
    file = fopen(path.data, "rb");
    while (file != NULL && (c = getc(file)) != EOF)
        if (c != '\r')
            sb_buf_addc(out, (char)c);
    if (file != NULL)
        fclose(file);
    sb_buf_done(&path);
}

static inline void repository_write(const char *name, const struct sb_buf *text)
{
    struct sb_buf path;
    FILE *file;

    sb_buf_init(&path, 4096);
    repository_path(name, &path);
    file = fopen(path.data, "wb");
    if (file != NULL) {
        fwrite(text->data, 1, text->len, file);
        fclose(file);
    }
    sb_buf_done(&path);
}

/* `found` is the text of the file; SB_REGENERATE writes the wanted one in its place. */
static inline void repository_compare(const char *name, const struct sb_buf *wanted, const char *found)
{
    if (strcmp(wanted->data, found) == 0)
        return;
    if (getenv("SB_REGENERATE") != NULL)
        repository_write(name, wanted);
    else
        fail_msg("tests/%s is not what the program says. If the change is meant, run with SB_REGENERATE=1.",
                 name);
}

/* Between the two lines of a manual stands what `put` says. */
static inline void repository_compare_section(const char *name, const char *begin_mark, const char *end_mark,
                                              void (*put)(struct sb_buf *out))
{
    struct sb_buf wanted, found;
    const char *begin, *end;

    sb_buf_init(&wanted, 1 << 20);
    sb_buf_init(&found, 1 << 20);
    repository_read(name, &found);
    begin = strstr(found.data, begin_mark);
    end = strstr(found.data, end_mark);
    assert_true(begin != NULL && end != NULL && begin < end);
    sb_buf_add(&wanted, found.data, (size_t)(begin - found.data) + strlen(begin_mark));
    sb_buf_addc(&wanted, '\n');
    put(&wanted);
    sb_buf_adds(&wanted, end);
    repository_compare(name, &wanted, found.data);
    sb_buf_done(&wanted);
    sb_buf_done(&found);
}

#endif
