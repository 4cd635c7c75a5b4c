/* test_reading.c: the line about a file that is being read, on a pseudo terminal:
 * it is there while it may be and leaves nothing behind. */
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "reading.h"

/* stderr as a terminal; *saved is what it was. Returns the other side. */
static int take_stderr(int *saved)
{
    int master = posix_openpt(O_RDWR | O_NOCTTY | O_NONBLOCK), slave;

    assert_true(master >= 0);
    assert_int_equal(grantpt(master), 0);
    assert_int_equal(unlockpt(master), 0);
    slave = open(ptsname(master), O_RDWR | O_NOCTTY);
    assert_true(slave >= 0);
    *saved = dup(STDERR_FILENO);
    dup2(slave, STDERR_FILENO);
    close(slave);
    return master;
}

/* What was written to the terminal since the last call. */
static const char *written(int master)
{
    static char text[1024];
    ssize_t size;

    fflush(stderr);
    size = read(master, text, sizeof text - 1);
    text[size < 0 ? 0 : size] = '\0';
    return text;
}

/* Breaks when the line comes before it may or after its end, stays on the screen,
 * or shows wrong figures. */
static void test_line(void **state)
{
    struct reading reading = READING_INIT;
    int saved, master = take_stderr(&saved);

    (void)state;
    setenv("TERM", "xterm", 1);
    reading_show(&reading, 1000000000, 4913000000);
    assert_string_equal(written(master), "");
    reading_open(&reading);
    reading_show(&reading, 1250000000, 4913000000);
    assert_string_equal(written(master), "\r\033[Kreading the model: 1.2 of 4.9 GB");
    reading_show(&reading, 4913000000, 4913000000);
    assert_string_equal(written(master), "\r\033[K");
    reading_show(&reading, 1250000000, 4913000000);
    written(master);
    reading_close(&reading);
    assert_string_equal(written(master), "\r\033[K");
    reading_show(&reading, 1250000000, 4913000000);
    reading_close(&reading);
    assert_string_equal(written(master), "");
    dup2(saved, STDERR_FILENO);
    close(saved);
    close(master);
}

/* Breaks when a log file or a pipe gets the line. */
static void test_pipe(void **state)
{
    struct reading reading = READING_INIT;
    int ends[2], saved = dup(STDERR_FILENO);

    (void)state;
    assert_int_equal(pipe(ends), 0);
    fcntl(ends[0], F_SETFL, O_NONBLOCK);
    dup2(ends[1], STDERR_FILENO);
    reading_open(&reading);
    reading_show(&reading, 1250000000, 4913000000);
    reading_close(&reading);
    assert_string_equal(written(ends[0]), "");
    dup2(saved, STDERR_FILENO);
    close(saved);
    close(ends[0]);
    close(ends[1]);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_line),
        cmocka_unit_test(test_pipe),
    };

    return cmocka_run_group_tests_name("reading", tests, NULL, NULL);
}
