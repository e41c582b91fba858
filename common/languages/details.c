/* SPDX-License-Identifier: MIT */
#include "languages/details.h"

#include <string.h>

#include "languages/language.h"

const struct sb_language_details sb_language_details[] = {
    {.name = "python",
     .package_manager = "pip",
     .visualization = true,
     .use_cases = {"calculations and data analysis", "plots, saved to a file", "text and file processing"},
     .examples = {{"Calculate", "Prints a result", "print(sum(n * n for n in range(10)))\n"},
                  {"Read a file", "Reads a file that came in `files`",
                   "import csv\nprint(list(csv.reader(open('data.csv', newline=''))))\n"},
                  {"Plot", "A saved picture comes back as an image",
                   "import matplotlib\nmatplotlib.use('Agg')\nimport matplotlib.pyplot as plt\n"
                   "plt.plot([1, 4, 9])\nplt.savefig('plot.png')\n"}}},
    {.name = "java", .package_manager = "Maven"},
    {.name = "javascript",
     .package_manager = "npm",
     .use_cases = {"JSON and text processing", "algorithms", "trying out Node.js code"},
     .examples = {{"Calculate", "Prints a result", "console.log([1, 2, 3].map(n => n * n));\n"},
                  {"Write a file", "A file the program makes can be read afterwards",
                   "require('fs').writeFileSync('out.json', JSON.stringify({ ok: true }));\n"}}},
    {.name = "cpp", .package_manager = "System packages"},
    {.name = "go", .package_manager = "go mod"},
    {.name = "ruby", .package_manager = "gem"},
    {.name = "r", .package_manager = "CRAN", .visualization = true},
    {.name = "bash",
     .package_manager = "",
     .use_cases = {"pipelines of the system's tools", "file processing"},
     .examples = {{"Count words", "A pipeline", "printf 'b\\na\\nb\\n' | sort | uniq -c\n"}}},
    {.name = "powershell", .package_manager = "PSResourceGet"},
    {.name = "cmd",
     .package_manager = "",
     .use_cases = {"Windows batch files"},
     .examples = {{"Echo", "Prints a line", "@echo hello\r\n"}}},
};
const size_t sb_language_details_count = sizeof sb_language_details / sizeof *sb_language_details;

const struct sb_language_details *sb_language_details_of(const char *name)
{
    for (size_t i = 0; i < sb_language_details_count; i++)
        if (strcmp(sb_language_details[i].name, name) == 0)
            return &sb_language_details[i];
    return NULL;
}

/* Names of languages that have no row in language.h yet. */
static const char *const other_names[][2] = {
    {"c++", "cpp"},   {"cxx", "cpp"},         {"c++11", "cpp"},      {"c++14", "cpp"},
    {"c++17", "cpp"}, {"c++20", "cpp"},       {"c++23", "cpp"},      {"golang", "go"},
    {"rb", "ruby"},   {"pwsh", "powershell"}, {"ps1", "powershell"}, {"rscript", "r"},
};

const struct sb_language_details *sb_language_details_named(const char *name)
{
    const struct sb_language *row = sb_language_named(name, SB_WIRE_LINUX);
    char plain[16] = "";
    size_t len = strlen(name);

    if (row == NULL)
        row = sb_language_named(name, SB_WIRE_WINDOWS);
    if (row != NULL)
        return sb_language_details_of(row->name);
    if (len >= sizeof plain)
        return NULL;
    for (size_t i = 0; i < len; i++)
        plain[i] = name[i] >= 'A' && name[i] <= 'Z' ? (char)(name[i] - 'A' + 'a') : name[i];
    for (size_t i = 0; i < sizeof other_names / sizeof *other_names; i++)
        if (strcmp(other_names[i][0], plain) == 0)
            return sb_language_details_of(other_names[i][1]);
    return sb_language_details_of(plain);
}
