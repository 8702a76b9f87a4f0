// berth solve: tables in, shares and their proof out, and bad input.
#include <algorithm>
#include <filesystem>
#include <string>

#include "tests/binary.hpp"
#include "tests/catch.hpp"
#include "tests/temporary_folder.hpp"
#include "tools/json.hpp"
#include "tools/output_file.hpp"

namespace berth {

TEST_CASE("cli: solve gives the shares of a table and proves them") {
  const test::TemporaryFolder folder;
  WriteTextFile(folder / "jobs.csv", "job,gang,v100,k80\nlm,1,2,0\nresnet,1,1,1\n");
  const test::Outcome ran = test::Berth(folder, "solve jobs.csv --workers v100=1,k80=1 --out x.csv --json x.json");
  INFO(ran.error);
  REQUIRE(ran.code == 0);
  CHECK(ran.out.find("gap ") != std::string::npos);
  CHECK(ran.out.find("resnet") != std::string::npos);
  const Json json = Json::parse(test::Slurp(folder / "x.json"));
  // By weight and the proportional split: 2 of 1 for the language model, 1 of 1 for the other.
  CHECK(json["value"].get<double>() == Approx(1.0));
  CHECK(json["bound"].get<double>() == Approx(1.0));
  CHECK(json["jobs"] == Json({"lm", "resnet"}));
  CHECK(test::Slurp(folder / "x.csv").find("job,partner,type,share\n0,-1,0,") == 0);

  // Types with any names from a file, with prices.
  WriteTextFile(folder / "types.csv", "name,workers,price_per_hour\nv100,1,2.5\nk80,1,0.5\n");
  for (const char* objective : {"water_filling", "proportional_fairness", "max_throughput_per_cost"}) {
    const test::Outcome with =
        test::Berth(folder, std::string("solve jobs.csv --workers types.csv --objective ") + objective);
    INFO(objective << with.error);
    CHECK(with.code == 0);
  }
  CHECK_FALSE(json.contains("all_levels"));
  REQUIRE(test::Berth(folder, "solve jobs.csv --workers types.csv --objective water_filling --json x.json").code == 0);
  CHECK(Json::parse(test::Slurp(folder / "x.json"))["all_levels"] == true);
}

// Two jobs of one kind and one of another on one GPU, at 0.8 of their speed beside the other kind: each of the
// two takes half of the time beside the third, which is 0.4 for all three by their weights.
TEST_CASE("cli: solve lets kinds of jobs share GPUs and proves it") {
  const test::TemporaryFolder folder;
  WriteTextFile(folder / "jobs.csv", "job,kind,weight,v100\na,lm,1,1\nb,lm,1,1\nc,rl,2,4\n");
  WriteTextFile(folder / "pairs.csv", "kind,other,type,speed,other_speed\nrl,lm,v100,3.2,0.8\nlm,lm,v100,0.5,0.5\n"
                                      "cv,rl,v100,1,1\n");
  const std::string solve = "solve jobs.csv --workers v100=1 --beside pairs.csv ";
  const test::Outcome ran = test::Berth(folder, solve + "--out x.csv --json x.json");
  INFO(ran.error);
  REQUIRE(ran.code == 0);
  CHECK(ran.out.find("3 jobs of 2 kinds, 1 type, ") != std::string::npos);
  CHECK(ran.out.find("a beside c") != std::string::npos);
  const Json json = Json::parse(test::Slurp(folder / "x.json"));
  CHECK(json["value"].get<double>() == Approx(0.4));
  CHECK(json["bound"].get<double>() == Approx(0.4));
  CHECK(json["time_price"].size() == 3);
  CHECK(json["pairs"].size() == 2);
  CHECK(test::Slurp(folder / "x.csv").find("0,2,0,0.5") != std::string::npos);

  const auto refuses = [&](const std::string& pairs, const std::string& command, const std::string& said) {
    WriteTextFile(folder / "pairs.csv", pairs);
    const test::Outcome bad = test::Berth(folder, command);
    INFO(bad.error);
    CHECK(bad.code == 2);
    CHECK(bad.error.find(said) != std::string::npos);
    CHECK(std::count(bad.error.begin(), bad.error.end(), '\n') == 1);
  };
  const std::string head = "kind,other,type,speed,other_speed\n";
  refuses(head + "lm,rl,v100,-1,1\n", solve, "pairs.csv:2: column 'speed': expected a number of 0 or more, found -1");
  refuses(head + "lm,rl,v100,1,nan\n", solve, "pairs.csv:2: other_speed: expected a number, found 'nan'");
  refuses(head + "lm,rl,v10,1,1\n", solve, "column 'type': expected a GPU type of --workers, found 'v10' (did you mean 'v100'?)");
  refuses(head + "lm,rl,v100,1,1\nrl,lm,v100,1,1\n", solve, "pairs.csv:3: expected rl and lm once on v100, found them again");
  refuses(head + "lm,lm,v100,1,2\n", solve, "pairs.csv:2: column 'other_speed': expected 1, the speed of the other");
  refuses(head + "lm,,v100,1,2\n", solve, "pairs.csv:2: column 'other': expected the name of a kind, found none");
  refuses(head + "cv,lm,v100,1,2\n", solve, "pairs.csv: expected a row with two kinds of the jobs, found none");
  refuses("kind,other,type,speed\nlm,rl,v100,1\n", solve, "expected a column 'other_speed'");
  refuses("kind,other,type,speed,other_speed,x\nlm,rl,v100,1,1,1\n", solve, "column 'x': expected kind, other, type");
  const std::string good = head + "lm,rl,v100,1,1\n";
  refuses(good, solve + "--objective makespan", "--beside: expected --objective max_min, found makespan");
  refuses(good, solve + "--solver simplex", "--solver: expected none where --beside is given, found 'simplex'");
  refuses(good, "solve jobs.csv --workers v100=1 --beside nowhere.csv", "nowhere.csv: no such file");
  WriteTextFile(folder / "bare.csv", "job,v100\na,1\n");
  refuses(good, "solve bare.csv --workers v100=1 --beside pairs.csv", "bare.csv:1: --beside: expected a column kind, found none");
  WriteTextFile(folder / "blank.csv", "kind,v100\n\"\",1\n");
  refuses(good, "solve blank.csv --workers v100=1 --beside pairs.csv", "column 'kind': expected the name of a kind, found none");
}

// Half of the time on the small type would be no plan: four GPUs are not there at once.
TEST_CASE("cli: solve gives a gang no time on a type with fewer GPUs") {
  const test::TemporaryFolder folder;
  WriteTextFile(folder / "jobs.csv", "job,gang,v100,k80\nbig,4,9,1\nsmall,1,1,1\n");
  const test::Outcome ran =
      test::Berth(folder, "solve jobs.csv --workers v100=2,k80=4 --objective max_sum_throughput --json x.json");
  INFO(ran.error);
  REQUIRE(ran.code == 0);
  for (const Json& share : Json::parse(test::Slurp(folder / "x.json"))["shares"])
    CHECK_FALSE((share[0] == 0 && share[1] == 0 && share[2].get<double>() > 1e-9));
  const test::Outcome none = test::Berth(folder, "solve jobs.csv --workers v100=2,k80=3");
  CHECK(none.code == 2);
  CHECK(none.error.find("jobs.csv:2: column 'gang': job big: expected at most the 3 GPUs of a type that it runs on, "
                        "found 4") != std::string::npos);
}

// Where time there costs others nothing, solvers inside the optimal face leave some.
TEST_CASE("cli: solve gives a job no time at speed 0, whatever the objective") {
  const test::TemporaryFolder folder;
  WriteTextFile(folder / "gangs.csv", "job,gang,v100,k80\na,4,4,1\nb,1,2,1\nc,2,3,1\n");
  WriteTextFile(folder / "zeros.csv", "job,gang,v100,k80\na,1,0,1\nb,1,0,1\nc,1,2,3\n");
  for (const std::string objective : {"max_min", "water_filling", "max_sum_throughput", "proportional_fairness"}) {
    for (const std::string problem : {"gangs.csv --workers v100=2,k80=4", "zeros.csv --workers v100=5,k80=1"}) {
      const test::Outcome ran = test::Berth(folder, "solve " + problem + " --objective " + objective + " --json x.json");
      INFO(objective << " " << problem << ran.error);
      REQUIRE(ran.code == 0);
      const Json shares = Json::parse(test::Slurp(folder / "x.json"))["shares"];
      CHECK(shares.size() >= 3);
      for (const Json& share : shares) CHECK_FALSE((share[1] == 0 && share[0] <= (problem[0] == 'z' ? 1 : 0)));
    }
  }
}

TEST_CASE("cli: solve does not write over the table of workers that it reads") {
  const test::TemporaryFolder folder;
  const std::string workers = "name,workers\nv100,1\n";
  WriteTextFile(folder / "jobs.csv", "job,v100\na,1\n");
  WriteTextFile(folder / "w.csv", workers);
  for (const char* output : {"--out", "--json"}) {
    const test::Outcome ran = test::Berth(folder, std::string("solve jobs.csv --workers w.csv ") + output + " ./w.csv");
    INFO(ran.error);
    CHECK(ran.code == 2);
    CHECK(ran.error.find("for both") != std::string::npos);
    CHECK(test::Slurp(folder / "w.csv") == workers);
  }
}

TEST_CASE("cli: solve refuses what is no problem in one line") {
  const test::TemporaryFolder folder;
  const auto refuses = [&](const std::string& table, const std::string& more, const std::string& said) {
    WriteTextFile(folder / "bad.csv", table);
    const test::Outcome ran = test::Berth(folder, "solve bad.csv --out x.csv " + more);
    INFO(ran.error);
    CHECK(ran.code == 2);
    CHECK(ran.error.find(said) != std::string::npos);
    CHECK(std::count(ran.error.begin(), ran.error.end(), '\n') == 1);
    CHECK(!std::filesystem::exists(folder / "x.csv"));
  };
  const std::string good = "job,v100\na,1\n";
  refuses("job,v100\na,-1\n", "--workers v100=1", "bad.csv:2: column 'v100': expected a number of 0 or more, found -1");
  refuses("job,v100\na,nan\n", "--workers v100=1", "bad.csv:2: v100: expected a number, found 'nan'");
  refuses("job,v100\na,inf\n", "--workers v100=1", "expected a number of 0 or more, found inf");
  refuses("job,v100\na,0\n", "--workers v100=1", "job a: expected a speed above 0 on a type, found none");
  refuses("job,v100\n", "--workers v100=1", "expected a job, found no row");
  refuses("job,gang,v100\na,0,1\n", "--workers v100=1", "column 'gang': expected 1 GPU or more, found 0");
  refuses("job,weight,v100\na,0,1\n", "--workers v100=1", "column 'weight': expected a number above 0, found 0");
  refuses("job,wieght,v100\na,0,1\n", "--workers v100=1", "column 'wieght': expected job, kind, gang, weight");
  refuses(good, "--workers v100=0", "--workers: workers of v100: expected 1 to 100000000, found 0");
  refuses(good, "--workers v100=99999999999", "expected 1 to 100000000, found 99999999999");
  refuses(good, "--workers v100=1,v100=2", "v100 is there twice");
  refuses(good, "--workers v10=1", "expected a column with the speeds on v10, found none (did you mean 'v100'?)");
  refuses(good, "--workers nowhere.csv", "nowhere.csv: no such file");
  refuses(good, "--workers v100=1 --objective maxmin", "expected max_min, water_filling");
  refuses(good, "--workers v100=1 --objective makespan", "expected a column remaining, found none");
  refuses(good, "--workers v100=1 --objective max_throughput_per_cost", "expected a CSV with a column price_per_hour");
  refuses(good, "--workers v100=1 --solver simplx", "expected reference, ipm or simplex, found 'simplx'");
  refuses(good, "", "--workers: expected a value");
}

}  // namespace berth
