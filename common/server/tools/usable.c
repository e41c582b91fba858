/* SPDX-License-Identifier: MIT */
#include "server/tools/usable.h"

#include <stdarg.h>
#include <string.h>

#include "base/alloc.h"
#include "base/buf.h"
#include "languages/details.h"
#include "sandbox/toolbox.h"

void sb_tool_refuse(struct sb_call *call, const char *fmt, ...)
{
    va_list args;
    char *text;

    va_start(args, fmt);
    text = sb_vasprintf(fmt, args);
    va_end(args);
    sb_call_text(call, text, strlen(text));
    sb_free(text);
    sb_call_reply(call, true);
}

void sb_tool_fail(struct sb_call *call, const struct sb_err *err, const char *mend)
{
    if (mend[0] != '\0')
        sb_tool_refuse(call, "%s.\nTo mend it, ask the user to run: %s", err->text, mend);
    else
        sb_tool_refuse(call, "%s.", err->text);
}

void sb_tool_later(struct sb_call *call, const char *what)
{
    sb_tool_refuse(call, "%s not available in this version yet; nothing was done.", what);
}

void sb_usable_names(enum sb_wire_os os, struct sb_buf *out)
{
    struct sb_buf path;

    sb_buf_init(&path, SB_PATH_MAX_BYTES);
    for (size_t i = 0; i < sb_language_count; i++) {
        sb_buf_clear(&path);
        if (sb_languages[i].os == os && sb_toolbox_find(&sb_languages[i], &path, NULL) == 0)
            sb_buf_addf(out, "%s%s", out->len > 0 ? ", " : "", sb_languages[i].name);
    }
    sb_buf_done(&path);
}

static int unknown(const char *name, enum sb_wire_os os, const char *usable, struct sb_err *err)
{
    const struct sb_language_details *known = sb_language_details_named(name);
    const char *nearest = sb_language_nearest(name, os);

    if (known != NULL)
        return sb_fail(err, SB_UNSUPPORTED,
                       "language '%s' is not available here in this version yet; usable here: %s",
                       known->name, usable);
    if (nearest != NULL)
        return sb_fail(err, SB_BAD_REQUEST, "unknown language '%.60s': did you mean '%s'? Usable here: %s",
                       name, nearest, usable);
    return sb_fail(err, SB_BAD_REQUEST, "unknown language '%.60s'; usable here: %s", name, usable);
}

int sb_usable_language(const char *name, enum sb_wire_os os, const struct sb_language **out,
                       const char **mend, struct sb_err *err)
{
    const struct sb_language *language = sb_language_named(name, os);
    struct sb_err missing = {0};
    struct sb_buf path, names;
    int rc = 0;

    *mend = "";
    sb_buf_init(&path, SB_PATH_MAX_BYTES);
    sb_buf_init(&names, SB_USABLE_NAMES_MAX);
    if (language == NULL || sb_toolbox_find(language, &path, &missing) < 0)
        sb_usable_names(os, &names);
    if (language == NULL) {
        rc = unknown(name, os, names.data, err);
    } else if (missing.code != SB_OK) {
        *mend = language->install;
        rc = sb_fail(err, SB_UNSUPPORTED, "%.300s; usable here: %s", missing.text, names.data);
    } else {
        *out = language;
    }
    sb_buf_done(&path);
    sb_buf_done(&names);
    return rc;
}

void sb_usable_refuse(struct sb_call *call, const struct sb_probe_result *result)
{
    if (result->mend[0] != '\0')
        sb_tool_refuse(
            call, "No code can run here: %s. To mend it, ask the user to run: %s\nDo not retry until then.",
            result->why.text, result->mend);
    else
        sb_tool_refuse(call,
                       "No code can run here: %s. The user can see more with: llm-sandbox doctor\n"
                       "Do not retry until it is mended.",
                       result->why.text);
}
