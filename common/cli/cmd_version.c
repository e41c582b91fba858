/* SPDX-License-Identifier: MIT */
#include <uv.h>

#include "base/buf.h"
#include "base/json.h"
#include "base/libraries.h"
#include "cli/command.h"
#include "wire/wire.h"

#define VERSION_MAX 4096

static int version_main(int argc, char **argv)
{
    struct sb_buf out;
    int json = 0, rc;

    if (sb_cli_only_json(&sb_command_version, argc, argv, &json) < 0)
        return SB_EXIT_HOST;
    sb_buf_init(&out, VERSION_MAX);
    if (json) {
        struct sb_json_out writer;

        sb_json_begin(&writer, &out);
        sb_json_open_object(&writer, NULL);
        sb_json_put_string(&writer, "version", SB_VERSION);
        sb_json_put_string(&writer, "build", sb_wire_build_id());
        sb_json_put_int(&writer, "guest_protocol", SB_WIRE_VERSION);
        sb_json_open_object(&writer, "libraries");
        sb_json_put_string(&writer, "libuv", uv_version_string());
        sb_json_put_string(&writer, "cJSON", sb_cjson_version());
        sb_json_put_string(&writer, "zlib", sb_zlib_version());
        sb_json_close_object(&writer);
        sb_json_close_object(&writer);
        sb_buf_addc(&out, '\n');
    } else {
        sb_buf_addf(&out, "llm-sandbox %s (build %.12s, libuv %s, cJSON %s, zlib %s)\n", SB_VERSION,
                    sb_wire_build_id(), uv_version_string(), sb_cjson_version(), sb_zlib_version());
    }
    rc = sb_cli_print(out.data, out.len);
    sb_buf_done(&out);
    return rc;
}

static const struct sb_option options[] = {{"json", 0, NULL, "for programs"}, {NULL, 0, NULL, NULL}};

const struct sb_command sb_command_version = {.name = "version",
                                              .summary = "prints the version and the libraries' versions",
                                              .usage = "[--json]",
                                              .options = options,
                                              .main = version_main};
