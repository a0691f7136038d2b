//! When the next segment may leave. Without pacing: as soon as the window allows.
