// The mechanism drawn by WebGL2: one buffer of triangles and one of edges for each body.

const SURFACE = [`#version 300 es
in vec3 position; in vec3 normal; in vec4 paint; in vec4 kind; in float value;
uniform mat4 camera; uniform mat4 model; uniform mat3 turn; uniform mat3 eye;
uniform int field; uniform vec3 velocity; uniform vec3 spin; uniform float perUnit;
uniform vec3 plain; uniform vec3 steel;
out vec3 facing; out vec4 color; out float share; flat out float mapped; flat out float lit;
void main() {
  vec4 place = model * vec4(position, 1.0);
  gl_Position = camera * place;
  facing = eye * (turn * normal);
  bool own = kind.x > 0.5, flesh = kind.z > 0.5;
  lit = kind.y;
  mapped = (field == 1 && flesh) || ((field == 2 || field == 3) && own) ? 1.0 : 0.0;
  share = field == 3 ? length(velocity + cross(spin, place.xyz - model[3].xyz)) * perUnit : value;
  color = field > 0 && lit > 0.5 && kind.w < 0.5 ? vec4(own ? plain : steel, paint.a) : paint;
}`, `#version 300 es
precision highp float;
in vec3 facing; in vec4 color; in float share; flat in float mapped; flat in float lit;
uniform sampler2D map;
out vec4 shown;
void main() {
  vec3 n = normalize(facing);
  if (n.z < 0.0) n = -n;
  vec3 base = mapped > 0.5 ? texture(map, vec2(clamp(share, 0.0, 1.0) * 0.9961 + 0.00195, 0.5)).rgb : color.rgb;
  float front = max(dot(n, vec3(0.098, 0.195, 0.976)), 0.0);
  float left = max(dot(n, vec3(-0.531, 0.759, 0.379)), 0.0);
  float side = max(dot(n, vec3(0.927, -0.206, 0.309)), 0.0);
  float light = lit > 0.5 ? min(0.38 + 0.50 * front + 0.24 * left + 0.10 * side, 1.1) : 1.0;
  float shine = lit > 0.5 ? 0.10 * pow(max(dot(n, normalize(vec3(-0.2, 0.45, 1.5))), 0.0), 24.0) : 0.0;
  shown = vec4(base * light + shine, color.a);
  shown.rgb *= shown.a;
}`];

const LINE = [`#version 300 es
in vec3 a; in vec3 b;
uniform mat4 camera; uniform mat4 model; uniform vec2 screen; uniform float width; uniform float nearer;
void main() {
  vec4 p = camera * (model * vec4(a, 1.0)), q = camera * (model * vec4(b, 1.0));
  vec2 along = (q.xy - p.xy) * screen;
  along = length(along) > 1e-6 ? normalize(along) : vec2(1.0, 0.0);
  float end = float(gl_VertexID & 1), side = float(gl_VertexID >> 1) * 2.0 - 1.0;
  vec4 here = mix(p, q, end);
  vec2 away = vec2(-along.y, along.x) * side + along * (end * 2.0 - 1.0);
  gl_Position = vec4(here.xy + away * width / screen, here.z - nearer, 1.0);
}`, `#version 300 es
precision mediump float;
uniform vec4 color;
out vec4 shown;
void main() { shown = vec4(color.rgb * color.a, color.a); }`];

const rgb = (hex) => [1, 3, 5].map((k) => parseInt(hex.slice(k, k + 2), 16) / 255);
const IDENTITY = new Float32Array([1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1]);

// The matrix of cofactors turns normals, whatever the map.
function cofactors(m) {
  const [a, b, c] = [0, 4, 8].map((k) => [m[k], m[k + 1], m[k + 2]]);
  return new Float32Array([...cross(b, c), ...cross(c, a), ...cross(a, b)]);
}

