/* Keeps libvirtd from hanging after a fork.
 *
 * Between fork and exec of a QEMU, libvirtd's child asks virtlockd for the
 * machine's lease, and uses GLib for that. If another thread of libvirtd is inside
 * of GLib at the moment of the fork, the child inherits a mutex that nobody will
 * ever unlock: it hangs, libvirtd waits for it with the machine locked, and every
 * listing of machines waits for libvirtd. Seen with libvirt 9.0 and GLib 2.74: the
 * mutex of signals, which every last g_object_unref takes.
 *
 * It takes thousands of boots beside a few calls a second, but here hundreds of
 * calls a second look at the hosts. So a fork waits until no thread is inside of
 * those functions. The wait is bounded: what runs below g_object_unref may itself
 * wait for a lock that the forking thread holds.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <pthread.h>
#include <stdlib.h>
#include <time.h>

static pthread_rwlock_t inside = PTHREAD_RWLOCK_INITIALIZER; /* readers are preferred: they nest */
static __thread int alone;                                   /* this thread forks, and has the lock */

#define GUARDED(result, name, parameter, argument, keep, give)                \
	result name(parameter)                                                \
	{                                                                     \
		static result (*real)(parameter);                             \
		if (!real)                                                    \
			real = (result (*)(parameter))dlsym(RTLD_NEXT, #name); \
		pthread_rwlock_rdlock(&inside);                               \
		keep real(argument);                                          \
		pthread_rwlock_unlock(&inside);                               \
		give;                                                         \
	}

GUARDED(void, g_object_unref, void *object, object, , )
GUARDED(void *, g_main_context_new, void, , void *made =, return made)
GUARDED(void, g_main_context_unref, void *context, context, , )
GUARDED(void, g_main_loop_unref, void *loop, loop, , )

static void before(void)
{
	struct timespec until;

	clock_gettime(CLOCK_REALTIME, &until);
	until.tv_sec++;
	alone = pthread_rwlock_timedwrlock(&inside, &until) == 0;
}

static void after(void)
{
	if (alone)
		pthread_rwlock_unlock(&inside);
	alone = 0;
}

/* The child has another thread number than the one that took the lock. */
static void child(void)
{
	inside = (pthread_rwlock_t)PTHREAD_RWLOCK_INITIALIZER;
	alone = 0;
}

__attribute__((constructor)) static void start(void)
{
	unsetenv("LD_PRELOAD"); /* for libvirtd, not for what it runs */
	pthread_atfork(before, after, child);
}
