// Where bodies are and how they deform at a time between two frames.

// The frame before a time, and how far it is to the next one, 0 to 1.
function between(t, time) {
  const last = t.length - 1;
  if (last < 1 || time <= t[0]) return [0, 0];
  if (time >= t[last]) return [last - 1, 1];
  let low = 0, high = last;
  while (high - low > 1) {
    const middle = (low + high) >> 1;
    if (t[middle] <= time) low = middle;
    else high = middle;
  }
  return [low, (time - t[low]) / (t[high] - t[low])];
}

// A row of a history (time, n) between two frames; what rests has one row.
function blended(history, [k, f], out = new Float32Array(history.shape[1])) {
  const n = history.shape[1], rests = history.shape[0] === 1;
  const a = rests ? 0 : k * n, b = rests || history.shape[0] <= k + 1 ? a : a + n;
  for (let i = 0; i < n; i++) out[i] = (1 - f) * history[a + i] + f * history[b + i];
  return out;
}

// Columns of the matrix of a position and a quaternion.
function placed([x, y, z, a, b, c, d]) {
  const s = 2 / (a * a + b * b + c * c + d * d);
  return new Float32Array([
    1 - s * (b * b + c * c), s * (a * b + c * d), s * (a * c - b * d), 0,
    s * (a * b - c * d), 1 - s * (a * a + c * c), s * (b * c + a * d), 0,
    s * (a * c + b * d), s * (b * c - a * d), 1 - s * (a * a + b * b), 0,
    x, y, z, 1,
  ]);
}

// The points (3, n) of a deforming body in its own axes, deformation `scale` times too large.
class Deforming {
  constructor(body) {
    this.body = body;
    this.n = body.points.shape[1];
    this.local = new Float32Array(body.points);
    this.bend = new Float32Array(3 * this.n);
    this.whole = new Float32Array(3 * this.n);
  }

  at(frame, scale) {
    const { coordinates, carried, bends, points } = this.body;
    const c = blended(coordinates, frame);
    this.bend.fill(0);
    this.whole.set(points);
    sum(this.bend, bends, c);
    sum(this.whole, carried, c);
    for (let k = 0; k < this.local.length; k++) this.local[k] = this.whole[k] + scale * this.bend[k];
  }

  // Sizes of the true deformation.
  sizes() {
    const { n, bend } = this;
    return Float32Array.from({ length: n }, (_, k) => Math.hypot(bend[k], bend[n + k], bend[2 * n + k]));
  }

  // Speeds of the points where they truly are, v + ω × R x + R u'.
  speeds(frame, matrix, twist) {
    const { n, whole, bend, body } = this;
    const flow = new Float32Array(3 * n), c = blended(body.rates, frame);
    sum(flow, body.carried, c);
    sum(flow, body.bends, c);
    const out = new Float32Array(n);
    const v = twist.slice(0, 3), w = twist.slice(3, 6);
    for (let k = 0; k < n; k++) {
      const x = rotated(matrix, whole[k] + bend[k], whole[n + k] + bend[n + k], whole[2 * n + k] + bend[2 * n + k]);
      const u = rotated(matrix, flow[k], flow[n + k], flow[2 * n + k]);
      const swept = cross(w, x);
      out[k] = Math.hypot(v[0] + swept[0] + u[0], v[1] + swept[1] + u[1], v[2] + swept[2] + u[2]);
    }
    return out;
  }
}

function rotated(m, x, y, z) {
  return [m[0] * x + m[4] * y + m[8] * z, m[1] * x + m[5] * y + m[9] * z, m[2] * x + m[6] * y + m[10] * z];
}

// out += Σ c_r shapes_r, of shapes (3 r, n) one after the other.
function sum(out, shapes, c) {
  const size = out.length;
  for (let r = 0; r < c.length; r++) {
    const weight = c[r], start = r * size;
    for (let k = 0; k < size; k++) out[k] += weight * shapes[start + k];
  }
}

// Positions (corner by corner) of points (3, n), and the normals of their triangles, smooth within a corner.
function spread(local, corners, positions) {
  const n = local.length / 3;
  for (let j = 0; j < corners.length; j++) {
    const p = corners[j];
    positions[3 * j] = local[p];
    positions[3 * j + 1] = local[n + p];
    positions[3 * j + 2] = local[2 * n + p];
  }
}

function normalsOf(positions, triangles, normals) {
  normals.fill(0);
  for (let t = 0; t < triangles.length; t += 3) {
    const a = 3 * triangles[t], b = 3 * triangles[t + 1], c = 3 * triangles[t + 2];
    const ux = positions[b] - positions[a], uy = positions[b + 1] - positions[a + 1], uz = positions[b + 2] - positions[a + 2];
    const vx = positions[c] - positions[a], vy = positions[c + 1] - positions[a + 1], vz = positions[c + 2] - positions[a + 2];
    const x = uy * vz - uz * vy, y = uz * vx - ux * vz, z = ux * vy - uy * vx;
    for (const k of [a, b, c]) {
      normals[k] += x;
      normals[k + 1] += y;
      normals[k + 2] += z;
    }
  }
}

// Ends (a, b) of edges as six numbers each.
function segments(local, edges, out) {
  const n = local.length / 3;
  for (let j = 0; j < edges.length; j++) {
    const p = edges[j];
    out[3 * j] = local[p];
    out[3 * j + 1] = local[n + p];
    out[3 * j + 2] = local[2 * n + p];
  }
}
