
// ---- BIC (Xu, Harfoush, Rhee 2004, section III)
//
// After a loss the window searches for where it was cut: a window of ACKs adds a part of the distance, within limits. Beyond, it
// probes: one segment per window, then twice as many, up to the limit.

#define TIMEOUT_HALVES 0
#define LOW_q32 @LOW_q32@ULL
#define S_MAX_q24 @S_MAX_q24@ULL
#define S_MIN_q24 @S_MIN_q24@ULL
#define DIVISOR_q8 @DIVISOR_q8@ULL
#define KEPT_q32 @KEPT_q32@ULL
// Half of one and of what is kept: where the next search ends after a loss below the last one.
#define CONVERGED_q32 @CONVERGED_q32@ULL
#define CONVERGES @CONVERGES@
#define NOWHERE (~0ULL)

struct remembered {
	u64 end_q32;	/* where the last loss met the window; NOWHERE before the first */
	u64 until_q32;	/* a probe grows by `step` until here */
	u64 step_q24;	/* 0: no probe */
};

struct memory {
	u32 frac, rtt_us;
	struct remembered now, before;
};

INLINE void law_begin(struct memory *m, u64 now_us)
{
	m->now.end_q32 = NOWHERE;
	m->now.until_q32 = 0;
	m->now.step_q24 = 0;
}

INLINE void law_heard(struct memory *m, u64 w, u32 acked, u64 now_us) {}

INLINE u64 per_window_q24(struct memory *m, u64 w)
{
	u64 way;

	if (m->now.step_q24)
		return m->now.step_q24;
	if (m->now.end_q32 == NOWHERE)
		return S_MAX_q24;
	// 24 bits behind the point; a distance of 2^24 segments and more is beyond every limit.
	way = w < m->now.end_q32 ? least((m->now.end_q32 - w) >> 8, ONE_q24 << 24) : 0;
	return least(most((way << 8) / DIVISOR_q8, S_MIN_q24), S_MAX_q24);
}

INLINE u64 law_grow(struct memory *m, u64 w, u32 acked, u64 now_us)
{
	if (w < LOW_q32)
		return w + added(w, ONE_q24, acked);
	w += added(w, per_window_q24(m, w), acked);
	if (!m->now.step_q24) {
		if (w >= m->now.end_q32) {
			m->now.step_q24 = ONE_q24;
			m->now.until_q32 = w + ONE_q32;
			m->now.end_q32 = NOWHERE;
		}
	} else if (w >= m->now.until_q32) {
		m->now.step_q24 *= 2;
		m->now.until_q32 = w + (m->now.step_q24 << 8);
		if (m->now.step_q24 >= S_MAX_q24)
			m->now.step_q24 = 0;
	}
	return w;
}

INLINE u64 law_cut(struct memory *m, u64 w)
{
	m->now.step_q24 = 0;
	if (w < LOW_q32) {
		m->now.end_q32 = w;
		return w / 2;
	}
	m->now.end_q32 = CONVERGES && w < m->now.end_q32 && m->now.end_q32 != NOWHERE ? share_of(w, CONVERGED_q32) : w;
	return share_of(w, KEPT_q32);
}
