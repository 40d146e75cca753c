// SPDX-License-Identifier: GPL-2.0
#include "schedule.h"
#include "event.h"
#include "machine.h"

#include <stdio.h>
#include <string.h>

/*
 * A preempted task goes on after so many instants at which something else happened. Longer than
 * REACH it is not off: nothing here shall run into a time-out that a real host's would not. What
 * is further apart a scenario moves together itself, with choose{}.
 */
static const u8 instants[SCHEDULE_SWITCHES] = { 0, 1, 2, 3, 4, 6, 10, 16, 32 };

#define REACH_PS (100 * PS_PER_US)

void schedule_init(struct schedule *s)
{
	memset(s, 0, sizeof(*s));
}

void schedule_follow(struct schedule *s, const struct schedule_pick *pick, u32 nr)
{
	schedule_init(s);
	memcpy(s->given, pick, nr * sizeof(*pick));
	s->nr_given = nr;
}

/* Some schedules switch often, some seldom; some shuffle all ties, some none. */
void schedule_by_chance(struct schedule *s, u64 seed, u64 number)
{
	char name[40];

	schedule_init(s);
	snprintf(name, sizeof(name), "schedule %llu", (unsigned long long)number);
	rng_split(&s->rng, seed, name);
	s->random = true;
	s->switch_den = 4u << rng_below(&s->rng, 5);
	s->tie_num = (u32)rng_below(&s->rng, 3) * 2;
}

static bool number(const char **at, u64 max, u64 *out)
{
	u64 v = 0;
	const char *p = *at;

	for (; *p >= '0' && *p <= '9' && v <= max; p++)
		v = 10 * v + (u64)(*p - '0');
	if (p == *at || v > max)
		return false;
	*out = v;
	*at = p;
	return true;
}

bool schedule_parse(struct schedule *s, const char *text, u64 seed)
{
	u64 at, value;

	schedule_init(s);
	if (strcmp(text, "-") == 0)
		return true;
	if (*text == '~') {
		text++;
		if (!number(&text, 1ull << 32, &value) || *text)
			return false;
		schedule_by_chance(s, seed, value);
		return true;
	}
	for (;; text++) {
		if (!number(&text, SCHEDULE_CHOICES_MAX - 1, &at) || *text++ != '.' || !number(&text, SCHEDULE_OPTIONS_MAX, &value))
			return false;
		if (s->nr_given == SCHEDULE_PICKS_MAX || value == 0 || (s->nr_given && at <= s->given[s->nr_given - 1].at))
			return false;
		s->given[s->nr_given++] = (struct schedule_pick){ (u16)at, (u8)value };
		if (*text != ',')
			return *text == '\0';
	}
}

void schedule_text(const struct schedule *s, char text[SCHEDULE_TEXT_MAX])
{
	size_t len = 0;
	u32 i;

	strcpy(text, "-");
	for (i = 0; i < s->nr_made; i++)
		len += (size_t)snprintf(text + len, SCHEDULE_TEXT_MAX - len, "%s%u.%u", i ? "," : "", s->made[i].at, s->made[i].value);
}

static u32 by_chance(struct schedule *s, enum schedule_kind kind, u32 n)
{
	if (kind == SCHEDULE_SWITCH && !rng_chance(&s->rng, 1, s->switch_den))
		return 0;
	if (kind == SCHEDULE_TIE && !rng_chance(&s->rng, s->tie_num, 4))
		return 0;
	return (u32)rng_below(&s->rng, n);
}

static u32 as_given(struct schedule *s, u32 n)
{
	const struct schedule_pick *p = &s->given[s->next_given];

	if (s->next_given == s->nr_given || p->at != s->nr_choices)
		return 0;
	s->next_given++;
	return p->value < n ? p->value : n - 1;
}

u32 schedule_choose(struct schedule *s, enum schedule_kind kind, u32 n)
{
	u32 value;

	if (!s->open || n < 2 || s->nr_choices == SCHEDULE_CHOICES_MAX)
		return 0;
	if (n > SCHEDULE_OPTIONS_MAX)
		n = SCHEDULE_OPTIONS_MAX;
	value = s->random ? by_chance(s, kind, n) : as_given(s, n);
	if (s->nr_made == SCHEDULE_PICKS_MAX)
		value = 0;	/* what could not be written down is not done */
	if (value)
		s->made[s->nr_made++] = (struct schedule_pick){ (u16)s->nr_choices, (u8)value };
	s->option[s->nr_choices++] = (u8)((u32)kind << 6 | n);
	return value;
}

static u32 pick(void *opaque, u32 n)
{
	return schedule_choose(opaque, SCHEDULE_TIE, n);
}

void schedule_attach(struct machine *m)
{
	sched_shuffle(m->sched, pick, m->cfg.schedule);
}

void schedule_switch(struct machine *m)
{
	struct task *t = task_current();
	u64 end = sched_now(m->sched) + REACH_PS;
	u32 n;

	if (!t || !m->cfg.schedule->open)
		return;
	for (n = instants[schedule_choose(m->cfg.schedule, SCHEDULE_SWITCH, SCHEDULE_SWITCHES)]; n; n--) {
		u64 next = sched_next_time(m->sched);

		if (next > end)
			return;
		task_sleep(next - sched_now(m->sched));
	}
}
