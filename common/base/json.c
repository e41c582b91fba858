/* SPDX-License-Identifier: MIT
 * json_check.c decides what JSON is; cJSON only builds the tree of what passed. */
#include "base/json.h"

#include <string.h>

#if __has_include(<cjson/cJSON.h>)
#include <cjson/cJSON.h>
#else
#include <cJSON.h>
#endif

#include "base/alloc.h"
#include "base/json_check.h"
#include "base/libraries.h"
#include "base/utf8.h"

#define INT_LIMIT   9007199254740991 /* 2^53 - 1 */
#define SHOWN_BYTES 100              /* of a key in an error */

/* What cJSON is given for each \u0000: no text that passed the check has this byte, which is
 * in no UTF-8, and cJSON copies it as it is. */
#define NUL_MARK 0xFF

struct sb_json_doc {
    cJSON *root;
};

static const cJSON *node_of(const struct sb_json *value)
{
    return (const void *)value;
}

static const struct sb_json *value_of(const cJSON *node)
{
    return (const void *)node;
}

const char *sb_cjson_version(void)
{
    return cJSON_Version();
}

/* Heap sort, because the keys are a stranger's: qsort may take quadratic time for some. */
static void sift(const char **keys, size_t parent, size_t n)
{
    for (size_t child = 2 * parent + 1; child < n; child = 2 * parent + 1) {
        const char *moved = keys[parent];

        if (child + 1 < n && strcmp(keys[child], keys[child + 1]) < 0)
            child++;
        if (strcmp(moved, keys[child]) >= 0)
            return;
        keys[parent] = keys[child];
        keys[child] = moved;
        parent = child;
    }
}

static void sort(const char **keys, size_t n)
{
    for (size_t i = n / 2; i > 0; i--)
        sift(keys, i - 1, n);
    for (size_t i = n; i > 1; i--) {
        const char *last = keys[i - 1];

        keys[i - 1] = keys[0];
        keys[0] = last;
        sift(keys, 0, i - 1);
    }
}

static int check_own_keys(const cJSON *object, struct sb_err *err)
{
    size_t n = (size_t)cJSON_GetArraySize(object), i = 0;
    const char **keys;
    int rc = 0;

    if (n < 2)
        return 0;
    keys = sb_alloc(n * sizeof *keys);
    for (const cJSON *member = object->child; member; member = member->next)
        keys[i++] = member->string;
    sort(keys, n);
    for (i = 1; i < n && rc == 0; i++)
        if (strcmp(keys[i - 1], keys[i]) == 0)
            rc = sb_fail(err, SB_BAD_REQUEST, "the key '%.*s' is there twice",
                         (int)sb_utf8_cut(keys[i], strlen(keys[i]), SHOWN_BYTES), keys[i]);
    sb_free(keys);
    return rc;
}

static int check_keys(const cJSON *node, struct sb_err *err)
{
    if (cJSON_IsObject(node) && check_own_keys(node, err) < 0)
        return -1;
    for (const cJSON *child = node->child; child; child = child->next)
        if (check_keys(child, err) < 0)
            return -1;
    return 0;
}

/* A copy of JSON text with marks in place of \u0000. A backslash is in strings only, and
 * what follows it belongs to it: \\u0000 is no NUL. */
static char *mark_nuls(const char *text, size_t len)
{
    char *copy = sb_strndup(text, len);

    for (char *c = copy; (c = strchr(c, '\\')) != NULL;)
        if (strncmp(c, "\\u0000", 6) == 0) {
            memset(c, NUL_MARK, 6);
            c += 6;
        } else {
            c += 2;
        }
    return copy;
}

int sb_json_parse(const char *text, size_t len, struct sb_json_doc **out, struct sb_err *err)
{
    struct sb_json_doc *doc;
    char *marked = NULL;
    bool has_nul = false;
    cJSON *root;

    if (sb_json_check(text, len, &has_nul, err) < 0)
        return -1;
    if (has_nul)
        marked = mark_nuls(text, len);
    root = cJSON_ParseWithLength(marked ? marked : text, len);
    sb_free(marked);
    if (!root)
        return sb_fail(err, SB_BUG, "cJSON does not read what was found to be JSON");
    if (check_keys(root, err) < 0) {
        cJSON_Delete(root);
        return -1;
    }
    doc = sb_alloc(sizeof *doc);
    doc->root = root;
    *out = doc;
    return 0;
}

