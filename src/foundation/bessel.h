// Modified Bessel functions of orders 0 and 1, without overflow; safe to call from several threads.
#pragma once

namespace bnpvi {

double log_scaled_bessel(double z);  // log(e^(−z) I_0(z)) for z ≥ 0

/// The ratio I_1(z) / (z I_0(z)) of Bessel functions, z ≥ 0: ½ at 0, about 1/z for large z.
double bessel_slope(double z);

}  // namespace bnpvi
