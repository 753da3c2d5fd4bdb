// Plots over time as SVG, with a cursor at the time of the mechanism; a click or drag sets it.

const SVG = "http://www.w3.org/2000/svg";

function element(name, attributes = {}, ...children) {
  const svg = ["svg", "g", "path", "line", "text", "rect", "circle", "clipPath"].includes(name);
  const out = svg ? document.createElementNS(SVG, name) : document.createElement(name);
  for (const [key, value] of Object.entries(attributes)) out.setAttribute(key, value);
  out.append(...children);
  return out;
}

// Round numbers from low to high, about `count` of them.
function ticks(low, high, count) {
  const rough = (high - low) / Math.max(count, 1) || 1;
  const power = 10 ** Math.floor(Math.log10(rough));
  const step = power * ([1, 2, 2.5, 5, 10].find((k) => k * power >= rough * 0.999) || 10);
  const out = [];
  for (let k = Math.ceil(low / step - 1e-6); k * step <= high + 1e-6 * step; k++) out.push(k * step);
  return { step, at: out };
}

function tickText(value, step) {
  if (Math.abs(value) < 1e-9 * step) return "0";
  const digits = Math.max(0, -Math.floor(Math.log10(step) + 1e-9));
  const size = Math.abs(value);
  if (size >= 1e5 || digits > 5) return value.toExponential(1).replace("e+", "e");
  const fixed = value.toFixed(Math.min(digits + (Math.abs(step * 10 ** digits - Math.round(step * 10 ** digits)) > 1e-6 ? 1 : 0), 8));
  return fixed.replace("-", "−");
}

const figures = (value) => {
  const size = Math.abs(value);
  if (!Number.isFinite(value)) return "–";
  if (size !== 0 && (size >= 1e6 || size < 1e-4)) return value.toExponential(2).replace("-", "−").replace("e+", "e");
  return Number(value.toPrecision(4)).toString().replace("-", "−");
};

class Plot {
  constructor(given, start, end, choose) {
    Object.assign(this, { given, start, end, hidden: new Set() });
    this.svg = element("svg", { role: "img", "aria-label": given.words });
    this.keys = given.curves.map((curve, k) => this.key(curve, k));
    const title = element("figcaption", {}, element("span", { class: "name" }, given.title), element("span", { class: "unit" }, given.label));
    this.figure = element("figure", { class: "plot" }, title, this.svg, element("div", { class: "keys" }, ...this.keys.map((key) => key.button)));
    this.time = start;
    const pick = (e) => {
      const x = e.clientX - this.svg.getBoundingClientRect().left;
      choose(this.start + Math.min(Math.max((x - this.left) / this.inner, 0), 1) * (this.end - this.start));
    };
    this.svg.addEventListener("pointerdown", (e) => {
      this.svg.setPointerCapture(e.pointerId);
      pick(e);
    });
    this.svg.addEventListener("pointermove", (e) => e.buttons && pick(e));
    new ResizeObserver(() => this.draw()).observe(this.svg);
  }

  key(curve, k) {
    const value = element("span", { class: "value" });
    const button = element("button", { type: "button", class: "key", "aria-pressed": "true", title: "show or hide" },
      element("span", { class: curve.dashed ? "swatch dashed" : "swatch", style: `--c:${curve.color}` }), element("span", {}, curve.name), value);
    button.addEventListener("click", () => {
      if (!this.hidden.delete(k)) this.hidden.add(k);
      button.setAttribute("aria-pressed", String(!this.hidden.has(k)));
      this.draw();
    });
    return { button, value };
  }

  draw() {
    const width = this.svg.clientWidth, height = this.svg.clientHeight;
    if (!width || !height) return;
    const { given, start, end } = this;
    const shown = given.curves.filter((_, k) => !this.hidden.has(k));
    let low = Infinity, high = -Infinity;
    for (const { y } of shown) for (const value of y) if (Number.isFinite(value)) [low, high] = [Math.min(low, value), Math.max(high, value)];
    if (!(low <= high)) [low, high] = [0, 1];
    const room = (high - low) * 0.06 || Math.abs(high) * 0.1 || 1;
    if (low < 0 || low > 0.3 * high) low -= room;
    else low = low === 0 ? 0 : Math.min(0, low);
    if (high > 0 || high < 0.3 * low || high === low) high += room;
    const vertical = ticks(low, high, Math.max(2, height / 34));
    const texts = vertical.at.map((value) => tickText(value, vertical.step));
    this.left = 48; // the same for all plots, so that their cursors stand in one line
    this.inner = width - this.left - 10;
    const bottom = height - 22, top = 6;
    const x = (t) => this.left + ((t - start) / (end - start || 1)) * this.inner;
    const y = (value) => bottom - ((value - low) / (high - low)) * (bottom - top);
    const horizontal = ticks(start, end, Math.max(2, this.inner / 80));
    const parts = [];
    vertical.at.forEach((value, k) => {
      parts.push(element("line", { class: value === 0 ? "zero" : "grid", x1: this.left, x2: width - 10, y1: y(value), y2: y(value) }));
      parts.push(element("text", { x: this.left - 7, y: y(value) + 3.5, "text-anchor": "end" }, texts[k]));
    });
    for (const t of horizontal.at) {
      const label = tickText(t, horizontal.step) + (t === horizontal.at.at(-1) ? " s" : "");
      parts.push(element("line", { class: "grid", x1: x(t), x2: x(t), y1: top, y2: bottom }));
      const anchor = x(t) > width - 34 ? "end" : "middle";
      parts.push(element("text", { x: x(t) > width - 34 ? width - 4 : x(t), y: height - 6, "text-anchor": anchor }, label));
    }
    const order = [...shown].reverse().sort((a, b) => Boolean(a.dashed) - Boolean(b.dashed)); // the first on top
    for (const curve of order) {
      let d = "", pen = "M";
      for (let k = 0; k < curve.y.length; k++) {
        if (!Number.isFinite(curve.y[k])) { pen = "M"; continue; }
        d += `${pen}${x(curve.t[k]).toFixed(2)} ${y(curve.y[k]).toFixed(2)}`;
        pen = "L";
      }
      parts.push(element("path", { class: curve.dashed ? "curve dashed" : "curve", d, style: `--c:${curve.color}` }));
    }
    this.cursor = element("line", { class: "cursor", y1: top - 4, y2: bottom });
    this.dots = shown.map((curve) => element("circle", { class: "dot", r: 3.4, style: `--c:${curve.color}` }));
    this.place = { x, y, shown };
    this.svg.setAttribute("viewBox", `0 0 ${width} ${height}`);
    this.svg.replaceChildren(...parts, this.cursor, ...this.dots);
    this.move(this.time);
  }

  move(time) {
    this.time = time;
    this.given.curves.forEach((curve, k) => { this.keys[k].value.textContent = figures(valueAt(curve, time)); });
    if (!this.cursor) return;
    const x = this.place.x(time);
    this.cursor.setAttribute("x1", x);
    this.cursor.setAttribute("x2", x);
    this.place.shown.forEach((curve, k) => {
      const value = valueAt(curve, time);
      this.dots[k].setAttribute("cx", x);
      this.dots[k].setAttribute("cy", Number.isFinite(value) ? this.place.y(value) : -99);
    });
  }
}

function valueAt(curve, time) {
  const [k, f] = between(curve.t, time);
  const next = Math.min(k + 1, curve.y.length - 1);
  return f === 0 ? curve.y[k] : (1 - f) * curve.y[k] + f * curve.y[next];
}
