#include "tools/explain_page.hpp"

#include <algorithm>
#include <cmath>
#include <fstream>
#include <sstream>

#include "env/base/check.hpp"
#include "env/base/counted.hpp"
#include "tools/home.hpp"
#include "tools/table.hpp"

namespace berth {
namespace {

constexpr double kDay = 24.0 * 3600.0;  // on either side of the moment, of a longer run

std::string Escape(const std::string& text) {
  std::string out;
  for (const char c : text) {
    switch (c) {
      case '&':
        out += "&amp;";
        break;
      case '<':
        out += "&lt;";
        break;
      case '>':
        out += "&gt;";
        break;
      case '"':
        out += "&quot;";
        break;
      default:
        out += c;
    }
  }
  return out;
}

std::string Part(const char* file) {
  const std::string path = HomeFile(Join("tools/report/", file));
  std::ifstream in(path);
  std::ostringstream text;
  text << in.rdbuf();
  if (!in) throw Error(Join(path, ": expected a part of the page there, found nothing to read"));
  return text.str();
}

std::string ClockText(double seconds) {
  const double whole = std::round(seconds);
  const auto minutes = static_cast<long>(std::floor(whole / 60.0));
  const auto rest = static_cast<long>(whole - 60.0 * static_cast<double>(minutes));
  return Join(minutes / 60, " h ", minutes % 60 < 10 ? "0" : "", minutes % 60, " min",
              rest > 0 ? Join(" ", rest, " s") : "");
}

// "1st": of what was chosen.
std::string Nth(int n) {
  constexpr const char* kEnds[] = {"th", "st", "nd", "rd"};
  const bool plain = n % 10 > 3 || (n % 100 > 10 && n % 100 < 14);
  return Join(n, plain ? "th" : kEnds[n % 10]);
}

std::string Signed(double value) {
  return Join(value < 0.0 ? "" : "+", Fixed(value, 3));
}

// A bar of `share` of its cell, from the left, or of a cell with a middle from there to either side.
std::string Bar(double share) {
  return Join("<div class=\"bar\" style=\"width:", Fixed(100.0 * share, 1), "%\"></div>");
}
std::string BarAround(double share) {
  const double width = 50.0 * std::abs(share);
  return Join("<div class=\"bar", share < 0.0 ? " less" : "",
              "\" style=\"margin-left:", Fixed(share < 0.0 ? 50.0 - width : 50.0, 1),
              "%;width:", Fixed(width, 1), "%\"></div>");
}

std::string Commands(const ExplainPage& page) {
  std::vector<std::size_t> shown;
  for (std::size_t i = 0; i < page.commands.size(); ++i) {
    if (i < page.top || page.commands[i].chosen > 0) shown.push_back(i);
  }
  const double high = page.commands[shown.front()].score, low = page.commands[shown.back()].score;
  std::string rows;
  for (const std::size_t i : shown) {
    const ExplainedCommand& it = page.commands[i];
    const double share = high > low ? 0.02 + 0.98 * (it.score - low) / (high - low) : 1.0;
    rows += Join("<tr", it.chosen > 0 ? " class=\"chosen\"" : "", "><td>", i + 1, "</td><td>",
                 Escape(it.text), "</td><td class=\"bars\">", Bar(share), "</td><td>", Fixed(it.score, 3),
                 "</td><td>", it.chosen > 0 ? Nth(it.chosen) : "", "</td></tr>\n");
  }
  std::string note = "Every command that was legal as the decision began";
  if (shown.size() < page.commands.size())
    note = Join("Of ", page.commands.size(), " commands the ", std::min(page.top, page.commands.size()),
                " best, and below them those that were chosen");
  return Join(
      "<section id=\"commands\"><h2>Commands considered</h2>\n<p>", note,
      ". Scores are the network's logits as the decision began: what matters is their order, and a bar "
      "is where a score lies between the lowest shown and the highest. <b>chosen</b>: in which order, "
      "each with what those before it left.</p>\n<div class=\"wide\"><table><thead><tr><th>#</th>"
      "<th>command</th><th class=\"bars\"></th><th>score</th><th>chosen</th></tr></thead>\n<tbody>",
      rows, "</tbody></table></div></section>\n");
}

std::string BlocksSection(const ExplainPage& page) {
  if (page.blocks.empty()) return "";
  const auto first =
      std::find_if(page.commands.begin(), page.commands.end(), [](const auto& it) { return it.chosen == 1; });
  double most = 0.0;
  for (const ExplainedBlock& it : page.blocks) most = std::max(most, std::abs(it.change));
  std::string rows;
  for (const ExplainedBlock& it : page.blocks) {
    rows +=
        Join("<tr><td>", Escape(it.block), "</td><td>", Escape(it.first), "</td><td class=\"bars around\">",
             BarAround(most > 0.0 ? it.change / most : 0.0), "</td><td>", Signed(it.change), "</td></tr>\n");
  }
  return Join("<section id=\"blocks\"><h2>What the first choice hangs on</h2>\n<p>How the score of <b>",
              Escape(first->text),
              "</b> changes with the numbers of one block of the observation at 0, and what "
              "would then be chosen first.</p>\n<div class=\"wide\"><table><thead><tr><th>without block</th>"
              "<th>first would be</th><th class=\"bars\"></th><th>change</th></tr></thead>\n<tbody>",
              rows, "</tbody></table></div></section>\n");
}

// GANTT with the moment, and the part of the run that is shown at first.
std::string ChartData(const ExplainPage& page) {
  Json data = page.gantt;
  const double end = data["end"][0].get<double>();
  data["moment"] = page.time_s;
  const bool all = end <= 2.0 * kDay;
  data["shown"] = {all ? 0.0 : std::max(page.time_s - kDay, 0.0),
                   all ? end : std::min(page.time_s + kDay, end)};
  std::string text = data.dump();
  for (std::size_t at = 0; (at = text.find('<', at)) != std::string::npos;) text.replace(at, 1, "\\u003c");
  return text;
}

std::string Chart(const ExplainPage& page) {
  std::string notes;
  if (page.gantt["cut"].get<bool>())
    notes += " Of a run that does not fit on a page what is nearest to the moment.";
  if (const int unseen = page.gantt["unseen"][0].get<int>(); unseen > 0)
    notes += Join(" Of ", unseen, " gangs that ran between two decisions only the first GPU is known.");
  const std::string who = page.before.empty() ? "The whole run under this policy"
                                              : Join("The whole run: ", Escape(page.before),
                                                     " decides until the moment, this policy from then on");
  return Join(
      "<h2 id=\"gantt-chart\">Who held which GPU</h2>\n<p>", who, ": a row a GPU, a colour a job, ",
      Escape(page.gantt["shades"].get<std::string>()),
      "; the red line is the moment. The wheel zooms, dragging moves, hovering says what a bar is.", notes,
      "</p>\n<div class=\"controls\">from <input id=\"from\" type=\"number\" step=\"any\" "
      "aria-label=\"from, hours\"> to <input id=\"to\" type=\"number\" step=\"any\" aria-label=\"to, "
      "hours\"> hours <button id=\"near\">around the moment</button> <button id=\"all\">whole "
      "run</button></div>\n<div><canvas id=\"gantt\"></canvas></div><div id=\"marks\"></div><div id=\"tip\" "
      "hidden></div>\n");
}

}  // namespace

std::string ExplainHtml(const ExplainPage& page) {
  return Join(
      "<!doctype html>\n<html lang=\"en\"><head><meta charset=\"utf-8\"><meta name=\"viewport\" "
      "content=\"width=device-width\"><title>berth explain</title>\n<link rel=\"icon\" "
      "href=\"data:,\"><style>",
      Part("page.css"), "</style></head>\n<body>\n<h1>What ", Escape(page.policy), " chose at ",
      ClockText(page.time_s), "</h1>\n<p>", Escape(page.scenario), ". At ", Fixed(page.time_s, 0), " s ",
      Counted(page.waiting, "job waits", "jobs wait"), " and ", Counted(page.running, "runs", "run"),
      ".</p>\n<p><b>The decision:</b> ", Escape(page.decision), ".</p>\n", Chart(page),
      "<div class=\"columns\">\n", Commands(page), BlocksSection(page),
      "</div>\n<h2 id=\"config\">How this page was made</h2>\n<pre id=\"command\">", Escape(page.command),
      "</pre>\n<script>const GANTT = ", ChartData(page), ";\n", Part("gantt.js"),
      "</script>\n</body></html>\n");
}

}  // namespace berth
