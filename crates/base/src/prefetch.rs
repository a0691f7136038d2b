//! Telling the processor early what memory will be wanted: with thousands of flows, most of what a packet meets at its
//! ends is no longer in a cache.

/// The value will be wanted soon: all of its cache lines.
#[inline(always)]
pub fn prefetch<T>(value: &T) {
    #[cfg(target_arch = "x86_64")]
    {
        use std::arch::x86_64::{_MM_HINT_T0, _mm_prefetch};
        const LINE: usize = 64;
        let first: *const i8 = std::ptr::from_ref(value).cast();
        for line in 0..size_of::<T>().div_ceil(LINE) {
            #[expect(unsafe_code, reason = "a hint about an address within the value; it reads and writes nothing")]
            // SAFETY: every x86-64 processor has SSE.
            unsafe {
                _mm_prefetch::<_MM_HINT_T0>(first.wrapping_add(line * LINE));
            }
        }
    }
    #[cfg(not(target_arch = "x86_64"))]
    let _ = value;
}
