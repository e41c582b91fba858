/* SPDX-License-Identifier: MIT */
#include "server/service.h"

#include <string.h>

#include "base/alloc.h"
#include "platform/endpoint.h"
#include "server/mcp.h"

struct client {
    struct client *next;
    struct sb_service *service;
    struct sb_mcp *mcp;
    char peer[SB_PEER_BYTES];
};

struct sb_service {
    struct sb_host *host;
    struct sb_endpoint *endpoint; /* NULL: shut */
    struct client *clients;
};

static void free_if_empty(struct sb_service *service)
{
    if (!service->endpoint && !service->clients)
        sb_free(service);
}

static void on_client_closed(void *ctx)
{
    struct client *client = ctx, **at = &client->service->clients;
    struct sb_service *service = client->service;

    while (*at != client)
        at = &(*at)->next;
    *at = client->next;
    sb_free(client);
    free_if_empty(service);
}

static bool has_room(const struct sb_service *service, const char *peer)
{
    unsigned all = 0, of_peer = 0;

    for (const struct client *client = service->clients; client; client = client->next) {
        all++;
        of_peer += strcmp(client->peer, peer) == 0;
    }
    return all < SB_SERVICE_CLIENTS && of_peer < SB_SERVICE_PEER_CLIENTS;
}

static void on_client(void *ctx, uv_pipe_t *stream, const char *peer)
{
    struct sb_service *service = ctx;
    struct client *client;

    if (!has_room(service, peer)) {
        sb_conn_turn_away(stream);
        return;
    }
    client = sb_alloc(sizeof *client);
    client->service = service;
    strncpy(client->peer, peer, sizeof client->peer - 1);
    client->next = service->clients;
    service->clients = client;
    client->mcp = sb_mcp_adopt(service->host, stream, peer, on_client_closed, client);
}

int sb_service_open(struct sb_host *host, struct sb_service **out, struct sb_buf *note, struct sb_err *err)
{
    struct sb_service *service = sb_alloc(sizeof *service);

    service->host = host;
    if (sb_endpoint_listen(sb_host_loop(host), on_client, service, &service->endpoint, note, err) < 0) {
        sb_free(service);
        return -1;
    }
    *out = service;
    return 0;
}

const char *sb_service_place(const struct sb_service *service)
{
    return sb_endpoint_place(service->endpoint);
}

void sb_service_close(struct sb_service *service)
{
    struct client *client = service->clients;

    sb_endpoint_close(service->endpoint);
    service->endpoint = NULL;
    for (struct client *next; client; client = next) {
        next = client->next;
        sb_mcp_close(client->mcp);
    }
    free_if_empty(service);
}