class Scene {
  constructor(canvas, data) {
    const gl = canvas.getContext("webgl2", { antialias: true, preserveDrawingBuffer: true });
    if (!gl) throw new Error("no WebGL2");
    this.gl = gl;
    this.canvas = canvas;
    this.data = data;
    this.surface = program(gl, SURFACE, ["position", "normal", "paint", "kind", "value"]);
    this.line = program(gl, LINE, ["a", "b"]);
    this.bodies = data.bodies.map((body) => this.body(body));
    this.springs = data.stretched.map((one) => this.spring(one));
    this.traces = data.traces.map((one) => ({ ...one, lines: this.lines(path(one.points)) }));
    this.shaft = this.solid(turnedSolid([[0, 1], [1, 1]]));
    this.head = this.solid(turnedSolid([[0, 2.6], [1, 0]]));
    this.maps = new Map(data.fields.map((field) => [field.name, colorMap(gl, field.colors)]));
    gl.enable(gl.DEPTH_TEST);
    gl.enable(gl.BLEND);
    gl.blendFunc(gl.ONE, gl.ONE_MINUS_SRC_ALPHA);
  }

  body(body) {
    const count = body.corners.length;
    const positions = new Float32Array(3 * count), normals = new Float32Array(3 * count);
    const paint = new Uint8Array(4 * count), kind = new Uint8Array(4 * count);
    let ownEnd = 0, ownEdges = 0;
    for (const piece of body.pieces) {
      const color = [...rgb(piece.color), piece.opacity].map((c) => Math.round(255 * c));
      for (let j = piece.start[1]; j < piece.end[1]; j++) {
        paint.set(color, 4 * j);
        kind.set([piece.own ? 255 : 0, piece.lit ? 255 : 0, piece.flesh ? 255 : 0, piece.grey ? 255 : 0], 4 * j);
      }
      if (piece.own) [ownEnd, ownEdges] = [3 * piece.end[2], piece.end[3]];
    }
    spread(body.points, body.corners, positions);
    normalsOf(positions, body.triangles, normals);
    const ends = new Float32Array(3 * body.edges.length);
    segments(body.points, body.edges, ends);
    const own = {
      body, positions, normals, ends, ownEnd, ownEdges,
      deforming: body.coordinates ? new Deforming(body) : null,
      values: new Float32Array(count),
      solid: this.solid({ positions, normals, paint, kind, triangles: body.triangles }),
      lines: this.lines(ends),
      matrix: IDENTITY,
    };
    if (own.deforming) {
      const flesh = body.pieces.filter((piece) => piece.flesh);
      own.outlineEdges = flesh.length ? [flesh[0].start[3], flesh[0].end[3]] : [0, 0];
      own.outline = this.lines(new Float32Array(6 * (own.outlineEdges[1] - own.outlineEdges[0])));
    }
    return own;
  }

  spring(one) {
    const count = one.corners.length;
    const positions = new Float32Array(3 * count), normals = new Float32Array(3 * count);
    spread(one.points, one.corners, positions);
    normalsOf(positions, one.triangles, normals);
    return { ...one, solid: this.solid({ positions, normals, ...painted(one.color, count, one.lit), triangles: one.triangles }) };
  }

  solid({ positions, normals, paint, kind, triangles }) {
    const { gl, surface } = this;
    const solid = { vao: gl.createVertexArray(), count: triangles.length, size: positions.length / 3 };
    gl.bindVertexArray(solid.vao);
    if (!paint) ({ paint, kind } = painted("#888888", positions.length / 3, true));
    solid.positions = attribute(gl, surface.at.position, positions, 3, gl.FLOAT);
    solid.normals = attribute(gl, surface.at.normal, normals, 3, gl.FLOAT);
    solid.paint = attribute(gl, surface.at.paint, paint, 4, gl.UNSIGNED_BYTE);
    attribute(gl, surface.at.kind, kind, 4, gl.UNSIGNED_BYTE);
    solid.values = attribute(gl, surface.at.value, new Float32Array(positions.length / 3), 1, gl.FLOAT);
    gl.bindBuffer(gl.ELEMENT_ARRAY_BUFFER, gl.createBuffer());
    gl.bufferData(gl.ELEMENT_ARRAY_BUFFER, triangles, gl.STATIC_DRAW);
    return solid;
  }

  lines(ends) {
    const { gl, line } = this;
    const lines = { vao: gl.createVertexArray(), buffer: gl.createBuffer(), count: ends.length / 6 };
    gl.bindVertexArray(lines.vao);
    gl.bindBuffer(gl.ARRAY_BUFFER, lines.buffer);
    gl.bufferData(gl.ARRAY_BUFFER, ends, gl.DYNAMIC_DRAW);
    [line.at.a, line.at.b].forEach((at, k) => {
      gl.enableVertexAttribArray(at);
      gl.vertexAttribPointer(at, 3, gl.FLOAT, false, 24, 12 * k);
      gl.vertexAttribDivisor(at, 1);
    });
    return lines;
  }

