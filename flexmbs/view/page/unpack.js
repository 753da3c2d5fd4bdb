// Arrays of the page: base64 of gzip of bytes in planes, most of them differences (see report_packing.py).

async function unpack(header, text) {
  const packed = Uint8Array.from(atob(text.trim()), (c) => c.charCodeAt(0));
  const stream = new Blob([packed]).stream().pipeThrough(new DecompressionStream("gzip"));
  return revived(header, new Uint8Array(await new Response(stream).arrayBuffer()));
}

function revived(node, bytes) {
  if (Array.isArray(node)) return node.map((one) => revived(one, bytes));
  if (node === null || typeof node !== "object") return node;
  if (node.shape) {
    const out = READERS[node.kind](node, bytes);
    out.shape = node.shape;
    return out;
  }
  return Object.fromEntries(Object.entries(node).map(([key, value]) => [key, revived(value, bytes)]));
}

const total = (shape) => shape.reduce((a, b) => a * b, 1);

const READERS = {
  float({ shape, at }, bytes) {
    return new Float32Array(together(bytes, at, total(shape), 4).buffer);
  },
  integer({ shape, at }, bytes) {
    const out = new Uint32Array(together(bytes, at, total(shape), 4).buffer);
    for (let k = 1; k < out.length; k++) out[k] += out[k - 1];
    return out;
  },
  short({ shape, at, low, step }, bytes) {
    const [rows, n] = shape;
    const whole = new Uint16Array(together(bytes, at, rows * n, 2).buffer);
    const out = new Float32Array(rows * n);
    for (let r = 0; r < rows; r++) {
      let sum = 0;
      for (let k = r * n; k < (r + 1) * n; k++) {
        sum = (sum + whole[k]) & 0xffff;
        out[k] = low[r] + step[r] * sum;
      }
    }
    return out;
  },
  octet({ shape, at }, bytes) {
    const [count, n] = shape;
    const out = new Uint8Array(count * n);
    for (let p = 0; p < n; p++) {
      let rate = 0, value = 0;
      for (let k = 0; k < count; k++) {
        rate += bytes[at + p * count + k];
        value += rate;
        out[k * n + p] = value;
      }
    }
    return out;
  },
};

// All first bytes, then all second ones, ... as numbers of `size` bytes, the lowest first.
function together(bytes, at, count, size) {
  const out = new Uint8Array(count * size);
  for (let b = 0; b < size; b++) {
    for (let k = 0; k < count; k++) out[k * size + b] = bytes[at + b * count + k];
  }
  return out;
}
