// An orthographic camera that is turned, moved and zoomed by the pointer, two fingers, the wheel and keys.

const dot = (a, b) => a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
const cross = (a, b) => [a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]];
const scaled = (a, s) => [a[0] * s, a[1] * s, a[2] * s];
const plus = (a, b) => [a[0] + b[0], a[1] + b[1], a[2] + b[2]];
const unit = (a) => scaled(a, 1 / (Math.hypot(...a) || 1));

function turned(v, axis, angle) {
  const c = Math.cos(angle), s = Math.sin(angle);
  return plus(plus(scaled(v, c), scaled(cross(axis, v), s)), scaled(axis, dot(axis, v) * (1 - c)));
}

class Camera {
  constructor(given, changed) {
    this.given = given;
    this.changed = changed;
    this.worldUp = unit(given.up);
    this.reset();
  }

  reset() {
    const a = this.given.axes;
    this.right = a.slice(0, 3);
    this.up = a.slice(3, 6);
    this.toward = a.slice(6, 9);
    this.fit();
  }

  fit() {
    this.center = [...this.given.center];
    this.zoom = 1;
    this.changed();
  }

  lookFrom(toward) {
    let up = this.worldUp;
    if (Math.hypot(...cross(up, toward)) < 0.1) up = Math.abs(toward[1]) > 0.9 ? [0, 0, -Math.sign(toward[1])] : [0, 1, 0];
    this.toward = unit(toward);
    this.right = unit(cross(up, this.toward));
    this.up = cross(this.toward, this.right);
    this.changed();
  }

  // Height of the picture in metres, so that everything is in it whatever its form.
  height(aspect) {
    return (1.05 * Math.max(this.given.height, this.given.width / aspect, 1e-9)) / this.zoom;
  }

  orbit(dx, dy) {
    const { right, up, toward, worldUp } = this;
    const about = Math.abs(dot(worldUp, toward)) > 0.97 ? up : worldUp;
    const both = (v) => turned(turned(v, right, -dy), about, -dx);
    this.toward = unit(both(toward));
    this.right = unit(cross(both(up), this.toward));
    this.up = cross(this.toward, this.right);
    this.changed();
  }

  pan(dx, dy) {
    this.center = plus(this.center, plus(scaled(this.right, -dx), scaled(this.up, dy)));
    this.changed();
  }

  // Towards a point of the picture, given in metres from its middle.
  zoomBy(factor, x = 0, y = 0) {
    const zoom = Math.min(Math.max(this.zoom * factor, 0.05), 500);
    const part = 1 - this.zoom / zoom;
    this.center = plus(this.center, plus(scaled(this.right, x * part), scaled(this.up, y * part)));
    this.zoom = zoom;
    this.changed();
  }

  // Columns of the matrix from space to the picture (clip coordinates); `moved` is what it follows.
  matrix(aspect, depth, moved) {
    const h = this.height(aspect) / 2, w = h * aspect;
    const rows = [scaled(this.right, 1 / w), scaled(this.up, 1 / h), scaled(this.toward, -1 / depth)];
    const center = plus(this.center, moved);
    const out = new Float32Array(16);
    rows.forEach((row, i) => {
      for (let j = 0; j < 3; j++) out[4 * j + i] = row[j];
      out[12 + i] = -dot(row, center);
    });
    out[15] = 1;
    return out;
  }

  listen(canvas) {
    const pointers = new Map();
    const metres = () => this.height(canvas.clientWidth / canvas.clientHeight) / canvas.clientHeight;
    const fromMiddle = (x, y) => {
      const box = canvas.getBoundingClientRect();
      return [(x - box.left - box.width / 2) * metres(), -(y - box.top - box.height / 2) * metres()];
    };
    canvas.addEventListener("contextmenu", (e) => e.preventDefault());
    canvas.addEventListener("pointerdown", (e) => {
      canvas.setPointerCapture(e.pointerId);
      pointers.set(e.pointerId, [e.clientX, e.clientY]);
    });
    for (const end of ["pointerup", "pointercancel"]) canvas.addEventListener(end, (e) => pointers.delete(e.pointerId));
    canvas.addEventListener("pointermove", (e) => {
      const last = pointers.get(e.pointerId);
      if (!last) return;
      const dx = e.clientX - last[0], dy = e.clientY - last[1];
      if (pointers.size === 2) {
        const other = [...pointers.entries()].find(([id]) => id !== e.pointerId)[1];
        const before = Math.hypot(last[0] - other[0], last[1] - other[1]);
        const after = Math.hypot(e.clientX - other[0], e.clientY - other[1]);
        this.zoomBy(after / Math.max(before, 1), ...fromMiddle((e.clientX + other[0]) / 2, (e.clientY + other[1]) / 2));
        this.pan((dx / 2) * metres(), (dy / 2) * metres());
      } else if (e.buttons & 6 || e.shiftKey || e.ctrlKey) {
        this.pan(dx * metres(), dy * metres());
      } else {
        this.orbit(dx * 0.008, dy * 0.008);
      }
      pointers.set(e.pointerId, [e.clientX, e.clientY]);
    });
    canvas.addEventListener("wheel", (e) => {
      e.preventDefault();
      const lines = e.deltaMode === 1 ? 16 : 1;
      this.zoomBy(Math.exp(-0.0015 * e.deltaY * lines), ...fromMiddle(e.clientX, e.clientY));
    }, { passive: false });
    canvas.addEventListener("dblclick", () => this.reset());
    canvas.addEventListener("keydown", (e) => {
      const step = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, -1], ArrowDown: [0, 1] }[e.key];
      if (step && e.shiftKey) this.pan(step[0] * 24 * metres(), step[1] * 24 * metres());
      else if (step) this.orbit(0.1 * step[0], 0.1 * step[1]);
      else if (e.key === "+" || e.key === "=") this.zoomBy(1.2);
      else if (e.key === "-") this.zoomBy(1 / 1.2);
      else if (e.key === "0" || e.key === "Home") this.reset();
      else return;
      e.preventDefault();
    });
  }
}
