// Takes the place of the C library's pwrite, ftruncate and fallocate in a test process, so that a test can let the
// Nth change of a file fail, or can end all changes in the middle of the Nth, as a killed process does. It holds for
// the calling thread.
#pragma once

#include "CHostTrace.h"

enum faults_mode {
    faults_off = 0,
    /// The Nth change answers -1 and `error`; later ones work.
    faults_fail = 1,
    /// The Nth change is made in part, and no later one at all, though all answer that they were made.
    faults_crash = 2,
};

/// Each page that a pwrite brings counts as one change.
void faults_arm(enum faults_mode mode, long countdown, int error);
void faults_disarm(void);
/// Changes since the last arming.
long faults_count(void);

/// From now on a file that is synchronized is copied to the file open as `fd`: what a power cut would leave at least.
/// -1 ends it.
void faults_mirror(int fd);

/// How often this thread has opened something with openat.
long faults_opens(void);

/// Forgets which files this thread has synchronized.
void faults_forget_synchronized(void);
/// Whether this thread has synchronized a file or directory since then, by its inode number.
int faults_synchronized(unsigned long inode);
