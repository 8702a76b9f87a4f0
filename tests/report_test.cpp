// berth evaluate --report: the page in a real browser, its figures, the result file, bad input.
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <regex>

#include "data/hdf5_file.hpp"
#include "env/base/check.hpp"
#include "tests/binary.hpp"
#include "tests/browser.hpp"
#include "tests/catch.hpp"
#include "tests/python.hpp"
#include "tests/skip.hpp"
#include "tests/temporary_folder.hpp"
#include "tools/json.hpp"

namespace berth {
namespace {

using test::Berth;
using test::CheckOneLine;
using test::Slurp;
using test::TemporaryFolder;

const std::string kWorkload =
    "evaluate --workload 'synthetic(rate=3,jobs=40,gangs=multi)' --cluster v100=8,k80=8 --schedulers "
    "'fcfs;srpt' ";

const std::string kShared =
    "evaluate --workload 'synthetic(rate=6,jobs=40)' --cluster v100=2,k80=2 --schedulers "
    "'gavel(packed=true);srpt' "
    "--seeds 0:1 --features 'failures(mtbf_h=20)' ";

const std::string kServices =
    "evaluate --workload 'synthetic(rate=2,jobs=20)' --cluster v100=4 --schedulers "
    "'autoscale(inner=fcfs,stable=1)' --seeds 0:1 --features 'services(rate_per_s=0.5,replicas=3)' ";

bool CanDraw() {
  return !test::Python(BERTH_SOURCE_DIR, "h5py, matplotlib").empty();
}

// What the browser finds, written into the page's own elements: pictures that it could draw, bars of the
// chart, what stands in the tip once the mouse is over one, how often the address changed while 40 turns of
// the wheel drew the chart and once they were over, and which files the page gave of itself.
constexpr const char* kProbe = R"(<script>addEventListener("load", () => {
  const images = [...document.images], canvas = document.getElementById("gantt"), box = canvas.getBoundingClientRect();
  const said = document.body.dataset, tip = document.getElementById("tip");
  said.images = images.filter((i) => i.complete && i.naturalWidth > 0).length + " of " + images.length;
  said.bars = canvas.dataset.drawn;
  said.schedulers = document.getElementById("who").options.length;
  for (let x = 70; x < box.width && !said.tip; x += 5) {
    for (let y = 3; y < box.height && !said.tip; y += 5) {
      const at = {clientX: box.left + x, clientY: box.top + y, bubbles: true};
      canvas.dispatchEvent(new MouseEvent("mousemove", at));
      if (!tip.hidden) said.tip = tip.textContent;
    }
  }
  const all = document.getElementById("all");
  all.click();
  said.afterwards = canvas.dataset.drawn;

  let addresses = 0;
  const replace = history.replaceState.bind(history);
  history.replaceState = (...address) => { ++addresses; replace(...address); };
  for (let turn = 0; turn < 40; ++turn) {
    canvas.dispatchEvent(new WheelEvent("wheel", {clientX: box.left + box.width / 2, deltaY: -20, cancelable: true}));
  }
  said.turning = addresses;
  const saved = [], make = URL.createObjectURL;
  let blob;
  URL.createObjectURL = (given) => make.call(URL, blob = given);
  HTMLAnchorElement.prototype.click = function () { saved.push(`${this.download} ${blob.type} ${blob.size > 1000}`); };
  for (const button of document.querySelectorAll("[data-save]")) button.click();
  setTimeout(() => {
    said.turned = addresses;
    said.address = location.hash;
    said.saved = saved.sort().join(", ");

    // A view of 14.4 s: its ticks, and what the address keeps of it.
    const written = [], write = CanvasRenderingContext2D.prototype.fillText;
    CanvasRenderingContext2D.prototype.fillText = function (text, ...at) { written.push(text); write.call(this, text, ...at); };
    for (const [id, hours] of [["from", 0.004], ["to", 0.008]]) {
      const field = document.getElementById(id);
      written.length = 0;
      field.value = hours;
      field.dispatchEvent(new Event("change"));
    }
    said.ticks = written.filter((text) => / h /.test(text)).join(", ");
    setTimeout(() => { said.short = location.hash; }, 1000);
  }, 3000);
});</script>)";

