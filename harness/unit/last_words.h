/* SPDX-License-Identifier: GPL-2.0 */
#ifndef HARNESS_UNIT_LAST_WORDS_H
#define HARNESS_UNIT_LAST_WORDS_H

/*
 * A test that runs many seeds in one process says which one it was at when an assert, a signal
 * or a sanitizer ends it.
 */

#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

static char last_words[200];

#ifdef __SANITIZE_ADDRESS__
void __sanitizer_set_death_callback(void (*fn)(void));

static void last_words_on_death(void)
{
	(void)!write(STDERR_FILENO, last_words, strlen(last_words));
}
#endif

static void last_words_on_signal(int sig)
{
	(void)!write(STDERR_FILENO, last_words, strlen(last_words));
	signal(sig, SIG_DFL);
	raise(sig);
}

/* Begin a run; again at each. The sanitizer keeps what it handles itself. */
static void __attribute__((format(printf, 1, 2))) last_words_are(const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(last_words, sizeof(last_words), fmt, ap);
	va_end(ap);
	signal(SIGABRT, last_words_on_signal);
#ifdef __SANITIZE_ADDRESS__
	__sanitizer_set_death_callback(last_words_on_death);
#else
	signal(SIGSEGV, last_words_on_signal);
	signal(SIGBUS, last_words_on_signal);
#endif
}

#endif
