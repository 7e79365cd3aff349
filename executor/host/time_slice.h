#pragma once

namespace amsp {

/// Lets the calling thread, and those that it starts, run at once when they wake up, in front of
/// threads with the usual time slice, by asking for a short one: what moves data wants the
/// processor often and briefly, as a network card would act. Nobody is starved. Linux 6.12 and
/// later; nothing happens elsewhere.
void take_short_time_slices();
/// Back to the usual: for threads that compute.
void take_usual_time_slices();

}  // namespace amsp
