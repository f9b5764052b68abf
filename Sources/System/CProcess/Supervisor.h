// The packets that a supervisor and the process that made it send each other over a socket.
#pragma once

enum supervisor_word {
    // The other end is closed.
    SUPERVISOR_GONE,
    // The process exists: its number, or a negative error number.
    SUPERVISOR_MADE,
    // The process was stopped.
    SUPERVISOR_STOPPED,
    // The process has ended: its status, as waitpid(2) has it. It stays a zombie until SUPERVISOR_RELEASED.
    SUPERVISOR_ENDED,
    // From the maker: nothing is sent to the process any more.
    SUPERVISOR_RELEASED,
};

struct supervisor_news {
    int kind;
    int value;
};

// Sends a packet. Returns whether the other end is still there.
int process_tell(int socket, enum supervisor_word kind, int value);
// Waits for a packet.
struct supervisor_news process_hear(int socket);

// Watches over a child of this process and all that it starts, and returns when nothing is left. All signals are
// blocked.
void process_supervise(int process, int control, const char *group);
