// Words for numbers, and elements made of text alone: what a job is called comes from its user, so nothing here or
// elsewhere on the page is ever parsed as HTML.

export const byId = (id) => document.getElementById(id);

// Sets only what differs, so that a selection or a tip outlives an update.
export function say(element, text) {
  if (element.textContent !== text) element.textContent = text;
}
export function attribute(element, name, value) {
  if (value === null || value === undefined || value === false) element.removeAttribute(name);
  else if (element.getAttribute(name) !== String(value)) element.setAttribute(name, value);
}
export function make(tag, text = "", name = "") {
  const element = document.createElement(tag);
  if (text !== "") element.textContent = text;
  if (name) element.className = name;
  return element;
}

const kControls = /[\u0000-\u001f\u007f-\u009f\u061c\u200b-\u200f\u2028-\u202e\u2060-\u2069\ufeff]/g;
// What was given as one line that reads as it is stored: characters that turn or hide text become visible.
export const plain = (value) => String(value ?? "").replace(kControls, "\u00b7");

export const number = (value) => value.toLocaleString("en-US");
export const count = (value, one, many = one + "s") => `${number(value)} ${value === 1 ? one : many}`;
export const isNumber = (value) => typeof value === "number" && Number.isFinite(value);

// Two units at most: 45 s, 12 min, 3 h 05, 2 d 4 h.
export function duration(seconds) {
  if (!isNumber(seconds)) return "–";
  const s = Math.round(Math.abs(seconds));
  const sign = seconds < 0 && s > 0 ? "−" : "";
  if (s < 60) return `${sign}${s} s`;
  const minutes = Math.round(s / 60);
  if (minutes < 60) return `${sign}${minutes} min`;
  if (minutes < 24 * 60) return `${sign}${Math.floor(minutes / 60)} h ${String(minutes % 60).padStart(2, "0")}`;
  const hours = Math.round(s / 3600);
  return `${sign}${Math.floor(hours / 24)} d ${hours % 24} h`;
}

// Of a cycle: three digits, 0.104 s, 2.31 s, 31.2 s.
export function latency(seconds) {
  if (!isNumber(seconds)) return "–";
  if (seconds < 0.0995) return `${Math.round(seconds * 1000)} ms`;
  return `${seconds.toFixed(seconds < 9.95 ? 2 : 1)} s`;
}

export const clock = (epoch) => new Date(epoch * 1000).toLocaleTimeString("en-GB");
export const moment = (epoch) => new Date(epoch * 1000).toLocaleString("en-GB");
// The time of day of this day, and else the day too.
export const when = (epoch, now) =>
  new Date(epoch * 1000).toDateString() === new Date(now * 1000).toDateString() ? clock(epoch) : moment(epoch);