std::string Said(const std::string& dom, const std::string& name) {
  std::smatch match;
  return std::regex_search(dom, match, std::regex("data-" + name + "=\"([^\"]*)\"")) ? match[1].str() : "";
}

int Pictures(const std::string& folder, const std::string& extension) {
  int count = 0;
  for (const auto& entry : std::filesystem::directory_iterator(folder))
    count += entry.path().extension() == extension && entry.file_size() > 1000;
  return count;
}

}  // namespace

TEST_CASE("report: a page that needs no network, and opens in a browser without errors") {
  if (!CanDraw()) return test::Skip("needs h5py and matplotlib: tools/setup");
  const TemporaryFolder folder;
  REQUIRE(Berth(folder, kWorkload + "--seeds 7:8 --out low.h5").code == 0);
  const test::Outcome ran = Berth(folder, kWorkload + "--seeds 0:2 --report page --report-with low.h5");
  CAPTURE(ran.error, ran.out);
  REQUIRE(ran.code == 0);
  const std::string page = Slurp(folder / "page/index.html");
  // Nothing is fetched, and nothing leads out of it: every src is data, and links go within the page.
  static const std::regex kOutside(R"re((src|href)="(?!data:|#)|url\(|@import|<link rel="style)re");
  CHECK_FALSE(std::regex_search(page, kOutside));
  // Eleven figures, one of them of the two loads, and a chart a scheduler; each as SVG and PNG.
  CHECK(Pictures(folder / "page", ".svg") == 13);
  CHECK(Pictures(folder / "page", ".png") == 13);
  CHECK(page.find("--seeds 0:2 --report page --report-with low.h5") != std::string::npos);
  CHECK(page.find("schedulers=fcfs;srpt") != std::string::npos);

  const std::string browser = test::Browser();
  if (browser.empty()) return test::Skip("needs chromium: tools/setup --browser");
  std::ofstream(folder / "page/probe.html")
      << std::regex_replace(page, std::regex("</body>"), std::string(kProbe) + "</body>");
  const std::string command = Join("cd '", folder.path(), "' && timeout 60 ", browser,
                                   " --headless --no-sandbox --disable-gpu --disable-dev-shm-usage "
                                   "--enable-logging=stderr --window-size=1200,900 "
                                   "--virtual-time-budget=10000 --dump-dom 'file://",
                                   folder / "page/probe.html", "' >dom.html 2>console.txt");
  REQUIRE(std::system(command.c_str()) == 0);
  const std::string dom = Slurp(folder / "dom.html"), console = Slurp(folder / "console.txt");
  CAPTURE(console);
  CHECK(console.find("CONSOLE") == std::string::npos);  // neither errors nor anything else
  CHECK(Said(dom, "images") == "11 of 11");
  CHECK(Said(dom, "schedulers") == "2");
  CHECK(std::atoi(Said(dom, "bars").c_str()) > 10);
  CHECK(std::atoi(Said(dom, "afterwards").c_str()) >= std::atoi(Said(dom, "bars").c_str()));
  CHECK(std::regex_search(Said(dom, "tip"),
                          std::regex("^job \\d+: .*GPU.*\\n(v100|k80) \\d: .* to .*\\narrived")));
  // Browsers refuse addresses that change too often: one, when the wheel has come to rest.
  CHECK(Said(dom, "turning") == "0");
  CHECK(Said(dom, "turned") == "1");
  CHECK(std::regex_search(Said(dom, "address"), std::regex("^#k=0&(amp;)?from=[0-9.]+&(amp;)?to=[0-9.]+$")));
  CHECK(std::regex_search(Said(dom, "short"), std::regex("^#k=0&(amp;)?from=0.004&(amp;)?to=0.008$")));
  CHECK(Said(dom, "ticks") == "0 h 00 min 15 s, 0 h 00 min 20 s, 0 h 00 min 25 s");
  std::string saved;
  for (const std::string figure : {"decision_times", "fairness", "ftf_cdf", "gantt", "jct_by_gang", "jct_cdf",
                                   "jct_load", "mean_jct", "queue", "slowdown", "tails", "utilisation"}) {
    saved += Join(saved.empty() ? "" : ", ", figure, ".png image/png true");
    if (figure != "gantt") saved += Join(", ", figure, ".svg image/svg+xml true");
  }
  CHECK(Said(dom, "saved") == saved);
}

TEST_CASE("report: the result file has what it says, equal to the JSON") {
  const TemporaryFolder folder;
  REQUIRE(Berth(folder, kWorkload + "--seeds 0:2 --out e.h5 --timeline t.json --json e.json").code == 0);
  const h5::Reader in(folder / "e.h5", "evaluation", 1);
  const Json json = ReadJson(folder / "e.json");
  const auto slowdown = in.Array<double>("metrics/mean_slowdown", 4);
  const auto ratios = in.Array<double>("jct_ratio", 6);
  const auto jct = in.Array<double>("jct_s"), waits = in.Array<double>("wait_s", 2 * 2 * 40),
             alone = in.Array<double>("alone_s", 2 * 40), ftf = in.Array<double>("ftf", 2 * 2 * 40);
  for (std::size_t k = 0; k < 2; ++k) {
    const Json& row = json["schedulers"][k];
    CHECK((slowdown[2 * k] + slowdown[2 * k + 1]) / 2 ==
          Approx(row["mean_slowdown"].get<double>()).epsilon(1e-14));
    CHECK(ratios[3 * k] == row["jct_ratio"]["mean"].get<double>());
    // The means of the columns are the figures: waits, and slowdowns from their definition.
    double wait = 0.0, slow = 0.0, mean_ftf = 0.0, max_ftf = 0.0;
    for (std::size_t i = 0; i < 80; ++i) {
      mean_ftf += ftf[80 * k + i] / 80;
      max_ftf = std::max(max_ftf, ftf[80 * k + i]);
      wait += waits[80 * k + i] / 80;
      slow += std::max(1.0, jct[80 * k + i] / std::max(alone[i], 10.0)) / 80;
    }
    CHECK(mean_ftf == Approx(row["mean_ftf"].get<double>()).epsilon(1e-12));
    CHECK(max_ftf == row["max_ftf"].get<double>());
    CHECK(wait == Approx(row["mean_wait_s"].get<double>()).margin(1e-6));
    CHECK(slow == Approx(row["mean_slowdown"].get<double>()).epsilon(1e-12));
    std::int64_t decisions = 0;
    const auto counts = in.Array<std::int64_t>("decision_us/counts");
    for (std::size_t i = 0; i < counts.size() / 2; ++i) decisions += counts[k * counts.size() / 2 + i];
    CHECK(decisions == row["decisions"].get<std::int64_t>());
  }
  const std::string python = test::Python(BERTH_SOURCE_DIR, "h5py, matplotlib");
  if (!python.empty()) {
    // What is drawn from it comes to the figures; jobs that share GPUs, and replicas of services, too.
    REQUIRE(Berth(folder, kShared + "--out shared.h5 --timeline t.json").code == 0);
    REQUIRE(Berth(folder, kServices + "--out services.h5 --timeline t.json").code == 0);
    for (const char* file : {"e.h5", "shared.h5", "services.h5"}) {
      const int checked =
          std::system(Join("cd '", folder.path(), "' && '", python,
                           "' '" BERTH_SOURCE_DIR "/tests/check_report.py' ", file, " 2>error.txt")
                          .c_str());
      CAPTURE(Slurp(folder / "error.txt"));
      CHECK(checked == 0);
    }
  }
  const auto begin = in.Array<std::int32_t>("recording/spans/devices_begin"),
             count = in.Array<std::int32_t>("recording/spans/devices_count"),
             job = in.Array<std::int32_t>("recording/spans/job");
  const auto gang = in.Array<std::int32_t>("recording/jobs/gang");
  const auto devices = in.Array<std::int32_t>("recording/devices");
  std::int32_t next = 0;
  for (std::size_t i = 0; i < begin.size(); ++i) {
    REQUIRE(begin[i] == next);
    REQUIRE(count[i] == gang[static_cast<std::size_t>(job[i])]);
    next += count[i];
  }
  CHECK(next == static_cast<std::int32_t>(devices.size()));
  REQUIRE(Berth(folder, kWorkload + "--seeds 0:2 --out plain.h5").code == 0);
  CHECK_FALSE(h5::Reader(folder / "plain.h5", "evaluation", 1).Has("wait_s"));
}

TEST_CASE("report: jobs that were packed or moved are marked in the result file and in the timeline") {
  const TemporaryFolder folder;
  REQUIRE(Berth(folder, kShared + "--out shared.h5 --timeline t.json").code == 0);
  const h5::Reader in(folder / "shared.h5", "evaluation", 1);
  const auto scheduler = in.Array<std::int32_t>("recording/spans/scheduler");
  const auto marks = in.Array<std::uint8_t>("recording/spans/marks", scheduler.size());
  int packed[2] = {0, 0}, moved[2] = {0, 0};
  for (std::size_t i = 0; i < marks.size(); ++i) {
    packed[scheduler[i]] += marks[i] >> 1 & 1, moved[scheduler[i]] += marks[i] >> 3 & 1;
    REQUIRE(marks[i] < 16);
  }
  CHECK(packed[0] >= 2);
  CHECK(packed[1] == 0);  // srpt packs nobody
  CHECK(moved[0] > 0);
  int named = 0;
  const Json trace = ReadJson(folder / "t.json");
  for (const Json& event : trace["traceEvents"]) {
    if (event.value("ph", "") != "X" || !event.contains("args") || !event["args"].contains("marks")) continue;
    named += event["args"]["marks"].get<std::string>().find("packed") != std::string::npos ? 1 : 0;
  }
  CHECK(named == packed[0]);  // of one GPU each
}

// Of two GPUs and 60 jobs at once nobody may wait for the second scheduler, so that no job of the window
// ends.
TEST_CASE("report: who finishes no job has no figures, and the page is made all the same") {
  const TemporaryFolder folder;
  const std::string ask =
      "evaluate --schedulers 'srpt;fcfs(queue_limit=0)' --workload 'synthetic(rate=0,jobs=60)' --cluster "
      "v100=2 "
      "--seeds 0:2 --window 30:40 --json none.json";
  const test::Outcome ran = Berth(folder, ask + (CanDraw() ? " --report page" : ""));
  CAPTURE(ran.error, ran.out);
  REQUIRE(ran.code == 0);
  CHECK_THAT(ran.out, Catch::Contains("it has no figures of jobs"));
  const auto json = Json::parse(Slurp(folder / "none.json"));
  const auto& row = json.at("schedulers").at(1);
  CHECK(row.at("jobs") == 0);
  CHECK(row.at("mean_jct_s").is_null());
  CHECK(row.at("workloads").at(0).at("mean_jct_s").is_null());
  CHECK(row.at("jct_ratio").at("mean").is_null());
  CHECK(json.at("schedulers").at(0).at("mean_jct_s") > 0.0);
}

// The table of the page has the chosen columns, in their order, and what it shows is what the terminal shows.
TEST_CASE("report: its table shows the columns of --metrics") {
  if (!CanDraw()) return test::Skip("needs h5py and matplotlib: tools/setup");
  const TemporaryFolder folder;
  const std::string run =
      "evaluate --workload 'synthetic(rate=3,jobs=20)' --cluster v100=2,k80=2 --seeds 0:2 ";
  const auto head = [&](const std::string& more) {
    const test::Outcome ran = Berth(folder, run + "--schedulers 'fcfs;srpt' --report page" + more);
    CAPTURE(ran.error);
    REQUIRE(ran.code == 0);
    const std::string page = Slurp(folder / "page/index.html");
    const std::size_t begin = page.find("<thead>");
    std::string text = page.substr(begin, page.find("</table>", begin) - begin);
    for (const char* tag :
         {"<thead>", "</thead>", "<tbody>", "</tbody>", "<tr>", "</tr>", "\n", " class=best"})
      text = std::regex_replace(text, std::regex(tag), "");
    return std::pair{ran.out, std::regex_replace(text, std::regex("<t[dh]( title=\"[^\"]*\")?>"), "")};
  };
  const auto [out, chosen] = head(" --metrics wait,deadline_misses,fragmentation,p95_jct_s");
  static const std::regex kCells("</t[dh]>");
  const std::vector<std::string> cells{std::sregex_token_iterator(chosen.begin(), chosen.end(), kCells, -1),
                                       {}};
  REQUIRE(cells.size() == 3 * 9);
  CHECK(std::vector<std::string>(cells.begin() + 4, cells.begin() + 8) ==
        std::vector<std::string>{"wait h", "missed %", "fragmentation", "p95 h"});
  CHECK(cells[9 + 6] == "-");  // of a feature that is off
  for (const std::size_t row : {9, 18}) {
    std::string line = cells[row];  // as on the terminal, where blanks align
    for (std::size_t i = 1; i < 8; ++i)
      line += " +" + std::regex_replace(cells[row + i], std::regex("[\\[\\].]"), "\\$&");
    CAPTURE(line, out);
    CHECK(std::regex_search(out, std::regex(line)));
  }
  // Without --metrics a page has more columns than the terminal.
  const auto [plain, all] = head("");
  CHECK(plain.find("max rho") == std::string::npos);
  CHECK_THAT(all, Catch::Contains("max rho</th>Jain</th>preemptions</th>energy kWh</th>cost</th>"));
}

// Three tenants' jobs, each tenant's a tenth of an hour longer than the last one's; the page has a figure of
// them, and one of gang sizes only where there are several.
TEST_CASE("report: completion times by tenant where there are tenants") {
  if (!CanDraw()) return test::Skip("needs h5py and matplotlib: tools/setup");
  const TemporaryFolder folder;
  std::ofstream jobs(folder / "jobs.csv");
  jobs << "arrival,duration,gpus,tenant\n";
  for (int job = 0; job < 12; ++job)
    jobs << 60 * job << "," << 360 * (1 + job % 3) << ",1,team" << job % 3 << "\n";
  jobs.close();
  const test::Outcome made = Berth(folder, "convert --format table jobs.csv --cluster v100=20 --out jobs.h5");
  CAPTURE(made.error);
  REQUIRE(made.code == 0);
  const test::Outcome ran =
      Berth(folder,
            "evaluate --scenario jobs.h5 --clock event --schedulers 'fcfs;srpt' --window 2:11 --report page");
  CAPTURE(ran.error);
  REQUIRE(ran.code == 0);
  const h5::Reader in(folder / "page/evaluation.h5", "evaluation", 1);
  CHECK(in.Strings("tenants") == std::vector<std::string>{"team0", "team1", "team2"});
  CHECK(in.Array<std::int32_t>("tenant") == std::vector<std::int32_t>{2, 0, 1, 2, 0, 1, 2, 0, 1});
  CHECK(in.Array<std::int32_t>("gang") == std::vector<std::int32_t>(9, 1));
  const std::string page = Slurp(folder / "page/index.html");
  CHECK(page.find("picture-jct_by_tenant") != std::string::npos);
  CHECK(page.find("picture-jct_by_gang") == std::string::npos);
}

// A line joins loads of one setting only.
TEST_CASE("report: evaluations of another setting are not joined") {
  const TemporaryFolder folder;
  REQUIRE(Berth(folder, kWorkload + "--seeds 7:8 --clock event --out other.h5").code == 0);
  CheckOneLine(Berth(folder, kWorkload + "--seeds 7:8 --report page --report-with other.h5"),
               "--report-with: other.h5: expected an evaluation at another load and otherwise like this one");
}

// What was there is three words; Ctrl-C comes where matplotlib is loaded, or once every figure is drawn.
TEST_CASE("report: an older one stays whole until the new one is drawn") {
  const std::string python = test::Python(BERTH_SOURCE_DIR, "h5py, matplotlib");
  if (python.empty()) return test::Skip("needs h5py and matplotlib: tools/setup");
  const TemporaryFolder folder;
  namespace fs = std::filesystem;
  const std::vector<std::string> files = {"evaluation.h5", "index.html", "mean_jct.svg", "own.txt"};
  for (const char* created : {"my page", "stub"}) fs::create_directory(folder / created);
  for (const std::string& file : files) std::ofstream(folder / ("my page/" + file)) << "older";
  const auto older = [&] {
    int count = 0;
    for (const std::string& file : files) count += Slurp(folder / ("my page/" + file)) == "older";
    return count;
  };
  std::ofstream(folder / "stub/matplotlib.py") << "raise KeyboardInterrupt('stopped')\n";
  const std::string ask =
      "evaluate --workload 'toy(jobs=5)' --cluster v100=2 --schedulers fcfs --seeds 0:1 --report 'my page'";
  const char* path = std::getenv("PYTHONPATH");
  const std::string before = path != nullptr ? path : "";
  setenv("PYTHONPATH", (folder / "stub").c_str(), 1);
  const test::Outcome stopped = Berth(folder, ask);
  path != nullptr ? setenv("PYTHONPATH", before.c_str(), 1) : unsetenv("PYTHONPATH");
  CheckOneLine(stopped, "draw them with: ");
  CHECK(older() == 4);
  // Figures are drawn, the page is not.
  std::ofstream(folder / "stop.py")
      << "import sys\n"
         "sys.path.insert(0, '" BERTH_SOURCE_DIR
         "/tools/report')\n"
         "import page, report\n"
         "def stop(*given):\n"
         "    raise KeyboardInterrupt\n"
         "page.write = stop\n"
         "sys.argv = ['report.py', 'my page/.new/evaluation.h5', '--out', 'my page']\n"
         "report.main()\n";
  const std::string in = Join("cd '", folder.path(), "' && ");
  CHECK(std::system(Join(in, "'", python, "' stop.py 2>error.txt").c_str()) != 0);
  CAPTURE(Slurp(folder / "error.txt"));
  CHECK(Slurp(folder / "error.txt").find("KeyboardInterrupt") != std::string::npos);
  CHECK(older() == 4);
  // What the error said to type finishes the report, and nothing is left beside it.
  const std::string command = stopped.error.substr(stopped.error.find("draw them with: ") + 16);
  CAPTURE(command);
  CHECK(std::system(Join(in, command.substr(0, command.find('\n')), " 2>error.txt").c_str()) == 0);
  CHECK(older() == 1);  // own.txt
  CHECK_FALSE(fs::exists(folder / "my page/.new"));
  CHECK(h5::KindOf(folder / "my page/evaluation.h5") == "evaluation");
  const std::string page = Slurp(folder / "my page/index.html");
  CHECK(page.find("my page/evaluation.h5&#x27; --out") != std::string::npos);
  CHECK(page.find(".new") == std::string::npos);
}

TEST_CASE("report: bad input is one line") {
  const TemporaryFolder folder;
  std::ofstream(folder / "file") << "text";
  CheckOneLine(Berth(folder, "evaluate --report file"), "--report: cannot make the folder file");
  CheckOneLine(Berth(folder, "evaluate --report ''"), "--report: expected a folder, found nothing");
  CheckOneLine(Berth(folder, "evaluate --report-with file"), "--report-with: expected --report DIR with it");
  CheckOneLine(Berth(folder, "evaluate --report d --report-with file"), "--report-with: file: ");
  CheckOneLine(Berth(folder, "evaluate --report d --report-with none.h5"), "none.h5");
  if (!CanDraw()) return test::Skip("needs h5py and matplotlib: tools/setup");
  const std::string python = test::Python(BERTH_SOURCE_DIR, "h5py, matplotlib");
  REQUIRE(Berth(folder, "generate --workload toy --out s.h5").code == 0);
  const int status =
      std::system(Join("cd '", folder.path(), "' && '", python,
                       "' '" BERTH_SOURCE_DIR "/tools/report/report.py' s.h5 --out d 2>error.txt")
                      .c_str());
  CHECK(status != 0);
  CAPTURE(Slurp(folder / "error.txt"));
  CHECK(Slurp(folder / "error.txt").find("s.h5: expected an evaluation file") == 0);
}

}  // namespace berth
