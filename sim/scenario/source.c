// SPDX-License-Identifier: GPL-2.0
#include "source.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum token { TOKEN_END, TOKEN_OTHER, TOKEN_NAME, TOKEN_NUMBER };

struct key {
	const char *at;
	size_t len;
};

struct source {
	const char *path;
	char *err;
	const char *start, *end, *p;
	const char *line_start;
	u32 line;
	const char *token, *last, *before;	/* this one, the one before it, and the one before that */
	size_t token_len;
	enum token kind;
	char bracket[SOURCE_DEPTH_MAX];		/* '{', '(', '[', or 'b' for a block of statements */
	u32 first_key[SOURCE_DEPTH_MAX];	/* in key[], of the table opened there */
	u32 depth, nr_keys;
	struct key key[SOURCE_KEYS_MAX];
};

static int bad(struct source *s, const char *at, const char *what, const char *wanted)
{
	snprintf(s->err, SOURCE_ERROR_MAX, "%s:%u:%u: %s; %s", s->path, s->line, (u32)(at - s->line_start) + 1, what, wanted);
	return -1;
}

static bool digit(char c)
{
	return c >= '0' && c <= '9';
}

static bool letter(char c)
{
	return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
}

static bool hex(char c)
{
	return digit(c) || (c >= 'a' && c <= 'f') || (c >= 'A' && c <= 'F');
}

static void newline(struct source *s)
{
	s->line++;
	s->line_start = s->p;
}

/* A step over one byte of what is not looked into. */
static void skip(struct source *s)
{
	char c = *s->p++;

	if (c == '\n' || (c == '\r' && (s->p == s->end || *s->p != '\n')))
		newline(s);
}

/* Behind "[", the number of "=" before another "["; or -1. */
static int long_bracket(const struct source *s, const char *p)
{
	int n = 0;

	if (p == s->end || *p != '[')
		return -1;
	for (p++; p < s->end && *p == '='; p++)
		n++;
	return p < s->end && *p == '[' ? n : -1;
}

static void skip_long(struct source *s, int level)
{
	int n;

	for (s->p += level + 2; s->p < s->end; skip(s)) {
		if (*s->p != ']')
			continue;
		for (n = 0; s->p + 1 + n < s->end && s->p[1 + n] == '='; n++)
			;
		if (n == level && s->p + 1 + n < s->end && s->p[1 + n] == ']') {
			s->p += level + 2;
			return;
		}
	}
}

static void skip_comment(struct source *s)
{
	int level = long_bracket(s, s->p + 2);

	if (level >= 0) {
		s->p += 2;
		skip_long(s, level);
		return;
	}
	while (s->p < s->end && *s->p != '\n' && *s->p != '\r')
		s->p++;
}

/* What is not closed on its line is Lua's to say. */
static void skip_quoted(struct source *s)
{
	char quote = *s->p++;

	while (s->p < s->end && *s->p != quote && *s->p != '\n') {
		if (*s->p == '\\' && s->p + 1 < s->end)
			s->p++;
		skip(s);
	}
	if (s->p < s->end && *s->p == quote)
		s->p++;
}

static int decimal(struct source *s, const char *p, size_t n)
{
	static const char most[] = "9223372036854775807";
	size_t whole = 0;

	while (whole < n && digit(p[whole]))
		whole++;
	if (whole > 1 && *p == '0')
		return bad(s, p, "a number with leading zeros", "write it without, or in hexadecimal");
	if (whole == n && (n > sizeof(most) - 1 || (n == sizeof(most) - 1 && memcmp(p, most, n) > 0)))
		return bad(s, p, "a number above 2^63 - 1", "write it in hexadecimal, up to 0xFFFFFFFFFFFFFFFF");
	if (whole == n)
		return 0;
	if (whole && p[whole] == '.') {
		for (whole++; whole < n && digit(p[whole]) && digit(p[n - 1]); whole++)
			;
		if (whole == n && digit(p[n - 1]))
			return 0;
	}
	return bad(s, p, "no number as they are written here", "write digits alone, without sign, exponent, unit or separator");
}

static int check_number(struct source *s)
{
	const char *p = s->token;
	size_t n = s->token_len, i;

	/* A subtraction has something before it. */
	if (s->last && *s->last == '-' && s->before && *s->before == '=' && s->depth && s->bracket[s->depth - 1] == '{')
		return bad(s, s->last, "a negative number", "no quantity of a machine is below 0");
	if (n < 2 || *p != '0' || (p[1] != 'x' && p[1] != 'X'))
		return decimal(s, p, n);
	for (i = 2; i < n && hex(p[i]); i++)
		;
	if (n == 2 || i < n)
		return bad(s, p, "no hexadecimal number", "write 0x and digits 0 to 9, A to F");
	if (n > 18)
		return bad(s, p, "a number of more than 64 bits", "write at most 16 hexadecimal digits");
	return 0;
}

