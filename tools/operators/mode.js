// The mode: its banner, and the dialog that changes it, which says what will change before it may be confirmed.
import {attribute, byId, count, make, plain, say} from "./text.js";

const kModes = ["dry-run", "advise", "control"];
const kMeaning = {
  "dry-run": "Berth reads and changes nothing. Slurm decides alone.",
  advise: "Berth sets priorities of waiting jobs. Slurm starts them.",
  control: "Berth releases held jobs with their nodes chosen, and may requeue running ones.",
};

const partitions = (status) =>
  status.only?.length ? `of ${status.only.length > 1 ? "partitions" : "partition"} ${status.only.map(plain).join(", ")}` : "of every partition";

// What the switch means for this queue, in sentences.
function changes(status, to) {
  const waiting = `${count(status.queue.length, "waiting job")} ${partitions(status)}`;
  const list = [];
  if (to === "control") {
    list.push(`${waiting}: Berth (${plain(status.scheduler)}) decides which of those that are held start, when and on which nodes.`);
    list.push("Jobs submitted from now on arrive held, where job_submit.lua is installed, and wait for Berth.");
    list.push(`${count(status.running.length, "running job")} go on. Those marked checkpoint may be requeued for others.`);
    list.push(`If Berth stops, the watchdog gives held jobs back to Slurm after ${status.watchdog?.dead_after_s ?? 30} s.`);
  }
  if (to === "advise") {
    list.push(`${waiting}: Berth (${plain(status.scheduler)}) sets their priority. Slurm starts them, where and when it has room.`);
    list.push("No job is requeued.");
  }
  if (to === "dry-run") {
    list.push(`${waiting}: Slurm orders and starts them alone. Berth goes on to log what it would do.`);
    list.push("Berth releases, requeues and prioritises no job any more.");
  }
  if (status.mode === "control") list.push("Jobs that Berth holds now are given back to Slurm's own order.");
  if (status.mode === "advise") list.push("Priorities that Berth has set are set back.");
  return list;
}

export class Mode {
  // ask(mode) -> "" or why not.
  constructor(ask) {
    this.ask = ask;
    this.status = null;
    this.dialog = byId("switch");
    for (const mode of kModes) {
      const label = make("label");
      const radio = make("input");
      radio.type = "radio";
      radio.name = "mode";
      radio.value = mode;
      radio.addEventListener("change", () => this.draw());
      label.append(radio, make("b", mode), make("span", kMeaning[mode]));
      byId("switch-modes").append(label);
    }
    byId("mode-change").addEventListener("click", () => this.open());
    byId("switch-word").addEventListener("input", () => this.check());
    byId("switch-cancel").addEventListener("click", () => this.dialog.close());
    byId("switch-form").addEventListener("submit", (event) => {
      event.preventDefault();
      this.confirm();
    });
  }

  show(status) {
    this.status = status;
    const section = byId("mode");
    section.hidden = false;
    attribute(section, "data-mode", kModes.includes(status.mode) ? status.mode : "control");
    say(byId("mode-name"), plain(status.mode));
    say(byId("mode-text"), kMeaning[status.mode] ?? "");
    say(byId("mode-asked"), status.asked_mode ? `${plain(status.asked_mode)} asked for; Berth takes it up at its next cycle` : "");
    byId("mode-change").hidden = !status.may_write;
    byId("mode-fixed").hidden = Boolean(status.may_write);
    if (this.dialog.open && this.from !== status.mode) {
      this.dialog.close();  // somebody else has changed it: what it says is of before
    }
  }

  chosen() {
    return this.dialog.querySelector("input[name=mode]:checked")?.value ?? "";
  }

  open() {
    this.from = this.status.mode;
    for (const radio of this.dialog.querySelectorAll("input[name=mode]")) {
      radio.disabled = radio.value === this.from;
      radio.checked = false;
      radio.parentElement.classList.toggle("now", radio.disabled);
    }
    say(byId("switch-from"), this.from);
    byId("switch-word").value = "";
    say(byId("switch-error"), "");
    this.draw();
    this.dialog.showModal();
  }

  draw() {
    const to = this.chosen();
    byId("switch-changes").replaceChildren(...(to ? changes(this.status, to).map((text) => make("li", text)) : []));
    for (const id of ["switch-lead", "switch-changes", "switch-word"]) byId(id).hidden = !to;
    this.dialog.querySelector("label[for=switch-word]").hidden = !to;
    say(byId("switch-name"), to);
    say(byId("switch-do"), to ? `Switch to ${to}` : "Switch");
    byId("switch-word").value = "";
    this.check();
  }

  check() {
    byId("switch-do").disabled = !this.chosen() || byId("switch-word").value.trim() !== this.chosen();
  }

  async confirm() {
    if (byId("switch-do").disabled) return;
    byId("switch-do").disabled = true;
    const why = await this.ask(this.chosen(), byId("switch-word").value.trim());
    say(byId("switch-error"), why);
    if (why) this.check();
    else this.dialog.close();
  }
}
