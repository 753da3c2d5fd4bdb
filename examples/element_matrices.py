"""Element matrices and the projector, by hand.

With nodal displacements d in a frame that turns with angular velocity ω and angular acceleration ε, a held part obeys

    M d'' + C(ω) d' + (K + K(ε) + K(ω)) d + q(ε) + q(ω) + m_O a = Q.

Every matrix is a sum over elements, AᵀMA with A the connectivity; supports are one more factor of A. The gyroscopic
matrix C(ω) = 2 ∫ρ Nᵀ ω~ N and K(ε) are skew, K(ω) is symmetric and not positive: the part softens.
"""

import numpy as np

import flexmbs as fm

steel = fm.Material(young=210e9, poisson=0.3, density=7850.0, name="steel")
omega, epsilon = np.array([0, 0, 30.0]), np.array([0, 0, 5.0])
mesh = fm.Mesh.box((1.0, 0.1, 0.1), (20, 2, 2), cell="hexahedron")  # cell names as in meshio; sets x0 x1 y0 y1 z0 z1
elements = fm.Elements(mesh, steel)
A = elements.connectivity()  # Projection: element coordinates from nodal ones
M, K = A.project(elements.mass()), A.project(elements.stiffness())  # scipy sparse
C = A.project(elements.gyroscopic(omega))  # 2 ∫ρ Nᵀ ω~ N
Kw = A.project(elements.stiffness_omega(omega))  # ∫ρ Nᵀ ω~ω~ N
Ke = A.project(elements.stiffness_epsilon(epsilon))  # ∫ρ Nᵀ ε~ N
q = A.project(elements.load_omega(omega) + elements.load_epsilon(epsilon))  # q(ω) + q(ε), a vector
m_O = A.project(elements.mass_origin())  # ∫ρ Nᵀ, n × 3
clamped = A @ fm.Projection.fix(mesh, "x0")  # boundary conditions are a projection too
M_clamped = clamped.project(elements.mass())
modes = fm.modes(mesh, steel, fixed="x0", count=10)  # modes.frequencies [Hz], modes.damping, modes.shapes

translations = np.tile(np.eye(3), (mesh.n_nodes, 1))
total = m_O.T @ translations  # mass times I3
print(f"{K.shape[0]} coordinates, {M_clamped.shape[0]} of them free; mass {total[0, 0]:.6g} kg")
print(f"C + Cᵀ: {abs(C + C.T).max():.1e}, K(ε) + K(ε)ᵀ: {abs(Ke + Ke.T).max():.1e}")
print(f"K(ω) - K(ω)ᵀ: {abs(Kw - Kw.T).max():.1e}")
print(f"inertia force on the whole part: {np.round(-translations.T @ q, 6)} N")
print(modes.table())
