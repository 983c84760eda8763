"""Natural gradients for q(u): the update of the inducing variables that training alternates with steps of Adam.

Each group i has whitened inducing variables v_i with prior N(0, I) and q(v_i) = N(a_i, S_i). With the features
A_i = L_i^-1 K_i(Z_i, X), the moments of its function at the rows are

    h_i = A_i'a_i,     s_i = diag k_i - diag A_i'A_i + diag A_i'S_i A_i         (the paper's eq. mu_sigma, whitened)

Let E(h, s) be the likelihood term of the bound, b = dE/dh and c = dE/ds. In the natural parameters S^-1 a and S^-1 the
gradient step of length g is (Hensman et al. 2013; Salimbeni, Eleftheriadis and Hensman 2018)

    S_i^-1      <-  (1 - g) S_i^-1     + g (I - 2 A_i diag(c_i) A_i')
    S_i^-1 a_i  <-  (1 - g) S_i^-1 a_i + g A_i (b_i - 2 c_i h_i)

All groups move together, so steps of length one overshoot if groups overlap. Under Gaussian noise and with all rows in
the batch the common maximum over all q(u_i) is known (`optimal_q`). With E w = k u, E w w' = u u' + diag(d)
(weight_moments.py) and noise variance r,

    S_i = (I + E w_i^2 A_i A_i' / r)^-1
    a_i = u_i P_i^-1 A_i (sum_j u_j^2 A_j' P_j^-1 A_j + r I)^-1 k y,     P_i = I + d_i A_i A_i' / r

For one group this is the natural gradient step of length one.
"""

from typing import NamedTuple

import jax
import jax.numpy as jnp
from jax import Array
from jaxtyping import Float

from farrier.paper.linalg import inverse_lower
from farrier.paper.weight_moments import WeightMoments


class Features(NamedTuple):
    """A_i, and the variance that the inducing variables of group i leave: diag k_i - diag A_i'A_i."""

    A: Float[Array, "m M N"]
    left: Float[Array, "m N"]


class NaturalQ(NamedTuple):
    """q(v_i) = N(a_i, S_i) by its natural parameters: S_i^-1 a_i and S_i^-1."""

    shift: Float[Array, "m M"]
    precision: Float[Array, "m M M"]


class Q(NamedTuple):
    """q(v_i) by its mean a_i and the lower triangular root of S_i."""

    mean: Float[Array, "m M"]
    root: Float[Array, "m M M"]


def moments_of(features: Features, q: Q) -> tuple[Float[Array, "m N"], Float[Array, "m N"]]:
    """h and s: mean and variance of every function at the rows."""
    B = jnp.einsum("irs,irn->isn", q.root, features.A)
    return jnp.einsum("irn,ir->in", features.A, q.mean), features.left + jnp.sum(B**2, axis=1)


def natural(q: Q) -> NaturalQ:
    """The natural parameters of q."""
    inverse = inverse_lower(q.root)
    precision = jnp.einsum("isr,ist->irt", inverse, inverse)
    return NaturalQ(jnp.einsum("irt,it->ir", precision, q.mean), precision)


def ordinary(q: NaturalQ) -> Q:
    """Mean and root of q."""
    root = root_of_inverse(q.precision)
    return Q(_times_covariance(root, q.shift), root)


def root_of_inverse(precision: Float[Array, "m M M"]) -> Float[Array, "m M M"]:
    """The lower triangular R with R R' = precision^-1."""
    # in reverse order J P J = C C', so P = U U' with U = J C J upper triangular, and P^-1 = U^-T U^-1
    U = jnp.linalg.cholesky(precision[:, ::-1, ::-1])[:, ::-1, ::-1]
    return inverse_lower(jnp.swapaxes(U, -2, -1))


def natural_step(
    q: NaturalQ,
    features: Features,
    slopes: tuple[Array, Array],
    h: Float[Array, "m N"],
    length: Float[Array, ""],
    precision_length: Float[Array, ""],
) -> NaturalQ:
    """One step; `slopes` are b and c. A positive c counts as zero, so that S stays positive.

    Precisions P move by `precision_length`. Means a move by S (s - P_t a) times `length`, for the shift s and the
    precision P_t that the rows ask for. With two equal lengths this is the natural gradient step.
    """
    b, c = slopes[0], jnp.minimum(slopes[1], 0.0)
    target = NaturalQ(
        jnp.einsum("irn,in->ir", features.A, b - 2.0 * c * h),
        _identity(q.precision) - 2.0 * jnp.einsum("irn,in,isn->irs", features.A, c, features.A),
    )
    mean = ordinary(q).mean
    precision = q.precision + precision_length * (target.precision - q.precision)
    missing = target.shift - jnp.einsum("irs,is->ir", target.precision, mean)
    return NaturalQ(jnp.einsum("irs,is->ir", precision, mean) + length * missing, precision)


def optimal_q(
    features: Features,
    w: WeightMoments,
    noise: Float[Array, ""],
    y: Float[Array, "N"],
    counts: Float[Array, "N"],
) -> Q:
    """The product of q(u_i) that maximises the bound under Gaussian noise; rows count as often as `counts` says."""
    A = features.A * jnp.sqrt(counts)[None, None, :]
    target = w.shared * jnp.sqrt(counts) * y
    AA = jnp.einsum("irn,isn->irs", A, A)
    identity = _identity(AA)
    root = root_of_inverse(identity + (w.squares / noise)[:, None, None] * AA)
    if A.shape[0] == 1:
        # one group: a = u S A k y / r, without a matrix over the rows
        return Q(_times_covariance(root, w.u[:, None] * (A @ target) / noise), root)
    # V_i = u_i P_i^-1/2 A_i, so that the covariance of the rows is sum_i V_i'V_i + r I
    L = jnp.linalg.cholesky(identity + (w.d / noise)[:, None, None] * AA)
    inverse = inverse_lower(L)
    V = (inverse @ A) * w.u[:, None, None]
    t = regressed(V.reshape(-1, A.shape[2]), noise, target).reshape(V.shape[:2])
    return Q(jnp.einsum("isr,is->ir", inverse, t), root)


def regressed(V: Float[Array, "R N"], noise: Float[Array, ""], y: Float[Array, "N"]) -> Float[Array, "R"]:
    """V (V'V + r I)^-1 y = (V V' + r I)^-1 V y, by the smaller of the two matrices."""
    if V.shape[0] < V.shape[1]:
        C = V @ V.T + noise * jnp.eye(V.shape[0], dtype=V.dtype)
        return jax.scipy.linalg.cho_solve((jnp.linalg.cholesky(C), True), V @ y)
    C = V.T @ V + noise * jnp.eye(V.shape[1], dtype=V.dtype)
    return V @ jax.scipy.linalg.cho_solve((jnp.linalg.cholesky(C), True), y)


def _times_covariance(root: Float[Array, "m M M"], shift: Float[Array, "m M"]) -> Float[Array, "m M"]:
    return jnp.einsum("irs,its,it->ir", root, root, shift)


def _identity(like: Float[Array, "m M M"]) -> Float[Array, "m M M"]:
    return jnp.broadcast_to(jnp.eye(like.shape[-1], dtype=like.dtype), like.shape)
