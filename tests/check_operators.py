"""Opens the page for operators in a real browser: check_operators.py BROWSER GUARDED_URL TOKEN BUSY_URL [PICTURE.png].

GUARDED: the sample document (tests/operators/status.json) behind a token, writable, with a controller that takes up what it is asked for.
BUSY: the same at 10,000 jobs in mode control, read-only, not healthy, its heartbeat stale.
"""
import json
import pathlib
import re
import sys

from browser import Browser

SAMPLE = json.loads((pathlib.Path(__file__).parent / "operators/status.json").read_text(encoding="utf-8"))
CELLS = "[...document.querySelectorAll('#{} tbody td.{}')].map((cell) => cell.textContent)"
# Wait until the page has drawn n more answers; its clock is that of the document, which the controller moves on.
UPDATES = "new Promise((done) => {{ const list = () => performance.getEntriesByType('resource').filter((e) => e.name.endsWith('api/status')).length;" \
          " const until = list() + {}; const timer = setInterval(() => list() >= until && (clearInterval(timer), setTimeout(done, 100, true)), 20); }})"
# Of what is read: the ratio of luminances of text and ground (WCAG 2.2), the least of the page.
CONTRAST = """(() => {
  const channels = (text) => text.match(/[0-9.]+/g).map(Number);
  const light = (rgb) => { const [r, g, b] = rgb.map((c) => (c /= 255) <= 0.04045 ? c / 12.92 : ((c + 0.055) / 1.055) ** 2.4);
    return 0.2126 * r + 0.7152 * g + 0.0722 * b; };
  const ground = (e) => { for (; e; e = e.parentElement) { const c = channels(getComputedStyle(e).backgroundColor);
    if (c.length < 4 || c[3] > 0) return c; } return [255, 255, 255]; };
  const found = [...document.querySelectorAll("body *")].filter((e) => e.checkVisibility() && !e.disabled &&
      [...e.childNodes].some((n) => n.nodeType === 3 && n.data.trim())).map((e) => {
    const [a, b] = [light(channels(getComputedStyle(e).color).slice(0, 3)), light(ground(e).slice(0, 3))];
    return [(Math.max(a, b) + 0.05) / (Math.min(a, b) + 0.05), `${e.tagName}#${e.id}.${e.className}: ${e.textContent.slice(0, 30)}`]; });
  return found.sort((x, y) => x[0] - y[0])[0]; })()"""


def expect(holds, what):
    if not holds:
        sys.exit(what)


def equal(found, expected, what):
    expect(found == expected, f"{what}: expected {expected!r}, found {found!r}")


def shown(browser, selector):
    return browser.run(f"document.querySelector('{selector}').checkVisibility()")


def text(browser, selector):
    return browser.run(f"document.querySelector('{selector}').textContent")


def cells(browser, table, column):
    return browser.run(CELLS.format(table, column))


def replace_text(browser, selector, words):
    browser.run(f"document.querySelector('{selector}').select()")
    browser.type(words)


def log_in(browser, url, token):
    """Without the token there is a field for it, and no figure anywhere."""
    browser.open(url)
    browser.until("document.querySelector('#login').checkVisibility()")
    expect(not shown(browser, "#main") and not cells(browser, "queue", "id"), "figures without a token")
    equal(browser.run("document.activeElement.id"), "token", "who has the focus")
    browser.type("not-the-token-at-all")
    browser.press("Enter")
    browser.until("document.querySelector('#login-error').textContent === 'That token was refused.'")
    expect(not shown(browser, "#main"), "figures with a wrong token")
    browser.type(token)
    browser.click("#login button")
    browser.until("document.querySelector('#main').checkVisibility()")
    expect(token not in browser.run("location.href + document.documentElement.outerHTML"), "the token stands in the page or its address")
    # The network says so too, whatever the page does.
    refused = """Promise.all([fetch("api/status"), fetch("metrics"), fetch("api/status", {headers: {Authorization: "Bearer x"}}),
        fetch("api/mode", {method: "POST", body: '{"mode":"control","confirm":"control"}', headers: {"Content-Type": "application/json"}})])
        .then((all) => all.map((one) => one.status))"""
    equal(browser.run(refused), [401, 401, 401, 401], "without a token")


