//! Random early detection, in the three profiles that published results rest on.