  // Everything that depends on time, scale and field.
  move(time, scale, field) {
    const { data } = this;
    const frame = between(data.t, time);
    this.frame = frame;
    this.time = time;
    this.field = data.fields.find((one) => one.name === field) || null;
    for (const own of this.bodies) {
      own.matrix = placed(blended(own.body.pose, frame));
      own.twist = blended(own.body.twist, frame);
      if (own.deforming) this.deform(own, frame, time, scale);
    }
  }

  deform(own, frame, time, scale) {
    const { gl, field } = this;
    const { body, deforming, positions, normals, ends, solid, lines } = own;
    deforming.at(frame, scale);
    spread(deforming.local, body.corners, positions);
    normalsOf(positions, body.triangles, normals);
    segments(deforming.local, body.edges, ends);
    refill(gl, solid.positions, positions);
    refill(gl, solid.normals, normals);
    refill(gl, lines.buffer, ends);
    const [first, last] = own.outlineEdges;
    if (scale !== 1 && last > first) {
      const still = new Float32Array(6 * (last - first));
      segments(deforming.whole, body.edges.subarray(2 * first, 2 * last), still);
      refill(gl, own.outline.buffer, still);
    }
    if (!field) return;
    const values = this.pointValues(own, frame, time);
    if (!values) return;
    for (let j = 0; j < body.corners.length; j++) own.values[j] = values[body.corners[j]] || 0;
    refill(gl, solid.values, own.values);
  }

  // Shares 0 to 1 of the range of colours at the points of a deforming body.
  pointValues(own, frame, time) {
    const { field } = this, { body, deforming } = own;
    const perUnit = field.factor / (field.high - field.low);
    if (field.name === "displacement") return deforming.sizes().map((u) => u * perUnit);
    if (field.name === "speed") return deforming.speeds(frame, own.matrix, own.twist).map((v) => v * perUnit);
    const history = body.nodal[field.name];
    if (!history) return null;
    const n = history.shape[1], [k, f] = between(field.t, time);
    const next = Math.min(k + 1, history.shape[0] - 1);
    return Float32Array.from({ length: n }, (_, p) => ((1 - f) * history[k * n + p] + f * history[next * n + p]) / 255);
  }

  draw(camera, options) {
    const { gl, canvas, data } = this;
    const ratio = Math.min(window.devicePixelRatio || 1, 2);
    const w = Math.max(1, Math.round(canvas.clientWidth * ratio)), h = Math.max(1, Math.round(canvas.clientHeight * ratio));
    if (canvas.width !== w || canvas.height !== h) Object.assign(canvas, { width: w, height: h });
    gl.viewport(0, 0, w, h);
    gl.clearColor(0, 0, 0, 0);
    gl.clear(gl.COLOR_BUFFER_BIT | gl.DEPTH_BUFFER_BIT);
    const depth = 6 * Math.max(data.camera.width, data.camera.height, data.size);
    const matrix = camera.matrix(w / h, depth, options.moved);
    this.view = { matrix, w, h, ratio, depth };
    this.surfaces(camera, options);
    this.allLines(options);
  }

  surfaces(camera, options) {
    const { gl, surface, data, field } = this;
    const set = surface.uniforms;
    gl.useProgram(surface.program);
    gl.uniformMatrix4fv(set.camera, false, this.view.matrix);
    const { right: r, up: u, toward: t } = camera;
    gl.uniformMatrix3fv(set.eye, false, [r[0], u[0], t[0], r[1], u[1], t[1], r[2], u[2], t[2]]);
    gl.uniform3fv(set.plain, rgb(data.paint.plain));
    gl.uniform3fv(set.steel, rgb(data.paint.steel));
    gl.enable(gl.POLYGON_OFFSET_FILL);
    gl.polygonOffset(1, 1);
    if (field) gl.bindTexture(gl.TEXTURE_2D, this.maps.get(field.name));
    for (const own of this.bodies) {
      gl.uniform1i(set.field, field ? this.mode(own) : 0);
      gl.uniform1f(set.perUnit, field ? field.factor / (field.high - field.low) : 0);
      gl.uniform3fv(set.velocity, own.twist.subarray(0, 3));
      gl.uniform3fv(set.spin, own.twist.subarray(3, 6));
      this.one(own.solid, own.matrix, options.joints ? own.solid.count : own.ownEnd);
    }
    gl.uniform1i(set.field, field ? 4 : 0);
    if (options.joints) {
      for (const one of this.springs) {
        const m = blended(one.maps, this.frame);
        const map = new Float32Array([m[0], m[1], m[2], 0, m[3], m[4], m[5], 0, m[6], m[7], m[8], 0, m[9], m[10], m[11], 1]);
        this.one(one.solid, map, one.solid.count);
      }
    }
    gl.uniform1i(set.field, 0);
    for (const arrow of data.arrows) if (options[arrow.kind]) this.arrow(arrow);
  }

