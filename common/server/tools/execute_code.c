/* SPDX-License-Identifier: MIT
 * execute_code: checks what was asked, starts a job, waits for it. Nothing is started for a
 * call that is refused. */
#include <string.h>

#include "base/alloc.h"
#include "base/buf.h"
#include "sandbox/run.h"
#include "server/tools/answer.h"
#include "server/tools/files.h"
#include "server/tools/tools.h"
#include "server/tools/usable.h"
#include "server/tools/waiting.h"

#define STDIN_MOST     (8u * 1024 * 1024)
#define LIBRARIES_MOST 100
#define ARGS_MOST      1024
#define ENV_MOST       256
#define STRINGS_BYTES  (1024u * 1024) /* of args and env together: a start takes them in one piece */

struct execute_args {
    char *code, *language, *session_id, *input, *format;
    struct sb_argv libraries, args, env;
    struct sb_field_list files;
    double timeout, wait;
    int64_t memory_mb;
    bool timeout_given, memory_given, format_given;
};

/* ---- what was asked ------------------------------------------------------------------- */

static int check_strings(const struct sb_argv *strings, const char *what, size_t *left, struct sb_err *err)
{
    for (size_t i = 0; i < strings->n; i++) {
        size_t len = strlen(strings->v[i]);

        if (len > SB_WIRE_STRING_MAX)
            return sb_fail(err, SB_LIMIT, "'%s' has a string of %zu bytes: the system takes %u", what, len,
                           SB_WIRE_STRING_MAX);
        if (len + 1 > *left)
            return sb_fail(err, SB_LIMIT,
                           "'args' and 'env' together are larger than %u bytes: use files or stdin",
                           STRINGS_BYTES);
        *left -= len + 1;
    }
    return 0;
}

static int check_args(const struct execute_args *args, struct sb_err *err)
{
    size_t left = STRINGS_BYTES;

    if (args->code[0] == '\0')
        return sb_fail(err, SB_BAD_REQUEST, "'code' is empty: there is nothing to run");
    for (size_t i = 0; i < args->env.n; i++)
        if (args->env.v[i][0] == '=')
            return sb_fail(err, SB_BAD_REQUEST, "'env' has a variable without a name");
    if (check_strings(&args->args, "args", &left, err) < 0)
        return -1;
    return check_strings(&args->env, "env", &left, err);
}

static struct sb_ask ask_of(const struct execute_args *args)
{
    struct sb_ask ask = {.ram_mb = (int64_t)(uv_get_total_memory() >> 20)};

    ask.set[SB_ROW_TIMEOUT_MS] = args->timeout_given;
    ask.value[SB_ROW_TIMEOUT_MS] = (int64_t)(args->timeout * 1000 + 0.5);
    ask.set[SB_ROW_MEMORY_MB] = args->memory_given;
    ask.value[SB_ROW_MEMORY_MB] = args->memory_mb;
    return ask;
}

/* ---- the job -------------------------------------------------------------------------- */

static void on_ring(struct sb_call *call, void *own, struct sb_job *job, bool ended)
{
    (void)own;
    if (ended)
        sb_answer_ended(call, job);
    else
        sb_answer_running(call, job);
}

static bool wants_json(struct sb_call *call, const struct execute_args *args)
{
    const struct sb_config *config = sb_host_config(sb_call_host(call));
    const char *format = args->format_given || config == NULL ? args->format : config->result_format;

    return strcmp(format, "json") == 0;
}

/* The job takes over what was decoded. */
static int start_job(struct sb_call *call, struct execute_args *args, const struct sb_language *language,
                     const struct sb_target *target, struct sb_job **job, struct sb_err *err)
{
    struct sb_job_want want = {.peer = sb_call_peer(call),
                               .language = language->name,
                               .ask = ask_of(args),
                               .json = wants_json(call, args)};

    if (sb_files_decode(&args->files, language->file, sb_target_rules(target), &want.files, &want.file_count,
                        err) < 0)
        return -1;
    want.code = args->code;
    want.code_len = strlen(args->code);
    want.args = args->args;
    want.env = args->env;
    want.input = args->input;
    want.input_len = args->input != NULL ? strlen(args->input) : 0;
    args->code = args->input = NULL;
    args->args = args->env = (struct sb_argv){NULL, 0};
    return sb_job_start(sb_host_jobs(sb_call_host(call)), &want, job, err);
}

