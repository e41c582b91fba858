/* SPDX-License-Identifier: MIT
 * What clients and people are told of the tools is what the repository says. After a change:
 *     SB_REGENERATE=1 BUILD/tests/unit_server_docs_test
 * writes tests/unit/server/tools_list.json and the tools' part of docs/MCP.md anew. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "base/json.h"
#include "server/mcp_inner.h"
#include "server/tool.h"
#include "unit/server/repository.h"

#define LIST "unit/server/tools_list.json"
#define DOCS "../docs/MCP.md"

#define BEGIN "<!-- generated: tools -->\n"
#define END   "<!-- end of generated -->\n"

#define ALWAYS_MOST      6000 /* characters of the tools that are always loaded: 1,500 tokens of four */
#define DESCRIPTION_MOST 4096 /* clients cut behind it */

static void the_list_of_tools_is_the_snapshot(void **state)
{
    struct sb_buf list, found;
    struct sb_json_out out;

    (void)state;
    sb_buf_init(&list, 1 << 20);
    sb_buf_init(&found, 1 << 20);
    sb_json_begin(&out, &list);
    sb_json_open_object(&out, NULL);
    sb_tools_list(&out);
    sb_json_close_object(&out);
    sb_buf_addc(&list, '\n');
    repository_read(LIST, &found);
    repository_compare(LIST, &list, found.data);
    sb_buf_done(&list);
    sb_buf_done(&found);
}

/* Characters of one tool's object in the list. */
static size_t size_of(const struct sb_tool *tool)
{
    char name[80];
    struct sb_json_out out;
    struct sb_buf list;
    const char *start, *end;
    size_t size;

    snprintf(name, sizeof name, "{\"name\":\"%s\"", tool->name);
    sb_buf_init(&list, 1 << 20);
    sb_json_begin(&out, &list);
    sb_json_open_object(&out, NULL);
    sb_tools_list(&out);
    sb_json_close_object(&out);
    start = strstr(list.data, name);
    assert_non_null(start);
    end = strstr(start + 1, "{\"name\":\"");
    size = end != NULL ? (size_t)(end - start) : strlen(start);
    sb_buf_done(&list);
    return size;
}

static void what_is_always_loaded_is_short(void **state)
{
    size_t sum = 0, count = 0;

    (void)state;
    for (size_t i = 0; sb_tools[i] != NULL; i++) {
        if (!sb_tools[i]->always_load)
            continue;
        sum += size_of(sb_tools[i]);
        count++;
    }
    assert_int_equal(count, 3);
    print_message("always loaded: %u characters, about %u tokens\n", (unsigned)sum, (unsigned)(sum / 4));
    assert_true(sum < ALWAYS_MOST);
}

static void everything_is_ascii_and_short_enough(void **state)
{
    struct sb_json_out out;
    struct sb_buf list;

    (void)state;
    sb_buf_init(&list, 1 << 20);
    sb_json_begin(&out, &list);
    sb_json_open_object(&out, NULL);
    sb_tools_list(&out);
    sb_json_close_object(&out);
    for (size_t i = 0; i < list.len; i++)
        assert_in_range(list.data[i], 0x20, 0x7E);
    for (size_t i = 0; sb_tools[i] != NULL; i++)
        assert_true(strlen(sb_tools[i]->description) < DESCRIPTION_MOST);
    sb_buf_done(&list);
}

static void put_docs(struct sb_buf *out)
{
    for (size_t i = 0; sb_tools[i] != NULL; i++) {
        const struct sb_tool *tool = sb_tools[i];

        sb_buf_addf(out, "### %s\n\n%s\n\n", tool->name, tool->description);
        if (tool->fields[0].name == NULL)
            sb_buf_adds(out, "No arguments.\n");
        else
            sb_fields_markdown(tool->fields, out);
        sb_buf_addc(out, '\n');
    }
}

static void the_manual_has_all_tools(void **state)
{
    (void)state;
    repository_compare_section(DOCS, BEGIN, END, put_docs);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_list_of_tools_is_the_snapshot),
        cmocka_unit_test(what_is_always_loaded_is_short),
        cmocka_unit_test(everything_is_ascii_and_short_enough),
        cmocka_unit_test(the_manual_has_all_tools),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