  // How a body is coloured by the field: 1 its flesh, 2 all of it, 3 by the speed of rigid motion, 4 not at all.
  mode({ deforming, body }) {
    if (this.field.name === "speed") return deforming ? 2 : 3;
    return deforming && (this.field.name === "displacement" || body.nodal[this.field.name]) ? 1 : 4;
  }

  one(solid, matrix, count) {
    const { gl, surface } = this;
    gl.bindVertexArray(solid.vao);
    gl.uniformMatrix4fv(surface.uniforms.model, false, matrix);
    gl.uniformMatrix3fv(surface.uniforms.turn, false, cofactors(matrix));
    gl.drawElements(gl.TRIANGLES, count, gl.UNSIGNED_INT, 0);
  }

  arrow({ vectors, color }) {
    const v = blended(vectors, this.frame);
    const way = [v[3], v[4], v[5]], length = Math.hypot(...way);
    const thick = 0.006 * this.data.size;
    if (length < 0.2 * thick) return;
    const x = unit(way), y = unit(cross(x, Math.abs(x[2]) < 0.9 ? [0, 0, 1] : [0, 1, 0])), z = cross(x, y);
    const tip = Math.min(5 * thick, 0.6 * length);
    const parts = [[this.shaft, 0, length - tip], [this.head, length - tip, tip]];
    for (const [solid, from, long] of parts) {
      const wide = Math.min(thick, 0.3 * length);
      const at = plus([v[0], v[1], v[2]], scaled(x, from));
      recolor(this.gl, solid, color);
      const m = [...scaled(x, long), 0, ...scaled(y, wide), 0, ...scaled(z, wide), 0, ...at, 1];
      this.one(solid, new Float32Array(m), solid.count);
    }
  }

  allLines(options) {
    const { gl, line, data } = this;
    const { matrix, w, h, ratio } = this.view;
    gl.useProgram(line.program);
    gl.uniformMatrix4fv(line.uniforms.camera, false, matrix);
    gl.uniform2f(line.uniforms.screen, w, h);
    for (const own of this.bodies) {
      if (options.edges) {
        const count = options.joints ? own.lines.count : own.ownEdges;
        this.strokes(own.lines, own.matrix, count, rgb(data.paint.edge), 0.55, 1.1 * ratio, 4e-4);
      }
      if (own.deforming && options.outline) {
        this.strokes(own.outline, own.matrix, own.outline.count, rgb(data.paint.outline), 0.9, 1.2 * ratio, 0);
      }
    }
    for (const one of this.traces) {
      const [k] = between(one.t, this.time);
      this.strokes(one.lines, IDENTITY, one.lines.count, rgb(one.color), 0.35, 1.6 * ratio, 0);
      this.strokes(one.lines, IDENTITY, Math.min(k + 1, one.lines.count), rgb(one.color), 1, 2.4 * ratio, 0);
    }
  }

  strokes(lines, matrix, count, color, opacity, width, nearer) {
    const { gl, line } = this;
    if (!count) return;
    gl.bindVertexArray(lines.vao);
    gl.uniformMatrix4fv(line.uniforms.model, false, matrix);
    gl.uniform4f(line.uniforms.color, ...color, opacity);
    gl.uniform1f(line.uniforms.width, width);
    gl.uniform1f(line.uniforms.nearer, nearer);
    gl.drawArraysInstanced(gl.TRIANGLE_STRIP, 0, 4, count);
  }
}

