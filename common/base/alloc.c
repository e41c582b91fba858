/* SPDX-License-Identifier: MIT */
#include "base/alloc.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void *must(void *memory)
{
    if (!memory) {
        fputs("llm-sandbox: out of memory\n", stderr);
        abort();
    }
    return memory;
}

void *sb_alloc(size_t size)
{
    return must(calloc(1, size > 0 ? size : 1));
}

void *sb_realloc(void *old, size_t size)
{
    return must(realloc(old, size > 0 ? size : 1));
}

char *sb_strdup(const char *text)
{
    return text ? sb_strndup(text, strlen(text)) : NULL;
}

char *sb_strndup(const char *text, size_t len)
{
    char *copy = must(malloc(len + 1));

    if (len > 0)
        memcpy(copy, text, len);
    copy[len] = 0;
    return copy;
}

char *sb_vasprintf(const char *fmt, va_list args)
{
    va_list again;
    char *text;
    int len;

    va_copy(again, args);
    len = vsnprintf(NULL, 0, fmt, again);
    va_end(again);
    if (len < 0)
        len = 0;
    text = sb_alloc((size_t)len + 1);
    vsnprintf(text, (size_t)len + 1, fmt, args);
    return text;
}

char *sb_asprintf(const char *fmt, ...)
{
    va_list args;
    char *text;

    va_start(args, fmt);
    text = sb_vasprintf(fmt, args);
    va_end(args);
    return text;
}

void sb_free(void *memory)
{
    free(memory);
}
