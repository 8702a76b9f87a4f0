// A table that is drawn again every few seconds without losing its place: rows are kept by key, cells are written
// where they differ, and of very many rows the first few hundred are there.
import {attribute, byId, make, number, say} from "./text.js";

const kMostRows = 300;

// columns: {key, name, numeric, low, title, text(row), sort(row), hint(row), part(row)}. `sort` gives a number or a
// text, null last whatever the direction; `low` columns leave first where there is little room; `part`, a share in
// 0..1, is drawn as a bar.
// `make` with the role that the element has of itself, and loses where the style sheet lays it out as a grid.
function part(tag, role, name = "") {
  const element = make(tag, "", name);
  element.setAttribute("role", role);
  return element;
}

export class Table {
  constructor(id, columns, rowKey, empty) {
    this.columns = columns;
    this.rowKey = rowKey;
    this.empty = empty;
    this.table = byId(id);
    this.more = byId(`${id}-more`);
    this.counter = byId(`${id}-count`);
    this.by = null;  // as the document has them
    this.down = false;
    this.rows = new Map();
    this.given = [[], 0];
    this.table.setAttribute("role", "table");
    const head = part("thead", "rowgroup");
    const line = part("tr", "row");
    this.heads = columns.map((column) => {
      const cell = part("th", "columnheader", this.classOf(column));
      cell.scope = "col";
      const button = make("button", column.name);
      button.type = "button";
      if (column.title) button.title = column.title;
      button.addEventListener("click", () => this.sortBy(column));
      cell.append(button);
      line.append(cell);
      return cell;
    });
    head.append(line);
    this.body = part("tbody", "rowgroup");
    this.table.append(head, this.body);
  }

  classOf(column) {
    return [column.key, column.numeric ? "number" : "", column.low ? "low" : ""].filter(Boolean).join(" ");
  }

  // Up, down, and back to the order that was given.
  sortBy(column) {
    if (this.by !== column) [this.by, this.down] = [column, false];
    else if (!this.down) this.down = true;
    else [this.by, this.down] = [null, false];
    this.heads.forEach((cell, i) => {
      attribute(cell, "aria-sort", this.columns[i] === this.by ? (this.down ? "descending" : "ascending") : null);
    });
    this.show(...this.given);
  }

  sorted(rows) {
    if (!this.by) return rows;
    const way = this.down ? -1 : 1;
    const keyed = rows.map((row, at) => ({row, at, value: this.by.sort(row)}));
    const words = new Intl.Collator("en", {numeric: true});
    keyed.sort((a, b) => {
      if (a.value === null || b.value === null) return (a.value === null) - (b.value === null) || a.at - b.at;
      const order = typeof a.value === "string" ? words.compare(a.value, b.value) : a.value - b.value;
      return way * order || a.at - b.at;
    });
    return keyed.map((it) => it.row);
  }

  // `rows` of `all` that there are.
  show(rows, all) {
    this.given = [rows, all];
    const shown = this.sorted(rows).slice(0, kMostRows);
    const before = this.rows;
    this.rows = new Map();
    let at = this.body.firstElementChild;
    for (const row of shown) {
      let key = String(this.rowKey(row));
      while (this.rows.has(key)) key += "+";
      const line = before.get(key) ?? this.newLine();
      before.delete(key);
      this.rows.set(key, line);
      this.fill(line, row);
      if (line === at) at = at.nextElementSibling;
      else this.body.insertBefore(line, at);
    }
    for (const line of before.values()) line.remove();
    for (const line of [...this.body.querySelectorAll(".empty")]) line.remove();
    if (shown.length === 0) {
      const line = part("tr", "row", "empty");
      const cell = part("td", "cell");
      cell.textContent = all > 0 ? "No job matches." : this.empty;
      cell.colSpan = this.columns.length;
      line.append(cell);
      this.body.append(line);
    }
    say(this.counter, rows.length < all ? `${number(rows.length)} of ${number(all)}` : number(all));
    this.more.hidden = shown.length >= rows.length;
    if (!this.more.hidden) {
      say(this.more, `${number(rows.length - shown.length)} more are not shown. Search or filter to find a job.`);
    }
  }

  newLine() {
    const line = part("tr", "row");
    for (const column of this.columns) {
      const cell = part("td", "cell", this.classOf(column));
      if (column.part) cell.append(make("span"), make("i"));
      line.append(cell);
    }
    return line;
  }

  fill(line, row) {
    this.columns.forEach((column, i) => {
      const cell = line.children[i];
      say(column.part ? cell.firstChild : cell, column.text(row));
      if (column.hint) attribute(cell, "title", column.hint(row));
      if (column.part) {
        const part = column.part(row);
        cell.lastChild.hidden = part === null;
        cell.lastChild.style.setProperty("--part", part ?? 0);
      }
    });
  }
}
