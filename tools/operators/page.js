// The page for operators: asks for the status every two seconds and draws what has changed. When no answer comes it
// keeps what it has, greyed, and says since when.
import {Mode} from "./mode.js";
import {Nodes, gpuTotals} from "./nodes.js";
import {Table} from "./table.js";
import {attribute, byId, clock, count, duration, isNumber, latency, make, moment, number, plain, say, when} from "./text.js";

const kEveryMs = 2000;
const kPatienceMs = 8000;  // for one answer
const kToken = "berth-token";

let status = null;       // the last document
let answered = null;     // when it came, Date.now()
let lost = "";           // why there is no newer one
let lostHead = "";
let chosenNode = "";
let asking = false;
const filter = {words: [], user: "", partition: ""};

// ---- tables

const now = () => status.now_s;
const value = (given) => (isNumber(given) ? given : null);
const forecast = (job) => job.forecast_s ?? {};
function rangeText(job) {
  const {low, high} = forecast(job);
  if (!isNumber(low)) return "";
  return isNumber(high) ? `${duration(low)} – ${duration(high)}` : `from ${duration(low)}`;
}
const ran = (job) => now() - job.started_s;
const left = (job) => (isNumber(job.expected_end_s) ? job.expected_end_s - now() : null);
function endText(job) {
  const seconds = left(job);
  if (seconds === null) return "–";
  return seconds < 0 ? `${duration(-seconds)} over` : duration(seconds);
}
const kId = {key: "id", name: "Job", numeric: true, text: (job) => String(job.id), sort: (job) => job.id};
const kJob = [
  kId,
  {key: "name", name: "Name", text: (job) => plain(job.name), sort: (job) => plain(job.name), hint: (job) => plain(job.name)},
  {key: "user", name: "User", text: (job) => plain(job.user), sort: (job) => plain(job.user)},
  {key: "partition", name: "Partition", low: true, text: (job) => plain(job.partition), sort: (job) => plain(job.partition)},
  {key: "class", name: "Class", low: true, text: (job) => plain(job.class), sort: (job) => plain(job.class), title: "The class of jobs whose speed Berth takes for it"},
  {key: "gpu", name: "GPUs", numeric: true, text: (job) => number(job.gpus), sort: (job) => job.gpus},
];
const queue = new Table("queue", [
  ...kJob,
  {key: "waited", name: "Waited", numeric: true, text: (job) => duration(now() - job.submitted_s), sort: (job) => now() - job.submitted_s,
    hint: (job) => `since ${moment(job.submitted_s)}`},
  {key: "start", name: "Starts in", numeric: true, text: (job) => duration(forecast(job).median), sort: (job) => value(forecast(job).median),
    title: "Forecast: the median", hint: (job) => isNumber(forecast(job).median) ? `about ${when(now() + forecast(job).median, now())}` : "no forecast"},
  {key: "range", name: "Low – high", text: rangeText, sort: (job) => value(forecast(job).low), title: "Forecast: between which times it starts"},
  {key: "reason", name: "Why it waits", text: (job) => plain(job.reason), sort: (job) => plain(job.reason), hint: (job) => plain(job.reason)},
], (job) => job.id, "No job waits.");
const running = new Table("running", [
  ...kJob,
  {key: "type", name: "Type", text: (job) => plain(job.type), sort: (job) => plain(job.type)},
  {key: "ran", name: "Ran", numeric: true, text: (job) => duration(ran(job)), sort: ran, hint: (job) => `since ${moment(job.started_s)}`},
  {key: "ends", name: "Ends in", numeric: true, text: endText, sort: left, title: "Expected, from the job's class and its progress",
    hint: (job) => isNumber(job.expected_end_s) ? `about ${when(job.expected_end_s, now())}` : "not known",
    part: (job) => left(job) === null ? null : Math.min(1, Math.max(0, ran(job) / Math.max(1e-9, job.expected_end_s - job.started_s)))},
  {key: "nodes", name: "Nodes", text: (job) => job.nodes.map(plain).join(", "), sort: (job) => plain(job.nodes[0]), hint: (job) => job.nodes.map(plain).join(", ")},
], (job) => job.id, "No job runs.");
const would = new Table("would", [
  {key: "at", name: "At", numeric: true, text: (row) => when(row.at_s, now()), sort: (row) => row.at_s, hint: (row) => moment(row.at_s)},
  kId,
  {key: "what", name: "Berth would", text: (row) => plain(row.what), sort: (row) => plain(row.what)},
  {key: "slurm", name: "Slurm", text: (row) => plain(row.slurm ?? "not yet"), sort: (row) => plain(row.slurm ?? "not yet")},
], (row) => `${row.at_s} ${row.id} ${row.what}`, "Nothing yet: Berth would have done nothing.");

