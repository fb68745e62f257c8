/**
 * The pull back to the reference policy: Schulman's "k3" estimate of KL(π ‖ π_ref) from the sampled token alone
 * (http://joschu.net/blog/kl-approx.html), which is what TRL adds to the loss with weight `beta`.
 */

/** exp(d) − d − 1 with d = logπ_ref − logπ, in nats; never negative, and 0 only where both agree. */
export function k3(logprob: number, refLogprob: number): number {
  const d = refLogprob - logprob
  // expm1 keeps the digits that exp(d) − 1 would lose while the two policies are still close.
  return Math.expm1(d) - d
}

/** d k3 / d logπ = 1 − exp(logπ_ref − logπ): positive where the policy has become surer than the reference. */
export function k3Derivative(logprob: number, refLogprob: number): number {
  return -Math.expm1(refLogprob - logprob)
}
