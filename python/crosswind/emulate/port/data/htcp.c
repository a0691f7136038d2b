
// ---- H-TCP (Leith, Shorten 2004)
//
// Growth depends on the time since the last loss, and on the least round-trip time. A loss keeps the share least over greatest
// round-trip time, or the lower limit where the rate has changed since the loss before.

#define TIMEOUT_HALVES 1
#define ADAPTIVE @ADAPTIVE@
#define SCALED @SCALED@
#define LOW_SPEED_us @LOW_SPEED_us@ULL
#define BETA_MIN_q16 @BETA_MIN_q16@U
#define BETA_MAX_q16 @BETA_MAX_q16@U
// Between these shares of the rate before, a rate is steady.
#define STEADY_FROM_q16 @STEADY_FROM_q16@ULL
#define STEADY_TO_q16 @STEADY_TO_q16@ULL
#define ALPHA_MAX_q16 (32767U << 16)
#define NEVER 0
// Longer than that since a loss counts as that, in us.
#define SINCE_MAX_us 1000000000ULL

struct remembered {
	u64 since_us;		/* the first ACK after the last loss; NEVER */
	u32 greatest_us;	/* greatest round-trip time */
	u32 beta_q16;		/* share that a loss keeps */
	u32 old_rate_q8;	/* greatest rate before the last loss, segments per second */
	u32 adaptive;		/* a first loss has been seen with a steady rate */
};

struct memory {
	u32 frac, rtt_us;
	u32 least_us;		/* least round-trip time; 0: none */
	u32 alpha_q16;		/* segments per window of ACKs */
	u32 counts;		/* 0: alpha is computed at the next ACK */
	u32 acked;		/* segments since `from` */
	u64 counted_q16;	/* towards the next computation of alpha */
	u64 from_us;
	u32 rate_q8, greatest_rate_q8;	/* smoothed, and the greatest of it, segments per second */
	struct remembered now, before;
};

INLINE void law_begin(struct memory *m, u64 now_us)
{
	m->least_us = 0;
	m->alpha_q16 = ONE_q16;
	m->counts = 0;
	m->counted_q16 = 0;
	m->acked = 0;
	m->from_us = now_us;
	m->rate_q8 = 0;
	m->greatest_rate_q8 = 0;
	m->now.since_us = NEVER;
	m->now.greatest_us = 0;
	m->now.beta_q16 = BETA_MIN_q16;
	m->now.old_rate_q8 = 0;
	m->now.adaptive = 0;
}

INLINE void hear_rtt(struct memory *m)
{
	u32 r = m->rtt_us;

	if (!r)
		return;
	if (!m->least_us || r < m->least_us)
		m->least_us = r;
	if (m->now.greatest_us < m->least_us)
		m->now.greatest_us = m->least_us;
	// Jumps of more than 20 ms are not believed.
	if (r > m->now.greatest_us && r <= m->now.greatest_us + 20000)
		m->now.greatest_us = r;
}

// Once in a window of ACKs: the rate at which they came.
INLINE void hear_rate(struct memory *m, u64 w, u64 now_us)
{
	u64 span_us = now_us - m->from_us, rate;

	if (((u64)m->acked << 16) + most(m->alpha_q16, ONE_q16) < w >> 16 || span_us < m->least_us || !m->least_us || !span_us)
		return;
	rate = least(((u64)m->acked << 8) * 1000000 / span_us, ~0U);
	if (now_us - m->now.since_us < 4ULL * m->least_us) {
		m->rate_q8 = (u32)rate;
		m->greatest_rate_q8 = (u32)rate;
	} else {
		m->rate_q8 = rate >= m->rate_q8 ? m->rate_q8 + (u32)(rate - m->rate_q8) / 4
						: m->rate_q8 - (m->rate_q8 - (u32)rate) / 4;
		m->greatest_rate_q8 = (u32)most(m->greatest_rate_q8, m->rate_q8);
	}
	m->acked = 0;
	m->from_us = now_us;
}

INLINE void law_heard(struct memory *m, u64 w, u32 acked, u64 now_us)
{
	hear_rtt(m);
	if (m->now.since_us == NEVER)
		m->now.since_us = most(now_us, 1);
	m->acked += acked;
	hear_rate(m, w, now_us);
}

INLINE void renew_alpha(struct memory *m, u64 now_us)
{
	u64 since_us = least(now_us - m->now.since_us, SINCE_MAX_us), f = ONE_q16, h, scale = ONE_q16;

	if (since_us > LOW_SPEED_us) {
		h = ((since_us - LOW_SPEED_us) << 16) / 1000000;
		f += 10 * h + ((h * h) >> 18);
	}
	if (SCALED && m->least_us)
		scale = least(most(((u64)m->least_us << 16) / 100000, ONE_q16 / 10), 2 * ONE_q16);
	f = most((least(f, ALPHA_MAX_q16) * scale) >> 16, ONE_q16);
	m->alpha_q16 = (u32)least((2 * (ONE_q16 - m->now.beta_q16) * f) >> 16, ALPHA_MAX_q16);
}

INLINE u64 law_grow(struct memory *m, u64 w, u32 acked, u64 now_us)
{
	m->counted_q16 += (u64)acked * m->alpha_q16;
	if (!m->counts || m->counted_q16 >= w >> 16) {
		m->counts = 1;
		m->counted_q16 = 0;
		renew_alpha(m, now_us);
	}
	return w + added(w, (u64)m->alpha_q16 << 8, acked);
}

INLINE void renew_beta(struct memory *m)
{
	u64 rate = m->greatest_rate_q8, old = m->now.old_rate_q8, share;

	m->now.old_rate_q8 = (u32)rate;
	if (!ADAPTIVE || rate << 16 < old * STEADY_FROM_q16 || rate << 16 > old * STEADY_TO_q16) {
		m->now.beta_q16 = BETA_MIN_q16;
		m->now.adaptive = 0;
	} else if (m->now.adaptive && m->least_us > 10000 && m->now.greatest_us) {
		share = ((u64)m->least_us << 16) / m->now.greatest_us;
		m->now.beta_q16 = (u32)least(most(share, BETA_MIN_q16), BETA_MAX_q16);
	} else {
		m->now.beta_q16 = BETA_MIN_q16;
		m->now.adaptive = 1;
	}
}

INLINE u64 law_cut(struct memory *m, u64 w)
{
	renew_beta(m);
	if (m->least_us && m->now.greatest_us > m->least_us)
		m->now.greatest_us = m->least_us + (u32)((u64)(m->now.greatest_us - m->least_us) * 95 / 100);
	m->now.since_us = NEVER;
	m->acked = 0;
	m->counts = 0;
	return share_of(w, (u64)m->now.beta_q16 << 16);
}