const nodes = new Nodes(byId("nodes"), (name) => {
  chosenNode = chosenNode === name ? "" : name;
  drawJobs();
  if (chosenNode) byId("running-title").scrollIntoView({block: "nearest"});
});
const mode = new Mode(askMode);

function matches(job) {
  if (filter.user && job.user !== filter.user) return false;
  if (filter.partition && job.partition !== filter.partition) return false;
  if (filter.words.length === 0) return true;
  const text = [job.id, job.name, job.user, job.partition, job.class, job.reason, job.type, ...(job.nodes ?? [])].join(" ").toLowerCase();
  return filter.words.every((word) => text.includes(word));
}

function options(id, of, all) {
  const select = byId(id);
  const names = [...new Set(of)].sort();
  if (filter[id] && !names.includes(filter[id])) names.unshift(filter[id]);  // chosen, and gone from the queue
  if (document.activeElement === select || select.dataset.names === JSON.stringify(names)) return;
  select.dataset.names = JSON.stringify(names);
  select.replaceChildren(...["", ...names].map((name) => {
    const option = make("option", name === "" ? all : plain(name));
    option.value = name;
    return option;
  }));
  select.value = filter[id];
}

function drawJobs() {
  const jobs = [...status.queue, ...status.running];
  options("user", jobs.map((job) => job.user), "all");
  options("partition", jobs.map((job) => job.partition), "all");
  byId("clear").hidden = !(filter.words.length || filter.user || filter.partition || chosenNode);
  say(byId("clear"), chosenNode ? `Clear (node ${plain(chosenNode)})` : "Clear");
  queue.show(status.queue.filter(matches), status.queue.length);
  running.show(status.running.filter((job) => matches(job) && (!chosenNode || job.nodes.includes(chosenNode))), status.running.length);
  const differs = [...(status.would ?? [])].sort((a, b) => b.at_s - a.at_s);
  byId("would-section").hidden = status.mode !== "dry-run";
  would.show(differs, differs.length);
  nodes.show(status.nodes, status.running, chosenNode);
}

// ---- figures

// list: [term, value, more], written where they differ.
function pairs(id, list) {
  const box = byId(id);
  while (box.children.length > list.length) box.lastChild.remove();
  list.forEach(([term, text, more = "", hint = ""], i) => {
    if (!box.children[i]) {
      const pair = make("div");
      pair.append(make("dt"), make("dd"), make("dd", "", "more"));
      box.append(pair);
    }
    const [name, figure, small] = box.children[i].children;
    say(name, term), say(figure, text), say(small, more);
    attribute(box.children[i], "title", hint || null);
  });
}

