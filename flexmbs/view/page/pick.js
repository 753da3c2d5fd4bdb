// What is under the pointer: the body seen there, and the value of the field.

// The nearest triangle of a body's own surface at a point of the picture (clip coordinates), or null.
function pick(scene, x, y) {
  let found = null, nearest = Infinity;
  for (const own of scene.bodies) {
    const m = multiplied(scene.view.matrix, own.matrix);
    const { positions, body } = own;
    const seen = new Float32Array(positions.length);
    for (let k = 0; k < positions.length; k += 3) {
      const a = positions[k], b = positions[k + 1], c = positions[k + 2];
      for (let i = 0; i < 3; i++) seen[k + i] = m[i] * a + m[4 + i] * b + m[8 + i] * c + m[12 + i];
    }
    for (let t = 0; t < own.solid.count; t += 3) {
      const corners = [body.triangles[t], body.triangles[t + 1], body.triangles[t + 2]];
      const weights = within(seen, corners, x, y);
      if (!weights) continue;
      const depth = corners.reduce((sum, corner, k) => sum + weights[k] * seen[3 * corner + 2], 0);
      if (depth < nearest) [nearest, found] = [depth, { own, corners, weights, isOwn: t < own.ownEnd }];
    }
  }
  return found && found.isOwn ? found : null;
}

// Barycentric weights of a point in a triangle seen from the front or behind, or null.
function within(seen, [i, j, k], x, y) {
  const ax = seen[3 * i], ay = seen[3 * i + 1], bx = seen[3 * j], by = seen[3 * j + 1], cx = seen[3 * k], cy = seen[3 * k + 1];
  const area = (bx - ax) * (cy - ay) - (by - ay) * (cx - ax);
  if (Math.abs(area) < 1e-14) return null;
  const v = ((x - ax) * (cy - ay) - (y - ay) * (cx - ax)) / area;
  const w = ((bx - ax) * (y - ay) - (by - ay) * (x - ax)) / area;
  return v < 0 || w < 0 || v + w > 1 ? null : [1 - v - w, v, w];
}

// The value of the field there, in the unit of the colour bar, or null where the body has none.
function picked(scene, { own, corners, weights }) {
  const { field } = scene;
  if (!field) return null;
  const mode = scene.mode(own);
  const mean = (of) => corners.reduce((sum, corner, k) => sum + weights[k] * of(corner), 0);
  if (mode === 1 || mode === 2) return field.low + (field.high - field.low) * mean((corner) => own.values[corner]);
  if (mode !== 3) return null;
  const arm = rotated(own.matrix, ...[0, 1, 2].map((i) => mean((corner) => own.positions[3 * corner + i])));
  const swept = cross([...own.twist.subarray(3, 6)], arm);
  return field.factor * Math.hypot(...swept.map((s, i) => s + own.twist[i]));
}

function multiplied(a, b) {
  const out = new Float32Array(16);
  for (let j = 0; j < 4; j++) {
    for (let i = 0; i < 4; i++) {
      for (let k = 0; k < 4; k++) out[4 * j + i] += a[4 * k + i] * b[4 * j + k];
    }
  }
  return out;
}

// Keeps a note at the pointer: who is there, and how much.
class Tip {
  constructor(canvas, note) {
    Object.assign(this, { canvas, note, at: null });
    canvas.addEventListener("pointermove", (e) => { this.at = e.buttons || e.pointerType === "touch" ? null : [e.offsetX, e.offsetY]; });
    canvas.addEventListener("pointerleave", () => { this.at = null; });
    canvas.addEventListener("pointerdown", () => { this.at = null; });
  }

  show(scene) {
    const { canvas, note } = this;
    const hit = this.at && pick(scene, (2 * this.at[0]) / canvas.clientWidth - 1, 1 - (2 * this.at[1]) / canvas.clientHeight);
    note.hidden = !hit;
    if (!hit) return;
    const value = picked(scene, hit), unitOf = scene.field && /\[(.*)\]/.exec(scene.field.title);
    note.textContent = hit.own.body.name + (value === null ? "" : `: ${Number(value.toPrecision(3))} ${unitOf ? unitOf[1] : ""}`);
    const right = this.at[0] > canvas.clientWidth - 170;
    note.style.transform = `translate(${this.at[0] + (right ? -12 : 14)}px, ${this.at[1] + 14}px)${right ? " translateX(-100%)" : ""}`;
  }
}
