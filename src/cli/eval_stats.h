/*
 * eval_stats.h: what two arms that answered the same questions say about each other.
 */
#ifndef EVAL_STATS_H
#define EVAL_STATS_H

/* How many questions both arms had right, only the one, only the other, neither. */
struct eval_pairs {
    int both, only_this, only_other, neither;
};

/* A share of right answers minus another, as fractions of one. */
struct eval_difference {
    double value, low, high;
};

/* The share of this minus that of the other, with its 95 % interval: method 10 of Newcombe,
 * Statistics in Medicine 17 (1998) 2635-2650: Wilson's score intervals of both shares, squared and
 * added, with the correlation of the pairs (from which half a pair is taken where it is positive).
 * All zero without questions. */
struct eval_difference eval_paired_difference(const struct eval_pairs *pairs);

/* The probability, both ways, of a split as uneven as (better, worse) if either is as likely:
 * McNemar's test, exact. 1 for (0, 0). */
double eval_mcnemar(int better, int worse);

#endif