function drawFigures() {
  const {cycle = {}, counts = {}, slurm = {}} = status;
  say(byId("title"), slurm.cluster ? plain(slurm.cluster) : "Berth");
  document.title = `${status.mode} · ${slurm.cluster ? plain(slurm.cluster) : "Slurm"} · Berth`;
  say(byId("about"), [`Berth on Slurm ${plain(slurm.version)}`, plain(status.scheduler), `clock ${plain(status.clock)}`,
    status.only?.length ? `only ${status.only.map(plain).join(", ")}` : ""].filter(Boolean).join("  ·  "));
  const gpus = gpuTotals(status.nodes);
  const usable = gpus.gpus - gpus.out;
  const asked = status.queue.reduce((sum, job) => sum + job.gpus, 0);
  const oldest = status.queue.reduce((most, job) => Math.max(most, now() - job.submitted_s), -1);
  pairs("summary", [
    ["Waiting", number(status.queue.length), `${count(asked, "GPU")} asked for`],
    ["Longest wait", oldest < 0 ? "–" : duration(oldest), ""],
    ["Running", number(status.running.length), `on ${count(gpus.used, "GPU")}`],
    ["GPUs in use", usable > 0 ? `${Math.round((100 * gpus.used) / usable)}%` : "–",
      gpus.out > 0 ? `of ${number(usable)}, ${number(gpus.out)} out` : `of ${number(usable)}`],
    ["Last cycle", latency(cycle.last_s), `median ${latency(cycle.median_s)}, p99 ${latency(cycle.p99_s)}`],
    ["Decision to start", latency(cycle.release_to_start_s), isNumber(cycle.release_to_start_s) ? "median" : "none yet"],
  ]);
  pairs("decisions", [
    ["Cycles", number(cycle.count ?? 0)],
    ["Last: read Slurm", latency(cycle.read_s)],
    ["Last: decide", latency(cycle.decide_s)],
    ["Last: carry out", latency(cycle.act_s)],
    ...Object.entries(counts).map(([kind, n]) => [plain(kind[0].toUpperCase() + kind.slice(1)), isNumber(n) ? number(n) : plain(n)]),
  ]);
  const refusals = [...(status.refusals ?? [])].sort((a, b) => b.at_s - a.at_s);
  say(byId("refusals-count"), number(refusals.length));
  const items = refusals.slice(0, 20).map((it) => {
    const item = make("li");
    item.append(make("span", `${when(it.at_s, now())}  ${plain(it.what)} ${it.id}`), make("q", plain(it.why)));
    return item;
  });
  if (items.length === 0) items.push(make("li", "Nothing.", "none"));
  const key = JSON.stringify(refusals.slice(0, 20));
  if (byId("refusals").dataset.key !== key) {
    byId("refusals").replaceChildren(...items);
    byId("refusals").dataset.key = key;
  }
  byId("policy-section").hidden = !status.policy;
  if (status.policy) {
    say(byId("policy-name"), plain(status.policy.name));
    pairs("policy", Object.entries(status.policy.card ?? {}).map(([name, text]) => [plain(name), plain(typeof text === "object" ? JSON.stringify(text) : text)]));
  }
}

// ---- what nobody may miss

function drawAlerts() {
  const alerts = [];
  // No time that goes on is told here, for each change is read out.
  const since = answered === null ? "" : ` What you see is from ${clock(answered / 1000)}.`;
  if (lost) alerts.push(["lost", lostHead, `${lost}.${since}`]);
  if (status && !lost) {
    const dead = status.watchdog?.dead_after_s ?? 30;
    if (status.age_s > dead) {
      alerts.push(["unhealthy", "Berth hangs", `No cycle has ended for more than ${dead} s. What you see is from ${clock(now())}.`]);
    }
    if (!status.healthy) alerts.push(["unhealthy", "Not healthy", plain(status.problem) || "Berth does not say why."]);
    if (status.mode !== "dry-run" && status.watchdog && !status.watchdog.fresh) {
      alerts.push(["watchdog", "Heartbeat stale", `The watchdog gives held jobs back to Slurm once the heartbeat is ${dead} s old, and jobs no longer arrive held.`]);
    }
  }
  const box = byId("alerts");
  while (box.children.length > alerts.length) box.lastChild.remove();
  alerts.forEach(([kind, head, text], i) => {
    if (!box.children[i]) {
      const alert = make("p");
      alert.append(make("strong"), make("span"));
      box.append(alert);
    }
    box.children[i].className = kind;
    say(box.children[i].firstChild, head), say(box.children[i].lastChild, text);
  });
  document.body.classList.toggle("stale", Boolean(lost) || (status !== null && status.age_s > (status.watchdog?.dead_after_s ?? 30)));
  document.body.classList.toggle("lost", Boolean(lost));
  document.body.classList.toggle("idle", !status && !lost);
  const old = answered === null ? "" : `, ${duration((Date.now() - answered) / 1000)} old`;
  say(byId("link-text"), lost ? `not connected${old}` : status ? `live, ${clock(now())}` : "connecting");
}

