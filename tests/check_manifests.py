"""The Kubernetes manifests of tools/examples/kubernetes against the API's published schemas, and against one another.

usage: check_manifests.py FOLDER     prints the arguments of Berth's container, one a line

Objects of the API are held strictly (a field that is not in the schema is an error) against the schemas of several versions,
as kubernetes-validate ships them. Two kinds are of no API server: their fields stand below, by hand.
"""
import pathlib
import sys

import kubernetes_validate
import yaml

VERSIONS = ["1.29", "1.37"]  # the oldest and the newest

# k8s.io/kube-scheduler/config/v1, types.go: json tags of KubeSchedulerConfiguration, KubeSchedulerProfile, Extender,
# ExtenderTLSConfig and ExtenderManagedResource; k8s.io/component-base/config/v1alpha1, types.go:
# LeaderElectionConfiguration. What the manifests do not use is left out, but for what is easily mistaken.
SCHEDULER = {
    "apiVersion": str, "kind": str, "parallelism": int, "percentageOfNodesToScore": int,
    "podInitialBackoffSeconds": int, "podMaxBackoffSeconds": int, "delayCacheUntilActive": bool,
    "leaderElection": {"leaderElect": bool, "resourceName": str, "resourceNamespace": str},
    "profiles": [{"schedulerName": str, "percentageOfNodesToScore": int}],
    "extenders": [{
        "urlPrefix": str, "filterVerb": str, "preemptVerb": str, "prioritizeVerb": str, "weight": int, "bindVerb": str,
        "enableHTTPS": bool, "httpTimeout": str, "nodeCacheCapable": bool, "ignorable": bool,
        "tlsConfig": {"insecure": bool, "serverName": str, "certFile": str, "keyFile": str, "caFile": str},
        "managedResources": [{"name": str, "ignoredByScheduler": bool}],
    }],
}
# sigs.k8s.io/kustomize/api/types: Kustomization, ConfigMapArgs.
KUSTOMIZATION = {"apiVersion": str, "kind": str, "resources": [str],
                 "configMapGenerator": [{"name": str, "namespace": str, "files": [str]}]}


def check(value, fields, where):
    """value has fields of these types and no others."""
    if isinstance(fields, dict):
        assert isinstance(value, dict), f"{where}: expected fields, found {value!r}"
        for name, of in value.items():
            assert name in fields, f"{where}: no field {name}"
            check(of, fields[name], f"{where}.{name}")
    elif isinstance(fields, list):
        assert isinstance(value, list), f"{where}: expected a list, found {value!r}"
        for item in value:
            check(item, fields[0], where)
    else:
        assert type(value) is fields, f"{where}: expected {fields.__name__}, found {value!r}"


def one(objects, kind, name):
    found = [o for o in objects if o["kind"] == kind and o["metadata"]["name"] == name]
    assert len(found) == 1, f"expected one {kind} {name}, found {len(found)}"
    return found[0]


def check_extender(extender, where):
    assert {k: v for k, v in extender.items() if k.endswith("Verb")} == {
        "filterVerb": "filter", "prioritizeVerb": "prioritize", "preemptVerb": "preempt"}, where
    assert extender["weight"] > 0, where


