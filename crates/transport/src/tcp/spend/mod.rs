//! How a reduction is paid out over the recovery. `plain`: the window falls at once and segments leave whenever the
//! bytes in flight are below it. Rate halving and proportional rate reduction will be neighbours of this file.
