// The signals that a process hands on to the child that it waits for.
#pragma once

#include <signal.h>

enum { PROCESS_FORWARDED = 9 };
extern const int process_forwarded[PROCESS_FORWARDED];

// The forwarded signals that this process does not ignore. Ignored ones stay ignored, in the child too.
void process_taken(sigset_t *set, int confined);
void process_set_handlers(const sigset_t *set);
void process_remove_handlers(const sigset_t *set);

// Hands on to this process, first a signal that came before it; 0 for none.
void process_forward_to(int process, int confined);
int process_forwards_to(int process);
// Whether the next process is bubblewrap.
void process_forward_confined(int confined);
int process_is_confined(void);