function draw() {
  byId("main").hidden = false;
  mode.show(status);
  drawFigures();
  drawJobs();
}

// ---- asking

function headers(more = {}) {
  const token = sessionStorage.getItem(kToken);
  return token ? {...more, Authorization: `Bearer ${token}`} : more;
}

async function ask(path, options = {}) {
  const patience = new AbortController();
  const timer = setTimeout(() => patience.abort(), kPatienceMs);
  try {
    const response = await fetch(path, {cache: "no-store", signal: patience.signal, ...options});
    const text = await response.text();
    let json = null;
    try {
      json = JSON.parse(text);
    } catch {
      json = {Error: `expected JSON, found '${text.slice(0, 80)}'`};
    }
    return {code: response.status, json};
  } finally {
    clearTimeout(timer);
  }
}

function needToken(refused) {
  sessionStorage.removeItem(kToken);
  status = null;
  lost = "";
  for (const id of ["main", "mode", "log-out"]) byId(id).hidden = true;
  byId("switch").close();
  byId("alerts").replaceChildren();
  document.body.classList.remove("stale", "lost");
  document.body.classList.add("idle");
  say(byId("link-text"), "waits for a token");
  say(byId("login-error"), refused ? "That token was refused." : "");
  if (byId("login").hidden) {
    byId("login").hidden = false;
    byId("token").focus();
  }
}

async function update() {
  if (asking || document.hidden || !byId("login").hidden) return;
  asking = true;
  const before = [status, answered];
  try {
    const sent = sessionStorage.getItem(kToken);
    const {code, json} = await ask("api/status", {headers: headers()});
    if (code === 401) {
      needToken(Boolean(sent));
      return;
    }
    if (code === 200 && json) {
      [status, lost, answered] = [json, "", Date.now()];
      byId("log-out").hidden = !sent;
    } else {
      lostHead = code === 503 ? "Berth is starting" : "Berth refuses";
      lost = plain(json.Error ?? `It answered ${code}`);
    }
  } catch (error) {
    lostHead = "No connection to Berth";
    lost = error.name === "AbortError" ? `No answer within ${kPatienceMs / 1000} s` : "Berth does not answer: it has ended, or the way to it is gone";
  } finally {
    asking = false;
  }
  try {
    if (status && !lost) draw();
  } catch (error) {
    [status, answered] = before;
    lostHead = "Not drawn";
    lost = `The page does not understand Berth's answer (${error.message})`;
  }
  drawAlerts();
}

async function askMode(wanted, confirm) {
  try {
    const {code, json} = await ask("api/mode", {method: "POST", headers: headers({"Content-Type": "application/json"}),
      body: JSON.stringify({mode: wanted, confirm})});
    if (code !== 200) return plain(json.Error ?? `Berth answered ${code}`);
  } catch {
    return "Berth does not answer. The mode is as it was, or will be seen above.";
  }
  update();
  return "";
}

function filtered() {
  filter.words = byId("search").value.toLowerCase().split(/\s+/).filter(Boolean);
  filter.user = byId("user").value;
  filter.partition = byId("partition").value;
  if (status) drawJobs();
}
byId("search").addEventListener("input", filtered);
byId("user").addEventListener("change", filtered);
byId("partition").addEventListener("change", filtered);
byId("clear").addEventListener("click", () => {
  byId("search").value = byId("user").value = byId("partition").value = chosenNode = "";
  filtered();
  byId("search").focus();
});
byId("login").addEventListener("submit", (event) => {
  event.preventDefault();
  sessionStorage.setItem(kToken, byId("token").value.trim());
  byId("token").value = "";
  byId("login").hidden = true;
  update();
});
byId("log-out").addEventListener("click", () => needToken(false));
document.addEventListener("visibilitychange", update);
setInterval(update, kEveryMs);
update();
