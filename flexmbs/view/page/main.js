// The page: time, controls, and what follows them.

const find = (id) => document.getElementById(id);
const ROLES = { von_mises: "Stress", displacement: "Deformation", speed: "Speed" }; // others by their titles
const PACES = [0.1, 0.25, 0.5, 1, 2, 4];

async function start() {
  const header = JSON.parse(find("header").textContent);
  let data;
  try {
    data = await unpack(header, find("data").textContent);
  } catch (error) {
    complain("This page needs a browser of 2023 or later (DecompressionStream).");
    throw error;
  }
  const last = data.t[data.t.length - 1];
  const state = { time: 0, playing: false, pace: 1, field: data.color || "", scale: data.scale ?? 1, dirty: true };
  const invalidate = () => { state.dirty = true; };
  const camera = new Camera(data.camera, invalidate);
  const canvas = find("canvas");
  let scene = null, tip = null;
  try {
    scene = new Scene(canvas, data);
    camera.listen(canvas);
    tip = new Tip(canvas, find("tip"));
  } catch (error) {
    complain("This browser shows no 3D pictures (WebGL2 is missing or switched off); plots and tables are below.");
    console.warn(error.message);
  }
  const plots = data.plots.map((plot) => new Plot(plot, data.start, data.start + last, (t) => setTime(t - data.start)));
  find("plots").append(...plots.map((plot) => plot.figure));
  find("plots").hidden = !plots.length;
  document.body.classList.toggle("bare", !plots.length);

  // ---- time
  const slider = find("time"), clock = find("clock"), play = find("play");
  const digits = last > 0 ? Math.min(Math.max(0, 3 - Math.floor(Math.log10(last))), 9) : 3;
  // seconds of motion in one of the page: real time or all in 6 s, and nothing turns more than twice in a second
  const natural = Math.min(last >= 2 && last <= 20 ? 1 : last / 6 || 1, data.turns > 0 ? (2 * last) / data.turns : Infinity);
  slider.max = last || 1;
  slider.step = last / 2000 || 1;
  find("transport").hidden = !(last > 0);

  function setTime(time, fromSlider = false) {
    state.time = Math.min(Math.max(time, 0), last);
    if (!fromSlider) slider.value = state.time;
    const text = `${(data.start + state.time).toFixed(digits)} s`;
    clock.textContent = text;
    slider.setAttribute("aria-valuetext", text);
    slider.style.setProperty("--done", `${(100 * state.time) / (last || 1)}%`);
    for (const plot of plots) plot.move(data.start + state.time);
    invalidate();
  }

  function setPlaying(playing) {
    state.playing = playing && last > 0;
    if (state.playing && state.time >= last) setTime(0);
    play.setAttribute("aria-label", state.playing ? "Pause" : "Play");
    play.classList.toggle("playing", state.playing);
  }

  play.addEventListener("click", () => setPlaying(!state.playing));
  slider.addEventListener("input", () => { setPlaying(false); setTime(Number(slider.value), true); });
  find("plots").addEventListener("pointerdown", (e) => { if (e.target.closest("svg")) setPlaying(false); });
  const pace = find("pace");
  for (const factor of PACES) pace.append(element("option", { value: factor }, paceText(factor * natural)));
  pace.value = "1";
  pace.addEventListener("change", () => { state.pace = Number(pace.value); });
  document.addEventListener("keydown", (e) => {
    if (e.target.closest("input, select, button, summary, canvas") && !(e.key === " " && e.target === canvas)) return;
    if (e.key === " ") setPlaying(!state.playing);
    else if (e.key === "ArrowRight" || e.key === "ArrowLeft") setTime(state.time + (e.key === "ArrowRight" ? 1 : -1) * last / 200);
    else return;
    e.preventDefault();
  });

  // ---- field and colour bar
  const field = find("field");
  field.append(element("option", { value: "" }, "Plain"));
  for (const one of data.fields) field.append(element("option", { value: one.name }, ROLES[one.name] || one.title.replace(/\s*\[.*/, "") || "Values"));
  field.value = state.field;
  find("field-label").hidden = !data.fields.length;
  field.addEventListener("change", () => { state.field = field.value; showField(); });

  function showField() {
    const one = data.fields.find((f) => f.name === state.field);
    find("bar").hidden = !one;
    find("legend").hidden = Boolean(one);
    if (one) {
      find("bar-title").textContent = one.title;
      find("bar-colors").style.background = `linear-gradient(to top, ${one.colors.join(",")})`;
      const marks = ticks(one.low, one.high, 5);
      const share = (v) => (100 * (v - one.low)) / (one.high - one.low);
      const near = (v) => Math.abs(share(v) - 100) < 9;
      const kept = [...marks.at.filter((v) => !near(v)).map((v) => [v, tickText(v, marks.step)]), [one.high, figures(one.high)]];
      find("bar-ticks").replaceChildren(...kept.map(([v, text]) => element("span", { style: `bottom:${share(v)}%` }, text)));
    }
    invalidate();
  }

  find("legend").append(...data.legend.slice(0, 12).map(([name, color]) =>
    element("li", {}, element("span", { class: "swatch", style: `--c:${color}` }), name)));

  // ---- scale of deformation: the slider is logarithmic, from true to ten times what is visible
  const scale = find("scale"), scaleText = find("scale-text");
  const most = Math.max(10, 10 * state.scale);
  find("scale-label").hidden = data.scale === null;
  const showScale = () => {
    scaleText.textContent = `× ${figures(state.scale)}`;
    scale.setAttribute("aria-valuetext", state.scale === 1 ? "true scale" : `${figures(state.scale)} times`);
    invalidate();
  };
  scale.value = state.scale >= 1 ? (100 * Math.log(state.scale)) / Math.log(most) : 0;
  scale.addEventListener("input", () => {
    const exact = most ** (Number(scale.value) / 100);
    const power = 10 ** Math.floor(Math.log10(exact));
    state.scale = Math.max(1, Number((Math.round((exact / power) * 10) / 10 * power).toPrecision(2)));
    showScale();
  });

  // ---- what is shown, from where
  const options = { moved: [0, 0, 0] };
  for (const key of ["joints", "edges", "outline", "reactions", "forces"]) {
    const box = find(key);
    const has = { reactions: 1, forces: 1 }[key] ? data.arrows.some((a) => a.kind === key) : key === "outline" ? data.scale !== null : true;
    box.closest("label").hidden = !has;
    options[key] = has && box.checked;
    box.addEventListener("change", () => { options[key] = box.checked; invalidate(); });
  }
  const views = { home: null, x: [1, 0, 0], y: [0, 1, 0], z: [0, 0, 1] };
  for (const button of document.querySelectorAll("[data-look]")) {
    button.addEventListener("click", () => {
      const toward = views[button.dataset.look];
      if (toward) camera.lookFrom(toward);
      else camera.reset();
    });
  }
  const follow = find("follow");
  follow.append(element("option", { value: "" }, "nothing"));
  data.bodies.forEach((body, k) => { if (body.pose.shape[0] > 1) follow.append(element("option", { value: k }, body.name)); });
  follow.closest("label").hidden = follow.options.length < 2;
  follow.addEventListener("change", invalidate);

  // ---- times within the tables
  for (const button of document.querySelectorAll(".jump")) {
    button.addEventListener("click", () => {
      setPlaying(false);
      setTime(Number(button.dataset.time) - data.start);
    });
  }

  // ---- theme
  const theme = find("theme");
  theme.addEventListener("click", () => {
    const dark = getComputedStyle(document.documentElement).colorScheme === "dark";
    document.documentElement.dataset.theme = dark ? "light" : "dark";
    theme.setAttribute("aria-label", dark ? "Dark theme" : "Light theme");
    invalidate();
  });

  // ---- picture by picture
  let before = null;
  function tick(now) {
    if (state.playing) {
      const passed = before === null ? 0 : Math.min((now - before) / 1000, 0.1);
      const next = state.time + passed * natural * state.pace;
      setTime(next > last ? 0 : next);
    }
    before = now;
    if (state.dirty && scene) {
      state.dirty = false;
      scene.move(state.time, state.scale, state.field);
      options.moved = moved();
      scene.draw(camera, options);
      drawAxes(camera);
    }
    if (tip && (tip.at || !tip.note.hidden)) tip.show(scene);
    requestAnimationFrame(tick);
  }

  function moved() {
    if (follow.value === "") return [0, 0, 0];
    const { body, matrix } = scene.bodies[Number(follow.value)];
    return [0, 1, 2].map((i) => matrix[12 + i] - body.pose[i]);
  }

  canvas.addEventListener("webglcontextlost", (e) => { e.preventDefault(); complain("The 3D picture was lost; reload the page."); });
  new ResizeObserver(invalidate).observe(canvas);
  showField();
  showScale();
  const moment = Number(new URLSearchParams(location.hash.slice(1)).get("t") ?? NaN); // report.html#t=0.047
  setTime(Number.isFinite(moment) ? moment - data.start : 0);
  find("stage").setAttribute("aria-busy", "false");
  window.report = { data, state, scene, camera, plots, setTime }; // for the console, and for tests
  document.documentElement.dataset.ready = "true";
  if (scene && !Number.isFinite(moment) && !matchMedia("(prefers-reduced-motion: reduce)").matches) setPlaying(true);
  requestAnimationFrame(tick);
}

function paceText(pace) {
  if (Math.abs(pace - 1) < 0.02) return "real time";
  return pace < 1 ? `${figures(Number((1 / pace).toPrecision(2)))} × slower` : `${figures(Number(pace.toPrecision(2)))} × faster`;
}

// The global axes, small, those that point away first.
function drawAxes(camera) {
  const parts = ["x", "y", "z"].map((name, k) => ({
    name, x: 20 * camera.right[k], y: -20 * camera.up[k], z: camera.toward[k], color: ["#d64533", "#2f9a48", "#3b78d0"][k],
  }));
  parts.sort((a, b) => a.z - b.z);
  find("axes").replaceChildren(...parts.flatMap(({ name, x, y, color }) => [
    element("line", { x1: 0, y1: 0, x2: x, y2: y, stroke: color, "stroke-width": 2.2, "stroke-linecap": "round" }),
    element("text", { x: 1.35 * x, y: 1.35 * y + 3.6, fill: color, "text-anchor": "middle" }, name),
  ]));
}

function complain(text) {
  const note = find("trouble");
  note.textContent = text;
  note.hidden = false;
}

start();
