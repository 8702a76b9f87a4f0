// Nodes by type of GPU: a cell a node, a square a GPU, filled where it is in use.
import {attribute, count, make, number, plain, say} from "./text.js";

const kMostNodes = 1000;   // that are drawn
const kMostSquares = 16;   // of a node; larger ones have a bar

const kNamed = 60;         // nodes of a type; where there are more, cells are small and have no name
const kMostOut = 12;       // nodes out of service that are named then

// Slurm's words for a node that takes no job; "*" is one that does not respond. One that is switched off to save power
// is not out of service.
const isOut = (node) => /down|drain|fail|maint|error|unknown|future|respond|reboot|reserved|invalid|\*/i.test(node.state.replace(/power\w*/gi, ""));

export function gpuTotals(nodes) {
  const totals = {gpus: 0, used: 0, out: 0};
  for (const node of nodes) {
    totals.gpus += node.gpus;
    totals.used += node.used;
    if (isOut(node)) totals.out += Math.max(0, node.gpus - node.used);
  }
  return totals;
}

export class Nodes {
  constructor(box, choose) {
    this.box = box;
    this.choose = choose;
    this.types = new Map();
    this.cells = new Map();
    box.addEventListener("keydown", (event) => this.walk(event));
    this.more = make("p", "", "more");
    this.more.hidden = true;
    box.append(this.more);
  }

  show(nodes, running, chosen) {
    const jobs = new Map();
    for (const job of running) for (const name of job.nodes) jobs.set(name, [...(jobs.get(name) ?? []), job]);
    const types = new Map();
    for (const node of nodes) if (node.gpus > 0) types.set(node.type, [...(types.get(node.type) ?? []), node]);
    const cells = new Map();
    let room = kMostNodes;
    for (const [type, of] of types) {
      let group = this.types.get(type);
      if (!group) {
        group = {box: make("div", "", "type"), head: make("h3"), list: make("div", "", "cells"), out: make("p", "", "out")};
        group.name = make("span", plain(type) || "other");
        group.sum = make("small");
        group.head.append(group.name, group.sum);
        group.box.append(group.head, group.list, group.out);
        this.types.set(type, group);
        this.box.insertBefore(group.box, this.more);
      }
      const {gpus, used, out} = gpuTotals(of);
      say(group.sum, `${number(used)} of ${number(gpus)} in use${out > 0 ? `, ${number(out)} out of service` : ""}`);
      group.list.classList.toggle("many", of.length > kNamed);
      const outs = of.filter((node) => isOut(node) && (node.reason || of.length > kNamed));
      const lines = outs.slice(0, kMostOut).map((node) => `${plain(node.name)} ${plain(node.state)}${node.reason ? ": " + plain(node.reason) : ""}`);
      if (outs.length > kMostOut) lines.push(`and ${number(outs.length - kMostOut)} more`);
      say(group.out, lines.join("\n"));
      let at = group.list.firstElementChild;
      for (const node of of) {
        if (room-- <= 0) break;
        const cell = this.cells.get(node.name) ?? this.newCell(node.name);
        cells.set(node.name, cell);
        this.fill(cell, node, jobs.get(node.name) ?? [], node.name === chosen);
        if (cell === at) at = at.nextElementSibling;
        else group.list.insertBefore(cell, at);
      }
    }
    for (const [name, cell] of this.cells) if (!cells.has(name)) cell.remove();
    for (const [type, group] of this.types) {
      if (!types.has(type)) group.box.remove(), this.types.delete(type);
    }
    this.cells = cells;
    const stops = [...cells.values()];
    if (stops.length && !stops.some((cell) => cell.tabIndex === 0)) stops[0].tabIndex = 0;
    this.more.hidden = room >= 0;
    const all = [...types.values()].reduce((sum, of) => sum + of.length, 0);  // nodes without GPUs have no cell
    if (room < 0) say(this.more, `${number(all - kMostNodes)} more nodes are not drawn.`);
  }

  // One stop of the tab key for all nodes; arrows go from one to the next.
  walk(event) {
    const step = {ArrowRight: 1, ArrowDown: 1, ArrowLeft: -1, ArrowUp: -1}[event.key];
    const cells = [...this.box.querySelectorAll(".node")];
    const next = step ? cells[cells.indexOf(document.activeElement) + step] : null;
    if (!next) return;
    event.preventDefault();
    for (const cell of cells) cell.tabIndex = cell === next ? 0 : -1;
    next.focus();
  }

  newCell(name) {
    const cell = make("button", "", "node");
    cell.type = "button";
    cell.tabIndex = -1;
    cell.append(make("span", plain(name), "name"), make("span", "", "gpus"), make("span", "", "state"));
    cell.addEventListener("click", () => this.choose(name));
    return cell;
  }

  fill(cell, node, jobs, chosen) {
    const drawn = `${node.gpus} ${node.used} ${node.state}`;
    if (cell.dataset.drawn !== drawn) {
      cell.dataset.drawn = drawn;
      const box = cell.children[1];
      if (node.gpus <= kMostSquares) {
        while (box.children.length > node.gpus) box.lastChild.remove();
        while (box.children.length < node.gpus) box.append(make("i"));
        [...box.children].forEach((square, i) => square.classList.toggle("used", i < node.used));
      } else {
        box.className = "gpus bar";
        box.style.setProperty("--part", node.used / node.gpus);
      }
      cell.classList.toggle("out", isOut(node));
      cell.classList.toggle("dense", node.gpus > 4);
      say(cell.children[2], isOut(node) ? plain(node.state) : "");
    }
    attribute(cell, "aria-pressed", chosen ? "true" : "false");
    const lines = [`${plain(node.name)}: ${node.used} of ${count(node.gpus, "GPU")} in use, ${plain(node.state)}`];
    if (node.reason) lines.push(plain(node.reason));
    for (const job of jobs.slice(0, 12)) lines.push(`${job.id} ${plain(job.name)} (${plain(job.user)})`);
    if (jobs.length > 12) lines.push(`and ${jobs.length - 12} more jobs`);
    attribute(cell, "title", lines.join("\n"));
    attribute(cell, "aria-label", lines.slice(0, node.reason ? 2 : 1).concat(jobs.length ? count(jobs.length, "job") : []).join(", "));
  }
}
