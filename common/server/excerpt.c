/* SPDX-License-Identifier: MIT */
#include "server/excerpt.h"

#include <inttypes.h>

#include "base/terminal.h"
#include "base/utf8.h"

#define MARK_CHARS 176 /* the line between head and tail, with room for large numbers */

size_t sb_weigh_one(const char *character, size_t len)
{
    (void)character;
    (void)len;
    return 1;
}

size_t sb_char_len(char first)
{
    unsigned char byte = (unsigned char)first;

    return byte < 0x80 ? 1 : byte < 0xE0 ? 2 : byte < 0xF0 ? 3 : 4;
}

size_t sb_weigh_text(const char *text, size_t len, sb_weigh *weigh)
{
    size_t sum = 0, piece;

    for (size_t i = 0; i < len; i += piece) {
        piece = sb_char_len(text[i]);
        sum += weigh(text + i, piece);
    }
    return sum;
}

/* Walks over a stream, byte by byte, from border to border: a border is where no character and
 * no escape sequence is under way. */
struct walk {
    struct sb_utf8_repair repair;
    struct sb_terminal terminal;
    struct sb_buf raw, shown; /* since the last border */
    size_t weight;            /* of `shown` */
};

static void walk_init(struct walk *walk)
{
    *walk = (struct walk){.weight = 0};
    sb_buf_init(&walk->raw, 64);
    sb_buf_init(&walk->shown, 64);
}

static void walk_done(struct walk *walk)
{
    sb_buf_done(&walk->raw);
    sb_buf_done(&walk->shown);
}

static bool at_border(const struct walk *walk)
{
    return walk->repair.held_len == 0 && walk->terminal.state == 0;
}

/* True at a border: what is shown since the last one is in `shown`; the next byte clears it. */
static bool walk_on(struct walk *walk, char byte, sb_weigh *weigh)
{
    if (at_border(walk))
        sb_buf_clear(&walk->shown);
    if (at_border(walk) && ((byte >= ' ' && byte <= '~') || byte == '\n')) { /* most of all bytes */
        sb_buf_addc(&walk->shown, byte);
        walk->weight = weigh(&byte, 1);
        return true;
    }
    sb_buf_clear(&walk->raw);
    sb_utf8_repair(&walk->repair, &byte, 1, &walk->raw);
    sb_terminal_filter(&walk->terminal, walk->raw.data, walk->raw.len, &walk->shown);
    walk->weight = sb_weigh_text(walk->shown.data, walk->shown.len, weigh);
    return at_border(walk);
}

/* The end of the stream is a border too: half a character is shown as U+FFFD. */
static void walk_end(struct walk *walk, sb_weigh *weigh)
{
    if (at_border(walk))
        sb_buf_clear(&walk->shown);
    sb_buf_clear(&walk->raw);
    sb_utf8_repair_end(&walk->repair, &walk->raw);
    sb_terminal_filter(&walk->terminal, walk->raw.data, walk->raw.len, &walk->shown);
    walk->weight = sb_weigh_text(walk->shown.data, walk->shown.len, weigh);
}

/* Appends the first characters, at most `most`; returns how many bytes they are. `ends`: the
 * stream ends with these bytes. */
static size_t add_head(const char *bytes, size_t len, bool ends, size_t most, sb_weigh *weigh,
                       struct sb_buf *out, size_t *out_weight)
{
    size_t at = 0, sum = 0;
    struct walk walk;

    walk_init(&walk);
    for (size_t i = 0; i < len; i++) {
        if (!walk_on(&walk, bytes[i], weigh))
            continue;
        if (walk.weight > most - sum)
            goto done;
        sum += walk.weight;
        sb_buf_add(out, walk.shown.data, walk.shown.len);
        at = i + 1;
    }
    if (at < len && ends) {
        walk_end(&walk, weigh);
        if (walk.weight > most - sum)
            goto done;
        sum += walk.weight;
        sb_buf_add(out, walk.shown.data, walk.shown.len);
        at = len;
    }
done:
    *out_weight = sum;
    walk_done(&walk);
    return at;
}

/* Where the last characters start, at most `most` of them. */
static size_t tail_start(const char *bytes, size_t len, size_t most, sb_weigh *weigh)
{
    size_t whole = 0, before = 0, at = 0;
    struct walk walk;
    struct sb_buf all;

    sb_buf_init(&all, 3 * len + 64);
    add_head(bytes, len, true, SIZE_MAX, weigh, &all, &whole);
    sb_buf_done(&all);
    walk_init(&walk);
    for (size_t i = 0; i < len && whole - before > most; i++)
        if (walk_on(&walk, bytes[i], weigh)) {
            before += walk.weight;
            at = i + 1;
        }
    walk_done(&walk);
    return whole - before > most ? len : at;
}

