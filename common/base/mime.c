/* SPDX-License-Identifier: MIT */
#include "base/mime.h"

#include <stddef.h>
#include <string.h>

#include "base/path.h"

static const char *const types[][2] = {
    {".txt", "text/plain"},       {".csv", "text/csv"},         {".json", "application/json"},
    {".md", "text/markdown"},     {".html", "text/html"},       {".xml", "application/xml"},
    {".png", "image/png"},        {".jpg", "image/jpeg"},       {".jpeg", "image/jpeg"},
    {".gif", "image/gif"},        {".webp", "image/webp"},      {".svg", "image/svg+xml"},
    {".pdf", "application/pdf"},  {".zip", "application/zip"},  {".gz", "application/gzip"},
    {".tar", "application/x-tar"}, {".py", "text/x-python"},    {".js", "text/javascript"},
};

const char *sb_mime_of(const char *path)
{
    const char *ending = sb_path_ending(path, SB_PATH_POSIX);

    for (size_t i = 0; i < sizeof types / sizeof *types; i++)
        if (strcmp(types[i][0], ending) == 0)
            return types[i][1];
    return "application/octet-stream";
}