static void on_backend(struct sb_call *call, void *own, const struct sb_probe_result *backend)
{
    struct execute_args *args = own;
    const struct sb_target target = backend->backend->target();
    const struct sb_language *language = NULL;
    const char *mend = "";
    struct sb_err err = {0};
    struct sb_job *job = NULL;

    if (sb_usable_language(args->language, target.os, &language, &mend, &err) < 0 ||
        start_job(call, args, language, &target, &job, &err) < 0)
        sb_tool_fail(call, &err, mend);
    else
        sb_waiting_job(call, args, job, args->wait, on_ring);
}

static void start(struct sb_call *call, void *own)
{
    const struct execute_args *args = own;
    struct sb_err err = {0};

    if (args->libraries.n > 0)
        sb_tool_later(call, "libraries is");
    else if (args->session_id != NULL)
        sb_tool_later(call, "session_id is");
    else if (check_args(args, &err) < 0)
        sb_tool_fail(call, &err, "");
    else
        sb_waiting_backend(call, own, on_backend);
}

static void cancel(struct sb_call *call)
{
    struct sb_job *job = sb_waiting_stop(call);

    if (job != NULL)
        sb_job_kill(job);
}

/* ---- the table ------------------------------------------------------------------------ */

static const char *const formats[] = {"text", "json", NULL};

static const struct sb_field fields[] = {
    {.name = "code",
     .type = SB_FIELD_STRING,
     .flags = SB_FIELD_REQUIRED,
     .at = offsetof(struct execute_args, code),
     .most = SB_RUN_CODE_MAX,
     .text = "The program; print what you want to see."},
    {.name = "language",
     .type = SB_FIELD_STRING,
     .at = offsetof(struct execute_args, language),
     .most = 60,
     .fallback = "\"python\"",
     .text = "python, javascript, java, cpp, go, r, ruby, bash or powershell, or an alias."},
    {.name = "libraries",
     .type = SB_FIELD_STRINGS,
     .at = offsetof(struct execute_args, libraries),
     .most = LIBRARIES_MOST,
     .text = "Packages to install first; not available yet."},
    {.name = "timeout",
     .type = SB_FIELD_NUMBER,
     .at = offsetof(struct execute_args, timeout),
     .given_at = offsetof(struct execute_args, timeout_given),
     .least = 0.1,
     .most = 3600,
     .fallback = "30",
     .text = "Seconds the run may take."},
    {.name = "wait",
     .type = SB_FIELD_NUMBER,
     .at = offsetof(struct execute_args, wait),
     .most = SB_WAIT_MOST_S,
     .fallback = "45",
     .text = "Seconds until this call answers; a run that takes longer goes on as a job."},
    {.name = "session_id",
     .type = SB_FIELD_STRING,
     .at = offsetof(struct execute_args, session_id),
     .most = 60,
     .text = "Keeps the sandbox between calls; not available yet."},
    {.name = "files",
     .type = SB_FIELD_OBJECTS,
     .at = offsetof(struct execute_args, files),
     .most = SB_FILES_MOST,
     .fields = sb_file_fields,
     .size = sizeof(struct sb_file_args),
     .text = "Put into the working directory first."},
    {.name = "stdin",
     .type = SB_FIELD_STRING,
     .at = offsetof(struct execute_args, input),
     .most = STDIN_MOST,
     .text = "The program's input; else it is empty."},
    {.name = "args",
     .type = SB_FIELD_STRINGS,
     .at = offsetof(struct execute_args, args),
     .most = ARGS_MOST,
     .text = "Command-line arguments."},
    {.name = "env",
     .type = SB_FIELD_MAP,
     .at = offsetof(struct execute_args, env),
     .most = ENV_MOST,
     .text = "Environment variables."},
    {.name = "memory_mb",
     .type = SB_FIELD_INT,
     .at = offsetof(struct execute_args, memory_mb),
     .given_at = offsetof(struct execute_args, memory_given),
     .least = 16,
     .most = 1024 * 1024,
     .fallback = "512",
     .text = "Memory limit in MiB."},
    {.name = "format",
     .type = SB_FIELD_STRING,
     .at = offsetof(struct execute_args, format),
     .given_at = offsetof(struct execute_args, format_given),
     .words = formats,
     .fallback = "\"text\"",
     .text = "json: one object with exit_code, stdout, stderr."},
    {.name = NULL},
};

const struct sb_tool sb_tool_execute_code = {
    .name = "execute_code",
    .title = "Run code",
    .description =
        "Runs a program in a fresh sandbox without network and answers with its exit status, stdout and "
        "stderr. Files it "
        "writes into its working directory are kept 30 minutes: pictures come back as images, all can be "
        "read by "
        "read_file. A program that fails is a normal answer; isError means that it could not be run.",
    .always_load = true,
    .fields = fields,
    .args_size = sizeof(struct execute_args),
    .start = start,
    .cancel = cancel,
};