/* The capture as bytes: its front up to what was dropped, and its back after that. */
static void split(const struct sb_capture *capture, struct sb_buf *front, struct sb_buf *back)
{
    sb_buf_init(front, 2 * capture->half + 1);
    sb_buf_init(back, capture->half + 1);
    sb_capture_head(capture, front);
    sb_capture_tail(capture, sb_capture_omitted(capture) > 0 ? back : front);
}

/* The characters that the whole stream takes; `most` + 1 when it is more than `most`. */
static size_t size_of(const struct sb_capture *capture, size_t most, sb_weigh *weigh)
{
    struct sb_buf front, back, shown;
    size_t size = most + 1, weight;

    if (sb_capture_omitted(capture) > 0)
        return size;
    split(capture, &front, &back);
    sb_buf_init(&shown, 3 * front.len + 64);
    if (add_head(front.data, front.len, true, most, weigh, &shown, &weight) == front.len)
        size = weight;
    sb_buf_done(&front);
    sb_buf_done(&back);
    sb_buf_done(&shown);
    return size;
}

struct excerpt {
    struct sb_buf head, tail;
    uint64_t offset, omitted; /* bytes that head shows; bytes between head and tail */
};

/* Head and tail together take at most `most` characters. */
static void cut(const struct sb_capture *capture, size_t most, sb_weigh *weigh, struct excerpt *out)
{
    bool dropped = sb_capture_omitted(capture) > 0;
    struct sb_buf front, back;
    const struct sb_buf *rest;
    size_t skip, start, weight;

    split(capture, &front, &back);
    rest = dropped ? &back : &front;
    sb_buf_init(&out->head, 3 * front.len + 64);
    skip = add_head(front.data, front.len, !dropped, most / 2, weigh, &out->head, &weight);
    out->offset = skip;
    if (dropped) /* the rest of a character whose beginning was dropped */
        for (skip = 0; skip < 3 && skip < rest->len && (rest->data[skip] & 0xC0) == 0x80; skip++)
            ;
    start = skip + tail_start(rest->data + skip, rest->len - skip, most - weight, weigh);
    sb_buf_init(&out->tail, 3 * rest->len + 64);
    add_head(rest->data + start, rest->len - start, true, SIZE_MAX, weigh, &out->tail, &weight);
    out->omitted = capture->total - out->offset - (rest->len - start);
    sb_buf_done(&front);
    sb_buf_done(&back);
}

void sb_put_number(uint64_t number, struct sb_buf *out)
{
    if (number >= 1000) {
        sb_put_number(number / 1000, out);
        sb_buf_addf(out, ",%03u", (unsigned)(number % 1000));
    } else {
        sb_buf_addf(out, "%u", (unsigned)number);
    }
}

/* Where the rest is, on a line of its own, within MARK_CHARS. */
static void put_mark(const struct excerpt *excerpt, const struct sb_excerpt_want *want, size_t stream,
                     struct sb_buf *out)
{
    if (out->len > 0 && out->data[out->len - 1] != '\n')
        sb_buf_addc(out, '\n');
    sb_buf_adds(out, "[... ");
    sb_put_number(excerpt->omitted, out);
    sb_buf_adds(out, " bytes omitted");
    if (want->result->not_kept != NULL) {
        sb_buf_adds(out, "; they are not kept]\n");
        return;
    }
    sb_buf_addf(out, "; read_file run_id=%s path=@%s offset=%" PRIu64 "%s]\n", want->run_id,
                stream == 0 ? "stdout" : "stderr", excerpt->offset,
                want->so_far ? " when the run has ended" : "");
}

static void put_stream(const struct sb_excerpt_want *want, size_t stream, size_t room, bool whole,
                       struct sb_buf *out)
{
    const struct sb_capture *capture = &want->result->output[stream];
    struct excerpt excerpt;

    cut(capture, whole ? SIZE_MAX : room > MARK_CHARS ? room - MARK_CHARS : 0, want->weigh, &excerpt);
    sb_buf_init(out, excerpt.head.len + excerpt.tail.len + MARK_CHARS);
    sb_buf_add(out, excerpt.head.data, excerpt.head.len);
    if (excerpt.omitted > 0)
        put_mark(&excerpt, want, stream, out);
    sb_buf_add(out, excerpt.tail.data, excerpt.tail.len);
    sb_buf_done(&excerpt.head);
    sb_buf_done(&excerpt.tail);
}

void sb_excerpt_both(const struct sb_excerpt_want *want, struct sb_buf out[2])
{
    size_t size[2], room[2];

    for (size_t i = 0; i < 2; i++)
        size[i] = size_of(&want->result->output[i], want->room, want->weigh);
    if (size[0] + size[1] <= want->room || size[1] <= want->stderr_room)
        room[1] = size[1];
    else if (size[0] <= want->room - want->stderr_room)
        room[1] = want->room - size[0];
    else
        room[1] = want->stderr_room;
    room[0] = want->room - room[1];
    for (size_t i = 0; i < 2; i++)
        put_stream(want, i, room[i], size[i] <= room[i], &out[i]);
}
