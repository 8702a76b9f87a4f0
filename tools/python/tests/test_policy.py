"""berth.Policy: a policy's file in Python, as a scheduler, its card, and what it explains."""

import copy
import json
import os
import pathlib
import pickle
import subprocess
import tempfile
import unittest

import berth

BERTH = os.environ["BERTH"]
POLICIES = pathlib.Path(__file__).parents[3] / "data" / "policies"
SHIPPED = POLICIES / "cluster" / "hetero_oracle.h5"
RUN = dict(workload="synthetic(rate=3,jobs=60)", cluster="v100=4,p100=4,k80=4")


class Policies(unittest.TestCase):
    def test_it_stands_wherever_a_spec_does_with_the_same_numbers_to_the_bit(self):
        policy = berth.load_policy(SHIPPED)
        self.assertEqual(policy.name, "cluster/hetero_oracle.h5")
        table = berth.evaluate([policy, f"policy(file={SHIPPED})", "fcfs"], seeds="1000:1003", threads=2, **RUN)
        ours, theirs = (table[table["scheduler"] == name] for name in (policy.name, f"policy(file={SHIPPED})"))
        self.assertEqual(list(ours["signature"]), list(theirs["signature"]))
        self.assertEqual(list(ours["mean_jct_s"]), list(theirs["mean_jct_s"]))
        self.assertEqual(list(ours["knowledge"]), ["oracle"] * 3)
        run = berth.simulate(policy, **RUN)
        self.assertEqual(run.signature, ours["signature"].iloc[0])
        policy.name = "learned"
        self.assertEqual(list(berth.evaluate(policy, seeds=1000, **RUN)["scheduler"]), ["learned"])

    def test_what_it_was_trained_on_is_its_card_and_saved_it_is_the_same(self):
        policy = berth.load_policy(SHIPPED)
        card = policy.card
        self.assertEqual((card["knowledge"], card["semantics"], card["preemptive"], card["reserve"]), ("oracle", "redecide", True, "none"))
        self.assertGreater(card["steps"], 0)
        self.assertGreater(card["parameters"], 0)
        with tempfile.TemporaryDirectory() as folder:
            saved = policy.save(pathlib.Path(folder) / "copy.h5")
            self.assertEqual(os.fspath(saved), os.path.join(folder, "copy.h5"))
            self.assertEqual(berth.load_policy(saved).card, card)
            other = berth.load_policy(saved)
            os.unlink(saved)  # it is in memory
            self.assertEqual(berth.simulate(other, **RUN).signature, berth.simulate(f"policy(file={SHIPPED})", **RUN).signature)
            with self.assertRaisesRegex(berth.Error, "nowhere"):
                policy.save(os.path.join(folder, "nowhere", "copy.h5"))

    def test_copied_or_pickled_it_is_the_same(self):
        with tempfile.TemporaryDirectory() as folder:
            path = pathlib.Path(folder) / "gone.h5"
            path.write_bytes(SHIPPED.read_bytes())
            policy = berth.load_policy(path)
        policy.name = "learned"
        there = pickle.loads(pickle.dumps(policy))  # the file is not there any more
        self.assertEqual((there.name, there.path, there.training, there.card), ("learned", path, None, policy.card))
        one, other = (berth.simulate(its, **RUN).signature for its in (policy, there))
        self.assertEqual(one, other)
        with self.assertRaisesRegex(berth.Error, f"policy: {path} needs knowledge"):  # known by its name, not by a temporary file's
            there.explain(knowledge="blind", **RUN)
        for copied in (copy.copy(policy), copy.deepcopy(policy)):
            self.assertIs(copied._core, policy._core)
            copied.name = "another"
            self.assertEqual(policy.name, "learned")

    def test_a_scheduler_may_hold_one(self):
        class Holds(berth.Scheduler):
            knowledge = "oracle"

            def __init__(self):
                self.policy = berth.load_policy(SHIPPED)

            def decide(self, view, decision):
                self.policy.explain(view)
                for job in view.waiting:
                    if view.free_gpus[0] >= view.gang[job]:
                        decision.start(job, 0)
                        break

        few = dict(RUN, workload="synthetic(rate=3,jobs=5)")
        self.assertEqual(berth.simulate(Holds(), **few).signature, berth.simulate(Holds, **few).signature)

    def test_bad_files_and_names_are_one_line(self):
        with tempfile.NamedTemporaryFile(suffix=".h5") as file:
            for path, words in [("none.h5", "none.h5"), (file.name, "expected|not"), (POLICIES.parent, "data")]:
                with self.subTest(words), self.assertRaisesRegex(berth.Error, words) as caught:
                    berth.load_policy(path)
                self.assertNotIn("\n", str(caught.exception))
        one, other = berth.load_policy(SHIPPED), berth.load_policy(SHIPPED)
        with self.assertRaisesRegex(berth.Error, "names that differ, found 'cluster/hetero_oracle.h5' twice; set the attribute `name`"):
            berth.evaluate([one, other], **RUN)
        one.name = "a;b"
        with self.assertRaisesRegex(berth.Error, "name: expected letters"):
            berth.evaluate([one], **RUN)
        other.name = "learned"
        with self.assertRaisesRegex(berth.Error, "expected schedulers of one decision semantics"):
            berth.evaluate([other, "saf(semantics=commit)"], **RUN)