def check_text(browser):
    """What users wrote is text: shown as it is, but for what hides or turns it, and never run."""
    names = cells(browser, "queue", "name")
    hidden = re.compile("[\u0000-\u001f\u202a-\u202e]")
    equal(names, [hidden.sub("\u00b7", job["name"]) for job in SAMPLE["queue"]], "names")
    equal(cells(browser, "queue", "reason")[40], "</td><script>alert(2)</script>", "a reason")
    equal(browser.run("document.querySelectorAll('main img, main svg, main script, main b, #refusals i').length"), 0, "elements out of names")
    equal(browser.run("document.title"), "dry-run · twin · Berth", "title")


def check_figures(browser):
    """By hand, of job 4150: submitted 16,113 s ago, 4 h and 28.55 min, rounded to minutes; forecast 28 s, 17 s to 50 s."""
    row = browser.run("[...document.querySelector('#queue tbody tr').children].map((cell) => cell.textContent)")
    equal(row, ["4150", "train-resnet50-99", "bob", "gpu", "resnet", "8", "4 h 29", "28 s", "17 s – 50 s", "waits for 2 nodes of v100"], "row")
    # 9 nodes of 4 GPUs, 26 in use; two are out of service, 8 GPUs: 26 of 28 are 93%.
    found = browser.run("[...document.querySelectorAll('#summary dd:nth-of-type(1)')].map((e) => e.textContent)")
    equal(found, ["46", "8 h 53", "10", "93%", "0.10 s", "0.41 s"], "summary")
    types = browser.run("[...document.querySelectorAll('#nodes .type')].map((t) => [t.querySelector('h3').textContent,"
                        " t.querySelectorAll('.node i').length, t.querySelectorAll('.node i.used').length])")
    equal(types, [["v10012 of 12 in use", 12, 12], ["p1007 of 12 in use, 4 out of service", 12, 7], ["k807 of 12 in use, 4 out of service", 12, 7]], "GPUs")
    expect("p3 drained: ECC errors on GPU 2 (ops ticket 1188)" in text(browser, "#nodes"), "why a node is out of service")
    equal(cells(browser, "would", "slurm")[:2], ["started on v3 1 s later", "not yet"], "what Slurm did")
    equal(browser.run("document.querySelectorAll('#refusals li').length"), 2, "refusals")
    expect("-11.4% against srpt" in text(browser, "#policy"), "the policy's card")
    equal(cells(browser, "running", "ends")[5], "45 s over", "who runs longer than expected")


def check_undrawn(browser):
    """Of 1,003 nodes with GPUs and 50 without, 1,000 are drawn: 3 more."""
    found = browser.run("""import("./nodes.js").then(({Nodes}) => {
        const of = (n, gpus) => Array.from({length: n}, (_, i) => ({name: `n${gpus}-${i}`, type: "v100", gpus, used: 0, state: "idle"}));
        const box = document.createElement("div");
        new Nodes(box, () => {}).show([...of(50, 0), ...of(1003, 1)], [], "");
        return [box.querySelectorAll(".node").length, box.querySelector(".more").textContent]; })""")
    equal(found, [1000, "3 more nodes are not drawn."], "nodes beyond those drawn")


def check_sorting(browser):
    given = cells(browser, "queue", "id")
    button = "#queue th.gpu button"
    for state, want in (("ascending", sorted), ("descending", lambda it: sorted(it, reverse=True))):
        browser.click(button)
        gpus = [int(cell) for cell in cells(browser, "queue", "gpu")]
        equal(gpus, want(gpus), f"{state} by GPUs")
        equal(browser.run("document.querySelector('#queue th.gpu').ariaSort"), state, "aria-sort")
    browser.click(button)
    equal(cells(browser, "queue", "id"), given, "the third click gives the order back")
    # Forecasts as numbers, who has none last.
    median = {str(job["id"]): (job["forecast_s"] or {}).get("median") or 1e9 for job in SAMPLE["queue"]}
    browser.click("#queue th.start button")
    found = [median[job] for job in cells(browser, "queue", "id")]
    equal(found, sorted(found), "by forecast")
    browser.click("#queue th.start button"), browser.click("#queue th.start button")
    equal(cells(browser, "queue", "range")[45], "from 15 min", "an interval without an end")


