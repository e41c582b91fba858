/* SPDX-License-Identifier: MIT */
#include "base/terminal.h"

#include "base/buf.h"

/* ECMA-48: ESC [ ... final byte; ESC ] (also P X ^ _) ... BEL or ESC \; ESC and one byte.
 * C1 controls arrive as UTF-8 C2 80..9F. A string that nobody ends costs one line, not all the
 * text behind it: a byte 90 by accident is no rare thing. */
enum { TEXT, ESCAPE, CSI, STRING, STRING_ESCAPE, STRING_C1, C1 };

static int after_escape(unsigned char c)
{
    switch (c) {
    case 0x1b:
        return ESCAPE;
    case '[':
        return CSI;
    case ']':
    case 'P':
    case 'X':
    case '^':
    case '_':
        return STRING;
    default:
        return c >= 0x20 && c <= 0x2f ? ESCAPE : TEXT; /* intermediate bytes: one more follows */
    }
}

static int text(unsigned char c, struct sb_buf *out)
{
    if (c == 0x1b)
        return ESCAPE;
    if (c == 0xc2)
        return C1;
    if (c >= 0x20 ? c != 0x7f : c == '\t' || c == '\n' || c == '\r' || c == '\b')
        sb_buf_addc(out, (char)c);
    return TEXT;
}

static int after_c2(unsigned char c, struct sb_buf *out)
{
    if (c >= 0x80 && c <= 0x9f)
        return c == 0x9b ? CSI : c == 0x9d || c == 0x90 ? STRING : TEXT;
    sb_buf_addc(out, (char)0xc2);
    return text(c, out);
}

/* Final bytes end it; what can't be part of it means that it was none. */
static int in_csi(unsigned char c, struct sb_buf *out)
{
    if (c >= 0x20 && c <= 0x3f)
        return CSI;
    return c >= 0x40 && c <= 0x7e ? TEXT : text(c, out);
}

static int in_string(unsigned char c, struct sb_buf *out)
{
    switch (c) {
    case 0x07: /* BEL */
    case 0x18: /* CAN */
    case 0x1a: /* SUB */
        return TEXT;
    case 0x1b:
        return STRING_ESCAPE;
    case 0xc2:
        return STRING_C1;
    default:
        return c == '\n' ? text(c, out) : STRING;
    }
}

void sb_terminal_filter(struct sb_terminal *terminal, const char *bytes, size_t len, struct sb_buf *out)
{
    for (size_t i = 0; i < len; i++) {
        unsigned char c = (unsigned char)bytes[i];

        switch (terminal->state) {
        case ESCAPE:
            terminal->state = after_escape(c);
            break;
        case CSI:
            terminal->state = in_csi(c, out);
            break;
        case STRING:
            terminal->state = in_string(c, out);
            break;
        case STRING_C1:
            terminal->state = c == 0x9c ? TEXT : in_string(c, out);
            break;
        case STRING_ESCAPE:
            terminal->state = c == '\\' ? TEXT : after_escape(c);
            break;
        case C1:
            terminal->state = after_c2(c, out);
            break;
        default:
            terminal->state = text(c, out);
        }
    }
}
