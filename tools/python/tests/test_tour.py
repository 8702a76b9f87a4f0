"""The notebook examples/tour.ipynb, from end to end."""

import os
import pathlib
import tempfile
import unittest
import unittest.mock

import nbformat

TOUR = pathlib.Path(__file__).parents[1] / "examples" / "tour.ipynb"


class Tour(unittest.TestCase):
    def test_it_is_kept_without_what_it_printed(self):
        tour = nbformat.read(TOUR, as_version=4)
        nbformat.validate(tour)
        for number, cell in enumerate(tour.cells):
            if cell.cell_type == "code":
                with self.subTest(cell=number):
                    self.assertEqual((cell.outputs, cell.execution_count), ([], None))
        self.assertEqual(set(tour.metadata), {"kernelspec", "language_info"})  # and not whose machine it was

    def test_every_cell_runs(self):
        from jupyter_client import AsyncKernelManager
        from nbclient import NotebookClient

        tour = nbformat.read(TOUR, as_version=4)
        with tempfile.TemporaryDirectory() as folder, unittest.mock.patch.dict(
                os.environ, JUPYTER_RUNTIME_DIR=folder, IPYTHONDIR=folder, MPLCONFIGDIR=folder):
            manager = AsyncKernelManager(kernel_name="python3", transport="ipc", ip=f"{folder}/kernel")  # sockets of files, no ports
            client = NotebookClient(tour, km=manager, timeout=1200, resources={"metadata": {"path": folder}})
            client.execute(cleanup_kc=True)  # raises CellExecutionError, with the cell and its traceback
            made = {path.name for path in pathlib.Path(folder).iterdir()}
        self.assertLessEqual({"jobs.csv", "speeds.csv", "week.h5", "run"}, made)
        outputs = [output for cell in tour.cells if cell.cell_type == "code" for output in cell.outputs]
        self.assertEqual([output.text for output in outputs if output.get("name") == "stderr"], [])  # no warning
        shown = [output.data for output in outputs if "data" in output]
        self.assertEqual(sum("image/png" in data for data in shown), 4)
        comparison = next(data["text/plain"] for data in shown if "jct_ratio" in data["text/plain"])
        for scheduler in ("fcfs", "gavel", "srpt", "GoodEnough", "trained"):
            self.assertRegex(comparison, rf"\n{scheduler} +\d")