void sb_json_free(struct sb_json_doc *doc)
{
    if (doc)
        cJSON_Delete(doc->root);
    sb_free(doc);
}

const struct sb_json *sb_json_root(const struct sb_json_doc *doc)
{
    return value_of(doc->root);
}

enum sb_json_type sb_json_type(const struct sb_json *value)
{
    const cJSON *node = node_of(value);

    if (cJSON_IsBool(node))
        return SB_JSON_BOOL;
    if (cJSON_IsNumber(node))
        return SB_JSON_NUMBER;
    if (cJSON_IsString(node))
        return SB_JSON_STRING;
    if (cJSON_IsArray(node))
        return SB_JSON_ARRAY;
    return cJSON_IsObject(node) ? SB_JSON_OBJECT : SB_JSON_NULL;
}

const struct sb_json *sb_json_get(const struct sb_json *object, const char *key)
{
    const cJSON *member;

    if (sb_json_type(object) != SB_JSON_OBJECT)
        return NULL;
    member = node_of(object)->child;
    while (member && strcmp(member->string, key) != 0)
        member = member->next;
    return value_of(member);
}

const struct sb_json *sb_json_next(const struct sb_json *container, const struct sb_json *previous)
{
    if (previous)
        return value_of(node_of(previous)->next);
    return container ? value_of(node_of(container)->child) : NULL;
}

const char *sb_json_key(const struct sb_json *member)
{
    return node_of(member)->string;
}

const char *sb_json_type_name(enum sb_json_type type)
{
    static const char *const names[] = {
        [SB_JSON_NULL] = "null",       [SB_JSON_BOOL] = "true or false", [SB_JSON_NUMBER] = "a number",
        [SB_JSON_STRING] = "a string", [SB_JSON_ARRAY] = "an array",     [SB_JSON_OBJECT] = "an object",
    };

    return names[type];
}

static int want(const struct sb_json *value, const char *what, enum sb_json_type type, struct sb_err *err)
{
    if (!value)
        return sb_fail(err, SB_BAD_REQUEST, "%s is missing", what);
    if (sb_json_type(value) != type)
        return sb_fail(err, SB_BAD_REQUEST, "%s must be %s, not %s", what, sb_json_type_name(type),
                       sb_json_type_name(sb_json_type(value)));
    return 0;
}

int sb_json_string(const struct sb_json *value, const char *what, const char **out, struct sb_err *err)
{
    if (want(value, what, SB_JSON_STRING, err) < 0)
        return -1;
    if (strchr(node_of(value)->valuestring, NUL_MARK))
        return sb_fail(err, SB_BAD_REQUEST, "%s contains a NUL character", what);
    *out = node_of(value)->valuestring;
    return 0;
}

int sb_json_double(const struct sb_json *value, const char *what, double *out, struct sb_err *err)
{
    if (want(value, what, SB_JSON_NUMBER, err) < 0)
        return -1;
    *out = node_of(value)->valuedouble;
    return 0;
}

int sb_json_int(const struct sb_json *value, const char *what, int64_t *out, struct sb_err *err)
{
    double number = 0;

    if (sb_json_double(value, what, &number, err) < 0)
        return -1;
    if (number > INT_LIMIT || number < -INT_LIMIT)
        return sb_fail(err, SB_BAD_REQUEST, "%s must be between -9007199254740991 and 9007199254740991",
                       what);
    if ((double)(int64_t)number != number)
        return sb_fail(err, SB_BAD_REQUEST, "%s must be a whole number", what);
    *out = (int64_t)number;
    return 0;
}

int sb_json_bool(const struct sb_json *value, const char *what, bool *out, struct sb_err *err)
{
    if (want(value, what, SB_JSON_BOOL, err) < 0)
        return -1;
    *out = cJSON_IsTrue(node_of(value));
    return 0;
}