function program(gl, [vertex, fragment], names) {
  const program = gl.createProgram();
  for (const [kind, text] of [[gl.VERTEX_SHADER, vertex], [gl.FRAGMENT_SHADER, fragment]]) {
    const shader = gl.createShader(kind);
    gl.shaderSource(shader, text);
    gl.compileShader(shader);
    if (!gl.getShaderParameter(shader, gl.COMPILE_STATUS)) throw new Error(gl.getShaderInfoLog(shader));
    gl.attachShader(program, shader);
  }
  gl.linkProgram(program);
  if (!gl.getProgramParameter(program, gl.LINK_STATUS)) throw new Error(gl.getProgramInfoLog(program));
  const uniforms = {};
  for (let k = 0; k < gl.getProgramParameter(program, gl.ACTIVE_UNIFORMS); k++) {
    const { name } = gl.getActiveUniform(program, k);
    uniforms[name] = gl.getUniformLocation(program, name);
  }
  return { program, uniforms, at: Object.fromEntries(names.map((name) => [name, gl.getAttribLocation(program, name)])) };
}

function attribute(gl, at, values, size, type) {
  const buffer = gl.createBuffer();
  gl.bindBuffer(gl.ARRAY_BUFFER, buffer);
  gl.bufferData(gl.ARRAY_BUFFER, values, gl.DYNAMIC_DRAW);
  gl.enableVertexAttribArray(at);
  gl.vertexAttribPointer(at, size, type, type === gl.UNSIGNED_BYTE, 0, 0);
  return buffer;
}

function refill(gl, buffer, values) {
  gl.bindBuffer(gl.ARRAY_BUFFER, buffer);
  gl.bufferSubData(gl.ARRAY_BUFFER, 0, values);
}

function painted(color, count, lit) {
  const paint = new Uint8Array(4 * count), kind = new Uint8Array(4 * count);
  const bytes = [...rgb(color).map((c) => Math.round(255 * c)), 255];
  for (let j = 0; j < count; j++) {
    paint.set(bytes, 4 * j);
    kind[4 * j + 1] = lit ? 255 : 0;
  }
  return { paint, kind };
}

function recolor(gl, solid, color) {
  if (solid.color === color) return;
  solid.color = color;
  refill(gl, solid.paint, painted(color, solid.size, true).paint);
}

function colorMap(gl, colors) {
  const texture = gl.createTexture();
  gl.bindTexture(gl.TEXTURE_2D, texture);
  const bytes = new Uint8Array(colors.flatMap((hex) => [...rgb(hex).map((c) => Math.round(255 * c)), 255]));
  gl.texImage2D(gl.TEXTURE_2D, 0, gl.RGBA, colors.length, 1, 0, gl.RGBA, gl.UNSIGNED_BYTE, bytes);
  for (const which of [gl.TEXTURE_MIN_FILTER, gl.TEXTURE_MAG_FILTER]) gl.texParameteri(gl.TEXTURE_2D, which, gl.LINEAR);
  for (const which of [gl.TEXTURE_WRAP_S, gl.TEXTURE_WRAP_T]) gl.texParameteri(gl.TEXTURE_2D, which, gl.CLAMP_TO_EDGE);
  return texture;
}

// A solid of revolution about x from a profile (x, radius), closed by discs.
function turnedSolid(profile) {
  const sides = 20, rings = [[profile[0][0], 0], ...profile, [profile.at(-1)[0], 0]];
  const positions = [], triangles = [];
  for (let r = 0; r + 1 < rings.length; r++) {
    const start = positions.length / 3;
    for (let k = 0; k <= sides; k++) {
      const angle = (2 * Math.PI * k) / sides;
      for (const [x, radius] of [rings[r], rings[r + 1]]) positions.push(x, radius * Math.cos(angle), radius * Math.sin(angle));
    }
    for (let k = 0; k < sides; k++) {
      const a = start + 2 * k;
      triangles.push(a, a + 2, a + 1, a + 1, a + 2, a + 3);
    }
  }
  const p = new Float32Array(positions), n = new Float32Array(positions.length);
  normalsOf(p, triangles, n);
  return { positions: p, normals: n, triangles: new Uint32Array(triangles) };
}

// Ends of the segments of a way (time, 3).
function path(points) {
  const out = new Float32Array(6 * Math.max(0, points.shape[0] - 1));
  for (let k = 0; k + 1 < points.shape[0]; k++) out.set(points.subarray(3 * k, 3 * k + 6), 6 * k);
  return out;
}
