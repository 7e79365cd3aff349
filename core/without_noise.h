#pragma once

namespace amsp {

/// Drops the last bits of a number, a relative 1e-11: what differs only because it was summed in
/// another order becomes equal.
double without_noise(double value);

}  // namespace amsp
