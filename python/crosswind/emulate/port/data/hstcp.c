
// ---- HighSpeed TCP (RFC 3649, section 5)
//
// Above `low_window` a window of ACKs adds a(w) segments and a loss keeps 1 - b(w). Both functions hold powers and logarithms,
// which are tabulated: 16 steps in each power of two, from 2^@FIRST@ segments up to 2^@LAST@, where they are held.

struct remembered { u32 nothing; };

#define TIMEOUT_HALVES 1
#define LOW_q32 @LOW_q32@ULL
#define FIRST @FIRST@
#define ROWS @ROWS@

// a(w), 20 bits behind the point.
static const u32 increase_q20[ROWS] = {
@INCREASE_q20@
};
// 1 - b(w), 31 bits behind the point.
static const u32 keep_q31[ROWS] = {
@KEEP_q31@
};

struct memory {
	u32 frac, rtt_us;
	struct remembered now, before;
};

INLINE void law_begin(struct memory *m, u64 now_us) { m->now.nothing = 0; }
INLINE void law_heard(struct memory *m, u64 w, u32 acked, u64 now_us) {}

// a(w) of whole segments: it changes when the window has changed by one.
INLINE u64 law_grow(struct memory *m, u64 w, u32 acked, u64 now_us)
{
	u64 whole = w >> 32 << 32;

	if (whole <= LOW_q32)
		return w + added(w, ONE_q24, acked);
	return w + added(w, most((u64)looked_up(increase_q20, ROWS, FIRST, whole >> 16) << 4, ONE_q24), acked);
}

INLINE u64 law_cut(struct memory *m, u64 w)
{
	return w <= LOW_q32 ? w / 2 : share_of(w, (u64)looked_up(keep_q31, ROWS, FIRST, w >> 16) << 1);
}