def main(folder):
    files = {path.name: list(yaml.safe_load_all(path.read_text())) for path in sorted(folder.glob("*.yaml"))}
    objects = {}
    for name, documents in files.items():
        for document in documents:
            where = f"{name}: {document['kind']}"
            if document["kind"] == "Kustomization":
                assert document["apiVersion"] == "kustomize.config.k8s.io/v1beta1", where
                check(document, KUSTOMIZATION, where)
            elif document["kind"] == "KubeSchedulerConfiguration":
                assert document["apiVersion"] == "kubescheduler.config.k8s.io/v1", where
                check(document, SCHEDULER, where)
                for extender in document["extenders"]:
                    check_extender(extender, where)
            else:
                for version in VERSIONS:
                    try:
                        kubernetes_validate.validate(document, version, strict=True)
                    except kubernetes_validate.ValidationError as error:
                        path = ".".join(str(part) for part in error.path)
                        raise AssertionError(f"{where}: {path}: {error.message} (Kubernetes {version})") from None
                objects.setdefault(name, []).append(document)

    # What is applied together.
    [kustomization] = files["kustomization.yaml"]
    applied = [o for name in kustomization["resources"] for o in objects[name]]
    namespaces = {o["metadata"]["name"] for o in applied if o["kind"] == "Namespace"} | {"kube-system"}
    for o in applied:
        if o["kind"] not in ("Namespace", "ClusterRoleBinding"):
            assert o["metadata"]["namespace"] in namespaces, f"{o['kind']} {o['metadata']['name']}"
    maps = {c["name"]: [pathlib.Path(f).name for f in c["files"]] for c in kustomization["configMapGenerator"]}
    for names in maps.values():
        for name in names:
            assert name == "policy.h5" or (folder / name).exists(), f"kustomization.yaml: no file {name}"

    # Deployments: their selectors, accounts, volumes and probes.
    accounts = {o["metadata"]["name"]: o for o in applied if o["kind"] == "ServiceAccount"}
    seen = {}  # container's path: file names
    for deployment in (o for o in applied if o["kind"] == "Deployment"):
        where = deployment["metadata"]["name"]
        template = deployment["spec"]["template"]
        assert deployment["spec"]["selector"]["matchLabels"] == template["metadata"]["labels"], where
        assert deployment["spec"]["replicas"] == 1 and deployment["spec"]["strategy"]["type"] == "Recreate", where
        pod = template["spec"]
        assert pod["serviceAccountName"] in accounts, where
        assert pod["securityContext"]["runAsNonRoot"], where
        [container] = pod["containers"]
        ports = {p["name"]: p["containerPort"] for p in container["ports"]}
        for probe in ("livenessProbe", "readinessProbe"):
            get = container[probe]["httpGet"]
            assert (get["path"], get["port"] in ports, get["scheme"]) == ("/healthz", True, "HTTPS"), f"{where}: {probe}"
        assert container["securityContext"] == {"allowPrivilegeEscalation": False, "readOnlyRootFilesystem": True,
                                                "capabilities": {"drop": ["ALL"]}}, where
        volumes = {v["name"]: v for v in pod["volumes"]}
        mounts = {m["name"]: m for m in container["volumeMounts"]}
        assert set(volumes) == set(mounts), where
        for name, volume in volumes.items():
            assert mounts[name]["readOnly"], where
            if "configMap" in volume:
                inside = maps[volume["configMap"]["name"]]
            else:
                assert volume["secret"]["secretName"] == "berth-extender-tls", where
                items = volume["secret"].get("items")
                inside = [i["path"] for i in items] if items else ["tls.crt", "tls.key", "ca.crt"]
            seen.setdefault(where, set()).update(f"{mounts[name]['mountPath']}/{file}" for file in inside)
    assert set(seen) == {"berth-extender", "berth-scheduler"}
    # The scheduler has no key of Berth's.
    assert not any("tls.key" in path for path in seen["berth-scheduler"])

    # Files that the commands name are those that are mounted.
    berth = one(applied, "Deployment", "berth-extender")["spec"]["template"]["spec"]
    [container] = berth["containers"]
    for argument in container["args"]:
        value = argument.partition("=")[2]
        assert not value.startswith("/") or value in seen["berth-extender"], argument
    [scheduler] = one(applied, "Deployment", "berth-scheduler")["spec"]["template"]["spec"]["containers"]
    [config_path] = [a.partition("=")[2] for a in scheduler["args"] if a.startswith("--config=")]
    assert config_path in seen["berth-scheduler"]
    [config] = files[pathlib.Path(config_path).name]
    [extender] = config["extenders"]
    assert extender["tlsConfig"]["caFile"] in seen["berth-scheduler"] and extender["enableHTTPS"]
    assert not extender["ignorable"] and config["percentageOfNodesToScore"] == 100  # as pod groups need

    # The scheduler's address is the service's, whose port is Berth's.
    service = one(applied, "Service", "berth-extender")
    [port] = service["spec"]["ports"]
    host = f"{service['metadata']['name']}.{service['metadata']['namespace']}.svc"
    assert extender["urlPrefix"] == f"https://{host}:{port['port']}"
    assert service["spec"]["selector"] == one(applied, "Deployment", "berth-extender")["spec"]["template"]["metadata"]["labels"]
    assert port["targetPort"] in {p["name"] for p in container["ports"]}
    assert f"--port={container['ports'][0]['containerPort']}" in container["args"]
    policy = one(applied, "NetworkPolicy", "berth-extender")["spec"]
    assert policy["podSelector"]["matchLabels"] == service["spec"]["selector"]
    [rule] = policy["ingress"]
    [source] = rule["from"]
    assert source["podSelector"]["matchLabels"] == \
        one(applied, "Deployment", "berth-scheduler")["spec"]["template"]["metadata"]["labels"]

    # Least rights: Berth has none and no token, the scheduler those of a scheduler; no role is made here.
    assert not accounts["berth-extender"]["automountServiceAccountToken"] and not berth["automountServiceAccountToken"]
    granted = set()
    for binding in (o for o in applied if o["kind"].endswith("Binding")):
        assert binding["subjects"] == [{"kind": "ServiceAccount", "name": "berth-scheduler", "namespace": "berth"}]
        granted.add((binding["kind"], binding["metadata"].get("namespace"), binding["roleRef"]["name"]))
    assert granted == {("ClusterRoleBinding", None, "system:kube-scheduler"),
                       ("ClusterRoleBinding", None, "system:volume-scheduler"),
                       ("RoleBinding", "kube-system", "extension-apiserver-authentication-reader")}
    assert not [o for o in applied if o["kind"] in ("Role", "ClusterRole")]

    # The example's pods ask for this scheduler.
    [job] = objects["gang-job.yaml"]
    assert job["spec"]["template"]["spec"]["schedulerName"] == config["profiles"][0]["schedulerName"]
    assert job["spec"]["template"]["metadata"]["annotations"]["berth/min-member"] == str(job["spec"]["parallelism"])

    for argument in container["args"]:
        print(argument)


main(pathlib.Path(sys.argv[1]))
