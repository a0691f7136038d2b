// What every ported law shares: fixed-point arithmetic, the window, and the hooks of the kernel.
//
// The window of the law is 32.32: `snd_cwnd` of the socket and a fraction of ours. Whatever else moves `snd_cwnd` (recovery,
// idle time, an undo) moves the law's window, too. A law is three functions, written below:
//   law_begin(sk)                      its state before the first ACK
//   law_grow(sk, w, acked) -> window   after an ACK that may grow the window in congestion avoidance
//   law_cut(sk, w) -> window           after a loss; w is the window before it
// and law_heard(sk, acked), which hears of every ACK that may grow the window, in slow start as well.
//
// Compiled with CROSSWIND_NATIVE it is plain C that a test can step ACK by ACK; without, a BPF object.

#ifdef CROSSWIND_NATIVE
#include "native.h"
#else
#include "vmlinux.h"
#include <bpf/bpf_core_read.h>
#include <bpf/bpf_helpers.h>
#include <bpf/bpf_tracing.h>
char _license[] SEC("license") = "Dual MIT/GPL";
#define FULL(tp) BPF_CORE_READ_BITFIELD(tp, is_cwnd_limited)
#endif

#define INLINE static inline __attribute__((always_inline, unused))
// The compiler forgets what it knows of an index, so that the check behind is made on the register that is used: what the verifier
// of the kernel has to see.
#define FORGET(index) asm volatile("" : "+r"(index))
#define ONE_q32 (1ULL << 32)
#define ONE_q24 (1ULL << 24)
#define ONE_q16 (1ULL << 16)
// Segments per window of ACKs beyond which growth is held, so that no product below leaves 64 bits.
#define GROWTH_MAX_q24 (32767ULL << 24)
#define ACKED_MAX 4096

struct memory;

INLINE u64 least(u64 a, u64 b) { return a < b ? a : b; }
INLINE u64 most(u64 a, u64 b) { return a > b ? a : b; }

// A window times a share below one, both with 32 bits behind the point.
INLINE u64 share_of(u64 w_q32, u64 share_q32)
{
	return (w_q32 >> 32) * share_q32 + (((w_q32 & (ONE_q32 - 1)) * share_q32) >> 32);
}

// What `acked` segments add where a window of ACKs adds `growth_q24` segments.
INLINE u64 added(u64 w_q32, u64 growth_q24, u32 acked)
{
	u64 w_q16 = most(w_q32 >> 16, ONE_q16);

	return (least(growth_q24, GROWTH_MAX_q24) << 24) / w_q16 * acked;
}

// The value at `x` of a function given at 16 steps of each power of two from 2^first on, straight in between; what lies outside
// has the value of the end. `x_q16` has 16 bits behind the point.
INLINE u32 looked_up(const u32 *table, u32 rows, u32 first, u64 x_q16)
{
	u32 power = 0;
	u64 rest, low, high, row;

	if (x_q16 < ONE_q16 << first)
		return table[0];
	for (u32 step = 16; step; step /= 2)
		if (x_q16 >> (first + 16 + power + step))
			power += step;
	// The upper 4 bits behind the leading one are the step, the 16 below them the place in it.
	rest = power + first >= 4 ? x_q16 >> (power + first - 4) : x_q16 << (4 - power - first);
	row = power * 16ULL + (rest >> 16) - 16;
	FORGET(row);
	if (row >= rows - 1)
		return table[rows - 1];
	low = table[row];
	high = table[row + 1];
	rest &= ONE_q16 - 1;
	return (u32)((low * (ONE_q16 - rest) + high * rest) >> 16);
}