def check_filters(browser):
    browser.run("""(() => { const user = document.querySelector("#user"); user.value = "ann"; user.dispatchEvent(new Event("change")); })()""")
    mine = [str(job["id"]) for job in SAMPLE["queue"] if job["user"] == "ann"]
    equal(cells(browser, "queue", "id"), mine, "of ann")
    equal(text(browser, "#queue-count"), f"{len(mine)} of 46", "how many")
    browser.click("#search")
    browser.type("RESNET 4200")
    equal(cells(browser, "queue", "id"), [], "of ann, resnet and 4200: 4200 is emil's")
    equal(text(browser, "#queue .empty"), "No job matches.", "nothing")
    browser.click("#clear")
    replace_text(browser, "#search", "resnet 42")
    found = cells(browser, "queue", "id")
    expect(0 < len(found) < 20 and all(job.startswith("42") for job in found), f"resnet 42: {found}")
    # Two updates later all is as it was: the filter, the focus, the very rows.
    browser.run("window.row = document.querySelector('#queue tbody tr')")
    expect(browser.run(UPDATES.format(2)), "updates")
    equal(cells(browser, "queue", "id"), found, "the filter after updates")
    expect(browser.run("row === document.querySelector('#queue tbody tr') && document.activeElement.id === 'search'"), "another row, or focus")
    browser.click("#clear")
    scroll = "document.querySelector('#queue').parentElement.scrollTop"
    browser.run(f"{scroll} = 200")
    browser.run(UPDATES.format(2))
    equal(browser.run(scroll), 200, "where the queue was scrolled to")
    browser.run(f"{scroll} = 0")
    # A node, with the keyboard: who runs there.
    browser.run("document.querySelector('.node').focus()")
    browser.press("ArrowRight"), browser.press("ArrowRight"), browser.press("Enter")
    equal(cells(browser, "running", "id"), [str(job["id"]) for job in SAMPLE["running"] if "v3" in job["nodes"]], "who runs on v3")
    browser.click("#clear")
    equal(len(cells(browser, "running", "id")), 10, "all again")


def check_labels(browser):
    """Everything that can be used has a name, in the browser's own accessibility tree; and the tables are tables."""
    tree = browser.call("Accessibility.getFullAXTree")["nodes"]
    roles = [(node["role"]["value"], node.get("name", {}).get("value", "")) for node in tree if not node.get("ignored")]
    for role, name in roles:
        expect(name or role not in ("button", "textbox", "searchbox", "combobox", "radio", "link", "region"), f"a {role} without a name")
    count = {role: sum(1 for found, _ in roles if found == role) for role in ("table", "columnheader", "main")}
    equal(count, {"table": 3, "columnheader": 10 + 10 + 4, "main": 1}, "roles")


def check_mode(browser):
    """It takes a choice and its name, typed; what changes stands there before."""
    browser.click("#mode-change")
    expect(browser.run("document.querySelector('#switch').open && document.querySelector('#switch-do').disabled"), "the dialog")
    browser.press("Escape")
    browser.until("!document.querySelector('#switch').open")
    browser.click("#mode-change")
    browser.click("#switch input[value=control]")
    changes = text(browser, "#switch-changes")
    expect("46 waiting jobs of partitions gpu, long" in changes and "10 running jobs" in changes, f"what changes: {changes}")
    browser.click("#switch-word")
    for typed, ready in (("contro", False), ("l", True), ("!", False)):
        browser.type(typed)
        equal(browser.run("!document.querySelector('#switch-do').disabled"), ready, f"after {typed}")
    browser.press("Enter")
    expect(browser.run("document.querySelector('#switch').open"), "a wrong word was taken")
    replace_text(browser, "#switch-word", "control")
    browser.click("#switch-do")
    browser.until("!document.querySelector('#switch').open")
    browser.until("document.querySelector('#mode').dataset.mode === 'control'")
    equal(text(browser, "#mode-name"), "control", "the banner")
    expect(not shown(browser, "#would-section"), "what Berth would do, where it does it")


