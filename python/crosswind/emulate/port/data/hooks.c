
// ---- the hooks of the kernel

INLINE struct memory *mine(struct sock *sk)
{
	return (struct memory *)((struct inet_connection_sock *)sk)->icsk_ca_priv;
}

_Static_assert(sizeof(struct memory) <= 104, "the kernel keeps 104 bytes for a law");

INLINE u64 window(struct sock *sk)
{
	return ((u64)((struct tcp_sock *)sk)->snd_cwnd << 32) | mine(sk)->frac;
}

// The window limits the sender: it was full in the last round trip, or in slow start half full, as the kernel asks it.
INLINE int may_grow(struct tcp_sock *tp)
{
	if (FULL(tp))
		return 1;
	return tp->snd_cwnd < tp->snd_ssthresh && tp->snd_cwnd < 2 * tp->max_packets_out;
}

SEC("struct_ops/cw_init")
void BPF_PROG(cw_init, struct sock *sk)
{
	struct memory *m = mine(sk);

	m->frac = 0;
	m->rtt_us = 0;
	law_begin(m, ((struct tcp_sock *)sk)->tcp_mstamp);
	m->before = m->now;
}

SEC("struct_ops/cw_pkts_acked")
void BPF_PROG(cw_pkts_acked, struct sock *sk, const struct ack_sample *sample)
{
	mine(sk)->rtt_us = sample->rtt_us > 0 ? sample->rtt_us : 0;
}

SEC("struct_ops/cw_cong_avoid")
void BPF_PROG(cw_cong_avoid, struct sock *sk, __u32 ack, __u32 acked)
{
	struct tcp_sock *tp = (struct tcp_sock *)sk;
	struct memory *m = mine(sk);
	u64 w = window(sk);

	if (!may_grow(tp))
		return;
	if (acked > ACKED_MAX)
		acked = ACKED_MAX;
	law_heard(m, w, acked, tp->tcp_mstamp);
	m->rtt_us = 0;
	if (tp->snd_cwnd < tp->snd_ssthresh)
		w += (u64)least(acked, tp->snd_ssthresh - tp->snd_cwnd) << 32;
	else
		w = law_grow(m, w, acked, tp->tcp_mstamp);
	if (w >> 32 > tp->snd_cwnd_clamp)
		w = (u64)tp->snd_cwnd_clamp << 32;
	m->frac = (u32)w;
	tp->snd_cwnd = (u32)(w >> 32);
}

SEC("struct_ops/cw_ssthresh")
__u32 BPF_PROG(cw_ssthresh, struct sock *sk)
{
	struct memory *m = mine(sk);
	u64 kept;

	m->before = m->now;
	kept = most(law_cut(m, window(sk)), 2 * ONE_q32);
	m->frac = (u32)kept;
	return (u32)(kept >> 32);
}

// After a timeout the window begins anew, without a fraction. Most laws leave timeouts to TCP: the threshold is half.
SEC("struct_ops/cw_event")
void BPF_PROG(cw_event, struct sock *sk, enum tcp_ca_event event)
{
	struct tcp_sock *tp = (struct tcp_sock *)sk;

	if (event != CA_EVENT_LOSS)
		return;
	mine(sk)->frac = 0;
	if (TIMEOUT_HALVES)
		tp->snd_ssthresh = (u32)most(tp->prior_cwnd / 2, 2);
}

// The loss was none: the law, too, is what it was.
SEC("struct_ops/cw_undo")
__u32 BPF_PROG(cw_undo, struct sock *sk)
{
	struct tcp_sock *tp = (struct tcp_sock *)sk;
	struct memory *m = mine(sk);

	m->now = m->before;
	return (u32)most(tp->snd_cwnd, tp->prior_cwnd);
}

#ifndef CROSSWIND_NATIVE
SEC(".struct_ops")
struct tcp_congestion_ops @NAME@ = {
	.init = (void *)cw_init,
	.pkts_acked = (void *)cw_pkts_acked,
	.cong_avoid = (void *)cw_cong_avoid,
	.ssthresh = (void *)cw_ssthresh,
	.cwnd_event = (void *)cw_event,
	.undo_cwnd = (void *)cw_undo,
	.name = "@NAME@",
};
#endif
