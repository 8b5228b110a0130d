/* The SIGBUS handler: acts for our addresses, and is not there for all others.

   Others may set theirs before or after us, and may keep ours as the one to restore (faulthandler
   does). So we remember all that we have been put before, and hand a signal on as the system would:
   with their handler installed while it runs. If it has then put ours back, it has taken itself out. */
#define _GNU_SOURCE
#include "storage/bus_guard.h"

#include <errno.h>
#include <signal.h>
#include <string.h>

enum { REMEMBERED = 8 };

static int (*mend_address)(void *);
static struct sigaction others[REMEMBERED]; /* the last one is next */
static int count;
static int handing_on; /* how many of them are running */

static void on_bus(int number, siginfo_t *info, void *context);

static int is_ours(const struct sigaction *action) {
    return action->sa_flags & SA_SIGINFO && action->sa_sigaction == on_bus;
}

static int is_same(const struct sigaction *one, const struct sigaction *other) {
    int takes_info = SA_SIGINFO;
    if ((one->sa_flags & takes_info) != (other->sa_flags & takes_info)) return 0;
    return one->sa_flags & takes_info ? one->sa_sigaction == other->sa_sigaction
                                      : one->sa_handler == other->sa_handler;
}

static void install(void) {
    struct sigaction ours = {.sa_sigaction = on_bus, .sa_flags = SA_SIGINFO | SA_ONSTACK | SA_NODEFER};
    sigemptyset(&ours.sa_mask);
    sigaction(SIGBUS, &ours, NULL);
}

static void remember(const struct sigaction *theirs) {
    if (count && is_same(&others[count - 1], theirs)) count--;
    if (count == REMEMBERED) memmove(others, others + 1, --count * sizeof *others);
    others[count++] = *theirs;
}

/* ---- not ours ------------------------------------------------------------------------------------ */

static void as_by_default(int number, const siginfo_t *info) {
    struct sigaction plain = {.sa_handler = SIG_DFL};
    sigaction(number, &plain, NULL);
    if (info->si_code <= 0) raise(number); /* sent; a fault happens again as soon as we return */
}

static void call(const struct sigaction *theirs, int number, siginfo_t *info, void *context) {
    struct sigaction meanwhile = *theirs;
    if (theirs->sa_flags & SA_RESETHAND) meanwhile.sa_handler = SIG_DFL;
    sigaction(number, &meanwhile, NULL);
    handing_on++;
    if (theirs->sa_flags & SA_SIGINFO) theirs->sa_sigaction(number, info, context);
    else theirs->sa_handler(number);
    handing_on--;
}

static void hand_on(int number, siginfo_t *info, void *context) {
    int next = count - 1 - handing_on;
    struct sigaction theirs = {.sa_handler = SIG_DFL}, now;
    if (next >= 0) theirs = others[next];
    int is_plain = !(theirs.sa_flags & SA_SIGINFO);
    if (is_plain && theirs.sa_handler == SIG_IGN && info->si_code <= 0) return;
    if (is_plain && (theirs.sa_handler == SIG_DFL || theirs.sa_handler == SIG_IGN)) {
        as_by_default(number, info);
        return;
    }
    call(&theirs, number, info, context);
    sigaction(number, NULL, &now);
    if (is_ours(&now)) count = next;                /* it has restored what it found: us */
    else if (is_same(&now, &theirs)) install(); /* it stays; other changes are kept until the next look */
}

static void on_bus(int number, siginfo_t *info, void *context) {
    int kept = errno;
    if (info->si_code != BUS_ADRERR || !mend_address || !mend_address(info->si_addr))
        hand_on(number, info, context);
    errno = kept;
}

/* ---- being first ---------------------------------------------------------------------------------- */

void bus_guard_keep(void) {
    struct sigaction now;
    if (!mend_address || handing_on || sigaction(SIGBUS, NULL, &now) || is_ours(&now)) return;
    remember(&now);
    install();
}

void bus_guard_begin(int (*mend)(void *address)) {
    mend_address = mend;
    bus_guard_keep();
}

/* Where another handler has come after ours, it stays, and ours below it hands everything on. */
void bus_guard_end(void) {
    struct sigaction now;
    mend_address = NULL;
    if (handing_on || sigaction(SIGBUS, NULL, &now) || !is_ours(&now) || !count) return;
    sigaction(SIGBUS, &others[--count], NULL);
}
