/*
 * term.c: the terminal on stderr. The alternate screen is used because a picture
 * on it can be redrawn from its first row after any change of size, and because
 * leaving it brings back what was there.
 */
#include "term.h"

#include <errno.h>
#include <langinfo.h>
#include <locale.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

static const char enter_screen[] = "\033[?1049h\033[?25l\033[2J";
static const char leave_screen[] = "\033[0m\033[?25h\033[?1049l";

static const int ending_signals[] = {SIGTERM, SIGHUP, SIGQUIT, SIGTSTP};
enum { ENDING_SIGNALS = sizeof ending_signals / sizeof *ending_signals };

static struct sigaction before[ENDING_SIGNALS], before_resize;
static volatile sig_atomic_t taken, changed;

bool term_can_draw(void)
{
    const char *name = getenv("TERM");

    return isatty(STDERR_FILENO) && name && *name && strcmp(name, "dumb") != 0;
}

/* --- abilities --- */

static bool names_utf8(const char *locale)
{
    return locale && (strstr(locale, "UTF-8") || strstr(locale, "utf8"));
}

/* The environment's locale for characters; its own rules where they are not
 * installed but the name says UTF-8. */
static locale_t character_locale(void)
{
    locale_t locale = newlocale(LC_CTYPE_MASK, "", (locale_t)0);
    const char *name = getenv("LC_ALL");

    if (!name || !*name)
        name = getenv("LC_CTYPE");
    if (!name || !*name)
        name = getenv("LANG");
    if (!locale && names_utf8(name))
        locale = newlocale(LC_CTYPE_MASK, "C.UTF-8", (locale_t)0);
    return locale;
}

/* The locale is set once and never freed: the thread uses it to its end. */
static bool use_locale(void)
{
    static locale_t locale;

    if (!locale && (locale = character_locale()))
        uselocale(locale);
    return locale && strcmp(nl_langinfo_l(CODESET, locale), "UTF-8") == 0;
}

static enum term_colors find_colors(void)
{
    const char *none = getenv("NO_COLOR"), *name = getenv("TERM"), *many = getenv("COLORTERM");

    if (none && *none)
        return TERM_COLORS_NONE;
    if ((many && *many) || (name && strstr(name, "256color")))
        return TERM_COLORS_256;
    return TERM_COLORS_8;
}

/* Zeros where it is not known. */
static struct winsize find_size(void)
{
    struct winsize size = {0};

    if (ioctl(STDERR_FILENO, TIOCGWINSZ, &size) != 0)
        size = (struct winsize){0};
    return size;
}

int term_columns(void)
{
    struct winsize size = find_size();

    return size.ws_col ? size.ws_col : 80;
}

void term_look(struct term *term)
{
    struct winsize size = find_size();

    *term = (struct term){
        .rows = size.ws_row ? size.ws_row : 24, .columns = term_columns(), .colors = find_colors()};
    term->utf8 = use_locale();
}

/* --- the screen --- */

void term_write(const char *data, size_t size)
{
    while (size) {
        ssize_t written = write(STDERR_FILENO, data, size);
        if (written < 0 && errno != EINTR && errno != EAGAIN)
            return;
        if (written > 0) {
            data += written;
            size -= (size_t)written;
        }
    }
}

void term_restore(void)
{
    if (!taken)
        return;
    taken = 0;
    term_write(leave_screen, sizeof leave_screen - 1);
}

/* Gives the screen back, lets the signal do what it does, and takes the screen
 * again if the process goes on. */
static void on_end(int number)
{
    int saved = errno, index = 0;
    struct sigaction own;
    sigset_t set;

    while (ending_signals[index] != number)
        index++;
    term_restore();
    sigaction(number, &before[index], &own);
    sigemptyset(&set);
    sigaddset(&set, number);
    raise(number);
    sigprocmask(SIG_UNBLOCK, &set, NULL);
    sigaction(number, &own, NULL);
    term_write(enter_screen, sizeof enter_screen - 1);
    taken = changed = 1;
    errno = saved;
}

static void on_resize(int number)
{
    (void)number;
    changed = 1;
}

void term_enter(void)
{
    struct sigaction end = {.sa_handler = on_end, .sa_flags = SA_RESTART};
    struct sigaction resize = {.sa_handler = on_resize};

    sigemptyset(&end.sa_mask);
    sigemptyset(&resize.sa_mask);
    for (int i = 0; i < ENDING_SIGNALS; i++) {
        sigaction(ending_signals[i], NULL, &before[i]);
        if (before[i].sa_handler != SIG_IGN)
            sigaction(ending_signals[i], &end, NULL);
    }
    sigaction(SIGWINCH, &resize, &before_resize);
    term_write(enter_screen, sizeof enter_screen - 1);
    taken = changed = 1;
}

void term_leave(void)
{
    term_restore();
    for (int i = 0; i < ENDING_SIGNALS; i++)
        sigaction(ending_signals[i], &before[i], NULL);
    sigaction(SIGWINCH, &before_resize, NULL);
}

bool term_changed(void)
{
    bool was = changed != 0;

    changed = 0;
    return was;
}

/* --- bytes --- */

void term_put(struct term_text *text, const char *data, size_t size)
{
    if (text->size + size + 1 > text->capacity) {
        size_t capacity = (text->size + size + 1) * 2;
        char *grown = realloc(text->data, capacity);
        if (!grown) {
            text->failed = true;
            return;
        }
        text->data = grown;
        text->capacity = capacity;
    }
    memcpy(text->data + text->size, data, size);
    text->size += size;
    text->data[text->size] = 0;
}

void term_printf(struct term_text *text, const char *format, ...)
{
    char piece[256];
    va_list args;

    va_start(args, format);
    vsnprintf(piece, sizeof piece, format, args);
    va_end(args);
    term_put(text, piece, strlen(piece));
}
