"""What `import berth` loads, and what it does not: Gymnasium and pandas take longer than all the rest."""

import subprocess
import sys
import textwrap
import unittest


class Import(unittest.TestCase):
    def said(self, program):
        """What a new interpreter prints."""
        done = subprocess.run([sys.executable, "-W", "error", "-c", textwrap.dedent(program)], capture_output=True, text=True)
        self.assertEqual(done.returncode, 0, done.stderr)
        return done.stdout.split()

    def test_only_what_everybody_needs_is_imported(self):
        self.assertEqual(self.said("""
            import sys
            import berth
            berth.simulate("fcfs", workload="queueing(jobs=5)")
            print(*{"gymnasium", "pandas", "matplotlib", "torch", "onnxruntime", "pyarrow", "tqdm"} & set(sys.modules))
            """), [])

    def test_environments_are_registered_whichever_is_imported_first(self):
        for order in ("berth, gymnasium", "gymnasium, berth"):
            with self.subTest(order):
                self.assertEqual(self.said(f"""
                    import {order}
                    print(*(type(gymnasium.make(f"berth/{{name}}").unwrapped).__name__ for name in ("HeteroCluster-v0", "TaskPlacement-v0")))
                    print(gymnasium.make_vec("berth/TaskPlacement-v0", num_envs=2).num_envs)
                    """), ["ClusterEnv", "ClusterEnv", "2"])
        # Looking whether it is there is not importing it.
        self.assertEqual(self.said("""
            import importlib.util, sys
            import berth
            print(importlib.util.find_spec("gymnasium") is not None, "gymnasium" in sys.modules)
            import gymnasium
            print("berth/HeteroCluster-v0" in gymnasium.registry)
            """), ["True", "False", "True"])

    def test_every_name_is_there(self):
        self.assertEqual(self.said("""
            import berth
            assert set(berth.__all__) <= set(dir(berth))
            print("ClusterEnv" in vars(berth))
            from berth import *
            from berth import ClusterEnv, ClusterVectorEnv
            print(all(name in globals() for name in berth.__all__), ClusterEnv is berth.envs.ClusterEnv, issubclass(berth.ClusterVectorEnv, object))
            try:
                berth.Shceduler
            except AttributeError as error:
                print(error)
            """), ["False", "True", "True", "True", "module", "'berth'", "has", "no", "attribute", "'Shceduler'"])
        self.assertEqual(self.said("import berth; print(berth.vector.ClusterVectorEnv.__name__)"), ["ClusterVectorEnv"])


if __name__ == "__main__":
    unittest.main()
