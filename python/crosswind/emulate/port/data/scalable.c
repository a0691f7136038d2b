
// ---- Scalable TCP (Kelly 2003, sections 3 and 4)
//
// An ACK adds a fixed part of a segment, a loss costs a fixed share; up to the legacy window it is TCP.

struct remembered { u32 nothing; };

#define TIMEOUT_HALVES 1
#define PER_ACK_q32 @PER_ACK_q32@ULL
#define KEPT_q32 @KEPT_q32@ULL
#define LEGACY_q32 @LEGACY_q32@ULL

struct memory {
	u32 frac, rtt_us;
	struct remembered now, before;
};

INLINE void law_begin(struct memory *m, u64 now_us) { m->now.nothing = 0; }
INLINE void law_heard(struct memory *m, u64 w, u32 acked, u64 now_us) {}

INLINE u64 law_grow(struct memory *m, u64 w, u32 acked, u64 now_us)
{
	return w + (w <= LEGACY_q32 ? added(w, ONE_q24, acked) : PER_ACK_q32 * acked);
}

INLINE u64 law_cut(struct memory *m, u64 w)
{
	return w <= LEGACY_q32 ? w / 2 : share_of(w, KEPT_q32);
}
