
// ---- LTCP, layered TCP (Bhandarkar 2006, III.A and III.B)
//
// In layer K a window of ACKs adds K_R (K + place in the layer) segments. Where layers begin is a table, as in the source; so is
// K_R, a power of the least smoothed round-trip time: 16 steps in each power of two, from 2^@FIRST@ us up to 2^@LAST@ us.

#define TIMEOUT_HALVES 1
#define LAYERS @LAYERS@
#define VARIABLE @VARIABLE@
#define KEPT_q32 @KEPT_q32@ULL
#define KR_BEFORE_q20 @KR_BEFORE_q20@
#define KR_VARIES @KR_VARIES@
#define FIRST @FIRST@
#define ROWS @ROWS@
// A round-trip time beyond is taken for this one, in us.
#define RTT_MAX_us 16000000

// Where layers 1, 2, .. begin, in segments with 16 bits behind the point.
static const u64 floor_q16[LAYERS + 1] = {
@FLOOR_q16@
};
// K_R at a round-trip time, 20 bits behind the point.
static const u32 kr_q20[ROWS] = {
@KR_q20@
};

struct remembered {
	u32 kr_q20, smoothed_q8, least_q8;	/* the last two in 1/256 us; 0: none yet */
};

struct memory {
	u32 frac, rtt_us;
	struct remembered now, before;
};

INLINE void law_begin(struct memory *m, u64 now_us)
{
	m->now.kr_q20 = KR_BEFORE_q20;
	m->now.smoothed_q8 = 0;
	m->now.least_q8 = 0;
}

INLINE void law_heard(struct memory *m, u64 w, u32 acked, u64 now_us)
{
	u32 r = (u32)least(m->rtt_us, RTT_MAX_us) << 8, s = m->now.smoothed_q8;

	if (!r)
		return;
	s = !s ? r : r >= s ? s + (r - s) / 8 : s - (s - r) / 8;
	m->now.smoothed_q8 = s;
	if (m->now.least_q8 && s >= m->now.least_q8)
		return;
	m->now.least_q8 = s;
	if (KR_VARIES)
		m->now.kr_q20 = looked_up(kr_q20, ROWS, FIRST, (u64)s << 8);
}

// The layer of a window, from 1 on.
INLINE u32 layer_of(u64 w_q16)
{
	u64 k = 0, higher;

	for (u32 step = LAYERS / 2; step; step /= 2) {
		higher = k + step;
		FORGET(higher);
		if (higher < LAYERS && w_q16 >= floor_q16[higher])
			k = higher;
	}
	return (u32)k + 1;
}

// How far into its layer a window is, 24 bits behind the point.
INLINE u64 place_q24(u64 w_q16, u32 k)
{
	u64 begins, ends, row = k - 1;

	FORGET(row);
	if (row >= LAYERS)
		return 0;
	begins = floor_q16[row];
	ends = floor_q16[row + 1];
	return (least(w_q16 - begins, ends - begins) << 24) / (ends - begins);
}

INLINE u64 law_grow(struct memory *m, u64 w, u32 acked, u64 now_us)
{
	u64 w_q16 = w >> 16;
	u32 k = layer_of(w_q16);

	return w + added(w, (m->now.kr_q20 * ((u64)k * ONE_q24 + place_q24(w_q16, k))) >> 20, acked);
}

INLINE u64 law_cut(struct memory *m, u64 w)
{
	u64 w_q16 = w >> 16, here, next;
	u32 k = layer_of(w_q16);

	if (!VARIABLE)
		return share_of(w, KEPT_q32);
	here = ONE_q32 / (k + 1);
	next = ONE_q32 / (k + 2);
	return share_of(w, ONE_q32 - here + (((here - next) * place_q24(w_q16, k)) >> 24));
}
