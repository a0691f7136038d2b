// The few fields of the kernel's sockets that a ported law touches, for stepping it outside of a kernel.
#include <stdint.h>
typedef uint8_t u8;
typedef uint32_t u32;
typedef int32_t s32;
typedef uint64_t u64;
typedef uint32_t __u32;
enum tcp_ca_event { CA_EVENT_LOSS = 4 };
struct ack_sample {
	u32 pkts_acked;
	s32 rtt_us;
	u32 in_flight;
};
// One struct stands for `sock`, `tcp_sock` and `inet_connection_sock`.
struct sock {
	u64 tcp_mstamp;
	u64 icsk_ca_priv[13];
	u32 snd_cwnd, snd_ssthresh, prior_cwnd, snd_cwnd_clamp, max_packets_out;
};
#define tcp_sock sock
#define inet_connection_sock sock
#define FULL(tp) 1
#define SEC(name)
#define BPF_PROG(name, ...) name(__VA_ARGS__)