def check_lost(browser):
    """Without an answer the last figures stay, greyed, under a banner that says since when; then all is well again."""
    offline = {"offline": True, "latency": 0, "downloadThroughput": -1, "uploadThroughput": -1}
    browser.call("Network.emulateNetworkConditions", **offline)
    browser.until("document.querySelector('#alerts .lost')?.checkVisibility()")
    expect("What you see is from" in text(browser, "#alerts"), "since when")
    equal(len(cells(browser, "queue", "id")), 46, "the last figures")
    expect(browser.run("document.body.classList.contains('stale') && getComputedStyle(document.querySelector('main')).filter !== 'none'"), "grey")
    browser.call("Network.emulateNetworkConditions", **{**offline, "offline": False})
    browser.until("!document.querySelector('#alerts').textContent && !document.body.classList.contains('stale')")


def check_busy(browser, url):
    browser.open(url)
    browser.until("document.querySelector('#main').checkVisibility()")
    browser.press("Tab")
    equal(browser.run("document.activeElement.className"), "skip", "the first stop of Tab")
    browser.press("Enter")
    equal(browser.run("document.activeElement.id"), "queue-title", "where it leads")
    equal(len(cells(browser, "queue", "id")), 300, "rows of 10,000 jobs")
    equal(text(browser, "#queue-more"), "9,700 more are not shown. Search or filter to find a job.", "the others")
    equal(text(browser, "#queue-count"), "10,000", "all")
    replace_text(browser, "#search", "bulk-09999")
    equal(cells(browser, "queue", "name"), ["bulk-09999"], "the last one is found")
    alerts = text(browser, "#alerts")
    expect("slurmctld does not answer <b>" in alerts and "Heartbeat stale" in alerts, f"alerts: {alerts}")
    expect(not shown(browser, "#mode-change") and shown(browser, "#mode-fixed"), "read-only")
    for width in (1440, 390):
        browser.size(width, 900)
        for dark in (False, True):
            browser.dark(dark)
            expect(browser.run("document.documentElement.scrollWidth <= innerWidth"), f"wider than {width}")
            ratio, where = browser.run(CONTRAST)
            expect(ratio >= 4.5, f"{width}, dark {dark}: a contrast of {ratio:.2f} at {where}")
    expect(browser.run("document.querySelector('#queue td.reason').checkVisibility()"), "the reason, on a narrow screen")
    check_busy_labels(browser)
    # Answers as a controller gives them that hangs, with a mode asked for and not taken up.
    browser.run("""{ const real = fetch; window.fetch = async (...to) => { const json = await (await real(...to)).json();
        return new Response(JSON.stringify({...json, age_s: 99, asked_mode: "dry-run"})); }; }""")
    browser.until("document.querySelector('#alerts').textContent.includes('No cycle has ended for more than 30 s')")
    expect(browser.run("document.body.classList.contains('stale')"), "grey")
    expect(text(browser, "#mode-asked").startswith("dry-run asked for"), "what is asked for")
    # And as one that starts, or one that sends no document.
    for answer, head in (("new Response('{}', {status: 503})", "Berth is starting"), ("new Response('[]')", "Not drawn"),
                         ("new Response('<p>')", "Not drawn")):
        browser.run(f"window.fetch = async () => {answer}")
        browser.until(f"document.querySelector('#alerts').textContent.includes('{head}')")
        equal(len(cells(browser, "queue", "id")), 1, "what was there")


def check_busy_labels(browser):
    """Laid out as a grid, a table is still one."""
    tree = browser.call("Accessibility.getFullAXTree")["nodes"]
    roles = [node["role"]["value"] for node in tree if not node.get("ignored")]
    expect(roles.count("table") == 2 and roles.count("row") >= 4 and "cell" in roles, "tables on a narrow screen")


def main(program, guarded, token, busy, picture=None):
    browser = Browser(program)
    try:
        browser.size(1440, 900)
        browser.dark(False)
        log_in(browser, guarded, token)
        if picture:
            browser.picture(picture)
        for check in (check_text, check_figures, check_undrawn, check_sorting, check_filters, check_labels, check_mode, check_lost):
            check(browser)
        browser.click("#log-out")
        browser.until("document.querySelector('#login').checkVisibility() && !document.querySelector('#main').checkVisibility()")
        equal(browser.run("sessionStorage.length"), 0, "a token is forgotten")
        check_busy(browser, busy)
        equal(browser.complaints, [], "complaints")
    finally:
        browser.close()


if __name__ == "__main__":
    main(*sys.argv[1:])
