"""Of the interface of Gavel's utils.py what its drivers use to look up a policy. Ours, for the test of the adapter."""


def get_available_policies():
    return ["fifo"]


def get_policy(policy_name, solver, seed=None):
    raise ValueError(f"Unknown policy {policy_name}")
