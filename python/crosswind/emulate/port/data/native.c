
// ---- for stepping it outside of a kernel

// Kinds of steps. An ACK that grows, a loss that fast recovery repairs, a timeout.
enum { ACK, LOSS, TIMEOUT };

static struct sock socket_;

void native_begin(u64 now_us, u32 cwnd, u32 ssthresh)
{
	socket_ = (struct sock){ .tcp_mstamp = now_us, .snd_cwnd = cwnd, .snd_ssthresh = ssthresh, .snd_cwnd_clamp = ~0U };
	cw_init(&socket_);
}

void native_set(u64 window_q32, u32 ssthresh)
{
	socket_.snd_cwnd = (u32)(window_q32 >> 32);
	socket_.snd_ssthresh = ssthresh;
	mine(&socket_)->frac = (u32)window_q32;
}

// Steps through `n` events; the window before each of them, with its fraction, goes into `seen`.
void native_steps(u64 n, const u8 *kind, const u64 *now_us, const s32 *rtt_us, const u32 *acked, double *seen)
{
	struct sock *sk = &socket_;

	for (u64 i = 0; i < n; i++) {
		seen[i] = (double)window(sk) / 4294967296.0;
		sk->tcp_mstamp = now_us[i];
		if (kind[i] == ACK) {
			struct ack_sample sample = { acked[i], rtt_us[i], 0 };

			cw_pkts_acked(sk, &sample);
			cw_cong_avoid(sk, 0, acked[i]);
			continue;
		}
		sk->prior_cwnd = sk->snd_cwnd;
		sk->snd_ssthresh = cw_ssthresh(sk);
		sk->snd_cwnd = sk->snd_ssthresh;
		if (kind[i] == TIMEOUT) {
			cw_event(sk, CA_EVENT_LOSS);
			sk->snd_cwnd = 1;
		}
	}
}

// The last reduction was a mistake.
double native_undo(void)
{
	socket_.snd_cwnd = cw_undo(&socket_);
	return (double)window(&socket_) / 4294967296.0;
}
