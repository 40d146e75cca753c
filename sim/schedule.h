/* SPDX-License-Identifier: GPL-2.0 */
#ifndef SIM_SCHEDULE_H
#define SIM_SCHEDULE_H

/*
 * A schedule: what is chosen wherever a machine could go on in several ways. There are three
 * kinds of choice: which of several events of one instant comes first, whether a task is
 * preempted at an access and for how long, and what a scenario's choose{} gives. Choices are
 * numbered as they come; 0 is always what happens without a schedule, so a schedule is written
 * down as its other choices only: "12.1,87.3" is 1 at choice 12 and 3 at choice 87, "-" is none.
 *
 * A machine has none unless its config names one; then nothing here costs more than a branch.
 */

#include "rng.h"

struct machine;

enum schedule_kind {
	SCHEDULE_TIE,		/* order of events of one instant and priority */
	SCHEDULE_SWITCH,	/* preemption at an access */
	SCHEDULE_CHOOSE,	/* the scenario's own */
};

#define SCHEDULE_CHOICES_MAX	8192u	/* later ones are 0 */
#define SCHEDULE_PICKS_MAX	192u
#define SCHEDULE_OPTIONS_MAX	63u	/* of one choice; more are not reached */
#define SCHEDULE_TEXT_MAX	2304u	/* SCHEDULE_PICKS_MAX of "8191.63," */
#define SCHEDULE_SWITCHES	9u	/* go on, or be off for one of eight times */

struct schedule_pick {
	u16 at;
	u8 value;		/* not 0 */
};

struct schedule {
	bool open;		/* choices are made; else all are 0, and not counted */
	bool random;
	u32 nr_choices;
	u32 nr_given, next_given, nr_made;
	struct schedule_pick given[SCHEDULE_PICKS_MAX];	/* to be followed */
	struct schedule_pick made[SCHEDULE_PICKS_MAX];
	u8 option[SCHEDULE_CHOICES_MAX];	/* kind << 6 | alternatives: what there was to choose from */
	struct rng rng;
	u32 switch_den, tie_num;	/* chance: a switch 1 in switch_den, a tie tie_num in 4 */
};

static inline u32 schedule_options(const struct schedule *s, u32 at)
{
	return s->option[at] & 63u;
}

static inline enum schedule_kind schedule_kind(const struct schedule *s, u32 at)
{
	return (enum schedule_kind)(s->option[at] >> 6);
}

/* The schedule without any choice but 0, closed. */
void schedule_init(struct schedule *s);

/* Follow @pick[@nr], which is sorted by place. */
void schedule_follow(struct schedule *s, const struct schedule_pick *pick, u32 nr);

/* Choose by chance: schedule number @number of a run with @seed. */
void schedule_by_chance(struct schedule *s, u64 seed, u64 number);

/* From text: "-", "12.1,87.3", or "~7": by chance, number 7. False: it is none of these. */
bool schedule_parse(struct schedule *s, const char *text, u64 seed);

/* What was chosen, as text. */
void schedule_text(const struct schedule *s, char text[SCHEDULE_TEXT_MAX]);

/* 0 to n - 1. */
u32 schedule_choose(struct schedule *s, enum schedule_kind kind, u32 n);

/* Let @m's event queue ask its schedule. */
void schedule_attach(struct machine *m);

/* schedule_point() where there is a schedule. */
void schedule_switch(struct machine *m);

#endif