class Explain(unittest.TestCase):
    def test_it_says_what_the_command_line_says(self):
        policy = berth.load_policy(SHIPPED)
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "out.json")
            subprocess.run([BERTH, "explain", "--policy", SHIPPED, "--at", "7000", "--seed", "1001", "--workload", RUN["workload"],
                            "--cluster", RUN["cluster"], "--until-then", "fcfs", "--json", path], check=True, capture_output=True)
            with open(path, encoding="utf-8") as file:
                there = json.load(file)
        here = policy.explain(at=7000, seed=1001, until_then="fcfs", **RUN)
        self.assertEqual({key: here[key] for key in ("time_s", "decision", "commands", "blocks")},
                         {key: there[key] for key in ("time_s", "decision", "commands", "blocks")})
        self.assertGreaterEqual(here["time_s"], 7000)
        self.assertEqual(here["commands"], sorted(here["commands"], key=lambda it: -it["score"]))
        self.assertEqual(sum(it["chosen"] == "1" for it in here["commands"]), 1)
        self.assertTrue(any(block["change"] != 0 for block in here["blocks"]))

    def test_a_scheduler_may_ask_within_decide(self):
        policy, said = berth.load_policy(SHIPPED), {}

        class Asks(berth.Scheduler):
            knowledge = "oracle"

            def decide(self, view, decision):
                if len(said) < 20:
                    said[view.now] = policy.explain(view)
                for job in view.waiting:
                    best = int(view.rates[job].argmax())
                    if view.free_gpus[best] >= view.gang[job] and not any(view.running):
                        decision.start(job, best)
                        break

        berth.simulate(Asks(), **RUN)
        first = min(said)
        there = policy.explain(at=first, seed=1000, **RUN)
        self.assertEqual({key: said[first][key] for key in ("decision", "commands", "blocks")},
                         {key: there[key] for key in ("decision", "commands", "blocks")})
        self.assertGreater(len({it["decision"] for it in said.values()}), 5)

    def test_bad_input_is_one_line(self):
        policy = berth.load_policy(SHIPPED)
        for keywords, words in [
            (dict(at=1e14), "at: expected a time before the run ends"),
            (dict(at="x"), "at: expected a number, found 'x'"),
            (dict(knowledge="blind"), "policy: .*hetero_oracle.h5 needs knowledge 'oracle', the scenario grants 'blind'"),
            (dict(until_then="fcsf"), r"until_then: unknown scheduler 'fcsf' \(did you mean 'fcfs'\?\)"),
            (dict(policy="x"), "explain: unknown argument 'policy'"),
        ]:
            with self.subTest(words), self.assertRaisesRegex(berth.Error, words):
                policy.explain(**RUN, **keywords)

        class Asks(berth.Scheduler):
            knowledge = "blind"

            def decide(self, view, decision):
                policy.explain(view)

        with self.assertRaisesRegex(berth.Error, "view: expected one of a scheduler with knowledge 'oracle', as the policy has, found 'blind'"):
            berth.simulate(Asks, **RUN)

        class Both(Asks):
            knowledge = "oracle"

            def decide(self, view, decision):
                policy.explain(view, at=3)

        with self.assertRaisesRegex(berth.Error, "explain: expected a view or a scenario, found a view and at"):
            berth.simulate(Both, **RUN)
        with self.assertRaisesRegex(TypeError, "expected a berth.View"):
            policy.explain(3)
