/* SPDX-License-Identifier: MIT
 * Files of the repository that tests compare with what the program says of itself. */
#ifndef TESTS_UNIT_SERVER_REPOSITORY_H
#define TESTS_UNIT_SERVER_REPOSITORY_H

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

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

#endif
