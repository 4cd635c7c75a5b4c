/* doctor.h: the checks of dllm doctor. */
#ifndef DOCTOR_H
#define DOCTOR_H

enum { DOCTOR_CHECKS = 9 };

/* What one check found. */
struct doctor_finding {
    const char *name;
    char text[3000];
    char fix[300]; /* what to do about it; "": it is in order */
};

/* Runs every check, the one of the model for what -m names; nothing is fetched.
 * Returns how many there are. */
int doctor_examine(const char *model, struct doctor_finding findings[DOCTOR_CHECKS]);

#endif
