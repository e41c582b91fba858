/* SPDX-License-Identifier: MIT
 * Feeds each file of a list (one path a line) to a fuzz target, once. */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define INPUT_MAX (1024 * 1024)

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static int replay(const char *path)
{
    FILE *file = fopen(path, "rb");
    if (!file)
        return -1;
    /* Exactly as large as the input, so that a sanitizer sees one byte too many. */
    uint8_t *whole = malloc(INPUT_MAX), *exact = NULL;
    size_t len = whole ? fread(whole, 1, INPUT_MAX, file) : 0;
    fclose(file);
    exact = whole ? malloc(len > 0 ? len : 1) : NULL;
    if (exact) {
        memcpy(exact, whole, len);
        LLVMFuzzerTestOneInput(exact, len);
    }
    free(whole);
    free(exact);
    return exact ? 0 : -1;
}

int main(int argc, char **argv)
{
    char path[4096];
    int count = 0;
    FILE *list = argc == 2 ? fopen(argv[1], "r") : NULL;
    if (!list) {
        fprintf(stderr, "usage: %s LIST\n", argv[0]);
        return 2;
    }
    while (fgets(path, sizeof path, list)) {
        path[strcspn(path, "\r\n")] = '\0';
        if (replay(path) < 0) {
            fprintf(stderr, "cannot read '%s'\n", path);
            return 1;
        }
        count++;
    }
    fclose(list);
    printf("%d inputs replayed\n", count);
    return count > 0 ? 0 : 1;
}