static int next_other(struct source *s)
{
	char c = *s->p;
	char what[64];

	s->kind = TOKEN_OTHER;
	if (c == '"' || c == '\'') {
		skip_quoted(s);
	} else if (long_bracket(s, s->p) >= 0) {
		skip_long(s, long_bracket(s, s->p));
	} else if ((unsigned char)c >= 0x80 || (unsigned char)c < 0x20 || c == 0x7F) {
		snprintf(what, sizeof(what), "the byte 0x%02X outside texts and comments", (unsigned char)c);
		return bad(s, s->p, what, "write plain ASCII, without a byte-order mark");
	} else {
		s->p++;
	}
	s->token_len = (size_t)(s->p - s->token);
	return 0;
}

static int next_token(struct source *s)
{
	for (;;) {
		while (s->p < s->end && strchr(" \t\r\n\v\f", *s->p) && *s->p)
			skip(s);
		if (s->end - s->p < 2 || s->p[0] != '-' || s->p[1] != '-')
			break;
		skip_comment(s);
	}
	s->before = s->last;
	s->last = s->token;
	s->token = s->p;
	if (s->p == s->end) {
		s->kind = TOKEN_END;
		return 0;
	}
	if (!letter(*s->p) && !digit(*s->p))
		return next_other(s);
	s->kind = letter(*s->p) ? TOKEN_NAME : TOKEN_NUMBER;
	/* Lua takes what follows a number for a part of it, and so does a reader. */
	while (s->p < s->end && (letter(*s->p) || digit(*s->p) ||
				 (s->kind == TOKEN_NUMBER && (*s->p == '.' || (unsigned char)*s->p >= 0x80 || *s->p == '\0'))))
		s->p++;
	s->token_len = (size_t)(s->p - s->token);
	return s->kind == TOKEN_NUMBER ? check_number(s) : 0;
}

static bool is_word(const struct source *s, const char *word)
{
	return s->token_len == strlen(word) && memcmp(s->token, word, s->token_len) == 0;
}

static int push(struct source *s, char what)
{
	if (s->depth == SOURCE_DEPTH_MAX)
		return bad(s, s->token, "nested too deep", "keep brackets and blocks within 64 of each other");
	s->first_key[s->depth] = s->nr_keys;
	s->bracket[s->depth++] = what;
	return 0;
}

/* Unbalanced ones are Lua's to say. */
static void pop(struct source *s)
{
	if (s->depth)
		s->nr_keys = s->first_key[--s->depth];
}

static bool is_assigned(const struct source *s)
{
	const char *p = s->p;

	while (p < s->end && (*p == ' ' || *p == '\t'))
		p++;
	return s->end - p >= 2 && p[0] == '=' && p[1] != '=';
}

/* "name =" in a table. */
static int check_key(struct source *s)
{
	u32 i;

	if (!s->depth || s->bracket[s->depth - 1] != '{' || !s->last || !strchr("{,;", *s->last) || !is_assigned(s))
		return 0;
	for (i = s->first_key[s->depth - 1]; i < s->nr_keys; i++)
		if (s->key[i].len == s->token_len && memcmp(s->key[i].at, s->token, s->token_len) == 0)
			return bad(s, s->token, "a key that this table has already", "keep one of them");
	if (s->nr_keys == SOURCE_KEYS_MAX)
		return bad(s, s->token, "more than 1024 keys", "give some of them outside the table");
	s->key[s->nr_keys++] = (struct key){ s->token, s->token_len };
	return 0;
}

static int check_token(struct source *s)
{
	if (s->kind == TOKEN_NAME) {
		if (is_word(s, "function") || is_word(s, "if") || is_word(s, "do") || is_word(s, "repeat"))
			return push(s, 'b');
		if (is_word(s, "end") || is_word(s, "until"))
			pop(s);
		return check_key(s);
	}
	if (s->kind != TOKEN_OTHER || s->token_len != 1)
		return 0;
	if (strchr("{([", *s->token))
		return push(s, *s->token);
	if (strchr("})]", *s->token))
		pop(s);
	return 0;
}

int source_check(const char *path, const char *text, size_t len, char err[SOURCE_ERROR_MAX])
{
	struct source *s = calloc(1, sizeof(*s));
	int ret;

	if (!s) {
		snprintf(err, SOURCE_ERROR_MAX, "%s:1: no memory", path);
		return -1;
	}
	*s = (struct source){ .path = path, .err = err, .start = text, .end = text + len, .p = text, .line_start = text, .line = 1 };
	do {
		ret = next_token(s);
		if (!ret)
			ret = check_token(s);
	} while (!ret && s->kind != TOKEN_END);
	free(s);
	return ret;
}
