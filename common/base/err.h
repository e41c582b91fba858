/* SPDX-License-Identifier: MIT
 * The error of a call, by value: nothing to free.
 *
 * The law everywhere: a function returns 0 and leaves `err` alone, or returns -1
 * and `err` is full. Out-parameters are written on success only. The text reads
 * "cannot open 'x': no such file": lower case, no full stop, no secrets, UTF-8.
 * Lower layers report; only the layer that decides what to do about it logs. */
#ifndef SB_BASE_ERR_H
#define SB_BASE_ERR_H

enum sb_code {
    SB_OK,
    SB_BAD_REQUEST, /* the caller's value is wrong */
    SB_DENIED,
    SB_UNSUPPORTED, /* right value, but not here */
    SB_LIMIT,       /* a named cap was hit */
    SB_TIMEOUT,
    SB_CANCELLED,
    SB_NOT_FOUND,
    SB_BUSY,
    SB_HOST, /* the operating system or another program failed us */
    SB_BUG
};

struct sb_err {
    enum sb_code code;
    long os; /* errno, or GetLastError(); 0: none */
    char text[480];
};

/* "printf" alone means the rules of an older C runtime to mingw's gcc, which refuse %zu. */
#if defined(__GNUC__) && !defined(__clang__)
#define SB_PRINTF(fmt, args) __attribute__((format(gnu_printf, fmt, args)))
#elif defined(__clang__)
#define SB_PRINTF(fmt, args) __attribute__((format(printf, fmt, args)))
#else
#define SB_PRINTF(fmt, args)
#endif

/* Fills `err` (NULL is allowed) and returns -1 always. The text becomes one line of UTF-8
 * whatever the arguments hold: control characters and bad bytes are shown as `?`, and what
 * does not fit is cut at the border of a character. Arguments may point into `err`. */
int sb_fail(struct sb_err *err, enum sb_code code, const char *fmt, ...) SB_PRINTF(3, 4);

/* Puts "what happened: " before the text that is there; returns -1 always. */
int sb_fail_in(struct sb_err *err, const char *fmt, ...) SB_PRINTF(2, 3);

/* "bad_request", "denied", ...: the stable name of a code. */
const char *sb_code_name(enum sb_code code);

#endif
