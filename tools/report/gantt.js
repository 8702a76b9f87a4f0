// The Gantt chart of the page: wheel zooms, dragging moves, hovering says what it is. State is in the address (#k=0&from=0&to=48), so a
// view can be bookmarked. `GANTT` is what gantt.py's page_data or gantt_data.cpp made; with a `moment` (s), which berth explain has, a line
// stands there, and with a `part` (s) nothing is known outside of it. A control that the page lacks is not there to use.
(() => {
  const $ = (id) => document.getElementById(id);
  const canvas = $("gantt"), tip = $("tip"), left = 64, bottom = 26, moment = GANTT.moment, top = moment === undefined ? 0 : 20;
  const gpus = GANTT.counts.reduce((a, b) => a + b, 0);
  const firsts = GANTT.counts.map((_, g) => GANTT.counts.slice(0, g).reduce((a, b) => a + b, 0));
  const height = Math.min(900, Math.max(160, gpus * 11)) + top + bottom;
  // Of the bits of a bar's marks, least first: how it is drawn over the bar (a wedge at its begin where there is no pattern), and what
  // it means. Their names are GANTT.marks.
  const dark = "rgba(0, 0, 0, 0.6)";
  const pattern = (...boxes) => {
    const tile = Object.assign(document.createElement("canvas"), {width: 6, height: 6}), c = tile.getContext("2d");
    c.fillStyle = dark;
    for (const box of boxes) c.fillRect(...box);
    return canvas.getContext("2d").createPattern(tile, "repeat");
  };
  const looks = [
    [pattern(...[0, 1, 2, 3, 4, 5].map((i) => [i, 5 - i, 1.2, 1.2])), "resized: on fewer or more GPUs than its gang"],
    [pattern([1, 1, 2, 2], [4, 4, 2, 2]), "packed: beside another job for some of the time"],
    [pattern([0, 0, 1, 6], [3, 0, 1, 6]), "on a slice of a GPU, or a share"],
    [null, "moved there from another type or other nodes"],
  ];
  let k = 0, from = 0, to = 1, width = 100, remembering = 0;

  GANTT.schedulers.forEach((name, i) => $("who")?.add(new Option(name, i)));

  const [first, last] = GANTT.part || [0, Math.max(...GANTT.end)];
  // In views that are shorter, and of times that are, seconds count.
  const fine = 2 * 3600;
  const clock = (s, seconds = to - from < fine) => {
    const tenths = Math.round(s * 10), h = Math.floor(tenths / 36000), m = Math.floor(tenths / 600) % 60;
    return `${h} h ${String(m).padStart(2, "0")} min${seconds ? ` ${tenths % 600 / 10} s` : ""}`;
  };
  const duration = (s) => clock(s, s < fine);
  const x = (s) => left + (s - from) / (to - from) * (width - left);
  const y = (row) => top + row / gpus * (height - top - bottom);

  // Times in hours, and how far they are apart.
  function ticks() {
    const steps = [...[1, 2, 5, 10, 30, 60, 120, 300, 600].map((s) => s / 3600),
      0.25, 0.5, 1, 2, 3, 6, 12, 24, 48, 120, 240, 480, 1200, 2400, 6000, 12000];
    const hours = (to - from) / 3600, step = steps.find((s) => hours / s <= (s < 0.25 ? 7 : 12)) || hours / 8;
    const marks = [];
    for (let i = Math.ceil(from / 3600 / step); i * step <= to / 3600; ++i) marks.push(i * step);
    return [marks, step];
  }

  function mark(c, marks, x0, y0, wide, high) {
    if (high < 3) return;
    looks.forEach(([fill], bit) => {
      if (!(marks >> bit & 1)) return;
      c.fillStyle = fill || dark;
      if (fill) return c.fillRect(x0, y0, wide, high);
      if (wide < 6) return;
      c.beginPath();
      c.moveTo(x0, y0);
      c.lineTo(x0 + Math.min(7, wide / 2), y0 + high / 2);
      c.lineTo(x0, y0 + high);
      c.fill();
    });
  }

  // What the marks that occur mean, as small bars that have them.
  function legend() {
    let all = 0;
    for (const run of GANTT.runs) for (const bar of run) all |= bar[7] || 0;
    looks.forEach(([, meaning], bit) => {
      if (!(all >> bit & 1)) return;
      const ratio = window.devicePixelRatio || 1, swatch = document.createElement("canvas"), c = swatch.getContext("2d");
      Object.assign(swatch, {width: 30 * ratio, height: 12 * ratio}).style.cssText = "width: 30px; height: 12px";
      c.setTransform(ratio, 0, 0, ratio, 0, 0);
      c.fillStyle = "hsl(137 52% 66%)";
      c.fillRect(0, 0, 30, 12);
      mark(c, 1 << bit, 0, 0, 30, 12);
      const item = document.createElement("span");
      item.append(swatch, meaning);
      $("marks").append(item);
    });
  }

  function draw() {
    const ratio = window.devicePixelRatio || 1;
    width = canvas.parentElement.clientWidth;
    canvas.width = width * ratio;
    canvas.height = height * ratio;
    canvas.style.width = width + "px";
    canvas.style.height = height + "px";
    const c = canvas.getContext("2d");
    c.setTransform(ratio, 0, 0, ratio, 0, 0);
    c.fillStyle = "#fff";
    c.fillRect(0, 0, width, height);
    c.font = "12px system-ui, sans-serif";
    c.fillStyle = "#555";
    const [times, step] = ticks();
    for (const h of times) {
      c.fillStyle = "#e4e4e4";
      c.fillRect(x(h * 3600), top, 1, height - top - bottom);
      c.fillStyle = "#555";
      c.textAlign = "center";
      const label = step < 0.25 ? clock(h * 3600, step < 1 / 60) : `${+h.toFixed(2)} h`, half = c.measureText(label).width / 2;
      c.fillText(label, Math.min(x(h * 3600), width - half), height - 9);
    }
    let drawn = 0;
    const row = y(1) - top;
    c.save();
    c.beginPath();
    c.rect(left, top, width - left, height - top - bottom);
    c.clip();
    for (const [device, begin, end, job, , lane = 0, of = 1, marks = 0] of GANTT.runs[k]) {
      if (end < from || begin > to) continue;
      c.fillStyle = job < 0 ? GANTT.greys[-1 - job] : `hsl(${job * 137.508 % 360} 52% 66%)`;
      const gap = row > 4 ? 0.6 : 0;
      const box = [x(begin), y(device + lane / of) + gap / 2, Math.max(x(end) - x(begin), 0.5), row / of - gap];
      c.fillRect(...box);
      if (marks) mark(c, marks, ...box);
      ++drawn;
    }
    c.restore();
    c.textAlign = "left";
    GANTT.types.forEach((name, g) => {
      c.fillStyle = "#222";
      c.fillText(name, 4, y(firsts[g] + GANTT.counts[g] / 2) + 4, left - 8);
      if (g > 0) c.fillRect(0, y(firsts[g]), width, 1);
    });
    c.fillStyle = "#222";
    c.fillRect(left, height - bottom, width - left, 1);
    if (moment !== undefined && moment >= from && moment <= to) {
      const label = `decision at ${clock(moment)}`, half = c.measureText(label).width / 2;
      c.fillStyle = "#d40000";
      c.fillRect(x(moment) - 1, top - 5, 2, height - top - bottom + 5);
      c.textAlign = "center";
      c.fillText(label, Math.min(Math.max(x(moment), left + half), width - half - 2), top - 8);
    }
    canvas.dataset.drawn = drawn;
    for (const [id, time] of [["from", from], ["to", to]]) $(id).value = +(time / 3600).toFixed(to - from < fine ? 4 : 2);
    if ($("who")) $("who").value = k;
    clearTimeout(remembering);  // not every frame of a drag: browsers refuse addresses that change too often
    remembering = setTimeout(remember, 250);
  }

  function remember() {
    const [a, b] = [from, to].map((s) => +(s / 3600).toFixed(6));
    const address = `#k=${k}&from=${a}&to=${b}`;
    if (location.hash !== address) history.replaceState(null, "", address);
  }

  function show(a, b) {
    const span = Math.min(Math.max(b - a, 1), last - first);
    from = Math.min(Math.max(a, first), last - span);
    to = from + span;
    tip.hidden = true;
    draw();
  }

  function at(event) {
    const box = canvas.getBoundingClientRect();
    return [from + (event.clientX - box.left - left) / (width - left) * (to - from), (event.clientY - box.top - top) / (height - top - bottom) * gpus];
  }

  // "resized to 4 GPUs, packed beside job 7"
  function inWords([device, begin, end, job], marks) {
    const others = new Set(GANTT.runs[k].filter((bar) => bar[0] === device && bar[3] >= 0 && bar[3] !== job && bar[1] < end && bar[2] > begin)
      .map((bar) => GANTT.jobs[bar[3]][0]));
    const width = GANTT.runs[k].filter((bar) => bar[3] === job && bar[1] === begin).length;
    const more = [` to ${width} GPU${width > 1 ? "s" : ""}`, others.size ? ` beside job ${[...others].join(", ")}` : "", "", ""];
    return GANTT.marks.map((name, bit) => name + more[bit]).filter((_, bit) => marks >> bit & 1).join(", ");
  }

  function hover(event) {
    const [time, place] = at(event), device = Math.floor(place), slack = (to - from) / width;
    const hit = place >= 0 && place < gpus && time >= from && GANTT.runs[k].find(([d, begin, end, , , lane = 0, of = 1]) =>
      d === device && Math.floor((place - device) * of) === lane && time >= begin - slack && time <= end + slack);
    tip.hidden = !hit;
    if (!hit) return;
    const [, begin, end, job, how, , , marks = 0] = hit;
    const g = firsts.filter((first) => first <= device).length - 1;
    const lines = [`${GANTT.types[g]} ${device - firsts[g]}: ${clock(begin)} to ${clock(end)}`];
    if (job < 0) {
      lines.unshift(GANTT.absences[-1 - job]);
      if (job === -2) lines.push(`here for ${duration(end - begin)}, then ${GANTT.ends[how]}`);
    } else {
      const [id, kind, arrived, gang] = GANTT.jobs[job];
      lines.unshift(`job ${id}: ${kind}, ${gang} GPU${gang > 1 ? "s" : ""}`);
      lines.push(`arrived ${clock(arrived)}; here for ${duration(end - begin)}, then ${GANTT.ends[how]}`);
      if (marks) lines.push(inWords(hit, marks));
    }
    tip.textContent = lines.join("\n");
    tip.style.left = Math.min(event.clientX + 14, window.innerWidth - tip.offsetWidth - 8) + "px";
    tip.style.top = Math.min(event.clientY + 14, window.innerHeight - tip.offsetHeight - 8) + "px";
  }

  let grip = null;
  canvas.addEventListener("mousedown", (event) => { grip = [event.clientX, from, to]; });
  window.addEventListener("mouseup", () => { grip = null; });
  window.addEventListener("mousemove", (event) => {
    if (!grip) return event.target === canvas ? hover(event) : void (tip.hidden = true);
    const shift = (grip[0] - event.clientX) / (width - left) * (grip[2] - grip[1]);
    show(grip[1] + shift, grip[2] + shift);
  });
  canvas.addEventListener("wheel", (event) => {
    event.preventDefault();
    const [time] = at(event), by = Math.exp(event.deltaY * 0.0015);
    show(time - (time - from) * by, time + (to - time) * by);
  }, {passive: false});
  $("who")?.addEventListener("change", (event) => { k = +event.target.value; draw(); });
  for (const id of ["from", "to"]) {
    $(id).addEventListener("change", () => {  // the other end stays where it is, not where it is rounded to
      const a = id === "from" ? $("from").value * 3600 : from;
      show(a, Math.max(id === "to" ? $("to").value * 3600 : to, a + 1));
    });
  }
  $("all").addEventListener("click", () => show(first, last));
  $("measured")?.addEventListener("click", () => show(...GANTT.measured));
  $("near")?.addEventListener("click", () => {
    const half = Math.min(Math.max(...GANTT.end) / 20, 6 * 3600);
    show(moment - half, moment + half);
  });
  window.addEventListener("resize", draw);

  function read() {
    const asked = new URLSearchParams(location.hash.slice(1));
    k = Math.min(Math.max(Math.trunc(+asked.get("k")) || 0, 0), GANTT.runs.length - 1);
    if (asked.has("from") && asked.has("to")) show(asked.get("from") * 3600, asked.get("to") * 3600);
    else show(...GANTT.shown);
  }
  window.addEventListener("hashchange", read);
  legend();
  read();
})();
