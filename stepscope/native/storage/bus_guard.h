/* SIGBUS for addresses of ours: a run file that another program cuts must not end the script. */
#ifndef STEPSCOPE_BUS_GUARD_H
#define STEPSCOPE_BUS_GUARD_H

/* `mend` is called in the signal handler: 1 if the address is ours and can be used now. */
void bus_guard_begin(int (*mend)(void *address));
void bus_guard_end(void);

/* Now and then: the script, or a library, may have set a handler of its own since. Ours goes before
   it again, and hands on what is not about our files. */
void bus_guard_keep(void);

#endif
